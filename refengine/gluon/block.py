"""Block: the base of everything that is built from parameters and other blocks."""

from __future__ import annotations

import re
import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import ndarray as nd
from ..context import cpu
from . import deferred, naming
from .parameter import Parameter
from .parameter_dict import ParameterDict, brief, renamed, strip_kind
from .utils import HookHandle

__all__ = ['Block', 'HybridBlock', 'SymbolBlock']  # noqa: F822 - made on demand below


def indent(text: str, spaces: int) -> str:
    """Text whose lines after the first are indented."""
    first, *rest = text.split('\n')
    return '\n'.join([first, *(' ' * spaces + line for line in rest)])


class Block:
    """A model or a part of one: parameters, child blocks and a ``forward``.

    Blocks and parameters that are assigned to attributes are registered. Names follow from ``prefix``: without one it
    is the lower-case class name with a number; children that are made inside ``with self.name_scope():`` get the
    prefix of their parent in front of their own.

    >>> import refengine as mx
    >>> class Net(mx.gluon.Block):
    ...     def __init__(self, **kwargs):
    ...         super().__init__(**kwargs)
    ...         with self.name_scope():
    ...             self.dense = mx.gluon.nn.Dense(2, in_units=3)
    ...     def forward(self, x):
    ...         return self.dense(x)
    >>> list(Net(prefix='net_').collect_params())
    ['net_dense0_weight', 'net_dense0_bias']
    """

    def __init__(self, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        self._empty_prefix = prefix == ''
        self._prefix, self._params = naming.place(prefix, params, self._alias(), ParameterDict)
        self._name = self._prefix[:-1] if self._prefix.endswith('_') else self._prefix
        self._scope = naming.NameScope(self)
        self._children: OrderedDict[str, Block] = OrderedDict()
        self._reg_params: dict[str, Parameter] = {}
        self._forward_hooks: OrderedDict[int, Callable[..., Any]] = OrderedDict()
        self._forward_pre_hooks: OrderedDict[int, Callable[..., Any]] = OrderedDict()

    def _alias(self) -> str:
        return type(self).__name__.lower()

    def __repr__(self) -> str:
        children = '\n'.join(f'  ({key}): {indent(repr(value), 2)}' for key, value in self.__dict__.items()
                             if isinstance(value, Block))
        return f'{type(self).__name__}(\n{children}\n)'

    def __setattr__(self, name: str, value: Any) -> None:
        present = self.__dict__.get(name)
        if isinstance(present, Parameter | Block) and not isinstance(value, type(present)) \
                and not (isinstance(present, Block) and isinstance(value, Block)):
            raise TypeError(f'Changing attribute type for {name} from {type(present)} to {type(value)} is not allowed.')
        if isinstance(value, Block):
            self.register_child(value, name)
        elif isinstance(value, Parameter):
            known = self._reg_params.get(name)
            assert known is None or known is value, \
                (f'Overriding Parameter attribute {name} is not allowed. If you want to share parameters between '
                 f'blocks, '
                 f"please set 'params' at Block construction instead.")
            self._adopt(name, value)
        super().__setattr__(name, value)

    def _adopt(self, name: str, parameter: Parameter) -> None:
        """Register a parameter under its attribute; one that was made without the dict of the block joins it too."""
        self._reg_params[name] = parameter
        if self._params._params.get(parameter.name) is parameter:
            return
        if parameter.name in ('weight', 'const'):
            # The default names of 2.0, which says nothing: the attribute names it.
            parameter.name = self._prefix + name
        self._params._params.setdefault(parameter.name, parameter)

    def _check_container_with_block(self) -> None:
        children = set(map(id, self._children.values()))

        def holds_stranger(data: Any) -> bool:
            if isinstance(data, list | tuple):
                return any(holds_stranger(item) for item in data)
            if isinstance(data, dict):
                return any(holds_stranger(item) for item in data.values())
            return isinstance(data, Block) and id(data) not in children

        for key, value in self.__dict__.items():
            if isinstance(value, list | tuple | dict) and not key.startswith('_') and holds_stranger(value):
                warnings.warn(f'"{type(self).__name__}.{key}" is an unregistered container with Blocks. '
                              f'Note that Blocks inside the list, tuple or dict will not be registered automatically. '
                              f'Make sure to register them using register_child() or switching to '
                              f'nn.Sequential/nn.HybridSequential instead. ', stacklevel=3)

    # ---- names and parameters ----------------------------------------------------------------------------------

    @property
    def prefix(self) -> str:
        """What the names of the parameters begin with."""
        return self._prefix

    @property
    def name(self) -> str:
        """The prefix without its final underscore."""
        return self._name

    def name_scope(self) -> naming.NameScope:
        """A ``with`` block in which children get the prefix of this block."""
        return self._scope

    @property
    def params(self) -> ParameterDict:
        """The parameters of this block without those of its children."""
        return self._params

    def collect_params(self, select: str | None = None) -> ParameterDict:
        """All parameters, those of children included; ``select`` is a regular expression for the start of names.

        Rule GLUON-PARAMS-001. Containers of blocks that hide from registration are warned about (GLUON-PARAMS-006).
        """
        self._check_container_with_block()
        found = ParameterDict(self._params.prefix)
        if select is None:
            found.update(self.params)
        else:
            pattern = re.compile(select)
            found.update({name: value for name, value in self.params.items() if pattern.match(name)})
        for child in self._children.values():
            found.update(child.collect_params(select=select))
        found._origin = self
        return found

    def _collect_params_with_prefix(self, prefix: str = '') -> dict[str, Parameter]:
        if prefix:
            prefix += '.'
        found = {prefix + key: value for key, value in self._reg_params.items()}
        for name, child in self._children.items():
            found.update(child._collect_params_with_prefix(prefix + name))
        return found

    def share_parameters(self, shared: Any) -> Block:
        """Use the parameters of another block: a dict by structural name, or what ``collect_params`` gave.

        Returns the block; names that it does not have are warned about (rule GLUON-PARAMS-005).
        """
        if shared is None:
            return self
        if not isinstance(shared, dict | ParameterDict):
            raise ValueError(f'expected a dict of Parameters, got {type(shared)}')
        if isinstance(shared, ParameterDict) and shared._origin is not None:
            shared = {name: value for name, value in shared._origin._collect_params_with_prefix().items()
                      if value.name in shared}
        used: set[str] = set()
        self._take_parameters(dict(shared.items()), used, '')
        for name in shared:
            if name not in used:
                warnings.warn(f'Parameter name {name} is not in the current model!', stacklevel=2)
        return self

    def _take_parameters(self, shared: dict[str, Parameter], used: set[str], prefix: str) -> None:
        for name, present in list(self._reg_params.items()):
            replacement = shared.get(prefix + name)
            if replacement is not None:
                used.add(prefix + name)
                del self._reg_params[name]
                self._params._params.pop(present.name, None)
                setattr(self, name, replacement)
        for name, child in self._children.items():
            child._take_parameters(shared, used, f'{prefix}{name}.')

    def initialize(self, init: Any = None, ctx: Any = None, verbose: bool = False, force_reinit: bool = False,
                   *, device: Any = None) -> None:
        """Initialise all parameters, on one context or several."""
        self.collect_params().initialize(init, device if ctx is None else ctx, verbose, force_reinit)

    def zero_grad(self) -> None:
        """Set all gradients to zero."""
        self.collect_params().zero_grad()

    def reset_ctx(self, ctx: Any) -> None:
        """Move all parameters to other contexts (rule GLUON-PARAMS-017)."""
        self.collect_params().reset_ctx(ctx)

    reset_device = reset_ctx

    def setattr(self, name: str, value: Any) -> None:
        """Set an attribute of all parameters."""
        self.collect_params().setattr(name, value)

    def cast(self, dtype: Any) -> None:
        """Change the element type of all parameters (rule GLUON-PARAMS-016)."""
        np.dtype(dtype)  # an unknown type is refused before anything has changed
        for child in self._children.values():
            child.cast(dtype)
        for parameter in self.params.values():
            parameter.cast(dtype)

    # ---- files -------------------------------------------------------------------------------------------------

    def save_parameters(self, filename: str, deduplicate: bool = False) -> None:
        """Write all parameters under structural names (``0.weight``); a shared one once with ``deduplicate``.

        RuntimeError before initialisation (rules GLUON-PARAMS-009, GLUON-PARAMS-013).
        """
        parameters = self._collect_params_with_prefix()
        if deduplicate:
            last = {id(value): key for key, value in parameters.items()}
            parameters = {key: value for key, value in parameters.items() if last[id(value)] == key}
        nd.save(filename, {key: value._reduce() for key, value in parameters.items()})

    def load_parameters(self, filename: str, ctx: Any = None, allow_missing: bool = False, ignore_extra: bool = False,
                        cast_dtype: bool = False, dtype_source: str = 'current', *, device: Any = None) -> None:
        """Read parameters that ``save_parameters``, ``ParameterDict.save`` or an export wrote.

        AssertionError for a missing parameter, a wrong shape or dtype, or another context than the parameters are on;
        ValueError for an extra one (rules GLUON-PARAMS-010 to GLUON-PARAMS-015).
        """
        arrays = nd.load(filename)
        if isinstance(arrays, list) and arrays:
            raise ValueError(f"file '{filename}' holds {len(arrays)} arrays without names, expected named parameters")
        self._load(dict(arrays or {}), f"file '{filename}'", filename, device if ctx is None else ctx, allow_missing,
                   ignore_extra, cast_dtype, dtype_source)

    def save(self, prefix: str) -> None:
        """Write the tree of blocks with the graphs of compiled ones, and the parameters: ``load`` reads both.

        The files are ``PREFIX-model.json`` and ``PREFIX-model.params``, as in the release.
        """
        from .model_file import save
        save(self, prefix)

    def load(self, prefix: str) -> None:
        """Read what ``save`` wrote into a block that is built in the same way.

        Blocks that were compiled are hybridized and trace themselves at the next call. ValueError for another tree of
        blocks, FileNotFoundError when a file is missing; what is wrong with parameters is as in ``load_parameters``.
        """
        from .model_file import load
        load(self, prefix)

    def load_dict(self, param_dict: dict[str, Any], ctx: Any = None, allow_missing: bool = False,
                  ignore_extra: bool = False, cast_dtype: bool = False, dtype_source: str = 'current',
                  *, device: Any = None) -> None:
        """Take parameters from a dict of arrays by structural name."""
        self._load(dict(param_dict), 'param_dict', None, device if ctx is None else ctx, allow_missing, ignore_extra,
                   cast_dtype, dtype_source)

    def _load(self, arrays: dict[str, Any], where: str, filename: str | None, ctx: Any, allow_missing: bool,
              ignore_extra: bool, cast_dtype: bool, dtype_source: str) -> None:
        parameters = self._collect_params_with_prefix()
        if not arrays and not parameters:
            return
        if arrays and not any('.' in name for name in arrays) and not all(name in parameters for name in arrays):
            self._load_by_full_name(arrays, filename, ctx, allow_missing, ignore_extra, cast_dtype, dtype_source)
            return
        names: dict[int, list[str]] = {}
        for name, parameter in parameters.items():
            names.setdefault(id(parameter), []).append(name)
        if not allow_missing:
            for name, parameter in parameters.items():
                assert any(other in arrays for other in names[id(parameter)]), \
                    (f"Parameter '{name}' is missing in {where}, which contains parameters: {brief(arrays)}. "
                     f'Set allow_missing=True to ignore missing parameters.')
        for name, array in arrays.items():
            parameter = parameters.get(name)
            if parameter is None:
                if not ignore_extra:
                    raise ValueError(f"Parameter '{name}' loaded from {where} is not present in ParameterDict, which "
                                     f'contains parameters {brief(parameters)}. Set ignore_extra=True to ignore. ')
                continue
            if isinstance(array, np.ndarray):
                array = nd.array(array, dtype=array.dtype, ctx=cpu())
            parameter._load_init(array, ctx, cast_dtype=cast_dtype, dtype_source=dtype_source)

    def _load_by_full_name(self, arrays: dict[str, Any], filename: str | None, ctx: Any, *options: Any) -> None:
        """Read a file of ``ParameterDict.save`` or an export: full names, with or without the prefix of the block.

        An export names layers as they were called in the net that wrote it; if this net has the same layers in the
        same order, they get its parameters whatever they are called here (rule GLUON-PARAMS-015).
        """
        allow_missing, ignore_extra, cast_dtype, dtype_source = options
        everything = self.collect_params()
        if all(name.startswith(('arg:', 'aux:')) for name in arrays) \
                and not any(name in everything for name in strip_kind(arrays)):
            arrays = renamed(strip_kind(arrays), self._collect_params_with_prefix()) or arrays
        full = any(name in everything for name in strip_kind(arrays))
        everything.load_dict(arrays, ctx, allow_missing, ignore_extra, '' if full else self.prefix, filename,
                             cast_dtype, dtype_source)

    def save_params(self, filename: str) -> None:
        """The old name of ``save_parameters``; names are full ones without the prefix of the block."""
        warnings.warn('save_params is deprecated. Please use save_parameters. Note that if you want load from '
                      'SymbolBlock later, please use export instead.', stacklevel=2)
        self.collect_params().save(filename, strip_prefix=self.prefix)

    def load_params(self, filename: str, ctx: Any = None, allow_missing: bool = False,
                    ignore_extra: bool = False) -> None:
        """The old name of ``load_parameters``."""
        warnings.warn('load_params is deprecated. Please use load_parameters.', stacklevel=2)
        self.load_parameters(filename, ctx, allow_missing, ignore_extra)

    # ---- structure ---------------------------------------------------------------------------------------------

    def register_child(self, block: Block, name: str | None = None) -> None:
        """Add a child; attributes that are blocks are added by themselves."""
        self._children[str(len(self._children)) if name is None else name] = block

    def apply(self, fn: Callable[[Block], Any]) -> Block:
        """Call ``fn`` on every child, then on the block itself; returns the block (rule GLUON-HOOK-007)."""
        for child in self._children.values():
            child.apply(fn)
        fn(self)
        return self

    def hybridize(self, active: bool = True, **kwargs: Any) -> None:
        """Pass on to the children; only a HybridBlock has something to compile."""
        for child in self._children.values():
            child.hybridize(active, **kwargs)

    # ---- calls and hooks ---------------------------------------------------------------------------------------

    def __call__(self, *args: Any) -> Any:
        if deferred.state.active:
            return self.forward(*args)
        for pre_hook in list(self._forward_pre_hooks.values()) if self._forward_pre_hooks else ():
            pre_hook(self, args)
        out = self.forward(*args)
        for hook in list(self._forward_hooks.values()) if self._forward_hooks else ():
            hook(self, args, out)
        return out

    def forward(self, *args: Any) -> Any:
        """The computation; every block says its own."""
        raise NotImplementedError

    def register_forward_pre_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Have ``hook(block, inputs)`` called before each forward; TypeError if it is no function (GLUON-HOOK-003)."""
        return _attach(self._forward_pre_hooks, hook)

    def register_forward_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Have ``hook(block, inputs, output)`` called after each forward; what it returns is ignored."""
        return _attach(self._forward_hooks, hook)

    def register_op_hook(self, callback: Callable[..., Any], monitor_all: bool = False) -> None:
        """Pass on to the children; only a compiled HybridBlock has operators to report (rule GLUON-HOOK-006)."""
        require_callable(callback)
        for child in self._children.values():
            child.register_op_hook(callback, monitor_all)

    def summary(self, *inputs: Any) -> None:
        """Print a table of layers, output shapes and numbers of parameters (rule GLUON-HOOK-008)."""
        from .summary import print_summary
        print_summary(self, inputs)


def require_callable(hook: Any) -> None:
    """TypeError for a hook that cannot be called (rule GLUON-HOOK-003)."""
    if not callable(hook):
        raise TypeError(f'a hook must be callable, got {hook!r} of type {type(hook)}')


def _attach(hooks: OrderedDict[int, Callable[..., Any]], hook: Callable[..., Any]) -> HookHandle:
    require_callable(hook)
    handle = HookHandle()
    handle.attach(hooks, hook)
    return handle


def __getattr__(name: str) -> Any:
    if name == 'HybridBlock':
        from .hybrid_block import HybridBlock
        return HybridBlock
    if name == 'SymbolBlock':
        from .symbol_block import SymbolBlock
        return SymbolBlock
    if name in ('_flatten', '_regroup'):
        from . import structure
        return getattr(structure, name)
    if name == '_indent':
        return indent
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
