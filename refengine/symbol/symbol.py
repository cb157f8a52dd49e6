"""Symbol: outputs of a graph that is defined before any data is there."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ..base import MXNetError, NotImplementedForSymbol
from ..files import whole_file
from ..graph.node import HIDDEN_KEYS, Entry, Node, state_nodes, topological

_new = object.__new__

TRACED_INDEX = ('Indexing a Symbol picks one of its outputs, not a part of its data: inside a traced forward this '
                'would silently mean something else than in eager mode. Use slice_axis, slice or take.')
TRACED_LENGTH = ('len of a Symbol counts its outputs, not the rows of its data: inside a traced forward this would '
                 'silently mean something else than in eager mode.')


class Symbol:
    """One or more outputs of a computation graph. Building one computes nothing (rule GRAPH-STATIC-001).

    >>> import refengine as mx
    >>> a, b = mx.sym.var('a'), mx.sym.var('b')
    >>> c = (a + b) * a
    >>> c.list_arguments()
    ['a', 'b']
    >>> c.eval(a=mx.nd.array([2.0]), b=mx.nd.array([3.0]))[0].asnumpy().tolist()
    [10.0]
    """

    __slots__ = ('__weakref__', '_backend', '_entries', '_traced')
    __array_priority__ = 1000.0

    def __init__(self, entries: Sequence[Entry], traced: bool = False) -> None:
        self._entries = list(entries)
        self._backend: str | None = None
        self._traced = traced       # whether this stands for data inside a traced forward

    # ---- names and structure -----------------------------------------------------------------------------------

    @property
    def name(self) -> str | None:
        """The name of the node, None for a group."""
        first = self._entries[0][0]
        return first.name if all(node is first for node, _ in self._entries) else None

    def __repr__(self) -> str:
        name = self.name
        if name is None:
            return f'<Symbol group [{", ".join(node.name for node, _ in self._entries)}]>'
        return f'<Symbol {name}>'

    def __len__(self) -> int:
        if self._traced and len(self._entries) == 1:
            raise MXNetError(TRACED_LENGTH)
        return len(self._entries)

    @property
    def num_outputs(self) -> int:
        """How many outputs there are."""
        return len(self._entries)

    def __iter__(self) -> Iterator[Symbol]:
        if self._traced and len(self._entries) == 1:
            raise MXNetError(TRACED_INDEX)
        return (Symbol([entry], self._traced) for entry in self._entries)

    def __getitem__(self, index: Any) -> Symbol:
        """One output by number or name, or several by a slice; ValueError or IndexError when there is none."""
        count = len(self._entries)
        if isinstance(index, str):
            names = self.list_outputs()
            found = [i for i, name in enumerate(names) if name == index]
            if not found:
                raise ValueError(f'Cannot find output that matches name "{index}"')
            if len(found) > 1:
                raise ValueError(f'There are multiple outputs with name "{index}"')
            return Symbol([self._entries[found[0]]], self._traced)
        if self._traced and count == 1:
            raise MXNetError(TRACED_INDEX)
        if isinstance(index, slice):
            chosen = self._entries[index]
            if not chosen:
                raise ValueError('a slice of no outputs is no Symbol')
            return Symbol(chosen, self._traced)
        if not isinstance(index, int | np.integer):
            raise TypeError('Symbol only support integer index to fetch i-th output')
        if not 0 <= index < count:
            raise IndexError(f'output {index} of a Symbol with {count} outputs')
        return Symbol([self._entries[int(index)]], self._traced)

    def nodes(self) -> list[Node]:
        """All nodes of the graph, inputs first."""
        return topological(self._entries)

    def _variables(self) -> tuple[list[Node], list[Node]]:
        nodes = self.nodes()
        states = state_nodes(nodes)
        variables = [node for node in nodes if node.op is None]
        return [n for n in variables if id(n) not in states], [n for n in variables if id(n) in states]

    def list_arguments(self) -> list[str]:
        """The names of the inputs, depth first, without auxiliary states (rule GRAPH-SYM-001)."""
        found = [node.name for node in self._variables()[0]]
        if len(set(found)) != len(found):
            _twice(found, 'arguments')
        return found

    def list_auxiliary_states(self) -> list[str]:
        """The names of inputs that operators keep their state in."""
        return [node.name for node in self._variables()[1]]

    def list_inputs(self) -> list[str]:
        """The names of all inputs, auxiliary states included, depth first."""
        return [node.name for node in self.nodes() if node.op is None]

    def list_outputs(self) -> list[str]:
        """The names of the outputs."""
        return [node.output_names()[index] for node, index in self._entries]

    def get_internals(self) -> Symbol:
        """A group of every output of every node (rule GRAPH-SYM-006)."""
        return Symbol([(node, i) for node in self.nodes() for i in range(node.visible)])

    def get_children(self) -> Symbol | None:
        """A group of the inputs of the nodes, None for a variable."""
        seen: list[Node] = []
        for node, _ in self._entries:
            if not any(node is other for other in seen):
                seen.append(node)
        entries = [entry for node in seen for entry in node.inputs]
        return Symbol(entries) if entries else None

    def __copy__(self) -> Symbol:
        return self.__deepcopy__({})

    def __deepcopy__(self, memo: Any) -> Symbol:
        from .compose import copied
        return Symbol(copied(self._entries, {}), self._traced)

    def __reduce__(self) -> Any:
        from . import load_json
        return load_json, (self.tojson(),)

    # ---- attributes --------------------------------------------------------------------------------------------

    def attr(self, key: str) -> str | None:
        """An attribute of the node, or None."""
        attrs = self._entries[0][0].attrs
        if key in attrs:
            return attrs[key]
        return attrs.get(f'__{key}__')

    def list_attr(self, recursive: bool = False) -> dict[str, str]:
        """All attributes of the node."""
        if recursive:
            raise DeprecationWarning('Symbol.list_attr with recursive=True has been deprecated. '
                                     'Please use attr_dict instead.')
        return _shown(self._entries[0][0])

    def attr_dict(self) -> dict[str, dict[str, str]]:
        """The attributes of every node that has some, by the name of the node."""
        found = {node.name: _shown(node) for node in self.nodes()}
        return {name: attrs for name, attrs in found.items() if attrs}

    def _set_attr(self, **attributes: str) -> None:
        for key, value in attributes.items():
            if not isinstance(value, str):
                raise ValueError('Set Attr only accepts string values')
            node = self._entries[0][0]
            node.attrs[f'__{key}__' if key in HIDDEN_KEYS else key] = value

    # ---- composition -------------------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Symbol:
        """A copy whose variables are replaced by other symbols, given by name (rule GRAPH-SYM-007)."""
        from .compose import compose
        return compose(self, args, kwargs)

    # ---- inference ---------------------------------------------------------------------------------------------

    def infer_shape(self, *args: Any, **kwargs: Any) -> tuple[Any, Any, Any]:
        """Shapes of arguments, outputs and auxiliary states from some known ones; three None when they do not suffice.

        MXNetError when they contradict each other or an argument is unknown (rule GRAPH-STATIC-008).
        """
        from .inference import infer_shape
        return infer_shape(self, args, kwargs, partial=False)

    def infer_shape_partial(self, *args: Any, **kwargs: Any) -> tuple[Any, Any, Any]:
        """The same, with ``()`` or 0 for what stays unknown."""
        from .inference import infer_shape
        return infer_shape(self, args, kwargs, partial=True)

    def infer_type(self, *args: Any, **kwargs: Any) -> tuple[Any, Any, Any]:
        """Element types of arguments, outputs and auxiliary states (rule GRAPH-STATIC-009)."""
        from .inference import infer_type
        return infer_type(self, args, kwargs, partial=False)

    def infer_type_partial(self, *args: Any, **kwargs: Any) -> tuple[Any, Any, Any]:
        """The same, with None for what stays unknown."""
        from .inference import infer_type
        return infer_type(self, args, kwargs, partial=True)

    # ---- execution ---------------------------------------------------------------------------------------------

    def bind(self, ctx: Any, args: Any, args_grad: Any = None, grad_req: Any = 'write', aux_states: Any = None,
             group2ctx: Any = None, shared_exec: Any = None) -> Any:
        """An executor on given arrays (rule GRAPH-SYM-011)."""
        from .binding import bind
        return bind(self, ctx, args, args_grad, grad_req, aux_states)

    def simple_bind(self, ctx: Any, grad_req: Any = 'write', type_dict: Any = None, stype_dict: Any = None,
                    group2ctx: Any = None, shared_arg_names: Any = None, shared_exec: Any = None,
                    shared_buffer: Any = None, **kwargs: Any) -> Any:
        """An executor on new arrays whose shapes follow from those given by name."""
        from .binding import simple_bind
        return simple_bind(self, ctx, grad_req, type_dict, kwargs, shared_arg_names, shared_exec, shared_buffer)

    _bind = bind
    _simple_bind = simple_bind

    def eval(self, ctx: Any = None, **kwargs: Any) -> list[Any]:
        """The outputs for arguments given by name (rule GRAPH-DAG-003)."""
        from ..context import current_context
        place = ctx if ctx is not None else next((a.context for a in kwargs.values()), current_context())
        return self.bind(place, kwargs, grad_req='null').forward()

    def gradient(self, wrt: Sequence[str]) -> Any:
        """Not available, in no release: use the gradients of an executor or of autograd."""
        raise MXNetError('Symbol.gradient is not implemented: bind the symbol and call backward')

    grad = gradient

    def optimize_for(self, backend: str, args: Any = None, aux: Any = None, ctx: Any = None, shape_dict: Any = None,
                     type_dict: Any = None, stype_dict: Any = None, skip_infer: bool = False, **kwargs: Any) -> Symbol:
        """The same graph, which runs as the back end wants it when it is bound: see ``gluon.HybridBlock.hybridize``.

        MXNetError for a name that is not there (rule GRAPH-FUSE-002), AssertionError for arguments that are no dict,
        TypeError for a dict of anything but arrays.
        """
        from ..graph import backends
        from ..ndarray import NDArray
        backends.require(backend)
        for what, given in (('args', args), ('aux', aux)):
            if given is not None and not isinstance(given, dict):
                raise AssertionError(f'{what} must be a dict of names to arrays, got {type(given)}')
            for name, array in (given or {}).items():
                if not isinstance(array, NDArray):
                    raise TypeError(f'Only accept list of NDArrays or dict of str to NDArray: {what}[{name!r}] is of '
                                    f'type {type(array)}')
        optimized = type(self)(self._entries)
        optimized._backend = backend
        return optimized

    get_backend_symbol = optimize_for

    # ---- files -------------------------------------------------------------------------------------------------

    def tojson(self, remove_amp_cast: bool = True) -> str:
        """The graph in the file format of the releases (rules GRAPH-JSON-001 to GRAPH-JSON-004)."""
        from .json_file import dump
        return dump(self, remove_amp_cast)

    def save(self, fname: str, remove_amp_cast: bool = True) -> None:
        """Write the graph to a file; TypeError unless the name is text, MXNetError when it cannot be written."""
        if not isinstance(fname, str):
            raise TypeError('fname need to be string')
        text = self.tojson(remove_amp_cast)
        try:
            with whole_file(fname) as file:
                file.write(text.encode())
        except OSError as error:
            raise MXNetError(f'LocalFileSystem: Open "{fname}": {error.strerror}') from error

    def debug_str(self) -> str:
        """The graph as text, node by node."""
        lines = ['Symbol Outputs:']
        lines += [f'\toutput[{i}]={node.name}({index})' for i, (node, index) in enumerate(self._entries)]
        for node in self.nodes():
            if node.op is None:
                lines.append(f'Variable:{node.name}')
                continue
            lines += ['--------------------', f'Op:{node.op.name}, Name={node.name}', 'Inputs:']
            lines += [f'\targ[{i}]={source.name}({index}) version=0' for i, (source, index) in enumerate(node.inputs)]
            if node.attrs:
                lines += ['Attrs:', *(f'\t{key}={value}' for key, value in sorted(node.attrs.items()))]
        return '\n'.join(lines) + '\n'

    # ---- what only arrays have ---------------------------------------------------------------------------------

    def __bool__(self) -> bool:
        raise _not_for_symbols('__bool__', 'bool')

    def __hash__(self) -> int:
        raise TypeError("unhashable type: 'Symbol'")

    def __matmul__(self, other: Any) -> Any:
        return NotImplemented


def _not_for_symbols(function: str, alias: str | None = None, *args: Any) -> NotImplementedForSymbol:
    return NotImplementedForSymbol(function, alias, *args)


_ONLY_ARRAYS = ('wait_to_read', 'asnumpy', 'asscalar', 'copy', 'as_in_context', 'detach', 'backward', 'copyto',
                'attach_grad', 'asnumpy_or_none', 'asscalar_or_none')


def _only_array(name: str) -> Any:
    def method(self: Symbol, *args: Any, **kwargs: Any) -> Any:
        raise _not_for_symbols(name, None, *args)

    method.__name__ = name
    method.__doc__ = 'Not implemented for Symbol: only arrays have data.'
    return method


for _name in _ONLY_ARRAYS[:9]:
    setattr(Symbol, _name, _only_array(_name))


def _shown(node: Node) -> dict[str, str]:
    """The attributes of a node; hidden ones also under their short names."""
    shown = dict(node.attrs)
    for key in HIDDEN_KEYS:
        if f'__{key}__' in shown:
            shown[key] = shown[f'__{key}__']
    return shown


def Group(symbols: Iterable[Symbol], create_fn: Any = Symbol) -> Symbol:
    """One symbol of all outputs of several (rule GRAPH-SYM-005).

    TypeError or ValueError for anything but symbols. ``create_fn`` is the class of symbols, of which there is one here.
    """
    symbols = list(symbols)
    if not symbols or any(not isinstance(item, Symbol) for item in symbols):
        raise TypeError('Expected a list of symbols as input')
    group = Symbol([entry for item in symbols for entry in item._entries])
    heads = dict.fromkeys(group._entries)
    found = [node.output_names()[index] for node, index in heads]
    if len(set(found)) != len(found):
        _twice(found, 'outputs')
    return group


def _twice(found: Sequence[str], what: str) -> None:
    """Warn about names that several nodes have, which no dict can tell apart (rule GRAPH-SYM-010)."""
    names = sorted({name for name in found if found.count(name) > 1})
    warnings.warn(f'several nodes of one graph have the same name; {what} that occur twice: {", ".join(names)}',
                  stacklevel=3)


_OF_THE_PACKAGE = frozenset((
    'Variable', 'arange', 'eye', 'full', 'histogram', 'hypot', 'linspace', 'load', 'load_json', 'maximum', 'minimum',
    'ones', 'pow', 'power', 'split_v2', 'var', 'zeros'))


def __getattr__(name: str) -> Any:
    """Functions of the package, which programs also look for here."""
    if name in _OF_THE_PACKAGE:
        return getattr(importlib.import_module(__package__), name)
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
