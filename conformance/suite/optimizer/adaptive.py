"""OPT-ADAGRAD, OPT-GROUPADAGRAD, OPT-RMSPROP, OPT-ADADELTA: rates that follow the size of the gradients."""

import numpy as np

from conformance.case import case
from conformance.suite import kit
from conformance.suite.optimizer import drive


def adagrad(weight, gradients, o):
    history, epsilon = 0.0, o("epsilon", 1e-6)
    for gradient in gradients:
        g = o.decayed(gradient, weight)
        history = history + g * g
        weight = weight - o.lr * g / (np.sqrt(history) + epsilon)
        yield weight


def rmsprop(weight, gradients, o):
    rho, epsilon, n = o("rho", 0.9), o("epsilon", 1e-8), 0.0
    for gradient in gradients:
        g = o.decayed(gradient, weight)
        n = (1 - rho) * g * g + rho * n
        weight = weight - o.lr * g / (np.sqrt(n) + epsilon)
        limit = o("clip_weights", None)
        weight = weight if limit is None else np.clip(weight, -limit, limit)
        yield weight


def centered_rmsprop(weight, gradients, o):
    rho, momentum, epsilon = o("rho", 0.9), o("momentum", 0.9), o("epsilon", 1e-8)
    n = a = d = 0.0
    for gradient in gradients:
        g = o.decayed(gradient, weight)
        n = (1 - rho) * g * g + rho * n
        a = (1 - rho) * g + rho * a
        d = momentum * d - o.lr * g / np.sqrt(n - a * a + epsilon)
        weight = weight + d
        yield weight


def adadelta(weight, gradients, o):
    rho, epsilon = o("rho", 0.9), o("epsilon", 1e-6)
    a = b = 0.0
    for gradient in gradients:
        g = o.decayed(gradient, weight)
        a = rho * a + (1 - rho) * g * g
        d = np.sqrt(b + epsilon) / np.sqrt(a + epsilon) * g
        b = rho * b + (1 - rho) * d * d
        weight = weight - o.lr * d
        yield weight


def groupadagrad(weight, gradients, o):
    history, epsilon = 0.0, o("epsilon", 1e-6)
    for gradient in gradients:
        g = o.scaled(gradient)
        history = history + np.mean(g * g, axis=1, keepdims=True)
        weight = weight - o.lr * g / (np.sqrt(history) + epsilon)
        yield weight


@case("OPT-ADAGRAD-001", samples=drive.two_updates(
    plain=([0.9, -1.9, 2.9], [0.944722, -1.944721, 2.855279]),
    full=([0.9, -1.9, 2.9], [0.940744, -1.940598, 2.846253])))
def adagrad_two_updates(mx, check, options, literal):
    drive.check_two_updates(mx, check, "adagrad", adagrad, options, literal)


@case("OPT-ADAGRAD-001", samples={"all": {"options": drive.random_options(wd=0.3)},
                                  "epsilon": {"options": {"learning_rate": 0.1, "epsilon": 0.5}}})
def adagrad_follows_the_formula(mx, check, options):
    drive.check_formula(mx, check, "adagrad", adagrad, options)


@case("OPT-RMSPROP-001", samples=drive.two_updates(
    plain=([0.683772, -1.683772, 2.683772], [0.831214, -1.831214, 2.53633]),
    full=([0.683772, -1.683772, 2.683772], [0.820395, -1.818902, 2.507922])))
def rmsprop_two_updates(mx, check, options, literal):
    drive.check_two_updates(mx, check, "rmsprop", rmsprop, options, literal)


@case("OPT-RMSPROP-001", samples={"rho": {"options": drive.random_options(wd=0.3, rho=0.6)},
                                  "epsilon": {"options": {"learning_rate": 0.05, "epsilon": 0.5}}})
def rmsprop_follows_the_formula(mx, check, options):
    drive.check_formula(mx, check, "rmsprop", rmsprop, options)


@case("OPT-RMSPROP-002", samples=drive.two_updates(
    plain=([0.666667, -1.666667, 2.666667], [0.515145, -1.515145, 2.204786]),
    full=([0.666667, -1.666667, 2.666667], [0.504689, -1.503145, 2.172425]), centered=True))
def centered_rmsprop_two_updates(mx, check, options, literal):
    drive.check_two_updates(mx, check, "rmsprop", centered_rmsprop, options, literal)


@case("OPT-RMSPROP-002")
def centered_rmsprop_follows_the_formula(mx, check):
    options = drive.random_options(centered=True, wd=0.3, rho=0.6, momentum=0.5, epsilon=0.01)
    drive.check_formula(mx, check, "rmsprop", centered_rmsprop, options)


@case("OPT-RMSPROP-003", samples=drive.two_updates(
    plain=([0.683772, -1.5, 1.5], [0.831214, -1.5, 1.352558]), clip_weights=1.5))
def rmsprop_clips_weights(mx, check, options, literal):
    drive.check_two_updates(mx, check, "rmsprop", rmsprop, options, literal)


@case("OPT-RMSPROP-003")
def centered_rmsprop_clips_weights(mx, check):
    options = {"learning_rate": 0.1, "centered": True, "clip_weights": 1.5}
    first = drive.weights(mx, "rmsprop", options)[0]
    check.close(first, [0.666667, -1.5, 1.5], "weight after one update", rtol=1e-5)


@case("OPT-ADADELTA-001", samples=drive.two_updates(
    plain=([0.999684, -1.999684, 2.999684], [0.999892, -1.999892, 2.999475]),
    full=([0.999684, -1.999684, 2.999684], [0.999873, -1.999873, 2.999434])))
def adadelta_two_updates(mx, check, options, literal):
    drive.check_two_updates(mx, check, "adadelta", adadelta, options, literal)


@case("OPT-ADADELTA-001")
def adadelta_follows_the_formula(mx, check):
    options = drive.random_options(learning_rate=2.0, wd=0.3, rho=0.6, epsilon=0.01)
    drive.check_formula(mx, check, "adadelta", adadelta, options)


@case("OPT-GROUPADAGRAD-001")
def groupadagrad_shares_the_history_of_a_row(mx, check):
    update = drive.updater(mx, "groupadagrad", {"learning_rate": 0.1})
    weight = kit.array(mx, [[1.0, 2.0], [3.0, 4.0]])
    for _ in range(2):
        update(0, kit.array(mx, [[0.5, -1.0], [2.0, 0.0]]), weight)
    check.close(weight, [[0.892033, 2.215934], [2.758579, 4.0]], "weight after two updates")
    state = update.states[0]
    check.shape(state[0] if isinstance(state, (list, tuple)) else state, (2, 1), "shape of the state")


@case("OPT-GROUPADAGRAD-001", samples={
    "default": {"options": {"learning_rate": 0.1, "clip_gradient": 0.9, "rescale_grad": 0.5}},
    "epsilon": {"options": {"learning_rate": 0.1, "epsilon": 0.5}}})
def groupadagrad_follows_the_formula(mx, check, options):
    drive.check_formula(mx, check, "groupadagrad", groupadagrad, options)


@case("OPT-GROUPADAGRAD-001")
def groupadagrad_refuses_weight_decay(mx, check):
    update = drive.updater(mx, "groupadagrad", {"learning_rate": 0.1, "wd": 0.5})
    weight = kit.array(mx, [[1.0, 2.0]])
    check.raises(AssertionError, "Weight decay is not supported for GroupAdaGrad",
                 update, 0, kit.array(mx, [[0.5, -1.0]]), weight)
    check.equal(weight, [[1.0, 2.0]], "weight afterwards")


@case("OPT-GROUPADAGRAD-001")
def groupadagrad_refuses_a_vector(mx, check):
    update = drive.updater(mx, "groupadagrad", {"learning_rate": 0.1})
    weight = kit.array(mx, [1.0, 2.0])
    check.raises(AssertionError, update, 0, kit.array(mx, [0.5, -1.0]), weight)
    check.equal(weight, [1.0, 2.0], "weight afterwards")
