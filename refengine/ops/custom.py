"""Custom: an operator that the program defines in Python (rules CUSTOMOP)."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .. import op as records
from ..base import LateError, MXNetError, _Null, dtype_text, shape_text
from ..context import Context, current_context
from ..op import Operator, Str

DTYPE_CODES = {'float32': 0, 'float64': 1, 'float16': 2, 'uint8': 3, 'int32': 4, 'int8': 5, 'int64': 6, 'bool': 7}
"""The numbers under which ``create_operator`` gets element types."""


class Call:
    """One call of a custom operator: the object that describes it, and what was inferred about it."""

    __slots__ = ('arguments', 'aux', 'ctx', 'name', 'operator', 'outputs', 'prop', 'shapes', 'types')

    def __init__(self, name: str, prop: Any, ctx: Context) -> None:
        self.name, self.prop, self.ctx = name, prop, ctx
        self.arguments = _names(name, prop, 'list_arguments')
        self.outputs = _names(name, prop, 'list_outputs')
        self.aux = _names(name, prop, 'list_auxiliary_states')
        self.shapes: list[tuple[int, ...]] = []
        self.types: list[np.dtype[Any]] = []
        self.operator: Any = None

    @property
    def count(self) -> int:
        """How many arrays the call takes, auxiliary states included."""
        return len(self.arguments) + len(self.aux)


def _complain(where: str) -> str:
    """Print the traceback of the current exception, as programs expect to find it, and return its last line."""
    text = traceback.format_exc()
    print(f'Error in {where}: {text}')
    return text.strip().splitlines()[-1]


def _asked(call_name: str, method: str, function: Callable[..., Any], *args: Any) -> Any:
    """The answer of a method of a Prop; MXNetError when it raises."""
    try:
        return function(*args)
    except Exception as error:
        reason = _complain(f'{call_name}.{method}')
        raise MXNetError(f'Custom operator {call_name}: {method} failed: {reason}') from error


def _names(call_name: str, prop: Any, method: str) -> list[str]:
    return _asked(call_name, method, lambda: [str(n) for n in getattr(prop, method)()])


def make_prop(op_type: str, keywords: Mapping[str, Any]) -> Any:
    """The description for a call: its constructor gets all keywords as strings (CUSTOMOP-REG-004, -005)."""
    from .. import operator
    factory = operator.find(op_type)
    texts = {key: str(value) for key, value in keywords.items()}
    try:
        prop = factory(**texts)
    except Exception as error:
        raise MXNetError(f'Custom operator {op_type}: its constructor failed with the keywords {texts}: '
                         f'{type(error).__name__}: {error}') from error
    if not isinstance(prop, operator.CustomOpProp):
        raise MXNetError(f'Custom operator {op_type}: expected the registered object to give a CustomOpProp, '
                         f'got {type(prop).__name__}')
    return prop


def _lists(call: Call, method: str, result: Any, kind: str) -> tuple[list[Any], list[Any], list[Any]]:
    """The three lists of an inference method, checked; AssertionError for a wrong number of lists or entries."""
    if len(result) not in (2, 3):
        raise AssertionError(f'{method} must return 2 or 3 lists, got {len(result)}')
    inputs, outputs, aux = (*result, ())[:3]
    for given, names, what in ((inputs, call.arguments, 'argument'), (outputs, call.outputs, 'output'),
                               (aux, call.aux, 'aux state')):
        assert len(given) == len(names), (f'{method} Error: expecting {len(names)} entries in returned {what} {kind}, '
                                          f'got {len(given)}.')
    return list(inputs), list(outputs), list(aux)


def _inferred(call: Call, method: str, kind: str, given: list[Any]) -> tuple[list[Any], list[Any], list[Any]]:
    return _asked(call.name, method,
                  lambda: _lists(call, method, getattr(call.prop, method)(given), kind))


def infer(arrays: Sequence[Any], params: dict[str, Any]) -> None:
    """Ask the description for shapes and dtypes, hold the inputs against them and make the operator."""
    call: Call = params['call']
    count = len(call.arguments)
    own, aux = arrays[:count], arrays[count:]
    shapes, out_shapes, aux_shapes = _inferred(call, 'infer_shape', 'shapes', [list(a.shape) for a in own])
    for array, shape in zip((*own, *aux), (*shapes, *aux_shapes)):
        if array.shape != tuple(shape):
            raise MXNetError(f'Shape inconsistent, Provided = {shape_text(array.shape)}, '
                             f'inferred shape={shape_text(shape)}')
    types, out_types, aux_types = _inferred(call, 'infer_type', 'types', [a.dtype.type for a in own])
    for array, dtype in zip((*own, *aux), (*types, *aux_types)):
        if array.dtype != np.dtype(dtype):
            raise MXNetError(f'Type inconsistent, Provided = {dtype_text(array.dtype)}, '
                             f'inferred type = {dtype_text(dtype)}')
    _inferred(call, 'infer_storage_type', 'storage types', ['default'] * count)
    call.shapes = [tuple(int(n) for n in shape) for shape in out_shapes]
    call.types = [np.dtype(dtype) for dtype in out_types]
    call.operator = _asked(call.name, 'create_operator', call.prop.create_operator, call.ctx,
                           [list(a.shape) for a in own], [DTYPE_CODES[dtype_text(a.dtype)] for a in own])


class CustomOperator(Operator):
    """The record of Custom: its parameters are what the registered class makes of them."""

    __slots__ = ()

    def parse(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The description of the call; MXNetError for a missing or unknown op_type."""
        keywords = {key: value for key, value in given.items() if value is not _Null}
        op_type = keywords.pop('op_type', None)
        if op_type is None:
            raise MXNetError('Required argument `op_type` is missing.')
        ctx = keywords.pop('_ctx', None) or current_context()
        made = keywords.pop('_prop', None)      # the front end has it already when arrays were given by name
        return {'call': Call(str(op_type), made or make_prop(str(op_type), keywords), ctx)}


def _forward(xp: Any, *arrays: Any, call: Call, is_train: bool) -> tuple[Any, ...]:
    """An operator that the program defines: ``op_type`` is the name it is registered under.

    Further keywords go to the constructor of the registered CustomOpProp as strings.
    """
    outputs = tuple(xp.empty(shape, dtype) for shape, dtype in zip(call.shapes, call.types))
    count = len(call.arguments)
    failed = run(call.ctx, 'CustomOp.forward', lambda wrapped: call.operator.forward(
        is_train=int(is_train), req=['write'] * len(outputs), in_data=wrapped(arrays[:count], False),
        out_data=wrapped(outputs, True), aux=wrapped(arrays[count:], True)))
    if failed is not None:
        raise LateError(failed, outputs)
    return outputs


def run(ctx: Any, where: str, body: Callable[[Callable[[Sequence[Any], bool], list[Any]]], Any]) -> Exception | None:
    """Call the program's code with recording off, in the context of the call; returns the error for the next wait."""
    from ..dispatch import wrap
    from ..tape import state

    def wrapped(raw: Sequence[Any], writable: bool) -> list[Any]:
        arrays = []
        for data in raw:
            if not writable:
                data = data.view()
                if hasattr(data.flags, 'writeable'):
                    data.flags.writeable = False
            arrays.append(wrap(data, ctx))
        return arrays

    recording, state.recording = state.recording, False
    try:
        with ctx:
            body(wrapped)
    except Exception as error:  # noqa: BLE001 - whatever the program raises belongs to the result
        return MXNetError(f'{_complain(where)} (in {where}, whose traceback was printed)').with_traceback(
            error.__traceback__)
    finally:
        state.recording = recording
    return None


records.add(CustomOperator(
    'Custom', _forward, inputs=('data',), params={'op_type': Str(doc='the name it is registered under')},
    num_inputs=lambda params: params['call'].count, num_outputs=lambda params: len(params['call'].outputs),
    infer=infer, mixed=True, rules=('CUSTOMOP-REG-001', 'CUSTOMOP-RUN-001')))
