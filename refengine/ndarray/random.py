"""Random draws: ``mx.nd.random`` and ``mx.random``."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dispatch
from ..base import _Null, numeric_types
from ..op import registry
from . import functions as _functions
from .ndarray import NDArray

__all__ = ['exponential', 'gamma', 'generalized_negative_binomial', 'multinomial', 'negative_binomial', 'normal',
           'poisson', 'randint', 'randn', 'shuffle', 'uniform']


def _shape(shape: Any) -> Any:
    return () if shape is _Null or shape is None else shape


def _helper(name: str, params: dict[str, Any], sample_names: tuple[str, ...], shape: Any, dtype: Any, ctx: Any,
            out: Any, kwargs: dict[str, Any]) -> Any:
    kwargs.pop('name', None)
    values = list(params.values())
    twice = kwargs.keys() & set(sample_names if isinstance(values[0], NDArray) else params)
    if twice:
        raise TypeError(f'random.{name}() got multiple values for argument {min(twice)!r}: it is computed from the '
                        f'arguments that the function names')
    given = {**kwargs, 'dtype': dtype}
    if isinstance(values[0], NDArray):
        for value in values[1:]:
            assert isinstance(value, NDArray), ('Distribution parameters must all have the same type, but got both '
                                                f'{type(values[0])} and {type(value)}.')
        return dispatch.invoke(registry[f'_sample_{name}'], values, {**given, 'shape': _shape(shape)}, out)
    if isinstance(values[0], numeric_types):
        for value in values[1:]:
            assert isinstance(value, numeric_types), ('Distribution parameters must all have the same type, but got '
                                                      f'both {type(values[0])} and {type(value)}.')
        if isinstance(out, NDArray):
            if shape is _Null or shape is None:
                shape = out.shape
            if dtype in (_Null, None):
                given['dtype'] = np.dtype(out.dtype).name
            if ctx is None:
                ctx = out.context
        return dispatch.invoke(registry[f'_random_{name}'], (), {**given, **params, 'shape': _shape(shape)}, out, ctx)
    raise ValueError(f'Distribution parameters must be either NDArray or numbers, but got {type(values[0])}.')


def uniform(low: Any = 0, high: Any = 1, shape: Any = _Null, dtype: Any = _Null, ctx: Any = None, out: Any = None,
            **kwargs: Any) -> NDArray:
    """Draws evenly distributed in [low, high)."""
    return _helper('uniform', {'low': low, 'high': high}, ('low', 'high'), shape, dtype, ctx, out, kwargs)


def normal(loc: Any = 0, scale: Any = 1, shape: Any = _Null, dtype: Any = _Null, ctx: Any = None, out: Any = None,
           **kwargs: Any) -> NDArray:
    """Draws normally distributed with mean loc and standard deviation scale."""
    return _helper('normal', {'loc': loc, 'scale': scale}, ('mu', 'sigma'), shape, dtype, ctx, out, kwargs)


def randn(*shape: int, **kwargs: Any) -> NDArray:
    """Draws from a normal distribution; the dimensions are the arguments."""
    loc, scale = kwargs.pop('loc', 0), kwargs.pop('scale', 1)
    return normal(loc, scale, shape, kwargs.pop('dtype', _Null), kwargs.pop('ctx', None), kwargs.pop('out', None),
                  **kwargs)


def gamma(alpha: Any = 1, beta: Any = 1, shape: Any = _Null, dtype: Any = _Null, ctx: Any = None, out: Any = None,
          **kwargs: Any) -> NDArray:
    """Draws from a gamma distribution with shape alpha and scale beta."""
    return _helper('gamma', {'alpha': alpha, 'beta': beta}, ('alpha', 'beta'), shape, dtype, ctx, out, kwargs)


def exponential(scale: Any = 1, shape: Any = _Null, dtype: Any = _Null, ctx: Any = None, out: Any = None,
                **kwargs: Any) -> NDArray:
    """Draws from an exponential distribution with mean scale."""
    return _helper('exponential', {'lam': 1.0 / scale}, ('lam',), shape, dtype, ctx, out, kwargs)


def poisson(lam: Any = 1, shape: Any = _Null, dtype: Any = _Null, ctx: Any = None, out: Any = None,
            **kwargs: Any) -> NDArray:
    """Draws from a Poisson distribution with mean lam."""
    return _helper('poisson', {'lam': lam}, ('lam',), shape, dtype, ctx, out, kwargs)


def negative_binomial(k: Any = 1, p: Any = 1, shape: Any = _Null, dtype: Any = _Null, ctx: Any = None, out: Any = None,
                      **kwargs: Any) -> NDArray:
    """Draws of the number of failures before the k-th success of probability p."""
    return _helper('negative_binomial', {'k': k, 'p': p}, ('k', 'p'), shape, dtype, ctx, out, kwargs)


def generalized_negative_binomial(mu: Any = 1, alpha: Any = 1, shape: Any = _Null, dtype: Any = _Null, ctx: Any = None,
                                  out: Any = None, **kwargs: Any) -> NDArray:
    """Draws from a negative binomial distribution with mean mu and dispersion alpha."""
    return _helper('generalized_negative_binomial', {'mu': mu, 'alpha': alpha}, ('mu', 'alpha'), shape, dtype, ctx, out,
                   kwargs)


def randint(low: int, high: int, shape: Any = _Null, dtype: Any = _Null, ctx: Any = None, out: Any = None,
            **kwargs: Any) -> NDArray:
    """Integers from low up to, not including, high; int32 unless dtype is int64."""
    return _helper('randint', {'low': low, 'high': high}, (), shape, dtype, ctx, out, kwargs)


def multinomial(data: NDArray, shape: Any = _Null, get_prob: bool = False, out: Any = None, dtype: Any = 'int32',
                **kwargs: Any) -> Any:
    """Positions drawn with the probabilities of the last axis; with get_prob also their log-likelihoods."""
    return dispatch.invoke(registry['_sample_multinomial'], (data,),
                           {'shape': _shape(shape), 'get_prob': get_prob, 'dtype': dtype, **kwargs}, out)


def shuffle(data: NDArray, **kwargs: Any) -> NDArray:
    """A new array with the entries of the first axis in random order."""
    return dispatch.invoke(registry['_shuffle'], (data,), {}, kwargs.get('out'))


_LIKE = tuple(f'{n}_like' for n in ('exponential', 'gamma', 'generalized_negative_binomial', 'negative_binomial',
                                    'normal', 'poisson', 'uniform'))


def __dir__() -> list[str]:
    return sorted({*globals(), *_LIKE})


def __getattr__(name: str) -> Any:
    op = registry.get(f'_random_{name}') if name in _LIKE else None
    if op is None:
        raise _functions.missing(__name__, name)
    value = globals()[name] = _functions.make(op, name)
    return value
