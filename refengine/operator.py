"""Operators written in Python: ``mx.operator``.

A ``CustomOpProp`` says what an operator looks like (inputs, outputs, shapes, dtypes) and makes the ``CustomOp`` that
computes. Registered under a name it is called as ``nd.Custom(*inputs, op_type=name)``.

>>> import refengine as mx
>>> class Double(mx.operator.CustomOp):
...     def forward(self, is_train, req, in_data, out_data, aux):
...         self.assign(out_data[0], req[0], in_data[0] * 2)
...     def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
...         self.assign(in_grad[0], req[0], out_grad[0] * 2)
>>> @mx.operator.register('double_of_docs')
... class DoubleProp(mx.operator.CustomOpProp):
...     def create_operator(self, ctx, in_shapes, in_dtypes):
...         return Double()
>>> mx.nd.Custom(mx.nd.array([1, 2]), op_type='double_of_docs').asnumpy().tolist()
[2.0, 4.0]
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any

from . import op as _op
from .base import MXNetError

__all__ = ['CustomOp', 'CustomOpProp', 'NDArrayOp', 'NumpyOp', 'OperatorArguments', 'PythonOp',
           'get_all_registered_operators', 'get_operator_arguments', 'register']


class CustomOp:
    """What computes: subclasses define ``forward`` and, to be differentiable, ``backward`` (CUSTOMOP-RUN)."""

    def forward(self, is_train: int, req: list[str], in_data: list[Any], out_data: list[Any], aux: list[Any]) -> None:
        """Compute ``out_data`` from ``in_data``; called with recording off, in the context of the call.

        ``is_train`` is 1 in training mode, else 0. ``req`` says for each output null, write, inplace or add: leave it
        to ``assign``. Inputs are read-only. ``aux`` holds the auxiliary states, which may be changed.
        """

    def backward(self, req: list[str], out_grad: list[Any], in_data: list[Any], out_data: list[Any],
                 in_grad: list[Any], aux: list[Any]) -> None:
        """Compute ``in_grad`` from ``out_grad``; ``req`` is null for inputs that need no gradient."""

    def assign(self, dst: Any, req: str, src: Any) -> None:
        """Put ``src`` (an array or a number) into ``dst`` as ``req`` says; an unknown word does nothing.

        null does nothing, write and inplace overwrite, add adds (CUSTOMOP-RUN-002).
        """
        if req in ('write', 'inplace'):
            dst[:] = src
        elif req == 'add':
            dst[:] += src


class CustomOpProp:
    """What an operator looks like; subclasses override what differs from one input ``data`` and one ``output``.

    The constructor gets the extra keywords of the call as strings (CUSTOMOP-REG-004). With ``need_top_grad=False``
    backward gets output gradients without content (CUSTOMOP-PROP-005).
    """

    def __init__(self, need_top_grad: bool = True) -> None:
        self.need_top_grad_ = need_top_grad

    def list_arguments(self) -> list[str]:
        """The names of the inputs."""
        return ['data']

    def list_outputs(self) -> list[str]:
        """The names of the outputs."""
        return ['output']

    def list_auxiliary_states(self) -> list[str]:
        """The names of the auxiliary states, which are passed after the inputs."""
        return []

    def infer_shape(self, in_shape: list[list[int]]) -> Any:
        """The shapes of inputs, outputs and auxiliary states, as 2 or 3 lists; by default all outputs like input 0."""
        return in_shape, (in_shape[0],) * len(self.list_outputs()), ()

    def infer_type(self, in_type: list[Any]) -> Any:
        """The dtypes of inputs, outputs and auxiliary states; by default those of input 0."""
        return (in_type, [in_type[0]] * len(self.list_outputs()),
                [in_type[0]] * len(self.list_auxiliary_states()))

    def infer_storage_type(self, in_stype: list[str]) -> Any:
        """The storage types of inputs, outputs and auxiliary states; AssertionError for inputs that are not dense."""
        _dense_only(in_stype, 'in_stype')
        return in_stype, ['default'] * len(self.list_outputs()), ['default'] * len(self.list_auxiliary_states())

    def infer_storage_type_backward(self, ograd_stype: list[str], in_stype: list[str], out_stype: list[str],
                                    igrad_stype: list[str], aux_stype: list[str]) -> Any:
        """The storage types in backward; AssertionError for arrays that are not dense."""
        given = {'ograd_stype': ograd_stype, 'in_stype': in_stype, 'out_stype': out_stype, 'igrad_stype': igrad_stype,
                 'aux_stype': aux_stype}
        for name, stypes in given.items():
            _dense_only(stypes, name)
        return tuple(['default'] * len(stypes) for stypes in given.values())

    def declare_backward_dependency(self, out_grad: Sequence[int], in_data: Sequence[int],
                                    out_data: Sequence[int]) -> list[int]:
        """Which of the numbered arrays backward reads; the others reach it without content."""
        return [*(out_grad if self.need_top_grad_ else ()), *in_data, *out_data]

    def create_operator(self, ctx: Any, in_shapes: list[list[int]], in_dtypes: list[int]) -> Any:
        """The CustomOp for a context, the shapes of the inputs and their dtype codes (float32 is 0, float64 1...)."""
        return CustomOp()


def _dense_only(stypes: Sequence[str], what: str) -> None:
    for index, stype in enumerate(stypes):
        assert stype == 'default', (
            f"Default infer_storage_type implementation doesnt allow non default stypes: found non default stype "
            f"'{stype}' for {what}[{index}]. Please implement infer_storage_type and infer_storage_type_backward "
            f"interface in your custom operator if you have non-default input/output stypes")


props: dict[str, Any] = {'custom_op': CustomOpProp}
"""Every registered class under its name."""


def register(reg_name: str) -> Callable[[Any], Any]:
    """A class decorator that registers a CustomOpProp under a name, replacing what had it (CUSTOMOP-REG-003).

    What is registered must be callable and give a CustomOpProp; that is checked when the operator is called.
    """
    def decorate(prop_cls: Any) -> Any:
        props[reg_name] = prop_cls
        return prop_cls

    return decorate


def find(op_type: str) -> Any:
    """The registered class; MXNetError for a name that nothing is registered under (CUSTOMOP-REG-002)."""
    try:
        return props[op_type]
    except KeyError:
        raise MXNetError(f'Cannot find custom operator {op_type}') from None


# ---- the operators of the engine -----------------------------------------------------------------------------------

OperatorArguments = namedtuple('OperatorArguments', ['narg', 'names', 'types'])


def get_all_registered_operators() -> list[str]:
    """The names of all operators of the engine, aliases included (CUSTOMOP-LIB-005)."""
    from . import ops  # noqa: F401 - registers them
    return sorted(_op.registry)


def get_operator_arguments(op_name: str) -> OperatorArguments:
    """The names and kinds of an operator's arrays and parameters; MXNetError for a name that does not exist.

    >>> get_operator_arguments('clip').names
    ['data', 'a_min', 'a_max']
    """
    from . import ops  # noqa: F401 - registers them
    operator = _op.get(op_name)
    array = 'NDArray-or-Symbol[]' if operator.variadic else 'NDArray-or-Symbol'
    names = [*operator.inputs, *operator.params]
    types = [array] * len(operator.inputs) + [
        f'{field.kind}, required' if field.default is _op.REQUIRED else f'{field.kind}, optional, '
        f'default={field.default!r}' for field in operator.params.values()]
    return OperatorArguments(len(names), names, types)


# ---- the older kind ------------------------------------------------------------------------------------------------

class PythonOp:
    """The base of the older kind of Python operators: one object that both describes and computes.

    Calling it on arrays runs it at once; ``get_symbol`` makes a symbol of it. New code uses CustomOp.
    """

    _numbers = 0

    def __init__(self, need_top_grad: bool = True) -> None:
        self.need_top_grad_ = need_top_grad
        self._registered: str | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from .ndarray import NDArray
        if args and all(isinstance(a, NDArray) for a in args):
            from .ndarray import Custom
            return Custom(*args, op_type=self._name(), **kwargs)
        return self.get_symbol(*args, **kwargs)

    def get_symbol(self, *args: Any, **kwargs: Any) -> Any:
        """A symbol that runs this operator."""
        from . import symbol
        return symbol.Custom(*args, op_type=self._name(), **kwargs)

    def forward(self, in_data: list[Any], out_data: list[Any]) -> None:
        """Write the outputs; by default the first input is copied."""
        out_data[0][:] = in_data[0]

    def backward(self, out_grad: list[Any], in_data: list[Any], out_data: list[Any], in_grad: list[Any]) -> None:
        """Write the gradients of the inputs; by default they are 1."""
        in_grad[0][:] = 1.0

    def infer_shape(self, in_shape: list[list[int]]) -> Any:
        """The shapes of inputs and outputs."""
        return in_shape, [in_shape[0]]

    def list_outputs(self) -> list[str]:
        """The names of the outputs."""
        return ['output']

    def list_arguments(self) -> list[str]:
        """The names of the inputs."""
        return ['data']

    def need_top_grad(self) -> bool:
        """Whether backward reads the gradients of the outputs."""
        return self.need_top_grad_

    def _run_forward(self, in_data: list[Any], out_data: list[Any]) -> None:
        self.forward(in_data, out_data)

    def _run_backward(self, out_grad: list[Any], in_data: list[Any], out_data: list[Any], in_grad: list[Any]) -> None:
        self.backward(out_grad, in_data, out_data, in_grad)

    def _name(self) -> str:
        if self._registered is None:
            PythonOp._numbers += 1
            self._registered = f'_python_op_{PythonOp._numbers}'
            register(self._registered)(lambda **kwargs: _PythonProp(self))
        return self._registered


class NDArrayOp(PythonOp):
    """The older kind of operator that computes on NDArrays."""

    def declare_backward_dependency(self, out_grad: Sequence[int], in_data: Sequence[int],
                                    out_data: Sequence[int]) -> list[int]:
        """Which of the numbered arrays backward reads."""
        return [*(out_grad if self.need_top_grad_ else ()), *in_data, *out_data]


class NumpyOp(PythonOp):
    """The older kind of operator that computes on numpy arrays."""

    def _run_forward(self, in_data: list[Any], out_data: list[Any]) -> None:
        outputs = [a.asnumpy() for a in out_data]
        self.forward([a.asnumpy() for a in in_data], outputs)
        for array, values in zip(out_data, outputs):
            array[:] = values

    def _run_backward(self, out_grad: list[Any], in_data: list[Any], out_data: list[Any], in_grad: list[Any]) -> None:
        gradients = [a.asnumpy() for a in in_grad]
        self.backward([a.asnumpy() for a in out_grad], [a.asnumpy() for a in in_data],
                      [a.asnumpy() for a in out_data], gradients)
        for array, values in zip(in_grad, gradients):
            array[:] = values


class _PythonOpBody(CustomOp):
    """Computes with a PythonOp."""

    def __init__(self, owner: PythonOp) -> None:
        self._owner = owner

    def forward(self, is_train: int, req: list[str], in_data: list[Any], out_data: list[Any], aux: list[Any]) -> None:
        self._owner._run_forward(in_data, out_data)

    def backward(self, req: list[str], out_grad: list[Any], in_data: list[Any], out_data: list[Any],
                 in_grad: list[Any], aux: list[Any]) -> None:
        wanted = [g * 0 for g in in_grad]       # the older interface knows no requests: everything is written
        self._owner._run_backward(out_grad, in_data, out_data, wanted)
        for target, word, source in zip(in_grad, req, wanted):
            self.assign(target, word, source)


class _PythonProp(CustomOpProp):
    """Describes a PythonOp."""

    def __init__(self, owner: PythonOp) -> None:
        super().__init__(owner.need_top_grad())
        self._owner = owner

    def list_arguments(self) -> list[str]:
        return self._owner.list_arguments()

    def list_outputs(self) -> list[str]:
        return self._owner.list_outputs()

    def infer_shape(self, in_shape: list[list[int]]) -> Any:
        return self._owner.infer_shape(in_shape)

    def declare_backward_dependency(self, out_grad: Sequence[int], in_data: Sequence[int],
                                    out_data: Sequence[int]) -> list[int]:
        own = getattr(self._owner, 'declare_backward_dependency', super().declare_backward_dependency)
        return own(out_grad, in_data, out_data)

    def create_operator(self, ctx: Any, in_shapes: list[list[int]], in_dtypes: list[int]) -> CustomOp:
        return _PythonOpBody(self._owner)


