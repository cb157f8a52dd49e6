"""Driving an optimizer by hand and holding it against a formula written in float64 numpy.

A formula is a generator ``formula(weight, gradients, o)`` that yields the weight after each update; ``o`` holds the
common options (``lr``, ``wd``, ``clip``, ``rescale``) and the optimizer's own, whose defaults it states itself.

Runs in the engine's interpreter: Python 3.8, standard library and numpy >= 1.17 only.
"""

import numpy as np

from conformance.suite import kit

WEIGHT = (1.0, -2.0, 3.0)
GRADIENTS = ((0.5, -1.0, 2.0), (-0.25, 0.5, 1.0))

#: The two configurations of the inventory: one plain, one with every common option at work.
PLAIN = {"learning_rate": 0.1}
FULL = {"learning_rate": 0.1, "wd": 0.01, "clip_gradient": 0.8, "rescale_grad": 0.5}


class Options(object):
    """The options of one run under the names that formulas use; ``o(name, default)`` reads an optimizer's own."""

    def __init__(self, options):
        self._options = options
        self.lr = options["learning_rate"]
        self.wd = options.get("wd", 0.0)
        self.clip = options.get("clip_gradient")
        self.rescale = options.get("rescale_grad", 1.0)

    def __call__(self, name, default):
        return self._options.get(name, default)

    def scaled(self, gradient):
        """The gradient, rescaled and then clipped."""
        gradient = self.rescale * gradient
        return gradient if self.clip is None else np.clip(gradient, -self.clip, self.clip)

    def decayed(self, gradient, weight):
        """The gradient, rescaled, clipped, and with the weight decay added."""
        return self.scaled(gradient) + self.wd * weight


def expected_weights(formula, options, weight=WEIGHT, gradients=GRADIENTS):
    """The weights that a formula gives, one float64 array per update."""
    start = np.array(weight, "float64")
    return list(formula(start, [np.array(g, "float64") for g in gradients], Options(options)))


def updater(mx, name, options):
    """A fresh updater around a fresh optimizer."""
    return mx.optimizer.get_updater(mx.optimizer.create(name, **options))


def weights(mx, name, options, weight=WEIGHT, gradients=GRADIENTS):
    """The weights that the engine gives, one numpy array per update."""
    update, current, seen = updater(mx, name, options), kit.array(mx, weight), []
    for gradient in gradients:
        update(0, kit.array(mx, gradient), current)
        seen.append(current.asnumpy().copy())
    return seen


def two_updates(plain=None, full=None, **options):
    """Samples for the inventory's literal numbers: the weights after each of two updates in both configurations."""
    samples = {}
    if plain:
        samples["plain"] = {"options": dict(PLAIN, **options), "literal": plain}
    if full:
        samples["decay_clip_rescale"] = {"options": dict(FULL, **options), "literal": full}
    return samples


def check_two_updates(mx, check, name, formula, options, literal):
    """Both updates give the literal numbers and what the formula gives."""
    seen, wanted = weights(mx, name, options), expected_weights(formula, options)
    for index, place in enumerate(("first", "second")):
        # The literals are rounded to six decimals.
        check.close(seen[index], literal[index], "weight after the %s update" % place, rtol=2e-5, atol=2e-6)
        check.close(seen[index], wanted[index], "weight after the %s update, by the formula" % place,
                    rtol=2e-5, atol=2e-6)


def check_formula(mx, check, name, formula, options, shape=(4, 3), count=5, rtol=1e-4, atol=1e-5):
    """Some updates with random gradients follow the formula.

    The gradients are large enough that clipping (if any) works on a part of the elements only.
    """
    random = check.random()
    weight = random.uniform(0.5, 2.0, shape) * random.choice([-1.0, 1.0], shape)
    gradients = random.uniform(0.2, 3.0, (count,) + shape) * random.choice([-1.0, 1.0], (count,) + shape)
    seen = weights(mx, name, options, weight, gradients)
    wanted = expected_weights(formula, options, weight, gradients)
    for index in range(count):
        check.close(seen[index], wanted[index], "weight after update %d, by the formula" % (index + 1), rtol, atol)


def random_options(**options):
    """Options of a run with random gradients: every common option at work, and the given ones."""
    return dict({"learning_rate": 0.05, "wd": 0.03, "clip_gradient": 0.6, "rescale_grad": 0.5}, **options)
