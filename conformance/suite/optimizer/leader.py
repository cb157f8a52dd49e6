"""OPT-FTRL, OPT-FTML: follow the regularised and the moving leader."""

import numpy as np

from conformance.case import case
from conformance.suite.optimizer import drive


def ftrl(weight, gradients, o):
    lamda1, beta = o("lamda1", 0.01), o("beta", 1.0)
    z = n = 0.0
    for gradient in gradients:
        g = o.scaled(gradient)
        z = z + g - (np.sqrt(n + g * g) - np.sqrt(n)) * weight / o.lr
        n = n + g * g
        weight = -np.sign(z) * np.maximum(np.abs(z) - lamda1, 0) / ((beta + np.sqrt(n)) / o.lr + o.wd)
        yield weight


def ftml(weight, gradients, o):
    beta1, beta2, epsilon = o("beta1", 0.6), o("beta2", 0.999), o("epsilon", 1e-8)
    v = z = previous = 0.0
    for t, gradient in enumerate(gradients, 1):
        g = o.decayed(gradient, weight)
        v = beta2 * v + (1 - beta2) * g * g
        d = (1 - beta1 ** t) / o.lr * (np.sqrt(v / (1 - beta2 ** t)) + epsilon)
        z = beta1 * z + (1 - beta1) * g - (d - beta1 * previous) * weight
        weight, previous = -z / d, d
        yield weight


@case("OPT-FTRL-001", samples=drive.two_updates(
    plain=([0.299333, -0.9495, 1.933], [0.315369, -0.973107, 1.902098]),
    full=([0.179057, -0.632245, 1.287618], [0.188818, -0.648271, 1.261903])))
def ftrl_two_updates(mx, check, options, literal):
    drive.check_two_updates(mx, check, "ftrl", ftrl, options, literal)


@case("OPT-FTRL-001")
def ftrl_follows_the_formula(mx, check):
    drive.check_formula(mx, check, "ftrl", ftrl, drive.random_options(lamda1=0.2, beta=0.5, wd=0.7))


@case("OPT-FTRL-001")
def ftrl_sets_small_weights_to_zero(mx, check):
    options = {"learning_rate": 0.1, "lamda1": 10.0}
    seen = drive.weights(mx, "ftrl", options, [0.1, 5.0], [[1.0, 1.0]])
    # z = 1 - 1*w/0.1 is 0 and -49; the second gives 39/((1+1)/0.1).
    check.close(seen[0], [0.0, 1.95], "weight after one update")


@case("OPT-FTML-001", samples=drive.two_updates(
    plain=([0.9, -1.9, 2.9], [0.939534, -1.939534, 2.860466]),
    full=([0.9, -1.9, 2.9], [0.936019, -1.935889, 2.852489])))
def ftml_two_updates(mx, check, options, literal):
    drive.check_two_updates(mx, check, "ftml", ftml, options, literal)


@case("OPT-FTML-001")
def ftml_follows_the_formula(mx, check):
    drive.check_formula(mx, check, "ftml", ftml, drive.random_options(beta1=0.8, beta2=0.9, wd=0.3))
