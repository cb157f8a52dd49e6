"""Operators of compiled libraries, through the C functions that every such library exports.

The library is built against MXNet's ``lib_api.h`` and holds what its author registered; this module speaks the C
interface of version 11, which 1.9.1 has. Supported are operators on dense arrays on the CPU that keep no state.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from . import op as records
from .base import MXNetError, _Null, dtype_text, shape_text
from .op import Operator
from .ops.custom import DTYPE_CODES

VERSION = 11
RELEASE = 10901
"""What ``initialize`` is told: the release whose interface this is, 1.9.1."""

_TYPES = {code: np.dtype(name) for name, code in DTYPE_CODES.items()}
_POINTER, _INT = ctypes.c_void_p, ctypes.c_int
_MALLOC = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)
_TEXTS = ctypes.POINTER(ctypes.c_char_p)
_SHAPES = ctypes.POINTER(ctypes.POINTER(ctypes.c_uint))
_DIMS = ctypes.POINTER(ctypes.c_int)


class Library:
    """A loaded library: its operators, and the messages of what went wrong in it."""

    def __init__(self, path: str, handle: ctypes.CDLL) -> None:
        self.path, self.handle = path, handle
        for name in ('_opVersion', '_opRegSize', '_opRegGet', '_opCallFree', '_opCallParseAttrs', '_opCallInferShape',
                     '_opCallInferType', '_opCallFCompute', 'initialize'):
            if not hasattr(handle, name):
                raise MXNetError(f"Error loading library: '{path}'\nit has no entry point {name}: a library of "
                                 f'operators is built against lib_api.h')
        version = handle._opVersion()
        if version != VERSION:
            raise MXNetError(f"Error loading library: '{path}'\nits version of lib_api.h is {version}, expected "
                             f'{VERSION}')
        if not handle.initialize(RELEASE):
            raise MXNetError(f"Error loading library: '{path}'\nit refuses to be initialized for version {RELEASE}"
                             f'{self.messages()}')
        handle._opCallFree.argtypes = [_POINTER]

    def messages(self) -> str:
        """What the library said about its last failure."""
        handle = self.handle
        if not hasattr(handle, '_msgSize'):
            return ''
        lines = []
        for index in range(handle._msgSize()):
            text = ctypes.c_char_p()
            handle._msgGet(index, ctypes.byref(text))
            lines.append((text.value or b'').decode(errors='replace').strip())
        return ''.join(f'\n{line}' for line in lines if line)

    def operators(self) -> list[Native]:
        """All operators of the library."""
        return [Native(self, index) for index in range(self.handle._opRegSize())]


class Native:
    """One operator of a library: its functions, and calls of them on raw arrays."""

    def __init__(self, library: Library, index: int) -> None:
        self.library = library
        name, subgraph = ctypes.c_char_p(), _INT()
        groups = [(_TEXTS(), ctypes.POINTER(_POINTER)(), _INT()) for _ in range(3)]
        functions = [_POINTER() for _ in range(5)]
        arguments = [ctypes.byref(part) for group in groups for part in group]
        library.handle._opRegGet(index, ctypes.byref(name), ctypes.byref(subgraph), *arguments,
                                 *map(ctypes.byref, functions))
        self.name = (name.value or b'').decode()
        self.forward, self.backward, self.stateful = [
            {texts[i]: _POINTER(pointers[i]) for i in range(count.value)} for texts, pointers, count in groups]
        self.parse, self.types, _, self.shapes, self.mutates = functions

    # ---- calls into the library ------------------------------------------------------------------------------------

    def _call(self, function: str, pointer: Any, attributes: Mapping[str, str], *rest: Any) -> None:
        keys = (ctypes.c_char_p * len(attributes))(*(k.encode() for k in attributes))
        values = (ctypes.c_char_p * len(attributes))(*(v.encode() for v in attributes.values()))
        if not getattr(self.library.handle, function)(pointer, keys, values, _INT(len(attributes)), *rest):
            raise MXNetError(f'Error in operator {self.name} of {self.library.path}: {function[1:]} failed'
                             f'{self.library.messages()}')

    def counts(self, attributes: Mapping[str, str]) -> tuple[int, int]:
        """How many inputs and outputs the operator has with these attributes."""
        inputs, outputs = _INT(), _INT()
        self._call('_opCallParseAttrs', self.parse, attributes, ctypes.byref(inputs), ctypes.byref(outputs))
        return inputs.value, outputs.value

    def described(self, attributes: Mapping[str, str], arrays: Sequence[Any]) -> list[tuple[tuple[int, ...], Any]]:
        """Shape and dtype of every output; MXNetError when the library wants other inputs."""
        _, count = self.counts(attributes)
        number = len(arrays)
        shapes = [np.array(a.shape, np.uint32) for a in arrays]
        given = (ctypes.POINTER(ctypes.c_uint) * number)(
            *(s.ctypes.data_as(ctypes.POINTER(ctypes.c_uint)) for s in shapes))
        dims = (_INT * number)(*(a.ndim for a in arrays))
        wanted, wanted_dims, found, found_dims = _SHAPES(), _DIMS(), _SHAPES(), _DIMS()
        self._call('_opCallInferShape', self.shapes, attributes, given, dims, _INT(number), ctypes.byref(wanted),
                   ctypes.byref(wanted_dims), ctypes.byref(found), ctypes.byref(found_dims), _INT(count))
        expected = self._taken(wanted, wanted_dims, number)
        results = self._taken(found, found_dims, count)
        for array, shape in zip(arrays, expected):
            if shape and array.shape != shape:
                raise MXNetError(f'Error in operator {self.name}: Shape inconsistent, Provided = '
                                 f'{shape_text(array.shape)}, inferred shape={shape_text(shape)}')
        codes = (_INT * number)(*(DTYPE_CODES[dtype_text(a.dtype)] for a in arrays))
        out_codes = (_INT * count)(*([-1] * count))
        self._call('_opCallInferType', self.types, attributes, codes, _INT(number), out_codes, _INT(count))
        for array, code in zip(arrays, codes):
            if _TYPES.get(code) != array.dtype:
                raise MXNetError(f'Error in operator {self.name}: Type inconsistent, Provided = '
                                 f'{dtype_text(array.dtype)}, inferred type = {_TYPES.get(code, code)}')
        unknown = [code for code in out_codes if code not in _TYPES]
        if unknown:
            raise MXNetError(f'Error in operator {self.name}: its library gives an output the type code {unknown[0]}')
        return [(shape, _TYPES[code]) for shape, code in zip(results, out_codes)]

    def _taken(self, shapes: Any, dims: Any, count: int) -> list[tuple[int, ...]]:
        """Shapes that the library allocated, which are freed."""
        if not shapes or not dims:
            return []
        free = self.library.handle._opCallFree
        result = []
        for i in range(count):
            result.append(tuple(int(shapes[i][j]) for j in range(dims[i])))
            free(ctypes.cast(shapes[i], _POINTER))
        free(ctypes.cast(shapes, _POINTER))
        free(ctypes.cast(dims, _POINTER))
        return result

    def compute(self, function: Any, attributes: Mapping[str, str], arrays: Sequence[np.ndarray],
                outputs: Sequence[np.ndarray]) -> None:
        """Run a function of the library from arrays into arrays, all of them contiguous."""
        keep: list[Any] = []

        def allocate(_: Any, size: int) -> int:
            keep.append(ctypes.create_string_buffer(max(size, 1)))
            return ctypes.addressof(keep[-1])

        malloc = _MALLOC(allocate)
        arguments: list[Any] = []
        for group in (arrays, outputs):
            number = len(group)
            shapes = [np.array(a.shape, np.int64) for a in group]
            keep.append(shapes)
            arguments += [(_POINTER * number)(*(s.ctypes.data for s in shapes)),
                          (_INT * number)(*(a.ndim for a in group)),
                          (_POINTER * number)(*(a.ctypes.data for a in group)),
                          (_INT * number)(*(DTYPE_CODES[dtype_text(a.dtype)] for a in group)),
                          (ctypes.c_size_t * number)(*(id(a) for a in group)),
                          (ctypes.c_char_p * number)(*([b'cpu'] * number)), (_INT * number)(*([0] * number)),
                          _INT(number)]
        count_in, count_out = len(arrays), len(outputs)
        nothing = [(_POINTER * n)(*([None] * n)) for n in (count_in, count_out, count_in, count_out)]
        sizes = [(ctypes.c_int64 * n)() for n in (count_in, count_out, count_in, count_out)]
        none = _POINTER(None)
        self._call('_opCallFCompute', function, attributes, *arguments, malloc, none, none, none, none, none, none,
                   (_INT * count_in)(), (_INT * count_out)(), *nothing, *sizes, none, none)


class NativeOperator(Operator):
    """The record of an operator of a library: any parameter is taken, as text."""

    __slots__ = ()

    def parse(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters as the library gets them: text."""
        return {key: str(value) for key, value in given.items() if value is not _Null and key != 'num_args'}

    def input_count(self, params: dict[str, Any]) -> int:
        """How many arrays the library takes with these parameters."""
        assert self.num_inputs is not None
        return self.num_inputs(params)


def _dense(arrays: Sequence[Any]) -> list[np.ndarray]:
    return [np.ascontiguousarray(a) for a in arrays]


def records_of(native: Native) -> list[Operator]:
    """The record of an operator of a library, and that of its gradient; MXNetError for a kind that is not supported."""
    forward, backward = native.forward.get(b'cpu'), native.backward.get(b'cpu')
    if forward is None:
        kind = 'keeps state' if native.stateful else 'has no function for the CPU'
        raise MXNetError(f'operator {native.name} of {native.library.path} {kind}, which this engine does not support')
    reverse = f'_backward_{native.name}'

    def body(xp: Any, *arrays: Any, **attributes: str) -> tuple[np.ndarray, ...]:
        dense = _dense(arrays)
        outputs = tuple(np.zeros(shape, dtype) for shape, dtype in native.described(attributes, dense))
        native.compute(forward, attributes, dense, outputs)
        return outputs

    def reverse_body(xp: Any, *arrays: Any, **attributes: str) -> tuple[np.ndarray, ...]:
        inputs, outputs = native.counts(attributes)
        dense = _dense(arrays)
        gradients = tuple(np.zeros_like(a) for a in dense[outputs:outputs + inputs])
        native.compute(backward, attributes, dense, gradients)
        return gradients

    def grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> Any:
        result = getattr(F, reverse)(*ograds, *inputs, *outputs, **params)
        return tuple(result) if isinstance(result, (list, tuple)) else (result,)

    def refusing(name: str) -> Callable[..., Any]:
        def refuse(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> Any:
            raise MXNetError(f"Operator {name} is non-differentiable because it didn't register FGradient attribute.")

        return refuse

    doc = f'An operator of the library {native.library.path}.'
    gradient: Callable[..., Any] = grad if backward is not None else refusing(native.name)
    common: dict[str, Any] = {'inputs': ('data',), 'variadic': True, 'mixed': True, 'any_shape': True}
    made: list[Operator] = [NativeOperator(
        native.name, body, doc=doc, num_inputs=lambda params: native.counts(params)[0],
        num_outputs=lambda params: native.counts(params)[1], grad=gradient, **common)]
    if backward is not None:
        made.append(NativeOperator(
            reverse, reverse_body, doc=f'The gradient of {native.name}.', grad=refusing(reverse),
            num_inputs=lambda params: native.counts(params)[0] + 2 * native.counts(params)[1],
            num_outputs=lambda params: native.counts(params)[0], **common))
    return made


def register(library: Library) -> list[str]:
    """Put the operators of a library into the registry; MXNetError for a name that another operator has."""
    made = [record for native in library.operators() for record in records_of(native)]
    for record in made:
        found = records.registry.get(record.name)
        if found is not None and not isinstance(found, NativeOperator):
            raise MXNetError(f"Error loading library: '{library.path}'\nthe engine has an operator {record.name} "
                             f'already')
    for record in made:
        records.registry[record.name] = record
    return [record.name for record in made]
