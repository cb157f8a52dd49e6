"""The arithmetic of the optimizers on raw arrays; operators and optimizer classes share these bodies.

Every elementwise rule has the form ``rule(xp, w, g, states, scratch, *scalars)``: it changes the weight ``w`` and the
arrays of ``states`` in place and leaves the gradient ``g`` alone. ``scratch`` holds two arrays of the shape and dtype
of ``w`` for intermediate values. As a rule touches each element by itself, it may be given many parameters laid end
to end, or a block of one.

Common scalars: ``lr``, ``wd``, ``rescale`` (factor of the gradient) and ``clip`` (bound of the rescaled gradient, or
None). Releases differ in whether weight decay is clipped too: ``clip_decay`` says that it is.
"""

import math
from functools import cache

import numpy as np

kernels = {}
"""Accelerated bodies by rule: ``kernel(w, g, states, scalars)`` on flat arrays says whether it did the work."""


def gradient(xp, w, g, scratch, wd, rescale, clip, clip_decay=False):
    """``clip(rescale * g) + wd * w``, or ``clip(rescale * g + wd * w)``; may be ``g`` itself or ``scratch[0]``."""
    out, other = scratch
    if rescale != 1.0:
        g = xp.multiply(g, rescale, out)
    if wd and clip_decay:
        g = xp.add(g, xp.multiply(w, wd, other), out)
    if clip is not None:
        g = xp.maximum(xp.minimum(g, clip, out=out), -clip, out=out)
    if wd and not clip_decay:
        g = xp.add(g, xp.multiply(w, wd, other), out)
    return g


@cache
def rest(decay, dtype):
    """``1 - decay`` in the precision of the array, as the releases compute it: ``1 - 0.999`` differs by 1e-5 there."""
    return 1.0 - decay if dtype == np.float64 else float(np.float32(1) - np.float32(decay))


def inverse(value):
    """``1 / value``; infinite for zero, as in the arithmetic of arrays."""
    return 1.0 / value if value else math.copysign(math.inf, value)


def running_mean(xp, mean, value, decay, out):
    """``mean = decay * mean + (1 - decay) * value``."""
    xp.multiply(mean, decay, mean)
    xp.add(mean, xp.multiply(value, rest(decay, mean.dtype), out), mean)


def running_square(xp, mean, value, decay, out):
    """``mean = decay * mean + (1 - decay) * value**2``."""
    xp.multiply(mean, decay, mean)
    xp.multiply(xp.multiply(value, value, out), rest(decay, mean.dtype), out)
    xp.add(mean, out, mean)


def sgd(xp, w, g, states, scratch, lr, wd, rescale, clip):
    """``w -= lr * g``."""
    out = scratch[0]
    if clip is None:
        xp.multiply(g, lr * rescale, out)
    else:
        xp.multiply(gradient(xp, w, g, scratch, 0.0, rescale, clip), lr, out)
    if wd:
        xp.multiply(w, 1.0 - lr * wd, w)
    xp.subtract(w, out, w)


def sgd_momentum(xp, w, g, states, scratch, lr, wd, rescale, clip, momentum):
    """``s = momentum * s - lr * g; w += s``."""
    out = scratch[0]
    mom = states[0]
    xp.multiply(mom, momentum, mom)
    if wd:
        xp.subtract(mom, xp.multiply(w, lr * wd, out), mom)
    if clip is None:
        xp.multiply(g, lr * rescale, out)
    else:
        xp.multiply(gradient(xp, w, g, scratch, 0.0, rescale, clip), lr, out)
    xp.subtract(mom, out, mom)
    xp.add(w, mom, w)


def nag(xp, w, g, states, scratch, lr, wd, rescale, clip, momentum):
    """``s = momentum * s - lr * g; w += momentum * s - lr * g``."""
    out = scratch[0]
    mom = states[0]
    xp.multiply(gradient(xp, w, g, scratch, wd, rescale, clip), lr, out)
    xp.multiply(mom, momentum, mom)
    xp.subtract(mom, out, mom)
    xp.subtract(w, out, w)
    xp.add(w, xp.multiply(mom, momentum, out), w)


def signsgd(xp, w, g, states, scratch, lr, wd, rescale, clip):
    """``w = (1 - lr * wd) * w - lr * sign(g)``."""
    out = scratch[0]
    xp.multiply(xp.sign(g, out), lr if rescale >= 0 else -lr, out)
    xp.multiply(w, 1.0 - lr * wd, w)
    xp.subtract(w, out, w)


def signum(xp, w, g, states, scratch, lr, wd, rescale, clip, momentum, wd_lh, clip_decay=False):
    """``s = momentum * s - (1 - momentum) * g; w = (1 - lr * wd_lh) * w + lr * sign(s)``."""
    out = scratch[0]
    mom = states[0]
    g = gradient(xp, w, g, scratch, wd, rescale, clip, clip_decay)
    xp.multiply(mom, momentum, mom)
    xp.subtract(mom, xp.multiply(g, rest(momentum, w.dtype), out), mom)
    if wd_lh:
        xp.multiply(w, 1.0 - lr * wd_lh, w)
    xp.add(w, xp.multiply(xp.sign(mom, out), lr, out), w)


def adam(xp, w, g, states, scratch, lr, wd, rescale, clip, beta1, beta2, epsilon, clip_decay=False):
    """``w -= lr * m / (sqrt(v) + epsilon)``; the bias correction is part of ``lr``."""
    out, other = scratch
    mean, var = states
    g = gradient(xp, w, g, scratch, wd, rescale, clip, clip_decay)
    running_mean(xp, mean, g, beta1, other)
    running_square(xp, var, g, beta2, other)
    xp.add(xp.sqrt(var, other), epsilon, other)
    xp.divide(mean, other, out)
    xp.subtract(w, xp.multiply(out, lr, out), w)


def adamw(xp, w, g, states, scratch, lr, wd, rescale, clip, beta1, beta2, epsilon, decay_last=False):
    """``w -= lr * (m / (sqrt(v) + epsilon) + wd * w)``; ``decay_last`` decays what the first part has left."""
    out, other = scratch
    mean, var = states
    g = gradient(xp, w, g, scratch, 0.0, rescale, clip)
    running_mean(xp, mean, g, beta1, other)
    running_square(xp, var, g, beta2, other)
    xp.add(xp.sqrt(var, other), epsilon, other)
    xp.multiply(xp.divide(mean, other, out), lr, out)
    if wd and not decay_last:
        xp.multiply(w, 1.0 - lr * wd, w)
    xp.subtract(w, out, w)
    if wd and decay_last:
        xp.multiply(w, 1.0 - lr * wd, w)


def adabelief(xp, w, g, states, scratch, lr, wd, rescale, clip, beta1, beta2, epsilon):
    """As Adam, with the variance of the gradient around its mean; weight decay is clipped with the gradient."""
    out, other = scratch
    mean, var = states
    g = gradient(xp, w, g, scratch, wd, rescale, clip, True)
    running_mean(xp, mean, g, beta1, other)
    xp.subtract(g, mean, out)
    running_square(xp, var, out, beta2, other)
    xp.add(var, epsilon, var)
    xp.add(xp.sqrt(var, other), epsilon, other)
    xp.divide(mean, other, out)
    xp.subtract(w, xp.multiply(out, lr, out), w)


def adagrad(xp, w, g, states, scratch, lr, wd, rescale, clip, epsilon):
    """``h += g**2; w -= lr * g / (sqrt(h) + epsilon)``."""
    out, other = scratch
    history = states[0]
    g = gradient(xp, w, g, scratch, wd, rescale, clip)
    xp.add(history, xp.multiply(g, g, other), history)
    xp.add(xp.sqrt(history, other), epsilon, other)
    xp.multiply(xp.divide(g, other, out), lr, out)
    xp.subtract(w, out, w)


def _clip_weights(xp, w, bound):
    if bound is not None:
        xp.maximum(xp.minimum(w, bound, out=w), -bound, out=w)


def rmsprop(xp, w, g, states, scratch, lr, wd, rescale, clip, rho, epsilon, clip_weights, clip_decay=False,
            inside=False):
    """``n = rho * n + (1 - rho) * g**2; w -= lr * g / (sqrt(n) + epsilon)``; ``inside`` puts epsilon into the root."""
    out, other = scratch
    square = states[0]
    g = gradient(xp, w, g, scratch, wd, rescale, clip, clip_decay)
    running_square(xp, square, g, rho, other)
    if inside:
        xp.sqrt(xp.add(square, epsilon, other), other)
    else:
        xp.add(xp.sqrt(square, other), epsilon, other)
    xp.multiply(xp.divide(g, other, out), lr, out)
    xp.subtract(w, out, w)
    _clip_weights(xp, w, clip_weights)


def rmsprop_centered(xp, w, g, states, scratch, lr, wd, rescale, clip, rho, momentum, epsilon, clip_weights,
                     clip_decay=False):
    """``n``, ``a`` running means of ``g**2`` and ``g``; ``d = momentum * d - lr * g / sqrt(n - a**2 + epsilon)``."""
    out, other = scratch
    square, mean, delta = states
    g = gradient(xp, w, g, scratch, wd, rescale, clip, clip_decay)
    running_square(xp, square, g, rho, other)
    running_mean(xp, mean, g, rho, other)
    xp.subtract(square, xp.multiply(mean, mean, other), other)
    xp.sqrt(xp.add(other, epsilon, other), other)
    xp.multiply(xp.divide(g, other, out), lr, out)
    xp.multiply(delta, momentum, delta)
    xp.subtract(delta, out, delta)
    xp.add(w, delta, w)
    _clip_weights(xp, w, clip_weights)


def adadelta(xp, w, g, states, scratch, lr, wd, rescale, clip, rho, epsilon):
    """``d = sqrt(b + epsilon) / sqrt(a + epsilon) * g; w -= lr * d``; ``a``, ``b`` running means of squares."""
    out, other = scratch
    square, delta = states
    g = gradient(xp, w, g, scratch, wd, rescale, clip)
    running_square(xp, square, g, rho, other)
    xp.sqrt(xp.add(square, epsilon, other), other)
    xp.divide(g, other, out)
    xp.multiply(out, xp.sqrt(xp.add(delta, epsilon, other), other), out)
    running_square(xp, delta, out, rho, other)
    xp.subtract(w, xp.multiply(out, lr, out), w)


def ftrl(xp, w, g, states, scratch, lr, wd, rescale, clip, lamda1, beta):
    """``z += g - (sqrt(n + g**2) - sqrt(n)) * w / lr; n += g**2``, then
    ``w = -sign(z) * max(|z| - lamda1, 0) / ((beta + sqrt(n)) / lr + wd)``.
    """
    out, other = scratch
    z, n = states
    g = gradient(xp, w, g, scratch, 0.0, rescale, clip)
    xp.add(z, g, z)
    xp.multiply(g, g, other)
    xp.sqrt(n, out)
    xp.add(n, other, n)
    xp.sqrt(n, other)
    xp.subtract(other, out, out)
    per_rate = inverse(lr)
    xp.multiply(xp.multiply(out, w, out), per_rate, out)
    xp.subtract(z, out, z)
    xp.add(xp.multiply(xp.add(other, beta, other), per_rate, other), wd, other)
    xp.maximum(xp.subtract(xp.absolute(z, out), lamda1, out), 0.0, out=out)
    xp.multiply(xp.sign(z, w), out, w)
    xp.negative(xp.divide(w, other, w), w)


def ftml(xp, w, g, states, scratch, lr, wd, rescale, clip, beta1, beta2, epsilon, t, clip_decay=False):
    """``d`` follows the root of the running mean ``v`` of ``g**2``; ``z`` collects gradients; ``w = -z / d``."""
    out, other = scratch
    d, v, z = states
    g = gradient(xp, w, g, scratch, wd, rescale, clip, clip_decay)
    running_square(xp, v, g, beta2, other)
    xp.multiply(z, beta1, z)
    xp.add(z, xp.multiply(g, rest(beta1, w.dtype), other), z)
    xp.sqrt(xp.multiply(v, inverse(1.0 - beta2 ** t), other), other)
    xp.multiply(xp.add(other, epsilon, other), (1.0 - beta1 ** t) * inverse(lr), other)
    xp.subtract(other, xp.multiply(d, beta1, out), out)
    xp.subtract(z, xp.multiply(out, w, out), z)
    d[...] = other
    xp.negative(xp.divide(z, other, w), w)


def adamax(xp, w, g, states, scratch, lr, wd, rescale, clip, beta1, beta2, epsilon):
    """``u = max(beta2 * u, |g|); w -= lr * m / (u + epsilon)``; the bias correction is part of ``lr``."""
    out, other = scratch
    mean, bound = states
    g = gradient(xp, w, g, scratch, wd, rescale, clip)
    running_mean(xp, mean, g, beta1, other)
    xp.multiply(bound, beta2, bound)
    xp.maximum(bound, xp.absolute(g, other), out=bound)
    xp.divide(mean, xp.add(bound, epsilon, other), out)
    xp.subtract(w, xp.multiply(out, lr, out), w)


def nadam(xp, w, g, states, scratch, lr, wd, rescale, clip, beta1, beta2, epsilon, of_gradient, of_mean, of_var):
    """``w -= lr * (of_gradient * g + of_mean * m) / (sqrt(of_var * v) + epsilon)``."""
    out, other = scratch
    mean, var = states
    g = gradient(xp, w, g, scratch, wd, rescale, clip)
    running_mean(xp, mean, g, beta1, other)
    running_square(xp, var, g, beta2, other)
    xp.multiply(g, of_gradient, out)
    xp.add(out, xp.multiply(mean, of_mean, other), out)
    xp.add(xp.sqrt(xp.multiply(var, of_var, other), other), epsilon, other)
    xp.multiply(xp.divide(out, other, out), lr, out)
    xp.subtract(w, out, w)


def dcasgd(xp, w, g, states, scratch, lr, wd, rescale, clip, momentum, lamda):
    """``d = g + lamda * g**2 * (w - previous)``; then plain or momentum descent along ``d``."""
    other = scratch[1]
    mom, previous = states
    g = gradient(xp, w, g, scratch, wd, rescale, clip)
    xp.multiply(xp.subtract(w, previous, other), g, other)
    xp.multiply(xp.multiply(other, g, other), lamda, other)
    xp.multiply(xp.add(other, g, other), lr, other)
    previous[...] = w
    if mom is None:
        xp.subtract(w, other, w)
    else:
        xp.multiply(mom, momentum, mom)
        xp.subtract(mom, other, mom)
        xp.add(w, mom, w)


# ---- rules that look at a parameter as a whole ---------------------------------------------------------------------

def norm(xp, a, out):
    """The Euclidean norm as a Python float; ``out`` is scratch."""
    return float(xp.multiply(a, a, out).sum(dtype=_wide(a.dtype))) ** 0.5


def _wide(dtype):
    """The dtype in which squares are added up: float16 would overflow at once."""
    return 'float32' if dtype.itemsize < 4 else dtype


def trust_ratio(weight_norm, update_norm, lower, upper):
    """``||w|| / ||u||`` with ``||w||`` kept between the bounds; 1 where one of them is zero."""
    if lower is not None:
        weight_norm = max(weight_norm, lower)
    if upper is not None:
        weight_norm = min(weight_norm, upper)
    return weight_norm / update_norm if weight_norm and update_norm else 1.0


def lamb_direction(xp, w, g, states, scratch, wd, rescale, clip, beta1, beta2, epsilon, of_mean, of_var):
    """``(of_mean * m) / (sqrt(of_var * v) + epsilon) + wd * w`` in ``scratch[0]``."""
    out, other = scratch
    mean, var = states
    g = gradient(xp, w, g, scratch, 0.0, rescale, clip)
    running_mean(xp, mean, g, beta1, other)
    running_square(xp, var, g, beta2, other)
    xp.add(xp.sqrt(xp.multiply(var, of_var, other), other), epsilon, other)
    xp.divide(xp.multiply(mean, of_mean, out), other, out)
    if wd:
        xp.add(out, xp.multiply(w, wd, other), out)
    return out


def lamb(xp, w, g, states, scratch, lr, wd, rescale, clip, beta1, beta2, epsilon, of_mean, of_var, lower, upper):
    """``w -= lr * (||w|| / ||u||) * u`` with ``u`` of :func:`lamb_direction`."""
    other = scratch[1]
    out = lamb_direction(xp, w, g, states, scratch, wd, rescale, clip, beta1, beta2, epsilon, of_mean, of_var)
    ratio = trust_ratio(norm(xp, w, other), norm(xp, out, other), lower, upper)
    xp.subtract(w, xp.multiply(out, lr * ratio, out), w)


def lans(xp, w, g, states, scratch, lr, wd, rescale, clip, beta1, beta2, epsilon, of_mean, of_var, lower, upper,
         one_by_one=False):
    """Two LAMB steps in one, along the mean and along the normalised gradient.

    ``one_by_one`` makes the second step decay the weight that the first has left.
    """
    out, other = scratch
    root = xp.empty_like(w)
    mean, var = states
    xp.multiply(g, rescale, out)
    size = norm(xp, out, other)
    if size:
        xp.multiply(out, 1.0 / size, out)
    if clip is not None:
        xp.maximum(xp.minimum(out, clip, out=out), -clip, out=out)
    running_mean(xp, mean, out, beta1, other)
    running_square(xp, var, out, beta2, other)
    xp.add(xp.sqrt(xp.multiply(var, of_var, root), root), epsilon, root)
    xp.divide(out, root, out)                                # along the gradient
    direction = xp.divide(xp.multiply(mean, of_mean, other), root, root)
    before = w.copy() if not one_by_one else w
    size = norm(xp, w, other)
    for u, share in ((direction, beta1), (out, 1.0 - beta1)):
        if wd:
            xp.add(u, xp.multiply(before, wd, other), u)
        ratio = trust_ratio(size, norm(xp, u, other), lower, upper)
        xp.subtract(w, xp.multiply(u, lr * share * ratio, u), w)


def group_adagrad(xp, w, g, states, scratch, lr, rescale, clip, epsilon, inside=False):
    """AdaGrad with one history value per row: the mean of the squared gradients of the row."""
    out, other = scratch
    history = states[0]
    g = gradient(xp, w, g, scratch, 0.0, rescale, clip)
    axes = tuple(range(1, w.ndim))
    xp.add(history, xp.multiply(g, g, other).mean(axis=axes, keepdims=True), history)
    root = xp.sqrt(history + epsilon) if inside else xp.sqrt(history) + epsilon
    xp.multiply(xp.divide(g, root, out), lr, out)
    xp.subtract(w, out, w)
