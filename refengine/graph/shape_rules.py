"""Shapes of results without computing them, for operators whose computation is heavy or whose inputs may be unknown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from ..op import Operator
from ..ops import binary, unary
from ..ops.binary import broadcast_shape
from ..ops.nn_rnn import complete_shapes as _rnn_known
from ..ops.nn_rnn import partial_outputs as _rnn_outputs
from ..ops.shapes import completions, merge, same_shape

Result = list[tuple[tuple[int, ...], np.dtype[Any]]]
Rule = Callable[[Sequence[np.ndarray], dict[str, Any]], Result]

_UNARY = {row.name for row in unary.ROWS}
_SAME_PAIRS = {row.pair for row in binary.ROWS}
_BROADCAST = {'broadcast_' + row.word for row in binary.ROWS}
_SCALARS = {name for row in binary.ROWS for name in (row.scalar, row.reflected) if name}
_SAME = {'Activation', 'softmax', 'log_softmax', 'softmin', 'SoftmaxActivation', 'SoftmaxOutput', '_copy', 'BlockGrad',
         'make_loss', 'MakeLoss', 'LinearRegressionOutput', 'LogisticRegressionOutput', 'MAERegressionOutput',
         'SVMOutput', 'clip', 'zeros_like', 'ones_like', '_relu_backward', '_softmax_output_backward', 'smooth_l1',
         '_expand_like_same', 'hard_sigmoid', 'L2Normalization', 'LRN'}
ELEMENTWISE = _UNARY | _SAME_PAIRS | _BROADCAST | _SCALARS
"""Operators whose results have, element by element, the shape their inputs broadcast to."""


def _first(arrays: Sequence[np.ndarray], params: dict[str, Any]) -> Result:
    return [(arrays[0].shape, _number(arrays[0].dtype))]


def _number(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtype


def _broadcast(name: str) -> Rule:
    def rule(arrays: Sequence[np.ndarray], params: dict[str, Any]) -> Result:
        return [(broadcast_shape(name, arrays[0].shape, arrays[1].shape), arrays[0].dtype)]

    return rule


def _scalar(arrays: Sequence[np.ndarray], params: dict[str, Any]) -> Result:
    dtype = arrays[0].dtype
    return [(arrays[0].shape, np.dtype(np.int64) if dtype.kind == 'b' else dtype)]


def _dense(arrays: Sequence[np.ndarray], params: dict[str, Any]) -> Result:
    data, hidden = arrays[0], params['num_hidden']
    shape = (data.shape[0], hidden) if params['flatten'] else (*data.shape[:-1], hidden)
    return [(shape, data.dtype)]


def _spread(size: int, kernel: int, stride: int, dilate: int, pad: int) -> int:
    return (size + 2 * pad - (dilate * (kernel - 1) + 1)) // stride + 1


def _convolution(arrays: Sequence[np.ndarray], params: dict[str, Any]) -> Result:
    data, spatial = arrays[0], len(params['kernel'])
    last = (params.get('layout') or '')[-1:] == 'C'
    sizes = data.shape[1:-1] if last else data.shape[2:]
    found = tuple(_spread(n, k, s, d, p) for n, k, s, d, p in zip(
        sizes, params['kernel'], params['stride'] or (1,) * spatial, params['dilate'] or (1,) * spatial,
        params['pad'] or (0,) * spatial, strict=True))
    filters = params['num_filter']
    return [((data.shape[0], *found, filters) if last else (data.shape[0], filters, *found), data.dtype)]


def _back_data(arrays: Sequence[np.ndarray], params: dict[str, Any]) -> Result:
    return [(tuple(params['data_shape']), arrays[0].dtype)]


def _back_weight(arrays: Sequence[np.ndarray], params: dict[str, Any]) -> Result:
    data, ograd = arrays
    last = (params.get('layout') or '')[-1:] == 'C'
    axis, groups = (-1 if last else 1), params.get('num_group') or 1
    filters, channels = ograd.shape[axis], data.shape[axis] // groups
    kernel = tuple(params['kernel'])
    return [((filters, *kernel, channels) if last else (filters, channels, *kernel), data.dtype)]


def _like_data(arrays: Sequence[np.ndarray], params: dict[str, Any]) -> Result:
    return [(arrays[1].shape, arrays[0].dtype)]


def _batch_norm(arrays: Sequence[np.ndarray], params: dict[str, Any]) -> Result:
    data, vector = arrays[0], (arrays[1].shape, arrays[1].dtype)
    return [(data.shape, data.dtype), vector, vector, vector]


def _batch_norm_back(arrays: Sequence[np.ndarray], params: dict[str, Any]) -> Result:
    vector = (arrays[2].shape, arrays[4].dtype)
    return [(arrays[1].shape, arrays[1].dtype), vector, vector]


def _dot(arrays: Sequence[np.ndarray], params: dict[str, Any]) -> Result | None:
    a, b = arrays
    if a.ndim != 2 or b.ndim != 2:
        return None
    left = a.shape[::-1] if params.get('transpose_a') else a.shape
    right = b.shape[::-1] if params.get('transpose_b') else b.shape
    return [((left[0], right[1]), a.dtype)] if left[1] == right[0] else None


def _embedding(arrays: Sequence[np.ndarray], params: dict[str, Any]) -> Result:
    return [((*arrays[0].shape, params['output_dim']), arrays[1].dtype)]


def _like_second(arrays: Sequence[np.ndarray], params: dict[str, Any]) -> Result:
    return [(arrays[1].shape, arrays[0].dtype)]


def _flatten(arrays: Sequence[np.ndarray], params: dict[str, Any]) -> Result:
    shape = arrays[0].shape
    return [((shape[0], prod(shape[1:])), arrays[0].dtype)]


def _concat(arrays: Sequence[np.ndarray], params: dict[str, Any]) -> Result:
    axis = params['dim'] % arrays[0].ndim
    shape = list(arrays[0].shape)
    shape[axis] = sum(a.shape[axis] for a in arrays)
    return [(tuple(shape), arrays[0].dtype)]


_RULES: dict[str, Any] = {
    **dict.fromkeys(_SAME_PAIRS | _SAME, _first), **{name: _broadcast(name) for name in _BROADCAST},
    **dict.fromkeys(_SCALARS, _scalar), **dict.fromkeys(_UNARY, _first), 'FullyConnected': _dense,
    'Convolution': _convolution, '_conv_backward_data': _back_data, 'BatchNorm': _batch_norm,
    '_contrib_BatchNormWithReLU': _batch_norm, '_batch_norm_backward': _batch_norm_back, 'Embedding': _embedding,
    '_expand_like': _like_second, '_sum_like': _like_second, 'Flatten': _flatten, 'Concat': _concat,
    '_linalg_potri': _first, '_linalg_potrf': _first, '_linalg_inverse': _first,
    '_conv_backward_weight': _back_weight, '_max_pooling_backward': _like_data,
}
_TENTATIVE = {'dot': _dot}


def find(op: Operator) -> Rule | None:
    """The rule of an operator, or None: then it has to run on stand-ins."""
    return _RULES.get(op.name)


def tentative(op: Operator, arrays: Sequence[np.ndarray], params: dict[str, Any]) -> Result | None:
    """The result of a rule that covers the common cases only."""
    rule = _TENTATIVE.get(op.name)
    return None if rule is None else rule(arrays, params)


# ---- unknown inputs from known ones ----------------------------------------------------------------------------

def _label_rows(shapes: list[Any], params: dict[str, Any]) -> list[Any]:
    data = shapes[0]
    if params.get('multi_output'):
        return [data, shapes[1] or (data[0], *data[2:])]
    return [data, shapes[1] or (data[:-1] if params.get('preserve_shape') else data[:1])]


def _label_same(shapes: list[Any], params: dict[str, Any]) -> list[Any]:
    data = shapes[0]
    return [data, shapes[1] or (data[:1] if len(data) == 2 and data[1] == 1 else data)]


def _label_batch(shapes: list[Any], params: dict[str, Any]) -> list[Any]:
    return [shapes[0], shapes[1] or shapes[0][:1]]


def _lengths(shapes: list[Any], params: dict[str, Any]) -> list[Any]:
    axis = 1 - params.get('axis', 0)
    return [shapes[0], *((shape or (shapes[0][axis],)) for shape in shapes[1:])]


def _all_same(shapes: list[Any], params: dict[str, Any]) -> list[Any]:
    return [merge(*shapes)] * len(shapes)


def _concat_known(shapes: list[Any], params: dict[str, Any]) -> list[Any]:
    ranks = {len(s) for s in shapes if s is not None}
    if len(ranks) != 1:
        return shapes
    rank = ranks.pop()
    axis = params['dim'] % rank
    common = merge(*(tuple(0 if i == axis else n for i, n in enumerate(s)) for s in shapes if s is not None)) or ()
    return [tuple((s[i] if s else 0) if i == axis else common[i] for i in range(rank)) for s in shapes]


def _where_known(shapes: list[Any], params: dict[str, Any]) -> list[Any]:
    """Both choices have one shape; the condition may have fewer dimensions."""
    both = merge(shapes[1], shapes[2])
    return [shapes[0], both, both]


def _optimizer(shapes: list[Any], params: dict[str, Any]) -> list[Any]:
    return [merge(*shapes)] * len(shapes)


_COMPLETIONS: dict[str, Any] = {
    'SoftmaxOutput': _label_rows, 'LinearRegressionOutput': _label_same, 'LogisticRegressionOutput': _label_same,
    'MAERegressionOutput': _label_same, 'SVMOutput': _label_batch, 'add_n': _all_same, 'stack': _all_same,
    'Concat': _concat_known, 'SequenceMask': _lengths, 'SequenceLast': _lengths, 'SequenceReverse': _lengths,
    'softmax_cross_entropy': _label_batch, 'where': _where_known,
    **dict.fromkeys(_SAME_PAIRS, _all_same),
    **dict.fromkeys(('sgd_update', 'sgd_mom_update', 'adam_update', 'nag_mom_update', 'signum_update', 'ftrl_update',
                     'rmsprop_update', 'rmspropalex_update', 'mp_sgd_update', 'mp_sgd_mom_update', 'ftml_update',
                     'signsgd_update', 'lamb_update_phase1'), _optimizer),
}

ANY_LEADER = frozenset({_all_same, same_shape, _concat_known, _optimizer, _where_known})
"""Rules for which no input comes first."""


def _partial_dense(shapes: list[Any], params: dict[str, Any]) -> list[Any]:
    data, hidden = shapes[0], params['num_hidden']
    columns = prod(data[1:]) if params['flatten'] else data[-1]
    return [data, merge(shapes[1], (hidden, columns)), (hidden,)][:len(shapes)]


def _partial_convolution(shapes: list[Any], params: dict[str, Any]) -> list[Any]:
    """The weights depend on the channels of the data, not on its batch."""
    return completions['Convolution'](shapes, params)


_COMPLETIONS['FullyConnected'] = _partial_dense
_COMPLETIONS['Convolution'] = _partial_convolution
PARTIAL = frozenset({_partial_dense, _partial_convolution, _rnn_known})
"""Rules that can do with some dimensions of the first input."""

PARTIAL_OUTPUTS: dict[str, Any] = {'RNN': _rnn_outputs}
"""What operators tell about their outputs while dimensions of inputs are unknown."""


def completion(op: Operator) -> Any:
    """The rule by which an operator tells shapes of inputs from other inputs, or None."""
    return _COMPLETIONS.get(op.name)


# ---- inputs from outputs ---------------------------------------------------------------------------------------

def _from_output(out: Any, shapes: list[Any], params: dict[str, Any]) -> list[Any]:
    return [out] * len(shapes)


def _lead_from_output(out: Any, shapes: list[Any], params: dict[str, Any]) -> list[Any]:
    return [out] + [None] * (len(shapes) - 1)


def _dense_from_output(out: Any, shapes: list[Any], params: dict[str, Any]) -> list[Any]:
    data = shapes[0]
    if data is None or not out:
        return []
    return [(out[0], *data[1:])] if params['flatten'] else [(*out[:-1], data[-1])] if len(out) == len(data) else []


def _batch_from_output(out: Any, shapes: list[Any], params: dict[str, Any]) -> list[Any]:
    data = shapes[0]
    return [(out[0], *data[1:])] if data is not None and out and out[0] else []


def _concat_from_output(out: Any, shapes: list[Any], params: dict[str, Any], most: int = 1) -> list[Any]:
    axis = params['dim'] % len(out) if out else 0
    lengths = [s[axis] if s is not None and len(s) == len(out) else 0 for s in shapes]
    if not out or not out[axis]:
        return []
    rest, unknown = out[axis] - sum(lengths), lengths.count(0)
    if not 1 <= unknown <= most or rest <= 0 or rest % unknown:
        return []
    share = (*out[:axis], rest // unknown, *out[axis + 1:])
    return [None if length else share for length in lengths]


def _parameters_from_vector(out: Any, shapes: list[Any], params: dict[str, Any]) -> list[Any]:
    """Weights of unknown size are those of the two directions of the first layer: they are of one size."""
    return _concat_from_output(out, shapes, params, 2)


def _size_from_output(out: Any, shapes: list[Any], params: dict[str, Any]) -> list[Any]:
    """The only unknown dimension of an input that has as many elements as the output."""
    data = shapes[0]
    if data is None or 0 in out or data.count(0) != 1:
        return []
    rest = prod(n for n in data if n)
    return [] if prod(out) % rest else [tuple(n or prod(out) // rest for n in data)]


_BACKWARD: dict[str, Any] = {
    'Concat': _concat_from_output, '_rnn_param_concat': _parameters_from_vector,
    **dict.fromkeys(('reshape', 'Flatten', 'expand_dims', 'squeeze'), _size_from_output),
    **dict.fromkeys(_SAME_PAIRS | {'add_n'}, _from_output),
    **dict.fromkeys(_UNARY | _SCALARS | {'Activation', 'Dropout', '_copy', 'BlockGrad', 'cast', 'BatchNorm', 'softmax',
                                         'log_softmax', 'SoftmaxOutput', 'clip'}, _lead_from_output),
    'FullyConnected': _dense_from_output,
    'where': lambda out, shapes, params: [None, out, out],
    **dict.fromkeys(('Convolution', 'Deconvolution', 'Pooling', 'LeakyReLU'), _batch_from_output),
}


def backward(op: Operator) -> Any:
    """The rule by which an operator tells shapes of inputs from its first output, or None."""
    return _BACKWARD.get(op.name)


def extend(name: str, rule: Any, any_leader: Any = None) -> None:
    """Give an operator that lies above the graphs its rule; ``any_leader`` completes shapes of inputs in any order."""
    global ANY_LEADER
    _RULES[name] = rule
    if any_leader is not None:
        ANY_LEADER |= {any_leader}
