"""The optimizers once more, in float64 and straight from their formulas."""

from __future__ import annotations

import math

import numpy as np


def _gradient(g, w, k, clip_decay=False, decay=True):
    g = g * k["rescale"]
    if clip_decay:
        g = g + k["wd"] * w
    if k["clip"] is not None:
        g = np.clip(g, -k["clip"], k["clip"])
    return g + k["wd"] * w if decay and not clip_decay else g


def _norm(x):
    return math.sqrt(float((x * x).sum()))


def sgd(w, g, s, t, lr, k, momentum=0.0):
    s["m"] = momentum * s.get("m", 0.0) - lr * _gradient(g, w, k)
    return w + s["m"]


def nag(w, g, s, t, lr, k, momentum=0.9):
    g = _gradient(g, w, k)
    s["m"] = momentum * s.get("m", 0.0) - lr * g
    return w + momentum * s["m"] - lr * g


def signum(w, g, s, t, lr, k, momentum=0.9, wd_lh=0.0):
    if momentum == 0:
        return (1 - lr * (k["wd"] + wd_lh)) * w - lr * np.sign(g)
    s["m"] = momentum * s.get("m", 0.0) - (1 - momentum) * _gradient(g, w, k)
    return (1 - lr * wd_lh) * w + lr * np.sign(s["m"])


def _moments(g, s, b1, b2):
    s["m"] = b1 * s.get("m", 0.0) + (1 - b1) * g
    s["v"] = b2 * s.get("v", 0.0) + (1 - b2) * g * g
    return s["m"], s["v"]


def _corrected(lr, t, b1, b2):
    return lr * math.sqrt(1 - b2 ** t) / (1 - b1 ** t)


def adam(w, g, s, t, lr, k, beta1=0.9, beta2=0.999, epsilon=1e-8):
    m, v = _moments(_gradient(g, w, k), s, beta1, beta2)
    return w - _corrected(lr, t, beta1, beta2) * m / (np.sqrt(v) + epsilon)


def adamw(w, g, s, t, lr, k, beta1=0.9, beta2=0.999, epsilon=1e-6, correct_bias=True):
    m, v = _moments(_gradient(g, w, k, decay=False), s, beta1, beta2)
    lr = _corrected(lr, t, beta1, beta2) if correct_bias else lr
    return w - lr * (m / (np.sqrt(v) + epsilon) + k["wd"] * w)


def adabelief(w, g, s, t, lr, k, beta1=0.9, beta2=0.999, epsilon=1e-6):
    g = _gradient(g, w, k, clip_decay=True)
    s["m"] = beta1 * s.get("m", 0.0) + (1 - beta1) * g
    s["v"] = beta2 * s.get("v", 0.0) + (1 - beta2) * (g - s["m"]) ** 2 + epsilon
    return w - _corrected(lr, t, beta1, beta2) * s["m"] / (np.sqrt(s["v"]) + epsilon)


def adamax(w, g, s, t, lr, k, beta1=0.9, beta2=0.999, epsilon=1e-8):
    g = _gradient(g, w, k)
    s["m"] = beta1 * s.get("m", 0.0) + (1 - beta1) * g
    s["u"] = np.maximum(beta2 * s.get("u", 0.0), np.abs(g))
    return w - lr / (1 - beta1 ** t) * s["m"] / (s["u"] + epsilon)


def nadam(w, g, s, t, lr, k, beta1=0.9, beta2=0.999, epsilon=1e-8, schedule_decay=0.004):
    m, v = _moments(_gradient(g, w, k), s, beta1, beta2)
    now = beta1 * (1 - 0.5 * 0.96 ** (t * schedule_decay))
    then = beta1 * (1 - 0.5 * 0.96 ** ((t + 1) * schedule_decay))
    s["p"] = s.get("p", 1.0) * now
    mean = (1 - now) * _gradient(g, w, k) / (1 - s["p"]) + then * m / (1 - s["p"] * then)
    return w - lr * mean / (np.sqrt(v / (1 - beta2 ** t)) + epsilon)


def adagrad(w, g, s, t, lr, k, epsilon=1e-6):
    g = _gradient(g, w, k)
    s["h"] = s.get("h", 0.0) + g * g
    return w - lr * g / (np.sqrt(s["h"]) + epsilon)


def rmsprop(w, g, s, t, lr, k, rho=0.9, momentum=0.9, epsilon=1e-8, centered=False, clip_weights=None):
    g = _gradient(g, w, k)
    s["n"] = (1 - rho) * g * g + rho * s.get("n", 0.0)
    if centered:
        s["a"] = (1 - rho) * g + rho * s.get("a", 0.0)
        s["d"] = momentum * s.get("d", 0.0) - lr * g / np.sqrt(s["n"] - s["a"] ** 2 + epsilon)
        w = w + s["d"]
    else:
        w = w - lr * g / (np.sqrt(s["n"]) + epsilon)
    return w if clip_weights is None else np.clip(w, -clip_weights, clip_weights)


def adadelta(w, g, s, t, lr, k, rho=0.9, epsilon=1e-6):
    g = _gradient(g, w, k)
    s["a"] = rho * s.get("a", 0.0) + (1 - rho) * g * g
    d = np.sqrt(s.get("b", 0.0) + epsilon) / np.sqrt(s["a"] + epsilon) * g
    s["b"] = rho * s.get("b", 0.0) + (1 - rho) * d * d
    return w - lr * d


def ftrl(w, g, s, t, lr, k, lamda1=0.01, beta=1.0):
    g = _gradient(g, w, k, decay=False)
    n = s.get("n", np.zeros_like(w))
    s["z"] = s.get("z", 0.0) + g - (np.sqrt(n + g * g) - np.sqrt(n)) * w / lr
    s["n"] = n + g * g
    return -np.sign(s["z"]) * np.maximum(np.abs(s["z"]) - lamda1, 0) / ((beta + np.sqrt(s["n"])) / lr + k["wd"])


def ftml(w, g, s, t, lr, k, beta1=0.6, beta2=0.999, epsilon=1e-8):
    g = _gradient(g, w, k)
    s["v"] = beta2 * s.get("v", 0.0) + (1 - beta2) * g * g
    d = (1 - beta1 ** t) / lr * (np.sqrt(s["v"] / (1 - beta2 ** t)) + epsilon)
    s["z"] = beta1 * s.get("z", 0.0) + (1 - beta1) * g - (d - beta1 * s.get("d", 0.0)) * w
    s["d"] = d
    return -s["z"] / d


def dcasgd(w, g, s, t, lr, k, momentum=0.0, lamda=0.04):
    g = _gradient(g, w, k)
    d = g + lamda * g * g * (w - s.get("previous", w))
    s["previous"] = w
    s["m"] = momentum * s.get("m", 0.0) - lr * d
    return w + s["m"]


def _lamb_parts(g, s, t, k, b1, b2, epsilon, bias_correction):
    m, v = _moments(g, s, b1, b2)
    if bias_correction:
        m, v = m / (1 - b1 ** t), v / (1 - b2 ** t)
    return m, np.sqrt(v) + epsilon


def _ratio(w, u, lower, upper):
    size = _norm(w)
    size = size if lower is None else max(size, lower)
    size = size if upper is None else min(size, upper)
    return size / _norm(u) if size and _norm(u) else 1.0


def lamb(w, g, s, t, lr, k, beta1=0.9, beta2=0.999, epsilon=1e-6, lower_bound=None, upper_bound=None,
         bias_correction=True):
    m, root = _lamb_parts(_gradient(g, w, k, decay=False), s, t, k, beta1, beta2, epsilon, bias_correction)
    u = m / root + k["wd"] * w
    return w - lr * _ratio(w, u, lower_bound, upper_bound) * u


def lans(w, g, s, t, lr, k, beta1=0.9, beta2=0.999, epsilon=1e-6, lower_bound=None, upper_bound=None):
    g = g * k["rescale"] / _norm(g * k["rescale"])
    g = g if k["clip"] is None else np.clip(g, -k["clip"], k["clip"])
    m, root = _lamb_parts(g, s, t, k, beta1, beta2, epsilon, True)
    new = w
    for direction, share in ((m, beta1), (g, 1 - beta1)):
        u = direction / root + k["wd"] * w
        new = new - lr * share * _ratio(w, u, lower_bound, upper_bound) * u
    return new


def lars(w, g, s, t, lr, k, momentum=0.0, eta=0.001, epsilon=1e-8):
    if _norm(w) and _norm(g):
        lr = lr * eta * _norm(w) / (_norm(g * k["rescale"]) + k["wd"] * _norm(w) + epsilon)
    return sgd(w, g, s, t, lr, k, momentum)


def groupadagrad(w, g, s, t, lr, k, epsilon=1e-6):
    g = _gradient(g, w, k, decay=False)
    s["h"] = s.get("h", 0.0) + (g * g).mean(axis=1, keepdims=True)
    return w - lr * g / (np.sqrt(s["h"]) + epsilon)


def test(w, g, s, t, lr, k):
    return w - lr * (k["rescale"] * g + k["wd"] * w)


OPTIONS = {
    "sgd": [{}, {"momentum": 0.9}], "ccsgd": [{"momentum": 0.5}], "lbsgd": [{}, {"momentum": 0.9}],
    "nag": [{}, {"momentum": 0.0}, {"momentum": 0.5}],
    "signum": [{}, {"wd_lh": 0.1}, {"momentum": 0.0}, {"momentum": 0.0, "wd_lh": 0.1}],
    "adam": [{}, {"beta1": 0.5, "beta2": 0.9, "epsilon": 0.1}],
    "adamw": [{}, {"correct_bias": False}, {"beta1": 0.5, "epsilon": 0.1}],
    "adabelief": [{}, {"beta1": 0.5, "epsilon": 0.01}], "adamax": [{}, {"beta1": 0.5}],
    "nadam": [{}, {"schedule_decay": 0.1}], "adagrad": [{}, {"epsilon": 0.1}],
    "rmsprop": [{}, {"centered": True}, {"clip_weights": 1.5}, {"rho": 0.5, "momentum": 0.25, "centered": True}],
    "adadelta": [{}, {"rho": 0.5, "epsilon": 0.01}], "ftrl": [{}, {"lamda1": 0.2, "beta": 0.5}],
    "ftml": [{}, {"beta1": 0.3}], "dcasgd": [{}, {"momentum": 0.9}, {"lamda": 0.5}],
    "lamb": [{}, {"bias_correction": False}, {"lower_bound": 5.0}, {"upper_bound": 1.0}],
    "lans": [{}, {"lower_bound": 5.0}, {"upper_bound": 1.0}], "lars": [{}, {"momentum": 0.9, "eta": 0.1}],
    "groupadagrad": [{}, {"epsilon": 0.1}], "test": [{}],
}
"""Options that are tried for every optimizer that has a formula."""

FORMULAS = {**{name: globals()[name] for name in OPTIONS if name not in ("ccsgd", "lbsgd")}, "ccsgd": sgd,
            "lbsgd": sgd}

COMMON = {
    "plain": {"wd": 0.0, "rescale": 1.0, "clip": None},
    "decay": {"wd": 0.01, "rescale": 1.0, "clip": None},
    "all": {"wd": 0.01, "rescale": 0.5, "clip": 0.8},
}
"""Values of the scalars that all optimizers share."""


def cases():
    """(name, options, common) for everything that is tried."""
    for name, several in OPTIONS.items():
        for options in several:
            for label, common in COMMON.items():
                if name == "groupadagrad" and common["wd"]:
                    continue
                yield name, options, label


def follow(name, options, common, weight, gradients, lr):
    """The weights after each gradient."""
    weight, state, seen = np.asarray(weight, "float64"), {}, []
    for t, gradient in enumerate(gradients, start=1):
        weight = FORMULAS[name](weight, np.asarray(gradient, "float64"), state, t, lr, COMMON[common], **options)
        seen.append(weight)
    return seen
