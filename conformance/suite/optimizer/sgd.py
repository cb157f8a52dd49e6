"""OPT-SGD, OPT-NAG, OPT-DCASGD, OPT-TEST and the plain relatives: gradient descent with and without momentum."""

from conformance.case import case
from conformance.suite.optimizer import drive


def sgd(weight, gradients, o):
    momentum, state = o("momentum", 0.0), 0.0
    for gradient in gradients:
        state = momentum * state - o.lr * o.decayed(gradient, weight)
        weight = weight + state
        yield weight


def nag(weight, gradients, o):
    momentum, state = o("momentum", 0.9), 0.0
    for gradient in gradients:
        g = o.decayed(gradient, weight)
        state = momentum * state - o.lr * g
        weight = weight + momentum * state - o.lr * g
        yield weight


def dcasgd(weight, gradients, o):
    momentum, lamda, state, previous = o("momentum", 0.0), o("lamda", 0.04), 0.0, weight
    for gradient in gradients:
        g = o.decayed(gradient, weight)
        state = momentum * state - o.lr * (g + lamda * g * g * (weight - previous))
        previous = weight
        weight = weight + state
        yield weight


def plain_test(weight, gradients, o):
    for gradient in gradients:
        weight = weight - o.lr * (o.rescale * gradient + o.wd * weight)
        yield weight


@case("OPT-SGD-001", samples=drive.two_updates(
    plain=([0.95, -1.9, 2.8], [0.975, -1.95, 2.7]),
    full=([0.974, -1.948, 2.917], [0.985526, -1.971052, 2.864083])))
def sgd_two_updates(mx, check, options, literal):
    drive.check_two_updates(mx, check, "sgd", sgd, options, literal)


@case("OPT-SGD-001", samples={
    "all": {"options": drive.random_options()},
    "clip_before_decay": {"options": {"learning_rate": 0.1, "wd": 0.5, "clip_gradient": 0.25}},
    "decay_alone": {"options": {"learning_rate": 0.1, "wd": 0.5}}})
def sgd_follows_the_formula(mx, check, options):
    drive.check_formula(mx, check, "sgd", sgd, options)


@case("OPT-SGD-002", samples=drive.two_updates(
    plain=([0.95, -1.9, 2.8], [0.93, -1.86, 2.52]),
    full=([0.974, -1.948, 2.917], [0.962126, -1.924252, 2.789383]), momentum=0.9))
def sgd_with_momentum_two_updates(mx, check, options, literal):
    drive.check_two_updates(mx, check, "sgd", sgd, options, literal)


@case("OPT-SGD-002", samples={"half": {"momentum": 0.5}, "nearly_one": {"momentum": 0.99}})
def sgd_with_momentum_follows_the_formula(mx, check, momentum):
    drive.check_formula(mx, check, "sgd", sgd, drive.random_options(momentum=momentum))


@case("OPT-SGD-002")
def sgd_has_no_momentum_by_default(mx, check):
    check.equal(mx.optimizer.create("sgd").momentum, 0.0, "momentum")
    check.equal(mx.optimizer.create("sgd", momentum=0.25).momentum, 0.25, "momentum that was given")


@case("OPT-NAG-001", samples=drive.two_updates(
    plain=([0.905, -1.81, 2.62], [0.912, -1.824, 2.268]),
    full=([0.9506, -1.9012, 2.8423], [0.951484, -1.902968, 2.67467]), momentum=0.9))
def nag_two_updates(mx, check, options, literal):
    drive.check_two_updates(mx, check, "nag", nag, options, literal)


@case("OPT-NAG-001", samples={"half": {"momentum": 0.5}, "nearly_one": {"momentum": 0.95}})
def nag_follows_the_formula(mx, check, momentum):
    drive.check_formula(mx, check, "nag", nag, drive.random_options(momentum=momentum))


@case("OPT-NAG-001")
def nag_without_momentum_equals_sgd(mx, check):
    options = drive.random_options(momentum=0.0)
    drive.check_formula(mx, check, "nag", sgd, options)


@case("OPT-DCASGD-001", samples=drive.two_updates(
    plain=([0.95, -1.9, 2.8], [0.975012, -1.9501, 2.7008]),
    full=([0.974, -1.948, 2.917], [0.985527, -1.971063, 2.864176])))
def dcasgd_two_updates(mx, check, options, literal):
    drive.check_two_updates(mx, check, "dcasgd", dcasgd, options, literal)


@case("OPT-DCASGD-001", samples={"strong": {"lamda": 0.8}, "none": {"lamda": 0.0}})
def dcasgd_follows_the_formula(mx, check, lamda):
    # A large rate makes the compensation, which is of second order, stand out.
    drive.check_formula(mx, check, "dcasgd", dcasgd,
                        {"learning_rate": 0.2, "wd": 0.3, "clip_gradient": 1.5, "lamda": lamda})


@case("OPT-DCASGD-002", samples=drive.two_updates(
    plain=([0.95, -1.9, 2.8], [0.930012, -1.8601, 2.5208]),
    full=([0.974, -1.948, 2.917], [0.962127, -1.924263, 2.789476]), momentum=0.9))
def dcasgd_with_momentum_two_updates(mx, check, options, literal):
    drive.check_two_updates(mx, check, "dcasgd", dcasgd, options, literal)


@case("OPT-DCASGD-002", samples={"half": {"momentum": 0.5}})
def dcasgd_with_momentum_follows_the_formula(mx, check, momentum):
    drive.check_formula(mx, check, "dcasgd", dcasgd,
                        {"learning_rate": 0.1, "wd": 0.3, "clip_gradient": 1.5, "lamda": 0.5, "momentum": momentum})


@case("OPT-TEST-001", samples=drive.two_updates(
    plain=([0.95, -1.9, 2.8], [0.975, -1.95, 2.7]),
    full=([0.974, -1.948, 2.897], [0.985526, -1.971052, 2.844103])))
def test_optimizer_two_updates(mx, check, options, literal):
    drive.check_two_updates(mx, check, "test", plain_test, options, literal)


@case("OPT-CCSGD-001")
def ccsgd_gives_what_sgd_gives(mx, check):
    options = drive.random_options(momentum=0.5)
    drive.check_formula(mx, check, "ccsgd", sgd, options)


@case("OPT-LBSGD-001", samples={
    "every_gradient": {"scale": 1, "wanted": [0.9, 0.8, 0.7, 0.6]},
    "every_second_gradient": {"scale": 2, "wanted": [1.0, 0.8, 0.8, 0.6]}})
def lbsgd_updates_after_batch_scale_gradients(mx, check, scale, wanted):
    options = {"learning_rate": 0.1, "batch_scale": scale}
    if scale > 1:
        options["warmup_epochs"] = 0
    seen = drive.weights(mx, "lbsgd", options, [1.0], [[1.0]] * 4)
    check.close([float(w[0]) for w in seen], wanted, "weight after each of four updates", rtol=1e-5)
