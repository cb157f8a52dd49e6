"""Operators that join arrays or part them."""

from __future__ import annotations

from typing import Any

from ..base import MXNetError, shape_text
from ..op import Bool, Int, Shape, normal_axis, register


def _concat_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any, ...]:
    axis = params['dim'] % inputs[0].ndim
    start, parts = 0, []
    for x in inputs:
        parts.append(F.slice_axis(ograds[0], axis=axis, begin=start,
                                  end=start + x.shape[axis]) if x.shape[axis] else None)
        start += x.shape[axis]
    return tuple(parts)


def _check_concat(arrays: Any, params: Any) -> None:
    first = arrays[0]
    dim = normal_axis(params['dim'], first.ndim, f"Operator Concat: the concat axis {params['dim']} exceeds the input "
                                                 f'dimension of {first.ndim}')
    for index, other in enumerate(arrays):
        if other.dtype != first.dtype:
            raise MXNetError(f'Operator Concat: Non-uniform data type in Concat: expected {first.dtype}, got '
                             f'{other.dtype} at {index}-th input')
        if other.ndim != first.ndim or any(i != dim and a != b for i,
                                           (a, b) in enumerate(zip(other.shape, first.shape))):
            raise MXNetError(f'Operator Concat: Incompatible input shape: expected {shape_text(first.shape)}, got '
                             f'{shape_text(other.shape)} at {index}-th input, dim={params["dim"]}')


@register('Concat', 'concat', variadic=True, mixed=True, params={'dim': Int(1, 'the axis to join along')},
          grad=_concat_grad, infer=_check_concat, samples=((((2, 3), (2, 1)), {}), (((2, 3), (1, 3)), {'dim': 0})),
          rules=('ND-CONCAT-001',))
def _concat(xp: Any, *data: Any, dim: int = 1) -> Any:
    """Arrays joined along an axis that they have."""
    return xp.concatenate(data, axis=dim)


def _stack_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any, ...]:
    axis = params['axis'] % ograds[0].ndim
    return tuple(F.reshape(F.slice_axis(ograds[0], axis=axis, begin=i, end=i + 1), shape=x.shape)
                 for i, x in enumerate(inputs))


def _check_stack(arrays: Any, params: Any) -> None:
    first = arrays[0]
    normal_axis(params['axis'], first.ndim + 1, f"Operator stack: axis {params['axis']} exceeds the input dimension of "
                                                f'{first.ndim}')
    for index, other in enumerate(arrays):
        if other.shape != first.shape:
            raise MXNetError(f'Operator stack: Incompatible attr in node stack at {index}-th input: expected '
                             f'{shape_text(first.shape)}, got {shape_text(other.shape)}')


@register('stack', variadic=True, params={'axis': Int(0, 'where the new axis goes')}, grad=_stack_grad,
          infer=_check_stack,
          samples=((((2, 3), (2, 3)), {}), (((2, 3), (2, 3)), {'axis': -1})), rules=('ND-CONCAT-003', 'ND-CONCAT-004'))
def _stack(xp: Any, *data: Any, axis: int = 0) -> Any:
    """Arrays of one shape joined along a new axis."""
    return xp.stack(data, axis=axis)


def _split_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any]:
    axis = params['axis'] % inputs[0].ndim
    parts = ograds
    if params['squeeze_axis']:
        parts = [F.expand_dims(g, axis=axis) for g in ograds]
    return (F.concat(*parts, dim=axis) if len(parts) > 1 else parts[0],)


@register('SliceChannel', 'split', params={'num_outputs': Int(doc='how many parts', low=1), 'axis': Int(1),
                                           'squeeze_axis': Bool(False, 'drop the axis when each part has length 1')},
          num_outputs=lambda params: params['num_outputs'], grad=_split_grad,
          samples=((((2, 4),), {'num_outputs': 2}), (((2, 3),), {'num_outputs': 2, 'axis': 0, 'squeeze_axis': True})),
          rules=('ND-SPLIT-001',))
def _split(xp: Any, data: Any, num_outputs: int = 1, axis: int = 1, squeeze_axis: bool = False) -> Any:
    """The array parted into equal pieces along an axis."""
    axis = normal_axis(axis, data.ndim,
                       f'Operator SliceChannel: axis {axis} is out of range for {data.ndim} dimensions')
    if data.shape[axis] % num_outputs:
        raise MXNetError(f'Operator SliceChannel: you are trying to split the {axis}-th axis of input tensor with '
                         f'shape '
                         f'{shape_text(data.shape)} into num_outputs={num_outputs} evenly sized chunks, but this is '
                         f'not possible because {num_outputs} does not evenly divide {data.shape[axis]}')
    parts = xp.split(data, num_outputs, axis=axis)
    if squeeze_axis:
        if data.shape[axis] != num_outputs:
            raise MXNetError(f'Operator SliceChannel: squeeze_axis needs parts of length 1, got '
                             f'{data.shape[axis] // num_outputs}')
        parts = [xp.squeeze(p, axis) for p in parts]
    return tuple(xp.ascontiguousarray(p) if p.ndim else p.reshape(1) for p in parts)


def _split_points(params: Any) -> int:
    return params['sections'] if params['sections'] > 0 else len(params['indices'])


def _split_v2_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any]:
    axis = params['axis'] % inputs[0].ndim
    parts = [F.expand_dims(g, axis=axis) for g in ograds] if params['squeeze_axis'] else list(ograds)
    return (F.concat(*parts, dim=axis) if len(parts) > 1 else parts[0],)


@register('_split_v2', params={'indices': Shape((), 'where the parts begin, 0 first'), 'axis': Int(1),
                               'squeeze_axis': Bool(False), 'sections': Int(0)}, num_outputs=_split_points,
          grad=_split_v2_grad, samples=((((2, 5),), {'indices': (0, 1, 3), 'axis': 1}),), rules=('ND-SPLIT-001',))
def _split_v2(xp: Any, data: Any, indices: tuple[int, ...] = (), axis: int = 1, squeeze_axis: bool = False,
              sections: int = 0) -> Any:
    """The array parted at given places along an axis."""
    axis = normal_axis(axis, data.ndim, f'Operator split_v2: axis {axis} is out of range for {data.ndim} dimensions')
    if sections > 0:
        if data.shape[axis] % sections:
            raise MXNetError(f'Operator split_v2: {sections} does not evenly divide {data.shape[axis]}')
        parts = xp.split(data, sections, axis=axis)
    else:
        parts = xp.split(data, list(indices[1:]), axis=axis)
    if squeeze_axis:
        parts = [xp.squeeze(p, axis) for p in parts]
    return tuple(xp.ascontiguousarray(p) if p.ndim else p.reshape(1) for p in parts)
