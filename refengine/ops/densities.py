"""Densities of distributions, ``random_pdf_*``: one table, a row each.

A row gives the logarithm of the density and its partial derivatives, all against ``F`` and for arrays of one shape.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..base import MXNetError
from ..op import Bool, Operator, add
from ._nn import require_float, require_shape
from ._raw import raw


@dataclass(frozen=True)
class Row:
    """A distribution: its parameters, log density, derivatives by sample and parameters, and what it is."""

    name: str
    parameters: tuple[str, ...]
    log: Callable[..., Any]
    partials: Callable[..., tuple[Any, ...]]
    doc: str
    counts: bool = False       # samples are numbers of events, which are not differentiated


_LOG_ROOT = 0.5 * math.log(2 * math.pi)


def _uniform(F: Any, x: Any, low: Any, high: Any) -> Any:
    return -F.log(high - low)


def _uniform_partials(F: Any, x: Any, low: Any, high: Any) -> tuple[Any, ...]:
    return F.zeros_like(x), 1 / (high - low), -1 / (high - low)


def _normal(F: Any, x: Any, mu: Any, sigma: Any) -> Any:
    z = (x - mu) / sigma
    return -0.5 * z * z - F.log(sigma) - _LOG_ROOT


def _normal_partials(F: Any, x: Any, mu: Any, sigma: Any) -> tuple[Any, ...]:
    z = (x - mu) / sigma
    return -z / sigma, z / sigma, (z * z - 1) / sigma


def _gamma(F: Any, x: Any, alpha: Any, beta: Any) -> Any:
    return alpha * F.log(beta) + (alpha - 1) * F.log(x) - beta * x - F.gammaln(alpha)


def _gamma_partials(F: Any, x: Any, alpha: Any, beta: Any) -> tuple[Any, ...]:
    return (alpha - 1) / x - beta, F.log(beta) + F.log(x) - F._digamma(alpha), alpha / beta - x


def _poisson(F: Any, x: Any, lam: Any) -> Any:
    return x * F.log(lam) - F.gammaln(x + 1) - lam


def _negative_binomial(F: Any, x: Any, k: Any, p: Any) -> Any:
    return F.gammaln(x + k) - F.gammaln(x + 1) - F.gammaln(k) + k * F.log(p) + x * F.log(1 - p)


def _negative_binomial_partials(F: Any, x: Any, k: Any, p: Any) -> tuple[Any, ...]:
    return (F.zeros_like(x), F._digamma(x + k) - F._digamma(k) + F.log(p), k / p - x / (1 - p))


def _generalized(F: Any, x: Any, mu: Any, alpha: Any) -> Any:
    return _negative_binomial(F, x, 1 / alpha, 1 / (mu * alpha + 1))


def _generalized_partials(F: Any, x: Any, mu: Any, alpha: Any) -> tuple[Any, ...]:
    k, p = 1 / alpha, 1 / (mu * alpha + 1)
    _, by_k, by_p = _negative_binomial_partials(F, x, k, p)
    return F.zeros_like(x), -by_p * p * p * alpha, -by_k * k * k - by_p * p * p * mu


ROWS = (
    Row('uniform', ('low', 'high'), _uniform, _uniform_partials, 'evenly distributed between low and high'),
    Row('normal', ('mu', 'sigma'), _normal, _normal_partials, 'normal with mean mu and deviation sigma'),
    Row('gamma', ('alpha', 'beta'), _gamma, _gamma_partials, 'gamma with shape alpha and rate beta'),
    Row('exponential', ('lam',), lambda F, x, lam: F.log(lam) - lam * x, lambda F, x, lam: (-lam, 1 / lam - x),
        'exponential with rate lam'),
    Row('poisson', ('lam',), _poisson, lambda F, x, lam: (F.zeros_like(x), x / lam - 1), 'Poisson with mean lam', True),
    Row('negative_binomial', ('k', 'p'), _negative_binomial, _negative_binomial_partials,
        'negative binomial with limit k and probability p', True),
    Row('generalized_negative_binomial', ('mu', 'alpha'), _generalized, _generalized_partials,
        'negative binomial with mean mu and dispersion alpha', True),
)


def _spread(F: Any, sample: Any, parameters: Any) -> list[Any]:
    """The parameters repeated to the shape of the sample, of which theirs is the left part."""
    shapes = [tuple(p.shape) + (1,) * (len(sample.shape) - len(p.shape)) for p in parameters]
    return [F._expand_like(F.reshape(p, shape=s), sample) for p, s in zip(parameters, shapes)]


def _gathered(F: Any, gradient: Any, parameter: Any) -> Any:
    """The sum of a gradient over the samples of each distribution."""
    extra = len(gradient.shape) - len(parameter.shape)
    return F.sum(gradient, axis=tuple(range(-extra, 0))) if extra else gradient


def _infer(name: str) -> Callable[..., None]:
    def infer(arrays: Any, params: dict[str, Any]) -> None:
        sample, *parameters = arrays
        require_float(name, sample)
        for parameter in parameters:
            if parameter.ndim > sample.ndim:
                raise MXNetError(f'Operator {name}: the shape {parameter.shape} of a parameter must be the left part '
                                 f'of the shape {sample.shape} of the sample')
            require_shape(name, parameter.shape, sample.shape[:parameter.ndim])
        require_shape(name, parameters[-1].shape, parameters[0].shape)

    return infer


def _forward(row: Row) -> Callable[..., Any]:
    def forward(xp: Any, sample: Any, *parameters: Any, is_log: bool = False) -> Any:
        F = raw(xp)
        logarithm = row.log(F, sample, *_spread(F, sample, parameters))
        return logarithm if is_log else xp.exp(logarithm)

    return forward


def _grad(row: Row) -> Callable[..., Any]:
    def grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any, ...]:
        sample, *parameters = inputs
        head = ograds[0] if params['is_log'] else ograds[0] * outputs[0]
        of_sample, *rest = row.partials(F, sample, *_spread(F, sample, parameters))
        return (head * of_sample, *(_gathered(F, head * g, p) for g, p in zip(rest, parameters)))

    return grad


_LOG = {'is_log': Bool(False, 'the logarithm of the density')}

for _row in ROWS:
    _sample = 'index:2x3:5' if _row.counts else (2, 3)
    _limits: tuple[tuple[Any, ...], ...] = tuple((2,) for _ in _row.parameters)
    _samples: tuple[Any, ...] = tuple(((_sample, *_limits), {'is_log': flag}, 'positive') for flag in (False, True))
    if _row.name == 'negative_binomial':
        _samples = (((_sample, (2,), 'fixed:[0.3, 0.6]'), {}, 'positive'),)
    elif _row.name == 'uniform':
        _samples = (((_sample, 'fixed:[-2, -1]', (2,)), {}, 'positive'), ((_sample, (2,), 'fixed:[3, 4]'), {}, 'unit'))
    add(Operator(f'_random_pdf_{_row.name}', _forward(_row), aliases=(f'random_pdf_{_row.name}',),
                 inputs=('sample', *_row.parameters), params=_LOG, infer=_infer(f'random_pdf_{_row.name}'),
                 grad=_grad(_row), samples=_samples,
                 doc=f'The density of a distribution that is {_row.doc}, at each sample.'))


# ---- Dirichlet: a sample is a vector -------------------------------------------------------------------------------

def _dirichlet_log(F: Any, sample: Any, alpha: Any) -> Any:
    wide = F._expand_like(_middle(F, alpha, sample), sample)
    return (F.sum((wide - 1) * F.log(sample), axis=-1) + F.gammaln(F.sum(wide, axis=-1))
            - F.sum(F.gammaln(wide), axis=-1))


def _middle(F: Any, alpha: Any, sample: Any) -> Any:
    """Axes of length 1 before the last one, so that alpha is repeated over the samples of each distribution."""
    extra = len(sample.shape) - len(alpha.shape)
    return F.reshape(alpha, shape=(*alpha.shape[:-1], *(1,) * extra, alpha.shape[-1]))


def _dirichlet_infer(arrays: Any, params: dict[str, Any]) -> None:
    name = 'random_pdf_dirichlet'
    sample, alpha = arrays
    require_float(name, sample)
    if alpha.ndim > sample.ndim:
        raise MXNetError(f'Operator {name}: the shape {alpha.shape} of alpha must match the shape {sample.shape} of '
                         f'the sample')
    require_shape(name, alpha.shape, (*sample.shape[:alpha.ndim - 1], sample.shape[-1]))


def _dirichlet_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any, Any]:
    sample, alpha = inputs
    head = ograds[0] if params['is_log'] else ograds[0] * outputs[0]
    if len(sample.shape) > 1:
        head = F.expand_dims(head, axis=-1)
    repeated = _middle(F, alpha, sample)
    wide = F._expand_like(repeated, sample)
    total = F._expand_like(F._digamma(F.sum(wide, axis=-1, keepdims=True)), sample)
    of_sample = F.broadcast_mul((wide - 1) / sample, head)
    of_alpha = F.broadcast_mul(F.log(sample) + total - F._digamma(wide), head)
    return of_sample, F.reshape(F._sum_like(of_alpha, repeated), shape=alpha.shape)


def _dirichlet(xp: Any, sample: Any, alpha: Any, is_log: bool = False) -> Any:
    logarithm = _dirichlet_log(raw(xp), sample, alpha)
    if logarithm.ndim == 0:
        logarithm = logarithm.reshape(1)
    return (logarithm if is_log else xp.exp(logarithm)).astype(sample.dtype, copy=False)


add(Operator('_random_pdf_dirichlet', _dirichlet, aliases=('random_pdf_dirichlet',), inputs=('sample', 'alpha'),
             params=_LOG, infer=_dirichlet_infer, grad=_dirichlet_grad,
             samples=((((2, 3), (3,)), {}, 'positive'), (((2, 2, 3), (2, 3)), {'is_log': True}, 'positive')),
             doc='The density of a Dirichlet distribution with concentrations alpha, at each vector in the last axis.'))
