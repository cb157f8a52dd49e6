"""Sparse arrays: ``mx.nd.sparse``. Its functions take dense arrays; row_sparse and csr are not there yet and say so."""

from __future__ import annotations

from typing import Any

from ..base import MXNetError
from ..op import registry as _registry
from . import functions as _functions
from . import hybrid as _hybrid
from .ndarray import NDArray

add, subtract, multiply, divide = _hybrid.add, _hybrid.subtract, _hybrid.multiply, _hybrid.divide

_OPERATORS = (
    'ElementWiseSum', 'Embedding', 'FullyConnected', 'LinearRegressionOutput', 'LogisticRegressionOutput',
    'MAERegressionOutput', 'abs', 'adam_update', 'add_n', 'arccos', 'arccosh', 'arcsin', 'arcsinh', 'arctan', 'arctanh',
    'broadcast_add', 'broadcast_div', 'broadcast_minus', 'broadcast_mul', 'broadcast_plus', 'broadcast_sub',
    'cast_storage', 'cbrt', 'ceil', 'clip', 'concat', 'cos', 'cosh', 'degrees', 'dot', 'elemwise_add', 'elemwise_div',
    'elemwise_mul', 'elemwise_sub', 'exp', 'expm1', 'fix', 'floor', 'ftrl_update', 'gamma', 'gammaln', 'log', 'log10',
    'log1p', 'log2', 'make_loss', 'mean', 'negative', 'norm', 'radians', 'relu', 'rint', 'round', 'rsqrt',
    'sgd_mom_update', 'sgd_update', 'sigmoid', 'sign', 'sin', 'sinh', 'slice', 'sqrt', 'square', 'stop_gradient', 'sum',
    'tan', 'tanh', 'trunc', 'where', 'zeros_like',
)
"""The operators that know sparse arrays."""


class BaseSparseNDArray(NDArray):
    """The common base of sparse arrays."""

    __slots__ = ()


class RowSparseNDArray(BaseSparseNDArray):
    """An array of which only some rows are stored."""

    __slots__ = ()


class CSRNDArray(BaseSparseNDArray):
    """A matrix in compressed rows."""

    __slots__ = ()


def _missing(stype: str) -> MXNetError:
    return MXNetError(f'storage type {stype} is not supported by this engine yet; only default is')


def zeros(stype: str, shape: Any, ctx: Any = None, dtype: Any = None, **kwargs: Any) -> NDArray:
    """An array of zeros; ValueError for an unknown storage type, MXNetError for one that is not supported."""
    if stype == 'default':
        from .creation import zeros as dense
        return dense(shape, ctx=ctx, dtype=dtype, **kwargs)
    if stype not in ('row_sparse', 'csr'):
        raise ValueError(f'unknown storage type{stype}')
    raise _missing(stype)


def empty(stype: str, shape: Any, ctx: Any = None, dtype: Any = None) -> NDArray:
    """A sparse array that holds nothing."""
    if stype not in ('row_sparse', 'csr'):
        raise Exception(f'unknown stype : {stype}')      # the class that programs of the releases see
    raise _missing(stype)


def cast_storage(data: NDArray, stype: str) -> NDArray:
    """The array in another storage type; MXNetError for storage types that are not supported."""
    from . import cast_storage as convert
    return convert(data, stype)


def __getattr__(name: str) -> Any:
    if name in _OPERATORS:
        value = globals()[name] = _functions.make(_registry[name], name)
        return value
    raise _functions.missing(__name__, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_OPERATORS})
