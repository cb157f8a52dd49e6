"""OPT-ADAM, OPT-ADAMW, OPT-ADAMAX, OPT-NADAM, OPT-ADABELIEF: optimizers with running moments."""

import numpy as np

from conformance.case import case
from conformance.suite import kit
from conformance.suite.optimizer import drive


def corrected(o, t, beta1, beta2):
    """The rate with Adam's bias correction."""
    return o.lr * np.sqrt(1 - beta2 ** t) / (1 - beta1 ** t)


def adam(weight, gradients, o):
    beta1, beta2, epsilon = o("beta1", 0.9), o("beta2", 0.999), o("epsilon", 1e-8)
    mean = variance = 0.0
    for t, gradient in enumerate(gradients, 1):
        g = o.decayed(gradient, weight)
        mean = beta1 * mean + (1 - beta1) * g
        variance = beta2 * variance + (1 - beta2) * g * g
        weight = weight - corrected(o, t, beta1, beta2) * mean / (np.sqrt(variance) + epsilon)
        yield weight


def adamw(weight, gradients, o):
    beta1, beta2, epsilon = o("beta1", 0.9), o("beta2", 0.999), o("epsilon", 1e-6)
    mean = variance = 0.0
    for t, gradient in enumerate(gradients, 1):
        g = o.scaled(gradient)
        mean = beta1 * mean + (1 - beta1) * g
        variance = beta2 * variance + (1 - beta2) * g * g
        rate = corrected(o, t, beta1, beta2) if o("correct_bias", True) else o.lr
        if o("use_fused_step", True):
            weight = weight - rate * (mean / (np.sqrt(variance) + epsilon) + o.wd * weight)
        else:
            weight = weight - rate * mean / (np.sqrt(variance) + epsilon)
            weight = weight - rate * o.wd * weight
        yield weight


def adamax(weight, gradients, o):
    beta1, beta2, epsilon = o("beta1", 0.9), o("beta2", 0.999), o("epsilon", 1e-8)
    mean = largest = 0.0
    for t, gradient in enumerate(gradients, 1):
        g = o.decayed(gradient, weight)
        mean = beta1 * mean + (1 - beta1) * g
        largest = np.maximum(beta2 * largest, np.abs(g))
        weight = weight - o.lr / (1 - beta1 ** t) * mean / (largest + epsilon)
        yield weight


def nadam(weight, gradients, o):
    beta1, beta2, epsilon = o("beta1", 0.9), o("beta2", 0.999), o("epsilon", 1e-8)
    decay = o("schedule_decay", 0.004)
    mean, variance, product = 0.0, 0.0, 1.0
    for t, gradient in enumerate(gradients, 1):
        g = o.decayed(gradient, weight)
        now = beta1 * (1 - 0.5 * 0.96 ** (t * decay))
        following = beta1 * (1 - 0.5 * 0.96 ** ((t + 1) * decay))
        product = product * now
        mean = beta1 * mean + (1 - beta1) * g
        variance = beta2 * variance + (1 - beta2) * g * g
        step = (1 - now) * g / (1 - product) + following * mean / (1 - product * following)
        weight = weight - o.lr * step / (np.sqrt(variance / (1 - beta2 ** t)) + epsilon)
        yield weight


def adabelief(weight, gradients, o):
    beta1, beta2, epsilon = o("beta1", 0.9), o("beta2", 0.999), o("epsilon", 1e-6)
    mean = spread = 0.0
    for t, gradient in enumerate(gradients, 1):
        g = o.rescale * gradient + o.wd * weight
        if o.clip is not None:
            g = np.clip(g, -o.clip, o.clip)
        mean = beta1 * mean + (1 - beta1) * g
        spread = beta2 * spread + (1 - beta2) * (g - mean) ** 2 + epsilon
        weight = weight - corrected(o, t, beta1, beta2) * mean / (np.sqrt(spread) + epsilon)
        yield weight


@case("OPT-ADAM-001", samples=drive.two_updates(
    plain=([0.899999, -1.899999, 2.899999], [0.873366, -1.873366, 2.806781]),
    full=([0.899999, -1.899999, 2.899999], [0.869144, -1.868991, 2.803493])))
def adam_two_updates(mx, check, options, literal):
    drive.check_two_updates(mx, check, "adam", adam, options, literal)


@case("OPT-ADAM-001", samples={
    "betas": {"options": drive.random_options(beta1=0.7, beta2=0.9)},
    "epsilon": {"options": {"learning_rate": 0.05, "epsilon": 0.1}},
    "decay": {"options": {"learning_rate": 0.05, "wd": 0.5}}})
def adam_follows_the_formula(mx, check, options):
    drive.check_formula(mx, check, "adam", adam, options)


@case("OPT-ADAMW-001", samples=drive.two_updates(
    plain=([0.900006, -1.900002, 2.900001], [0.873373, -1.873369, 2.806784]),
    full=([0.899696, -1.899373, 2.899053], [0.872853, -1.872294, 2.802107])))
def adamw_two_updates(mx, check, options, literal):
    drive.check_two_updates(mx, check, "adamw", adamw, options, literal)


@case("OPT-ADAMW-001")
def adamw_follows_the_formula(mx, check):
    drive.check_formula(mx, check, "adamw", adamw, drive.random_options(wd=0.5, beta1=0.7, beta2=0.9))


@case("OPT-ADAMW-002", samples=drive.two_updates(
    plain=([0.68379, -1.68378, 2.683775], [0.570613, -1.5706, 2.28764]),
    full=([0.68281, -1.68179, 2.680779], [0.568957, -1.566932, 2.269013]), correct_bias=False))
def adamw_without_correction_two_updates(mx, check, options, literal):
    drive.check_two_updates(mx, check, "adamw", adamw, options, literal)


@case("OPT-ADAMW-003", samples=drive.two_updates(
    plain=([0.900006, -1.900003, 2.900002], [0.873374, -1.87337, 2.806785]),
    full=([0.899728, -1.899405, 2.899087], [0.872892, -1.872333, 2.802165]), use_fused_step=False))
def adamw_unfused_two_updates(mx, check, options, literal):
    drive.check_two_updates(mx, check, "adamw", adamw, options, literal)


@case("OPT-ADAMAX-001", samples=drive.two_updates(
    plain=([0.9, -1.9, 2.9], [0.878926, -1.878926, 2.826242]),
    full=([0.9, -1.9, 2.9], [0.876089, -1.875988, 2.819006])))
def adamax_two_updates(mx, check, options, literal):
    drive.check_two_updates(mx, check, "adamax", adamax, options, literal)


@case("OPT-ADAMAX-001")
def adamax_follows_the_formula(mx, check):
    drive.check_formula(mx, check, "adamax", adamax, drive.random_options(wd=0.3, beta1=0.7, beta2=0.9))


@case("OPT-ADAMAX-001")
def adamax_survives_a_zero_gradient(mx, check):
    seen = drive.weights(mx, "adamax", {"learning_rate": 0.1}, [1.0, 2.0], [[0.0, 1.0]])
    check.close(seen[0], [1.0, 1.9], "weight after an update with a gradient of 0 and one of 1")


@case("OPT-NADAM-001", samples=drive.two_updates(
    plain=([0.894355, -1.894355, 2.894355], [0.935466, -1.935466, 2.841963]),
    full=([0.894355, -1.894355, 2.894355], [0.931208, -1.931042, 2.832857])))
def nadam_two_updates(mx, check, options, literal):
    drive.check_two_updates(mx, check, "nadam", nadam, options, literal)


@case("OPT-NADAM-001")
def nadam_follows_the_formula(mx, check):
    options = drive.random_options(wd=0.3, beta1=0.7, beta2=0.9, schedule_decay=1.5)
    drive.check_formula(mx, check, "nadam", nadam, options)


@case("OPT-NADAM-002")
def nadam_one_parameter(mx, check):
    seen = drive.weights(mx, "nadam", {"learning_rate": 0.1}, [1.0], [[1.0], [1.0]])
    check.close(seen[1], [0.815986], "weight of a lone parameter after two updates")


@case("OPT-NADAM-002")
def nadam_two_equal_parameters_differ(mx, check):
    update = drive.updater(mx, "nadam", {"learning_rate": 0.1})
    first, second, gradient = kit.array(mx, [1.0]), kit.array(mx, [1.0]), kit.array(mx, [1.0])
    for _ in range(2):
        update(0, gradient, first)
        update(1, gradient, second)
    check.close(first, [0.824932], "weight of the first of two equal parameters after two updates")
    check.close(second, [0.860031], "weight of the second")


@case("OPT-NADAM-002")
def nadam_replicas_differ(mx, check):
    x = kit.parameter(mx, ctx=kit.devices(mx, 2))
    trainer = kit.trainer(mx, [x], "nadam", {"learning_rate": 0.1}, update_on_kvstore=False)
    for _ in range(2):
        kit.backward(mx, (x, 1.0))
        trainer.step(2)
    check.close(kit.values(x), [-0.175068, -0.139969], "weights of the replicas after two steps", rtol=2e-5)


@case("OPT-ADABELIEF-001", samples=drive.two_updates(
    plain=([0.889168, -1.888959, 2.888906], [0.860901, -1.860615, 2.781413]),
    full=([0.889903, -1.889147, 2.888999], [0.857447, -1.856171, 2.776557])))
def adabelief_two_updates(mx, check, options, literal):
    drive.check_two_updates(mx, check, "adabelief", adabelief, options, literal)


@case("OPT-ADABELIEF-001")
def adabelief_follows_the_formula(mx, check):
    drive.check_formula(mx, check, "adabelief", adabelief, drive.random_options(wd=0.3, beta1=0.7, beta2=0.9))
