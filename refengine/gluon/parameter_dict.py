"""ParameterDict: parameters by full name, with creation, sharing, saving and loading."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import initializer
from .. import ndarray as nd
from ..context import Context, cpu
from .parameter import Constant, Parameter

NAMING = ('For more info on naming, see the section on names and prefixes of blocks in the Gluon documentation.')


def brief(names: Any, limit: int = 20) -> str:
    """A list of quoted names, shortened in the middle when it is long."""
    quoted = [f"'{name}'" for name in names]
    if len(quoted) > limit:
        quoted = [*quoted[:limit // 2], '...', *quoted[-(limit // 2):]]
    return ', '.join(quoted)


def strip_kind(arrays: dict[str, Any]) -> dict[str, Any]:
    """Names without the ``arg:`` and ``aux:`` of files from symbolic models."""
    return {name[4:] if name.startswith(('arg:', 'aux:')) else name: array for name, array in arrays.items()}


def renamed(arrays: dict[str, Any], parameters: dict[str, Parameter]) -> dict[str, Any] | None:
    """Arrays ``LAYER_ATTRIBUTE`` under the full names of parameters ``PATH.ATTRIBUTE`` of the same layers in order.

    None if the two do not consist of the same layers: as many, each with the same attributes and shapes that agree.

    >>> weight = Parameter('net_fc_weight', shape=(2, 3))
    >>> list(renamed({'dense7_weight': nd.ones((2, 3))}, {'0.weight': weight}))
    ['net_fc_weight']
    >>> renamed({'dense7_weight': nd.ones((2, 4))}, {'0.weight': weight}) is None
    True
    """
    wanted: dict[str, dict[str, Parameter]] = {}
    for name, parameter in parameters.items():
        layer, _, attribute = name.rpartition('.')
        wanted.setdefault(layer, {})[attribute] = parameter
    attributes = sorted({attribute for layer in wanted.values() for attribute in layer}, key=len, reverse=True)
    given: dict[str, dict[str, Any]] = {}
    for name, array in arrays.items():
        found = next((attribute for attribute in attributes if name.endswith('_' + attribute)), None)
        if found is None:
            return None
        given.setdefault(name[:-len(found) - 1], {})[found] = array
    if len(given) != len(wanted):
        return None
    result = {}
    for ours, theirs in zip(wanted.values(), given.values(), strict=True):
        if ours.keys() != theirs.keys():
            return None
        for attribute, parameter in ours.items():
            shape = tuple(theirs[attribute].shape)
            if parameter.shape is not None and _merge(shape, tuple(parameter.shape)) is None:
                return None
            result[parameter.name] = theirs[attribute]
    return result


class ParameterDict:
    """An ordered dict of parameters whose names share a prefix.

    ``get`` makes a parameter or finds the one that is there already; ``shared`` is another dict where ``get`` looks
    too, which is how blocks share parameters.

    >>> params = ParameterDict('net_')
    >>> params.get('weight', shape=(2, 3)).name
    'net_weight'
    """

    def __init__(self, prefix: str = '', shared: ParameterDict | None = None) -> None:
        self._prefix = prefix
        self._params: OrderedDict[str, Parameter] = OrderedDict()
        self._shared = shared
        self._origin: Any = None  # the block that collect_params was called on

    def __repr__(self) -> str:
        name = f'{self._prefix} ' if self._prefix else ''
        lines = '\n'.join(f'  {value!r}' for value in self.values())
        return f'{name}(\n{lines}\n)'

    def __getitem__(self, key: str) -> Parameter:
        return self._params[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._params)

    def __len__(self) -> int:
        return len(self._params)

    def __bool__(self) -> bool:
        return True

    def __contains__(self, key: object) -> bool:
        return key in self._params

    def items(self) -> Any:
        """Pairs of name and parameter."""
        return self._params.items()

    def keys(self) -> Any:
        """Names."""
        return self._params.keys()

    def values(self) -> Any:
        """Parameters."""
        return self._params.values()

    @property
    def prefix(self) -> str:
        """What the names of parameters made by ``get`` begin with."""
        return self._prefix

    def _get_impl(self, name: str) -> Parameter | None:
        if name in self._params:
            return self._params[name]
        if self._shared is not None and name in self._shared._params:
            self._params[name] = self._shared._params[name]
            return self._params[name]
        return None

    def get(self, name: str, **kwargs: Any) -> Parameter:
        """The parameter ``prefix + name``: found, or made with the given attributes.

        AssertionError when one is there with other attributes (rule GLUON-PARAMS-019); unknown dimensions of its shape
        are filled in.
        """
        name = self.prefix + name
        found = self._get_impl(name)
        if found is None:
            found = Parameter(name, **kwargs)
            self._params[name] = found
            return found
        for key, value in kwargs.items():
            if getattr(found, key, None) is None:
                setattr(found, key, value)
                continue
            present = getattr(found, key)
            if key == 'shape' and value is not None:
                value = (value,) if isinstance(value, int) else tuple(value)
                merged = _merge(value, present)
                if merged is not None:
                    found._shape = merged
                    continue
            elif key == 'dtype' and np.dtype(value) == np.dtype(present):
                continue
            assert value is None or value == present, \
                (f"Cannot retrieve Parameter '{name}' because desired attribute does not match with stored for "
                 f"attribute '{key}': desired '{value}' vs stored '{present}'.")
        return found

    def get_constant(self, name: str, value: Any = None) -> Constant:
        """The constant ``prefix + name``: found, or made with the given value; KeyError without one."""
        name = self.prefix + name
        found = self._get_impl(name)
        if found is None:
            if value is None:
                raise KeyError(f"No constant named '{name}'. Please specify value if you want to create a new "
                               f"constant.")
            found = Constant(name, value)
            self._params[name] = found
            return found
        if value is not None:
            assert isinstance(found, Constant), f"Parameter '{name}' already exists but it is not a constant."
            given = value.asnumpy() if isinstance(value, nd.NDArray) else np.asarray(value)
            assert np.array_equal(given, found.value.asnumpy()), \
                f"Constant '{name}' already exists but it's value doesn't match new value"
        return found  # type: ignore[return-value]

    def update(self, other: Any) -> None:
        """Take over the parameters of another dict; AssertionError if a name would mean two parameters."""
        for key, value in other.items():
            assert self._params.get(key, value) is value, \
                f"Cannot update self with other because they have different Parameters with the same name '{key}'"
        for key, value in other.items():
            self._params[key] = value

    def initialize(self, init: Any = None, ctx: Any = None, verbose: bool = False, force_reinit: bool = False,
                   *, device: Any = None) -> None:
        """Initialise every parameter; ``init`` serves those that have no initializer of their own."""
        if init is None:
            init = initializer.Uniform()
        if verbose:
            init.set_verbosity(verbose=verbose)
        for value in self.values():
            value.initialize(None, device if ctx is None else ctx, init, force_reinit=force_reinit)

    def zero_grad(self) -> None:
        """Set all gradients to zero."""
        for value in self.values():
            value.zero_grad()

    def reset_ctx(self, ctx: Any) -> None:
        """Move every parameter to other contexts."""
        for value in self.values():
            value.reset_ctx(ctx)

    reset_device = reset_ctx

    def list_ctx(self) -> list[Context]:
        """All contexts that hold any of the parameters."""
        found: dict[Context, None] = {}
        for value in self.values():
            found.update(dict.fromkeys(value.list_ctx()))
        return list(found)

    list_device = list_ctx

    def setattr(self, name: str, value: Any) -> None:
        """Set an attribute, for example ``grad_req``, of every parameter."""
        for parameter in self.values():
            setattr(parameter, name, value)

    def save(self, filename: str, strip_prefix: str = '') -> None:
        """Write all values to a file, names without a prefix; ValueError if one lacks it (GLUON-PARAMS-018)."""
        arrays = {}
        for parameter in self.values():
            if not parameter.name.startswith(strip_prefix):
                raise ValueError(f"Prefix '{strip_prefix}' is to be striped before saving, but Parameter's name "
                                 f"'{parameter.name}' does not start with '{strip_prefix}'. this may be due to your "
                                 f"Block shares parameters from other Blocks or you forgot to use 'with name_scope()' "
                                 f'when creating child blocks. {NAMING}')
            arrays[parameter.name[len(strip_prefix):]] = parameter._reduce()
        nd.save(filename, arrays)

    def load(self, filename: str, ctx: Any = None, allow_missing: bool = False, ignore_extra: bool = False,
             restore_prefix: str = '', cast_dtype: bool = False, dtype_source: str = 'current') -> None:
        """Read values from a file, putting a prefix before the names in it."""
        self._assert_prefix(restore_prefix)
        arrays = nd.load(filename)
        assert isinstance(arrays, dict) or not arrays, \
            f"file '{filename}' holds a list of arrays without names, expected names of parameters"
        self.load_dict(dict(arrays or {}), ctx, allow_missing, ignore_extra, restore_prefix, filename, cast_dtype,
                       dtype_source)

    def _assert_prefix(self, restore_prefix: str) -> None:
        if restore_prefix:
            for name in self.keys():
                assert name.startswith(restore_prefix), \
                    (f"restore_prefix is '{restore_prefix}' but Parameters name '{name}' does not start with "
                     f"'{restore_prefix}'. {NAMING}")

    def load_dict(self, param_dict: dict[str, Any], ctx: Any = None, allow_missing: bool = False,
                  ignore_extra: bool = False, restore_prefix: str = '', filename: str | None = None,
                  cast_dtype: bool = False, dtype_source: str = 'current') -> None:
        """Take values from a dict of arrays, as ``load`` does from a file."""
        self._assert_prefix(restore_prefix)
        where = f'file: {filename}' if filename else 'param_dict'
        cut = len(restore_prefix)
        arrays = {restore_prefix + name: array for name, array in strip_kind(param_dict).items()}
        if not allow_missing:
            for name in self.keys():
                assert name in arrays, \
                    (f"Parameter '{name[cut:]}' is missing in {where}, which contains parameters: "
                     f'{brief(n[cut:] for n in arrays)}. Please make sure source and target networks have the same '
                     f'prefix.{NAMING}')
        for name, array in arrays.items():
            if name not in self._params:
                if not ignore_extra:
                    raise_extra = (f"Parameter '{name[cut:]}' loaded from {where} is not present in ParameterDict, "
                                   f'choices are: {brief(self.keys())}. Set ignore_extra to True to ignore. '
                                   f'Please make sure source and target networks have the same prefix.{NAMING}')
                    raise AssertionError(raise_extra)
                logging.info('parameter %s of %s is ignored', name[cut:], where)
                continue
            if isinstance(array, np.ndarray):
                array = nd.array(array, dtype=array.dtype, ctx=cpu())
            self._params[name]._load_init(array, ctx, cast_dtype=cast_dtype, dtype_source=dtype_source)


def _merge(wanted: tuple[int, ...], present: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape that both agree on, unknown dimensions (0 or -1) filled from the other; None if they contradict."""
    if len(wanted) != len(present):
        return None
    merged = []
    for a, b in zip(wanted, present, strict=True):
        if a != b and a > 0 and b > 0:
            return None
        merged.append(a if a > 0 else b)
    return tuple(merged)
