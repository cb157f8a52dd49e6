"""How the releases name operators in files, where that differs from the registry."""

from __future__ import annotations

from collections.abc import Callable

Attrs = dict[str, str]

WRITTEN = {'reshape': 'Reshape', 'cast': 'Cast', 'pad': 'Pad', 'swapaxes': 'SwapAxis', 'cumsum': '_np_cumsum'}
"""Names to write, by the name of the record."""

OUTPUTS = {'BatchNorm': 3, 'LayerNorm': 3, 'GroupNorm': 3, 'InstanceNorm': 3, 'Dropout': 2, 'LRN': 2, 'CTCLoss': 2,
           'L2Normalization': 2, '_contrib_BatchNormWithReLU': 3, 'sort': 2, '_contrib_box_nms': 2}
"""How many outputs the releases count for operators whose hidden outputs are others here."""

NOTHING = frozenset({'None', '()', '[]', '', 'False', 'false', '0'})
"""Values of unknown parameters that may be ignored when a file is read."""


def _same(name: str, **defaults: str) -> Callable[[Attrs], tuple[str, Attrs]]:
    return lambda attrs: (name, {**defaults, **attrs})


def _without(name: str, *keys: str) -> Callable[[Attrs], tuple[str, Attrs]]:
    return lambda attrs: (name, {key: value for key, value in attrs.items() if key not in keys})


def _scalar(name: str) -> Callable[[Attrs], tuple[str, Attrs]]:
    return _without(name, 'is_int')


def _renamed(name: str, **keys: str) -> Callable[[Attrs], tuple[str, Attrs]]:
    return lambda attrs: (name, {keys.get(key, key): value for key, value in attrs.items()})


READ: dict[str, Callable[[Attrs], tuple[str, Attrs]]] = {
    '_npi_add': _same('broadcast_add'), '_npi_subtract': _same('broadcast_sub'),
    '_npi_multiply': _same('broadcast_mul'),
    '_npi_true_divide': _same('broadcast_div'), '_npi_power': _same('broadcast_power'),
    '_npi_mod': _same('broadcast_mod'), '_npi_maximum': _same('broadcast_maximum'),
    '_npi_minimum': _same('broadcast_minimum'),
    '_npi_add_scalar': _scalar('_plus_scalar'), '_npi_subtract_scalar': _scalar('_minus_scalar'),
    '_npi_rsubtract_scalar': _scalar('_rminus_scalar'), '_npi_multiply_scalar': _scalar('_mul_scalar'),
    '_npi_true_divide_scalar': _scalar('_div_scalar'), '_npi_rtrue_divide_scalar': _scalar('_rdiv_scalar'),
    '_npi_power_scalar': _scalar('_power_scalar'), '_npi_rpower_scalar': _scalar('_rpower_scalar'),
    **{f'_npi_{word}': _same(word) for word in (
        'exp', 'log', 'sin', 'cos', 'tan', 'tanh', 'sinh', 'cosh', 'sqrt', 'square', 'abs', 'negative', 'expm1',
        'log1p', 'log2', 'log10', 'arcsin', 'arccos', 'arctan', 'arcsinh', 'arccosh', 'arctanh', 'reciprocal',
        'sign', 'ceil', 'floor', 'trunc', 'rint', 'fix', 'cbrt', 'degrees', 'radians')},
    '_npi_absolute': _same('abs'), '_npx_relu': _same('relu'), '_npx_sigmoid': _same('sigmoid'),
    '_np_transpose': _same('transpose'), '_npi_transpose': _same('transpose'), '_np_copy': _same('_copy'),
    '_npi_copy': _same('_copy'), '_np_sum': _without('sum', 'dtype', 'initial'),
    '_npi_sum': _without('sum', 'dtype', 'initial'), '_npi_mean': _without('mean', 'dtype', 'initial'),
    '_np_max': _without('max', 'initial'), '_npi_max': _without('max', 'initial'),
    '_np_min': _without('min', 'initial'), '_npi_min': _without('min', 'initial'),
    '_np_reshape': _renamed('reshape', newshape='shape'), '_npi_reshape': _renamed('reshape', newshape='shape'),
    '_npx_reshape': _renamed('reshape', newshape='shape'), '_npi_concatenate': _renamed('Concat', axis='dim'),
    '_npi_stack': _same('stack'), '_np_squeeze': _same('squeeze'), '_npi_squeeze': _same('squeeze'),
    '_npi_expand_dims': _same('expand_dims'), '_np_dot': _same('dot'), '_npi_where': _same('where'),
    '_npi_zeros': _without('_zeros', 'ctx'), '_npi_ones': _without('_ones', 'ctx'),
    '_npi_cast': _same('cast'), '_npx_batch_flatten': _same('Flatten'),
}
"""Operators of 2.0's numpy front end: how their names and parameters are to be read."""
