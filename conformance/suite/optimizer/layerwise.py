"""OPT-LAMB, OPT-LANS, OPT-LARS: rates scaled by the norms of weight and update."""

import numpy as np

from conformance.case import case
from conformance.suite import kit
from conformance.suite.optimizer import drive


def bounded(norm, o):
    """A norm within lower_bound and upper_bound, if they are given."""
    if o("lower_bound", None) is not None:
        norm = max(norm, o("lower_bound", None))
    if o("upper_bound", None) is not None:
        norm = min(norm, o("upper_bound", None))
    return norm


def trust(weight, update, o):
    over, under = bounded(np.linalg.norm(weight), o), np.linalg.norm(update)
    return over / under if over and under else 1.0


def lamb(weight, gradients, o):
    beta1, beta2, epsilon = o("beta1", 0.9), o("beta2", 0.999), o("epsilon", 1e-6)
    mean = variance = 0.0
    for t, gradient in enumerate(gradients, 1):
        g = o.scaled(gradient)
        mean = beta1 * mean + (1 - beta1) * g
        variance = beta2 * variance + (1 - beta2) * g * g
        correct = o("bias_correction", True)
        first = mean / (1 - beta1 ** t) if correct else mean
        second = variance / (1 - beta2 ** t) if correct else variance
        update = first / (np.sqrt(second) + epsilon) + o.wd * weight
        weight = weight - o.lr * trust(weight, update, o) * update
        yield weight


def lans(weight, gradients, o):
    beta1, beta2, epsilon = o("beta1", 0.9), o("beta2", 0.999), o("epsilon", 1e-6)
    mean = variance = 0.0
    for t, gradient in enumerate(gradients, 1):
        g = o.rescale * gradient
        g = g / np.linalg.norm(g)
        g = g if o.clip is None else np.clip(g, -o.clip, o.clip)
        mean = beta1 * mean + (1 - beta1) * g
        variance = beta2 * variance + (1 - beta2) * g * g
        root = np.sqrt(variance / (1 - beta2 ** t)) + epsilon
        first = mean / (1 - beta1 ** t) / root + o.wd * weight
        if o("use_fused_step", True):
            second = g / root + o.wd * weight
            weight = weight - o.lr * (beta1 * trust(weight, first, o) * first
                                      + (1 - beta1) * trust(weight, second, o) * second)
        else:
            before = weight
            weight = weight - o.lr * beta1 * trust(before, first, o) * first
            second = g / root + o.wd * weight
            weight = weight - o.lr * (1 - beta1) * trust(before, second, o) * second
        yield weight


def lars(weight, gradients, o):
    momentum, eta, state = o("momentum", 0.0), o("eta", 0.001), 0.0
    for gradient in gradients:
        norm, size = np.linalg.norm(weight), np.linalg.norm(o.rescale * gradient)
        ratio = eta * norm / (size + o.wd * norm + 1e-8) if norm > 0 and size > 0 else 1.0
        state = momentum * state - o.lr * ratio * o.decayed(gradient, weight)
        weight = weight + state
        yield weight


LAMB_PLAIN = ([0.783975, -1.783975, 2.783975], [0.693955, -1.693955, 2.468904])
LAMB_FULL = ([0.7861, -1.783982, 2.781864], [0.698748, -1.693451, 2.466322])


@case("OPT-LAMB-001", samples=drive.two_updates(LAMB_PLAIN, LAMB_FULL))
def lamb_two_updates(mx, check, options, literal):
    drive.check_two_updates(mx, check, "lamb", lamb, options, literal)


@case("OPT-LAMB-001")
def lamb_follows_the_formula(mx, check):
    drive.check_formula(mx, check, "lamb", lamb, drive.random_options(wd=0.3, beta1=0.7, beta2=0.9, epsilon=1e-3))


@case("OPT-LAMB-001")
def lamb_without_any_update(mx, check):
    options = {"learning_rate": 0.1}
    seen = drive.weights(mx, "lamb", options, [1.0, 2.0], [[0.0, 0.0], [1.0, 1.0]])
    check.equal(seen[0], [1.0, 2.0], "weight after an update with a gradient of 0")
    wanted = drive.expected_weights(lamb, options, [1.0, 2.0], [[0.0, 0.0], [1.0, 1.0]])
    check.close(seen[1], wanted[1], "weight after the next update", rtol=1e-4)


@case("OPT-LAMB-002", samples=drive.two_updates(
    plain=([0.783981, -1.783974, 2.783971], [0.693964, -1.693955, 2.468899]),
    full=([0.784666, -1.783973, 2.783289], [0.69717, -1.695706, 2.467057]), bias_correction=False))
def lamb_without_correction_two_updates(mx, check, options, literal):
    drive.check_two_updates(mx, check, "lamb", lamb, options, literal)


@case("OPT-LAMB-003", samples=drive.two_updates(
    plain=([0.711325, -1.711325, 2.711325], [0.578872, -1.578872, 2.247738]),
    full=([0.714165, -1.711334, 2.708504], [0.5858, -1.578289, 2.243938]), lower_bound=5.0))
def lamb_lower_bound_two_updates(mx, check, options, literal):
    drive.check_two_updates(mx, check, "lamb", lamb, options, literal)


@case("OPT-LAMB-003")
def lamb_lower_bound_below_the_norm(mx, check):
    options = dict(drive.FULL, lower_bound=0.5)
    drive.check_two_updates(mx, check, "lamb", lamb, options, LAMB_FULL)


@case("OPT-LAMB-004", samples=drive.two_updates(
    plain=([0.942265, -1.942265, 2.942265], [0.915774, -1.915774, 2.849548]),
    full=([0.942833, -1.942267, 2.941701], [0.917027, -1.915526, 2.848862]), upper_bound=1.0))
def lamb_upper_bound_two_updates(mx, check, options, literal):
    drive.check_two_updates(mx, check, "lamb", lamb, options, literal)


@case("OPT-LAMB-004")
def lamb_upper_bound_above_the_norm(mx, check):
    options = dict(drive.FULL, upper_bound=50.0)
    drive.check_two_updates(mx, check, "lamb", lamb, options, LAMB_FULL)


@case("OPT-LAMB-005", samples=drive.two_updates(LAMB_PLAIN, LAMB_FULL, aggregate_num=1))
def lamb_one_by_one_two_updates(mx, check, options, literal):
    drive.check_two_updates(mx, check, "lamb", lamb, options, literal)


@case("OPT-LAMB-005")
def lamb_one_by_one_counts_each_update_once(mx, check):
    optimizer = mx.optimizer.create("lamb", aggregate_num=1)
    update, weight = mx.optimizer.get_updater(optimizer), kit.array(mx, [1.0, 2.0])
    counts = []
    for _ in range(2):
        update(0, kit.array(mx, [1.0, 1.0]), weight)
        counts.append(optimizer.num_update)
    check.equal(counts, [1, 2], "num_update after each of two updates")


@case("OPT-LAMB-006")
def lamb_zero_weight(mx, check):
    seen = drive.weights(mx, "lamb", {"learning_rate": 0.1}, [0.0, 0.0], [[1.0, -2.0]])
    check.close(seen[0], [-0.1, 0.1], "weight after one update of a zero weight", rtol=1e-5)


@case("OPT-LARS-001", samples=drive.two_updates(
    plain=([0.999918, -1.999837, 2.999673], [0.999927, -1.999853, 2.999053]),
    full=([0.999918, -1.999835, 2.999738], [0.999914, -1.999828, 2.999176]), momentum=0.9))
def lars_two_updates(mx, check, options, literal):
    drive.check_two_updates(mx, check, "lars", lars, options, literal)


@case("OPT-LARS-001", samples={
    "plain": {"options": {"learning_rate": 0.5, "eta": 0.5}},
    "momentum": {"options": {"learning_rate": 0.5, "eta": 0.5, "momentum": 0.7}},
    "decay": {"options": {"learning_rate": 0.5, "eta": 0.5, "wd": 0.6}},
    "norm_before_clipping": {"options": {"learning_rate": 0.5, "eta": 0.5, "clip_gradient": 0.7}}})
def lars_follows_the_formula(mx, check, options):
    drive.check_formula(mx, check, "lars", lars, options)


@case("OPT-LARS-002")
def lars_zero_weight(mx, check):
    seen = drive.weights(mx, "lars", {"learning_rate": 0.1}, [0.0, 0.0], [[1.0, 1.0]])
    check.close(seen[0], [-0.1, -0.1], "weight after one update of a zero weight")


@case("OPT-LARS-002")
def lars_zero_gradient(mx, check):
    seen = drive.weights(mx, "lars", {"learning_rate": 0.1, "wd": 0.1}, [1.0], [[0.0]])
    check.close(seen[0], [0.99], "weight after one update with a zero gradient: 1 - 0.1*0.1*1")


@case("OPT-LARS-002", samples={
    "a_weight": {"name": "a_weight", "wanted": [2.9997, 3.9996]},
    "a_bias": {"name": "a_bias", "wanted": [2.4, 3.2]},
    "a_gamma": {"name": "a_gamma", "wanted": [2.4, 3.2]},
    "a_beta": {"name": "a_beta", "wanted": [2.4, 3.2]}})
def lars_by_the_name_of_the_parameter(mx, check, name, wanted):
    options = {"learning_rate": 0.1, "param_idx2name": {0: name}}
    seen = drive.weights(mx, "lars", options, [3.0, 4.0], [[6.0, 8.0]])
    check.close(seen[0], wanted, "weight after one update")


@case("OPT-LARS-002")
def lars_in_a_trainer_ignores_names(mx, check):
    bias = kit.parameter(mx, "dense_bias", value=1.0, shape=(2,))
    trainer = kit.trainer(mx, [bias], "lars", {"learning_rate": 0.1})
    kit.backward(mx, (bias, 1.0))
    trainer.step(1)
    check.close(kit.value(bias), 0.9999, "weight of dense_bias after one step: 1 - 0.1*0.001", rtol=1e-6)


@case("OPT-LARS-003", samples={
    "with": {"options": {}, "wanted": [[1.8, 2.4], [0.9, 1.2], [0.405, 0.54]]},
    "without": {"options": {"momentum_correction": False},
                "wanted": [[1.8, 2.4], [0.36, 0.48], [-0.972, -1.296]]}})
def lars_momentum_follows_the_rate(mx, check, options, wanted):
    scheduler = mx.lr_scheduler.FactorScheduler(1, 0.5, base_lr=0.4)
    options = dict({"learning_rate": 0.4, "momentum": 0.9, "eta": 1.0, "lr_scheduler": scheduler}, **options)
    seen = drive.weights(mx, "lars", options, [3.0, 4.0], [[6.0, 8.0]] * 3)
    check.close(seen, wanted, "weight after each of three updates", rtol=1e-5)


LANS_FULL = ([0.7861, -1.783982, 2.781864], [0.818838, -1.81356, 2.456462])


@case("OPT-LANS-001", samples=drive.two_updates(
    ([0.783976, -1.783975, 2.783975], [0.819647, -1.819647, 2.459362]), LANS_FULL))
def lans_two_updates(mx, check, options, literal):
    drive.check_two_updates(mx, check, "lans", lans, options, literal)


@case("OPT-LANS-001")
def lans_follows_the_formula(mx, check):
    options = drive.random_options(wd=0.3, beta1=0.7, beta2=0.9, epsilon=1e-3, clip_gradient=0.2)
    drive.check_formula(mx, check, "lans", lans, options)


@case("OPT-LANS-002")
def lans_fused_and_not_fused_differ_with_decay(mx, check):
    drive.check_two_updates(mx, check, "lans", lans, dict(drive.FULL, use_fused_step=True), LANS_FULL)
    options = dict(drive.FULL, use_fused_step=False)
    unfused = drive.weights(mx, "lans", options)
    check.close(unfused[1], [0.818857, -1.81358, 2.4565], "weight after the second update, not fused", rtol=3e-6)
    check.close(unfused[1], drive.expected_weights(lans, options)[1],
                "weight after the second update, not fused, by the formula", rtol=3e-6)


@case("OPT-LANS-002")
def lans_fused_and_not_fused_agree_without_decay(mx, check):
    drive.check_formula(mx, check, "lans", lans, drive.random_options(wd=0.0, use_fused_step=True))
    drive.check_formula(mx, check, "lans", lans, drive.random_options(wd=0.0, use_fused_step=False))


