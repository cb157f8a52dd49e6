"""The operator record and the registry of all operators; the fields of parameters come along from ``fields``."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .base import MXNetError, _Null, dtype_text, shape_text
from .fields import (  # noqa: F401 - operator modules take record and fields from one place
    DTYPES,
    REQUIRED,
    Axes,
    Bool,
    Dtype,
    Enum,
    Field,
    Float,
    Floats,
    Int,
    OptionalInts,
    Scalar,
    Shape,
    Str,
)

_INJECTED = ('is_train', 'rng', 'ctx', 'out')


class Operator:
    """Everything about one operator.

    ``forward(xp, *arrays, **params)`` computes on raw arrays of the array module ``xp`` and returns one array or a
    tuple. Keyword parameters named in ``injected`` are filled in by dispatch: ``is_train`` (training mode), ``rng``
    (random generator of the context), ``ctx`` and ``out`` (a raw array of the right shape and dtype, or None).

    ``grad(F, ograds, inputs, outputs, params)`` returns one gradient (or None) per input, using only registered
    operators of ``F`` and the arithmetic that raw arrays, NDArrays and Symbols share. An operator of two arrays that is
    elementwise up to broadcasting may make ``grad`` from two functions ``(F, ograd, a, b, output)``; they are the
    attribute ``partials`` of ``grad`` then, and the tape takes them directly.
    """

    __slots__ = (
        '_grad',
        'aliases',
        'any_shape',
        'backward',
        'defaults',
        'doc',
        'forward',
        'infer',
        'injected',
        'inputs',
        'kernels',
        'like',
        'mixed',
        'mutates',
        'name',
        'needs',
        'num_inputs',
        'num_outputs',
        'params',
        'partials',
        'plain',
        'positional',
        'rules',
        'same_dtype',
        'same_shape',
        'samples',
        'source',
        'variadic',
        'visible',
    )

    def __init__(self, name: str, forward: Callable[..., Any], *, aliases: Iterable[str] = (),
                 params: Mapping[str, Field] | None = None, inputs: Sequence[str] = ('data',), variadic: bool = False,
                 num_inputs: Callable[[dict[str, Any]], int] | None = None,
                 num_outputs: int | Callable[[dict[str, Any]], int] = 1,
                 visible: int | Callable[[dict[str, Any]], int] | None = None,
                 infer: Callable[..., Any] | None = None, grad: Callable[..., Any] | None = None,
                 mutates: Sequence[int] = (), samples: Any = (), doc: str = '', rules: Sequence[str] = (),
                 mixed: bool = False, same_shape: bool = False, any_shape: bool = False, source: bool = False,
                 positional: Sequence[str] | None = None,
                 like: Callable[[dict[str, Any]], Sequence[int]] | None = None) -> None:
        self.name = name
        self.aliases = tuple(aliases)
        self.forward = forward
        self.grad = grad
        # backward(node, ograds) in place of grad, for an operator that must see the node: what is wanted of whom.
        self.backward: Callable[..., Any] | None = None
        self.params = dict(params or {})
        self.inputs = tuple(inputs)
        self.variadic = variadic
        self.num_inputs = num_inputs
        self.num_outputs = num_outputs
        self.visible = num_outputs if visible is None else visible
        self.infer = infer
        self.mutates = tuple(mutates)
        # For an operator that writes into its inputs: which of them its outputs are like, so that a wrong out is
        # refused before anything is written.
        self.like = like
        self.samples = samples
        self.doc = doc or forward.__doc__ or ''
        self.rules = tuple(rules)
        self.kernels: list[Callable[..., Any]] = []
        self.mixed = mixed
        self.same_shape = same_shape
        self.any_shape = any_shape
        self.source = source
        if positional is None:
            positional = list(self.params)
            if source:       # the context is no parameter of the body; in calls it stands behind the shape
                positional.insert(positional.index('shape') + 1 if 'shape' in self.params else len(positional), 'ctx')
        self.positional = tuple(positional)
        self.defaults = {k: f.default for k, f in self.params.items() if f.default is not REQUIRED}
        self.needs = tuple(k for k, f in self.params.items() if f.default is REQUIRED)
        code = getattr(forward, '__code__', None)      # inspect.signature would take half of the import time
        names = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount] if code else ()
        self.injected = frozenset(n for n in _INJECTED if n in names and n not in self.params)
        # Whether dispatch may take its short way: a fixed number of inputs, one output, nothing to inject but out.
        self.plain = (not variadic and num_inputs is None and num_outputs == 1 and not source and infer is None
                      and self.injected <= {'out'} and not any_shape)

    @property
    def grad(self) -> Callable[..., Any] | None:
        """The gradient, or None for an operator that passes nothing back."""
        return self._grad

    @grad.setter
    def grad(self, grad: Callable[..., Any] | None) -> None:
        self._grad = grad
        self.partials = getattr(grad, 'partials', None)

    @property
    def parameterless(self) -> bool:
        """Whether it takes arrays only, a fixed number of them: a call may not give it any parameter."""
        return not self.params and not self.variadic

    def __repr__(self) -> str:
        return f'<Operator {self.name}>'

    def parse(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Typed parameters from what was given; MXNetError for unknown names, wrong formats and missing ones.

        An operator that has no parameters at all drops what it is given and warns (rule ND-CALL-001).
        """
        values = dict(self.defaults)
        for key, value in given.items():
            if value is _Null:
                continue
            field = self.params.get(key)
            if field is None:
                if self.parameterless:
                    warnings.warn(f'operator {self.name} has no parameters: {key} is ignored', stacklevel=2)
                    continue
                raise self._unknown(key)
            values[key] = field.parse(value, key, self.name)
        if len(values) < len(self.params):
            for key in self.needs:
                if key not in values:
                    raise MXNetError(f'Required parameter {key} of {self.params[key].kind} is not presented, '
                                     f'in operator {self.name}(name="")')
        return values

    def _unknown(self, key: str) -> MXNetError:
        possible = '\n'.join(f'{k} : {f.kind}, {"required" if f.default is REQUIRED else f"default={f.default}"}'
                             for k, f in self.params.items())
        return MXNetError(f"Cannot find argument '{key}', Possible Arguments:\n----------------\n{possible}\n, "
                          f'in operator {self.name}(name="", {key}="...")')

    def input_count(self, params: dict[str, Any]) -> int:
        """How many array inputs the operator takes with these parameters; -1 for any number."""
        if self.num_inputs is not None:
            return self.num_inputs(params)
        return -1 if self.variadic else len(self.inputs)

    def output_count(self, params: dict[str, Any]) -> int:
        """How many outputs the forward body gives, hidden ones included."""
        return self.num_outputs if isinstance(self.num_outputs, int) else self.num_outputs(params)

    def visible_count(self, params: dict[str, Any]) -> int:
        """How many outputs the caller sees."""
        return self.visible if isinstance(self.visible, int) else self.visible(params)


# ---- the registry ----------------------------------------------------------------------------------------------

registry: dict[str, Operator] = {}
"""Every operator under its name and under each of its aliases."""


def add(op: Operator) -> Operator:
    """Put an operator into the registry; a name that is taken already is a mistake of the engine."""
    for name in (op.name, *op.aliases):
        if name in registry:
            raise ValueError(f'operator name {name!r} is registered twice')
        registry[name] = op
    return op


def register(name: str, *aliases: str, **record: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the decorated forward body as an operator; the keywords are those of ``Operator``."""
    extra = tuple(record.pop('aliases', ()))

    def decorate(forward: Callable[..., Any]) -> Callable[..., Any]:
        add(Operator(name, forward, aliases=(*aliases, *extra), **record))
        return forward

    return decorate


def grad_of(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Set the decorated function as gradient of the named operators."""

    def decorate(grad: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            registry[name].grad = grad
        return grad

    return decorate


def kernel_of(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Put an accelerated body before the generic one; it returns NotImplemented for what it does not take."""

    def decorate(kernel: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            registry[name].kernels.insert(0, kernel)
        return kernel

    return decorate


def get(name: str) -> Operator:
    """The operator with this name or alias; MXNetError if there is none."""
    try:
        return registry[name]
    except KeyError:
        raise MXNetError(f'Operator {name} is not registered') from None


def operators() -> list[Operator]:
    """All operators, each once, in alphabetical order of their names."""
    return [op for key, op in sorted(registry.items()) if op.name == key]


# ---- errors that many operators share ----------------------------------------------------------------------------

def shape_error(op: str, shapes: Iterable[Iterable[int]], detail: str = '') -> MXNetError:
    """The error for inputs whose shapes an operator cannot take."""
    lines = '\n'.join(shape_text(s) for s in shapes)
    return MXNetError(f'Operator {op} inferring shapes failed.\ninput shapes:\n{lines}\n{detail}')


def check_same(op: str, arrays: Sequence[Any], *, shapes: bool = False, first: int = 0) -> None:
    """All arrays have the dtype (and the shape) of the first one, else MXNetError naming expected and given."""
    expected = arrays[first]
    for index, array in enumerate(arrays):
        if array.dtype != expected.dtype:
            raise MXNetError(f'Error in operator {op}: Incompatible attr in node {op} at {index}-th input: '
                             f'expected {dtype_text(expected.dtype)}, got {dtype_text(array.dtype)}')
        if shapes and array.shape != expected.shape:
            raise MXNetError(f'Error in operator {op}: Incompatible attr in node {op} at {index}-th input: '
                             f'expected {shape_text(expected.shape)}, got {shape_text(array.shape)}')


def normal_axis(axis: int, ndim: int, message: str) -> int:
    """A non-negative axis; MXNetError with the message when it is out of range."""
    if not -ndim <= axis < ndim:
        raise MXNetError(message)
    return axis + ndim if axis < 0 else axis


