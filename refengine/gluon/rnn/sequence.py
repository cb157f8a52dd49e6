"""Sequences as one array with a time axis or as a list of steps, and the way between the two."""

from __future__ import annotations

from typing import Any

from ... import ndarray as nd
from ...ndarray import NDArray


def is_list(value: Any) -> bool:
    """Whether a sequence is given as a list of steps."""
    return isinstance(value, list | tuple)


def operators_for(value: Any) -> Any:
    """The name space of operators for a value or for the first step of a list: ``nd``, or ``sym`` for a Symbol."""
    first = value[0] if is_list(value) else value
    if isinstance(first, NDArray):
        return nd
    from ... import symbol
    if isinstance(first, symbol.Symbol):
        return symbol
    raise AssertionError(f'inputs must be an NDArray, a Symbol or a list of them, got {first!r} of type {type(first)}')


def time_axis(layout: str) -> int:
    """Where a layout such as ``NTC`` has the time; AssertionError for one without time or batch."""
    assert {'T', 'N'} <= set(layout), f'layout must hold T (time) and N (batch), got {layout!r}'
    return layout.index('T')


def batch_size(inputs: Any, layout: str) -> int:
    """The size of a batch; 0, which is unknown, for Symbols."""
    first, axes = (inputs[0], layout.replace('T', '')) if is_list(inputs) else (inputs, layout)
    return first.shape[axes.index('N')] if isinstance(first, NDArray) else 0


def to_steps(length: int | None, inputs: Any, layout: str) -> list[Any]:
    """The steps of a sequence; AssertionError if there are not ``length`` of them."""
    axis = time_axis(layout)
    if is_list(inputs):
        assert length is None or len(inputs) == length, \
            f'expected a sequence of {length} steps, got a list of {len(inputs)}'
        return list(inputs)
    if isinstance(inputs, NDArray):
        assert length is None or inputs.shape[axis] == length, \
            (f'expected a sequence of {length} steps, got an array of shape {inputs.shape}, which has '
             f'{inputs.shape[axis]} in layout {layout}')
        length = inputs.shape[axis]
    steps = operators_for(inputs).split(inputs, axis=axis, num_outputs=length, squeeze_axis=True)
    return [steps] if length == 1 and isinstance(inputs, NDArray) else list(steps)


def to_array(inputs: Any, layout: str) -> Any:
    """The sequence as one array."""
    if not is_list(inputs):
        return inputs
    return operators_for(inputs).stack(*inputs, axis=time_axis(layout))


def arranged(length: int | None, inputs: Any, layout: str, merge: bool | None) -> Any:
    """The sequence as one array with ``merge``, as a list of steps with ``merge=False``, as it is with None."""
    if merge is None:
        if not is_list(inputs) and isinstance(inputs, NDArray):
            axis = time_axis(layout)
            assert length is None or inputs.shape[axis] == length, \
                f'expected a sequence of {length} steps, got an array of shape {inputs.shape} in layout {layout}'
        return inputs
    return to_array(inputs, layout) if merge else to_steps(length, inputs, layout)


def masked(outputs: Any, valid_length: Any, layout: str) -> Any:
    """The sequence as one array in which the steps behind the valid length of each sample are 0."""
    return operators_for(outputs).SequenceMask(to_array(outputs, layout), sequence_length=valid_length,
                                               use_sequence_length=True, axis=time_axis(layout))


def backwards(steps: list[Any], valid_length: Any = None) -> list[Any]:
    """The steps in reverse order; with valid lengths only those within, the others stay where they are."""
    if valid_length is None:
        return list(reversed(steps))
    F = operators_for(steps)
    turned = F.SequenceReverse(F.stack(*steps, axis=0), sequence_length=valid_length, use_sequence_length=True)
    return to_steps(len(steps), turned, 'TNC')


def last_valid(steps: list[Any], valid_length: Any) -> Any:
    """From the values after each step, for each sample that after its last valid step."""
    F = operators_for(steps)
    return F.SequenceLast(F.stack(*steps, axis=0), sequence_length=valid_length, use_sequence_length=True)
