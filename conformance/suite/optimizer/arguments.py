"""OPT-COMMON-001 to -006 and -020, -021, OPT-DEFAULTS: the arguments that all optimizers share, and defaults."""

from conformance.case import case
from conformance.suite import kit
from conformance.suite.optimizer import drive, names


@case("OPT-COMMON-001", samples={
    "learning_rate": {"option": "learning_rate", "given": 0.25}, "wd": {"option": "wd", "given": 0.125},
    "clip_gradient": {"option": "clip_gradient", "given": 2.5},
    "rescale_grad": {"option": "rescale_grad", "given": 0.5},
    "multi_precision": {"option": "multi_precision", "given": True},
    "begin_num_update": {"option": "begin_num_update", "given": 7}})
def every_optimizer_accepts(mx, check, option, given):
    for name in names.registered(mx, check):
        made = mx.optimizer.create(name, **{option: given})
        check.equal(getattr(made, option), given, "%s of %s" % (option, name))


@case("OPT-COMMON-001")
def every_optimizer_accepts_a_scheduler(mx, check):
    for name in names.registered(mx, check):
        scheduler = mx.lr_scheduler.FactorScheduler(10, 0.5, base_lr=0.25)
        made = mx.optimizer.create(name, lr_scheduler=scheduler, learning_rate=0.25)
        check.same(made.lr_scheduler, scheduler, "lr_scheduler of %s" % name)
        check.equal(made.learning_rate, 0.25, "learning_rate of %s" % name)


RATES = {"adadelta": 1.0, "adagrad": 0.01, "adam": 0.001, "adamax": 0.002, "adamw": 0.001, "adabelief": 0.001,
         "dcasgd": 0.1, "ftml": 0.0025, "ftrl": 0.1, "groupadagrad": 0.01, "lamb": 0.001, "lans": 0.001, "lars": 0.1,
         "nadam": 0.001, "nag": 0.1, "rmsprop": 0.001, "sgd": 0.1, "sgld": 0.1, "signum": 0.01, "test": 0.01}


@case("OPT-COMMON-002", samples={name: {"name": name, "wanted": wanted} for name, wanted in RATES.items()})
def default_rate(mx, check, name, wanted):
    check.equal(mx.optimizer.create(name).learning_rate, wanted, "default learning_rate of %s" % name)


@case("OPT-COMMON-002", "OPT-COMMON-003")
def default_rate_of_the_base_class(mx, check):
    check.equal(mx.optimizer.Optimizer().learning_rate, 0.01, "default learning_rate of the base class")


@case("OPT-COMMON-003", samples=names.each())
def no_rate_and_no_scheduler(mx, check, name):
    made = mx.optimizer.create(name, learning_rate=None)
    check.equal(made.lr, 0.01, "lr of %s made with learning_rate=None" % name)
    check.equal(made.learning_rate, 0.01, "its learning_rate")


@case("OPT-COMMON-004")
def default_decay(mx, check):
    for name in names.registered(mx, check):
        check.equal(mx.optimizer.create(name).wd, 0.0, "default wd of %s" % name)


@case("OPT-COMMON-004")
def nothing_decays_by_default(mx, check):
    plain = drive.weights(mx, "sgd", {"learning_rate": 0.5}, [4.0], [[0.0]])
    check.equal(plain[0], [4.0], "weight after an update with a zero gradient")
    decayed = drive.weights(mx, "sgd", {"learning_rate": 0.5, "wd": 0.25}, [4.0], [[0.0]])
    check.equal(decayed[0], [3.5], "the same with wd .25")


@case("OPT-COMMON-005")
def default_clipping(mx, check):
    for name in names.registered(mx, check):
        check.equal(mx.optimizer.create(name).clip_gradient, None, "default clip_gradient of %s" % name)


@case("OPT-COMMON-005", samples={
    "above": {"gradient": 10.0, "wanted": -1.0}, "below": {"gradient": -10.0, "wanted": 1.0},
    "inside": {"gradient": 2.5, "wanted": -0.5}, "no_clipping": {"gradient": 10.0, "wanted": -2.0, "clip": None}})
def rescaled_gradient_is_clipped(mx, check, gradient, wanted, clip=1.0):
    x = kit.parameter(mx)
    trainer = kit.trainer(mx, [x], "sgd", {"learning_rate": 1.0, "clip_gradient": clip})
    kit.backward(mx, (x, gradient))
    trainer.step(5)
    check.equal(kit.value(x), wanted, "weight after step(5)")


@case("OPT-COMMON-005")
def clipping_is_by_element(mx, check):
    options = {"learning_rate": 1.0, "clip_gradient": 1.0}
    seen = drive.weights(mx, "sgd", options, [0.0, 0.0, 0.0], [[3.0, -0.5, -4.0]])
    check.equal(seen[0], [-1.0, 0.5, 1.0], "weight after one update")


@case("OPT-COMMON-006")
def default_rescaling(mx, check):
    for name in names.registered(mx, check):
        check.equal(mx.optimizer.create(name).rescale_grad, 1.0, "default rescale_grad of %s" % name)


@case("OPT-COMMON-006")
def step_sets_the_rescaling(mx, check):
    x = kit.parameter(mx)
    optimizer = mx.optimizer.create("sgd", learning_rate=1.0, rescale_grad=2.0)
    trainer = mx.gluon.Trainer([x], optimizer)
    seen = []
    for batch in (4, 1):
        kit.backward(mx, (x, 1.0))
        trainer.step(batch)
        seen.append((optimizer.rescale_grad, kit.value(x)))
    check.equal(seen, [(0.5, -0.5), (2.0, -2.5)], "rescale_grad and weight after step(4) and step(1)")


@case("OPT-COMMON-020", samples=names.each(names=("sgd", "nag", "adam", "ftml", "ftrl", "lamb", "rmsprop", "signum")))
def clipping_at_zero_is_no_clipping(mx, check, name):
    unclipped = drive.weights(mx, name, {"learning_rate": 0.1}, [3.0], [[4.0]])[0]
    check.that(bool(0.5 < unclipped[0] < 2.95), "an update without clipping moves the weight down", got=unclipped)
    at_zero = drive.weights(mx, name, {"learning_rate": 0.1, "clip_gradient": 0}, [3.0], [[4.0]])[0]
    check.equal(at_zero, unclipped, "weight after an update with clip_gradient=0")


@case("OPT-COMMON-021", samples=names.each(names=names.ALL))
def gradient_stays_as_it_was(mx, check, name):
    kept_gradient(mx, check, name, {"learning_rate": 0.1, "wd": 0.0 if name == "groupadagrad" else 0.5})


@case("OPT-COMMON-021", samples=names.each(names=("sgd", "nag", "adam", "adamw", "ftrl", "lamb", "lans", "rmsprop")))
def gradient_stays_as_it_was_without_fused_step(mx, check, name):
    kept_gradient(mx, check, name, {"learning_rate": 0.1, "wd": 0.5, "use_fused_step": False})


def kept_gradient(mx, check, name, options):
    x = kit.parameter(mx, value=1.0, shape=names.shape_for(name))
    trainer = kit.trainer(mx, [x], name, options)
    kit.backward(mx, (x, 4.0))
    trainer.step(2)
    check.that(kit.value(x) != 1.0, "the weight moved", got=kit.value(x))
    check.equal(float(kit.gradient(x).reshape(-1)[0]), 4.0, "gradient after step(2)")


MOMENTS = {"beta1": 0.9, "beta2": 0.999}
DEFAULTS = {
    "sgd": {"momentum": 0.0}, "nag": {"momentum": 0.9}, "adam": dict(MOMENTS, epsilon=1e-8),
    "adamw": dict(MOMENTS, epsilon=1e-6), "adabelief": dict(MOMENTS, epsilon=1e-6), "lamb": dict(MOMENTS, epsilon=1e-6),
    "lans": dict(MOMENTS, epsilon=1e-6), "nadam": dict(MOMENTS, epsilon=1e-8), "adamax": dict(MOMENTS, epsilon=1e-8),
    "adagrad": {"epsilon": 1e-6}, "adadelta": {"epsilon": 1e-6, "rho": 0.9},
    "rmsprop": {"epsilon": 1e-8, "rho": 0.9, "momentum": 0.9}, "ftml": {"beta1": 0.6, "beta2": 0.999, "epsilon": 1e-8},
    "ftrl": {"lamda1": 0.01, "beta": 1.0}, "signum": {"momentum": 0.9, "wd_lh": 0.0},
    "dcasgd": {"momentum": 0.0, "lamda": 0.04}, "lars": {"momentum": 0.0, "eta": 0.001, "epsilon": 1e-8}}


@case("OPT-DEFAULTS-001", samples={name: {"name": name, "wanted": wanted} for name, wanted in DEFAULTS.items()})
def default_of(mx, check, name, wanted):
    made = mx.optimizer.create(name)
    check.equal({key: getattr(made, key, "no such attribute") for key in wanted}, wanted, "defaults of %s" % name)


@case("OPT-DEFAULTS-001", samples={name: {"name": name, "wanted": wanted} for name, wanted in DEFAULTS.items()})
def default_can_be_given(mx, check, name, wanted):
    for key, default in wanted.items():
        given = default / 2 + 0.125
        made = mx.optimizer.create(name, **{key: given})
        check.equal(getattr(made, key, "no such attribute"), given, "%s of %s that was given" % (key, name))
