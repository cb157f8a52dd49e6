"""OPT-SIGNUM, OPT-SGLD: the sign of the gradient, and gradients with noise."""

import numpy as np

from conformance.case import case
from conformance.suite import kit
from conformance.suite.optimizer import drive


def signum(weight, gradients, o):
    momentum, decoupled, state = o("momentum", 0.9), o("wd_lh", 0.0), 0.0
    for gradient in gradients:
        state = momentum * state - (1 - momentum) * o.decayed(gradient, weight)
        weight = (1 - o.lr * decoupled) * weight + o.lr * np.sign(state)
        yield weight


def sign_sgd(weight, gradients, o):
    for gradient in gradients:
        weight = (1 - o.lr * (o.wd + o("wd_lh", 0.0))) * weight - o.lr * np.sign(gradient)
        yield weight


@case("OPT-SIGNUM-001", samples=drive.two_updates(
    plain=([0.9, -1.9, 2.9], [0.8, -1.8, 2.8]), full=([0.9, -1.9, 2.9], [0.8, -1.8, 2.8])))
def signum_two_updates(mx, check, options, literal):
    drive.check_two_updates(mx, check, "signum", signum, options, literal)


@case("OPT-SIGNUM-001", samples={
    "all": {"options": drive.random_options(wd=0.3)},
    "momentum": {"options": drive.random_options(momentum=0.5)},
    "decay": {"options": {"learning_rate": 0.1, "wd": 1.5}}})
def signum_follows_the_formula(mx, check, options):
    drive.check_formula(mx, check, "signum", signum, options)


@case("OPT-SIGNUM-002", samples=drive.two_updates(
    plain=([0.89, -1.88, 2.87], [0.7811, -1.7612, 2.7413]),
    full=([0.89, -1.88, 2.87], [0.7811, -1.7612, 2.7413]), wd_lh=0.1))
def signum_decoupled_decay_two_updates(mx, check, options, literal):
    drive.check_two_updates(mx, check, "signum", signum, options, literal)


@case("OPT-SIGNUM-003", samples=drive.two_updates(
    plain=([0.9, -1.9, 2.9], [1.0, -2.0, 2.8]),
    full=([0.899, -1.898, 2.897], [0.998101, -1.996102, 2.794103]), momentum=0.0))
def sign_sgd_two_updates(mx, check, options, literal):
    drive.check_two_updates(mx, check, "signum", sign_sgd, options, literal)


@case("OPT-SIGNUM-003")
def sign_sgd_adds_both_decays(mx, check):
    options = drive.random_options(momentum=0.0, wd=0.2, wd_lh=0.5)
    drive.check_formula(mx, check, "signum", sign_sgd, options)


@case("OPT-SGLD-001")
def sgld_mean_and_spread(mx, check):
    options = {"learning_rate": 0.04, "wd": 0.5, "rescale_grad": 0.5}
    update = drive.updater(mx, "sgld", options)
    weight = kit.array(mx, np.full(200000, 2.0))
    update(0, kit.array(mx, np.full(200000, 3.0)), weight)
    moved = weight.asnumpy().astype("float64")
    # The mean of 200000 samples has a standard error of 0.00045, their standard deviation one of 0.0003.
    check.close(moved.mean(), 1.95, "mean of the weights: 2 - 0.02*(1.5 + 0.5*2)", rtol=0, atol=0.003)
    check.close(moved.std(), 0.2, "standard deviation of the weights: sqrt(0.04)", rtol=0, atol=0.002)


@case("OPT-SGLD-001")
def sgld_clips_before_the_decay(mx, check):
    options = {"learning_rate": 0.04, "wd": 0.5, "rescale_grad": 0.5, "clip_gradient": 1.0}
    update = drive.updater(mx, "sgld", options)
    weight = kit.array(mx, np.full(200000, 2.0))
    update(0, kit.array(mx, np.full(200000, 3.0)), weight)
    moved = weight.asnumpy().astype("float64")
    check.close(moved.mean(), 1.96, "mean of the weights: 2 - 0.02*(1 + 0.5*2)", rtol=0, atol=0.003)


@case("OPT-SGLD-001")
def sgld_noise_is_normal_and_independent(mx, check):
    update = drive.updater(mx, "sgld", {"learning_rate": 1.0})
    weight = kit.array(mx, np.zeros(200000))
    update(0, kit.array(mx, np.zeros(200000)), weight)
    noise = weight.asnumpy().astype("float64")
    check.close((np.abs(noise) < 1.0).mean(), 0.6827, "share within one standard deviation", rtol=0, atol=0.006)
    check.close((noise[:-1] * noise[1:]).mean(), 0.0, "correlation of neighbours", rtol=0, atol=0.015)
