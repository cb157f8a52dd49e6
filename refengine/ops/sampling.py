"""Random draws: with numbers as parameters, with arrays as parameters, in the shape of another array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import LateError, MXNetError
from ..op import Bool, Dtype, Float, Int, Operator, Shape, add, register
from .binary import zero_gradient

_FLOATS = ('float16', 'float32', 'float64')


# ---- distributions: draw(rng, shape, dtype, *parameters) -----------------------------------------------------------

def _uniform(rng: Any, shape: Any, dtype: Any, low: Any, high: Any) -> Any:
    _demand(np.all(np.asarray(low) <= np.asarray(high)), 'low must be less or equal to high in uniform distribution')
    wide = np.float64 if dtype == np.float64 else np.float32
    draws = rng.random(shape, dtype=wide)
    draws *= np.asarray(high, wide) - np.asarray(low, wide)
    draws += np.asarray(low, wide)
    return draws


def _normal(rng: Any, shape: Any, dtype: Any, loc: Any, scale: Any) -> Any:
    _positive(scale, 'scale parameter in gaussian has to be positive')
    wide = np.float64 if dtype == np.float64 else np.float32
    draws = rng.standard_normal(shape, dtype=wide)
    draws *= np.asarray(scale, wide)
    draws += np.asarray(loc, wide)
    return draws


def _gamma(rng: Any, shape: Any, dtype: Any, alpha: Any, beta: Any) -> Any:
    _positive(alpha, 'alpha parameter in gamma distribution has to be positive')
    _positive(beta, 'beta parameter in gamma distribution has to be positive')
    return rng.standard_gamma(alpha, shape) * beta


def _exponential(rng: Any, shape: Any, dtype: Any, lam: Any) -> Any:
    _positive(lam, 'lambda parameter in exponential distribution has to be positive')
    return rng.standard_exponential(shape) / lam


def _poisson(rng: Any, shape: Any, dtype: Any, lam: Any) -> Any:
    _demand(np.all(np.asarray(lam) >= 0), 'lambda parameter in poisson distribution has to be non-negative')
    return rng.poisson(lam, shape)


def _negative_binomial(rng: Any, shape: Any, dtype: Any, k: Any, p: Any) -> Any:
    _demand(np.all(np.asarray(k) >= 0), 'k parameter in negative binomial distribution has to be non-negative')
    _demand(np.all((np.asarray(p) >= 0) & (np.asarray(p) <= 1)),
            'p parameter in negative binomial distribution has to be between 0 and 1')
    rate = np.asarray(p, float)
    return rng.poisson(rng.gamma(k, 1.0, shape) * ((1 - rate) / np.where(rate == 0, 1e-38, rate)))


def _generalized_negative_binomial(rng: Any, shape: Any, dtype: Any, mu: Any, alpha: Any) -> Any:
    _demand(np.all(np.asarray(mu) >= 0), 'mu parameter in generalized negative binomial distribution has to be '
                                         'non-negative')
    _demand(np.all(np.asarray(alpha) >= 0),
            'alpha parameter in generalized negative binomial distribution has to be non-negative')
    spread = np.asarray(alpha, float)
    safe = np.where(spread == 0, 1.0, spread)
    rate = np.where(spread == 0, np.asarray(mu, float), rng.gamma(1 / safe, safe, shape) * mu)
    return rng.poisson(np.broadcast_to(rate, shape))


class _Illegal(Exception):
    pass


def _positive(values: Any, message: str) -> None:
    """Numbers must be positive; the entries of arrays may be 0 as well, where the distribution is a single value."""
    given = np.asarray(values)
    _demand(np.all(given >= 0 if isinstance(values, np.ndarray) else given > 0), message)


def _demand(condition: Any, message: str) -> None:
    if not condition:
        raise _Illegal(message)


def _finish(xp: Any, draw: Callable[[], Any], shape: tuple[int, ...], dtype: Any) -> Any:
    """Run a draw; illegal parameters are found while running and so surface at the wait (rule ND-RANDOM-007)."""
    try:
        return xp.asarray(np.asarray(draw()).astype(dtype, copy=False))
    except _Illegal as error:
        raise LateError(MXNetError(str(error)), (np.zeros(shape, dtype),)) from None


# name: parameters of _random_NAME with defaults, array parameters of _sample_NAME, draw, documentation
TABLE: dict[str, tuple[dict[str, float], Callable[..., Any], str]] = {
    'uniform': ({'low': 0.0, 'high': 1.0}, _uniform, 'evenly distributed between low and high'),
    'normal': ({'loc': 0.0, 'scale': 1.0}, _normal, 'normally distributed with mean loc and deviation scale'),
    'gamma': ({'alpha': 1.0, 'beta': 1.0}, _gamma, 'gamma distributed with shape alpha and scale beta'),
    'exponential': ({'lam': 1.0}, _exponential, 'exponentially distributed with rate lam'),
    'poisson': ({'lam': 1.0}, _poisson, 'Poisson distributed with mean lam'),
    'negative_binomial': ({'k': 1.0, 'p': 1.0}, _negative_binomial,
                          'failures before the k-th success of probability p'),
    'generalized_negative_binomial': ({'mu': 1.0, 'alpha': 1.0}, _generalized_negative_binomial,
                                      'negative binomial with mean mu and dispersion alpha'),
}

_SAMPLE_NAMES = {'normal': ('mu', 'sigma')}
_ALIASES = {'uniform': ('uniform',), 'normal': ('normal',)}


def _random(draw: Callable[..., Any], names: tuple[str, ...]) -> Callable[..., Any]:
    def forward(xp: Any, shape: Any = (), dtype: Any = None, ctx: Any = None, rng: Any = None,
                **parameters: Any) -> Any:
        kind = np.dtype(dtype or 'float32')
        shape = tuple(shape or ()) or (1,)
        return _finish(xp, lambda: draw(rng, shape, kind, *(parameters[n] for n in names)), shape, kind)

    return forward


def _sample(draw: Callable[..., Any]) -> Callable[..., Any]:
    def forward(xp: Any, *arrays: Any, shape: Any = (), dtype: Any = None, rng: Any = None) -> Any:
        first = arrays[0]
        kind = np.dtype(dtype or 'float32')
        shape = tuple(shape or ())
        whole = first.shape + shape
        for array in arrays[1:]:
            if array.shape != first.shape:
                raise MXNetError(f'Shape inconsistent, Provided = {list(array.shape)}, inferred shape='
                                 f'{list(first.shape)}: an entry of each array belongs to a block of draws')
        spread = [np.asarray(a.get() if hasattr(a, 'get') else a).reshape(a.shape + (1,) * len(shape)) for a in arrays]
        return _finish(xp, lambda: draw(rng, whole, kind, *spread), whole, kind)

    return forward


def _like(draw: Callable[..., Any], names: tuple[str, ...]) -> Callable[..., Any]:
    def forward(xp: Any, data: Any, rng: Any = None, **parameters: Any) -> Any:
        return _finish(xp, lambda: draw(rng, data.shape, data.dtype, *(parameters[n] for n in names)), data.shape,
                       data.dtype)

    return forward




for _name, (_defaults, _draw, _what) in TABLE.items():
    _names = tuple(_defaults)
    _params = {n: Float(v) for n, v in _defaults.items()}
    _type = {'dtype': Dtype(None, values=_FLOATS)}
    add(Operator(f'_random_{_name}', _random(_draw, _names), aliases=(f'random_{_name}', *_ALIASES.get(_name, ())),
                 inputs=(), params={**_params, 'shape': Shape(None), **_type}, source=True,
                 doc=f'Draws that are {_what}.', rules=('ND-RANDOM-005', 'ND-RANDOM-007')))
    add(Operator(f'_sample_{_name}', _sample(_draw), aliases=(f'sample_{_name}',),
                 inputs=_SAMPLE_NAMES.get(_name, _names), params={'shape': Shape((), none=True), **_type},
                 grad=zero_gradient, doc=f'Draws that are {_what}, a block for each entry of the parameter arrays.',
                 rules=('ND-RANDOM-006',)))
    add(Operator(f'_random_{_name}_like', _like(_draw, _names), params=_params, grad=zero_gradient,
                 doc=f'Draws in the shape of the array that are {_what}.'))


@register('_random_randint', 'random_randint', inputs=(), params={
    'low': Int(), 'high': Int(), 'shape': Shape(None), 'dtype': Dtype(None, values=('int32', 'int64'))},
          source=True,
    rules=('ND-RANDOM-005',))
def _randint(xp: Any, low: int = 0, high: int = 1, shape: Any = (), dtype: Any = None, ctx: Any = None,
             rng: Any = None) -> Any:
    """Integers from low up to, not including, high."""
    kind = np.dtype(dtype or 'int32')
    shape = tuple(shape or ()) or (1,)
    if low >= high:
        raise LateError(MXNetError(f'low must be less than high in randint, got {low} and {high}'),
                        (np.zeros(shape, kind),))
    return xp.asarray(rng.integers(low, high, shape, dtype=kind))


@register('_sample_multinomial', 'sample_multinomial', params={
    'shape': Shape((), none=True), 'get_prob': Bool(False),
    'dtype': Dtype('int32', values=('float16', 'float32', 'float64', 'int32', 'uint8'))},
    num_outputs=lambda params: 2 if params['get_prob'] else 1,
    grad=lambda F, ograds, inputs, outputs, params: _multinomial_grad(F, ograds, inputs, outputs, params))
def _multinomial(xp: Any, data: Any, shape: Any = (), get_prob: bool = False, dtype: Any = 'int32',
                 rng: Any = None) -> Any:
    """Positions drawn with the given probabilities (last axis), and the logarithm of the probability of each draw."""
    shape = tuple(shape or ())
    host = np.asarray(data.get() if hasattr(data, 'get') else data, np.float64)
    rows = host.reshape(-1, host.shape[-1])
    count = int(np.prod(shape)) if shape else 1
    ladder = np.cumsum(rows, axis=1)
    draws = rng.random((rows.shape[0], count)) * ladder[:, -1:]
    places = np.stack([np.searchsorted(steps, u, side='right') for steps, u in zip(ladder, draws)])
    places = np.minimum(places, rows.shape[1] - 1)
    target = host.shape[:-1] + shape or (1,)
    picked = xp.asarray(places.reshape(target).astype(dtype))
    if not get_prob:
        return picked
    logs = np.log(np.take_along_axis(rows, places, axis=1)).reshape(target)
    return picked, xp.asarray(logs.astype(data.dtype if data.dtype.kind == 'f' else np.float32))


def _multinomial_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any]:
    data = inputs[0]
    if not params['get_prob']:
        return (F.zeros_like(data),)
    depth = data.shape[-1]
    lead = tuple(data.shape[:-1])
    hot = F.one_hot(outputs[0], depth=depth, dtype=np.dtype(data.dtype).name)
    weight = F.reshape(ograds[1], shape=tuple(outputs[0].shape) + (1,))
    total = F.reshape(F.sum(F.reshape(F.broadcast_mul(hot, weight), shape=(*(lead or (1,)), -1, depth)), axis=-2),
                      shape=data.shape)
    return (total / data,)


@register('_shuffle', 'shuffle', grad=zero_gradient, rules=('ND-RANDOM-008',))
def _shuffle(xp: Any, data: Any, rng: Any = None) -> Any:
    """The entries of the first axis in random order."""
    return data[xp.asarray(rng.permutation(data.shape[0]))]
