"""Random draws in a graph: ``mx.sym.random``."""

from __future__ import annotations

from typing import Any

from ..base import _Null, numeric_types
from ..op import registry
from . import functions as _functions
from .compose import call
from .creation import shape_of
from .symbol import Symbol


def _draw(kind: str, params: dict[str, Any], shape: Any, dtype: Any, kwargs: dict[str, Any]) -> Symbol:
    name = kwargs.pop('name', None)
    kwargs.pop('ctx', None)
    values = list(params.values())
    given = {'shape': shape_of(shape), 'dtype': dtype, **kwargs}
    if all(isinstance(value, Symbol) for value in values):
        return call(registry[f'_sample_{kind}'], f'_sample_{kind}', values, given, name)
    if all(isinstance(value, numeric_types) for value in values):
        return call(registry[f'_random_{kind}'], f'_random_{kind}', [], {**params, **given}, name)
    raise ValueError('Distribution parameters must be either all Symbols or all numbers, but got '
                     f'{", ".join(str(type(value)) for value in values)}.')


def uniform(low: Any = 0, high: Any = 1, shape: Any = _Null, dtype: Any = _Null, **kwargs: Any) -> Symbol:
    """Draws evenly distributed in [low, high)."""
    return _draw('uniform', {'low': low, 'high': high}, shape, dtype, kwargs)


def normal(loc: Any = 0, scale: Any = 1, shape: Any = _Null, dtype: Any = _Null, **kwargs: Any) -> Symbol:
    """Draws normally distributed with mean loc and standard deviation scale."""
    return _draw('normal', {'loc': loc, 'scale': scale}, shape, dtype, kwargs)


def randn(*shape: int, **kwargs: Any) -> Symbol:
    """Draws from a normal distribution; the dimensions are the arguments."""
    return normal(kwargs.pop('loc', 0), kwargs.pop('scale', 1), shape, kwargs.pop('dtype', _Null), **kwargs)


def gamma(alpha: Any = 1, beta: Any = 1, shape: Any = _Null, dtype: Any = _Null, **kwargs: Any) -> Symbol:
    """Draws from a gamma distribution with shape alpha and scale beta."""
    return _draw('gamma', {'alpha': alpha, 'beta': beta}, shape, dtype, kwargs)


def exponential(scale: Any = 1, shape: Any = _Null, dtype: Any = _Null, **kwargs: Any) -> Symbol:
    """Draws from an exponential distribution with mean scale."""
    return _draw('exponential', {'lam': 1.0 / scale}, shape, dtype, kwargs)


def poisson(lam: Any = 1, shape: Any = _Null, dtype: Any = _Null, **kwargs: Any) -> Symbol:
    """Draws from a Poisson distribution with mean lam."""
    return _draw('poisson', {'lam': lam}, shape, dtype, kwargs)


def negative_binomial(k: Any = 1, p: Any = 1, shape: Any = _Null, dtype: Any = _Null, **kwargs: Any) -> Symbol:
    """Draws of the number of failures before the k-th success of probability p."""
    return _draw('negative_binomial', {'k': k, 'p': p}, shape, dtype, kwargs)


def generalized_negative_binomial(mu: Any = 1, alpha: Any = 1, shape: Any = _Null, dtype: Any = _Null,
                                  **kwargs: Any) -> Symbol:
    """Draws from a negative binomial distribution with mean mu and dispersion alpha."""
    return _draw('generalized_negative_binomial', {'mu': mu, 'alpha': alpha}, shape, dtype, kwargs)


def randint(low: int, high: int, shape: Any = _Null, dtype: Any = _Null, **kwargs: Any) -> Symbol:
    """Integers from low up to, not including, high."""
    return _draw('randint', {'low': low, 'high': high}, shape, dtype, kwargs)


def multinomial(data: Symbol, shape: Any = _Null, get_prob: bool = True, dtype: Any = 'int32',
                **kwargs: Any) -> Symbol:
    """Positions drawn with the probabilities of the last axis."""
    return call(registry['_sample_multinomial'], '_sample_multinomial', [data],
                {'shape': shape_of(shape), 'get_prob': get_prob, 'dtype': dtype}, kwargs.get('name'))


def shuffle(data: Symbol, **kwargs: Any) -> Symbol:
    """The entries of the first axis in random order."""
    return call(registry['_shuffle'], '_shuffle', [data], {}, kwargs.get('name'))


def __getattr__(name: str) -> Any:
    op = registry.get(f'_random_{name}') if name.endswith('_like') else None
    if op is None:
        raise _functions.missing(__name__, name)
    value = globals()[name] = _functions.make(op, name)
    return value


def __dir__() -> list[str]:
    likes = [name[len('_random_'):] for name in registry if name.startswith('_random_') and name.endswith('_like')]
    return sorted({*globals(), *likes})
