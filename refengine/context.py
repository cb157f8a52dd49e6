"""Contexts: where an array lives. Plain labels; nothing here touches a device."""

from __future__ import annotations

import threading
from typing import Any, ClassVar

from .base import MXNetError


class _Current(threading.local):
    context: Any = None


_current = _Current()


class _Default(type):
    """What makes ``Context.default_ctx`` an attribute that programs read and assign."""

    @property
    def default_ctx(cls) -> Context:
        """The current context of this thread, outside and inside of ``with`` blocks."""
        return current_context()

    @default_ctx.setter
    def default_ctx(cls, context: Context) -> None:
        if not isinstance(context, Context):
            raise TypeError(f'expected a Context, got {context!r}')
        _current.context = context


class Context(metaclass=_Default):
    """A device type and a device id; equal contexts compare and hash equal (rule CTX-OBJ-001).

    >>> Context('cpu', 1) == cpu(1)
    True
    >>> str(gpu(2))
    'gpu(2)'
    """

    __slots__ = ('__weakref__', '_old', 'device_id', 'device_typeid', 'home')

    devtype2str: ClassVar[dict[int, str]] = {1: 'cpu', 2: 'gpu', 3: 'cpu_pinned', 5: 'cpu_shared'}
    devstr2type: ClassVar[dict[str, int]] = {'cpu': 1, 'gpu': 2, 'cpu_pinned': 3, 'cpu_shared': 5}
    _interned: ClassVar[dict[tuple[int, int], Context]] = {}

    device_typeid: int
    device_id: int
    home: Context
    _old: list[Any]

    def __new__(cls, device_type: Any = 'cpu', device_id: int = 0) -> Context:
        if isinstance(device_type, Context):
            key = (device_type.device_typeid, device_type.device_id)
        else:
            key = (cls.devstr2type[device_type], device_id)
        found = cls._interned.get(key)
        if found is None:
            found = object.__new__(cls)
            found.device_typeid, found.device_id = key
            found._old = []
            cls._interned[key] = found
            # Results of operators on pinned and shared memory live in ordinary memory (rule CTX-OBJ-005).
            found.home = found if key[0] < 3 else Context('cpu', 0)
        return found

    @property
    def device_type(self) -> str:
        """The name of the device type: cpu, gpu, cpu_pinned or cpu_shared."""
        return self.devtype2str[self.device_typeid]

    @property
    def is_gpu(self) -> bool:
        """Whether arrays of this context live on a GPU."""
        return self.device_typeid == 2

    def __hash__(self) -> int:
        return hash((self.device_typeid, self.device_id))

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Context) and self.device_typeid == other.device_typeid
                                 and self.device_id == other.device_id)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Context, (self.device_type, self.device_id))

    def __str__(self) -> str:
        return f'{self.device_type}({self.device_id})'

    __repr__ = __str__

    def __enter__(self) -> Context:
        stack = _current.__dict__.setdefault('stack', [])
        stack.append(_current.context)
        _current.context = self
        return self

    def __exit__(self, *exc: Any) -> None:
        _current.context = _current.__dict__['stack'].pop()

    def empty_cache(self) -> None:
        """Give memory that is kept for reuse on this context back to the system."""
        from . import storage
        storage.empty_cache(self)

    def memory_info(self) -> tuple[int, int]:
        """Free and total memory of the device in bytes."""
        from . import device
        return device.memory_info(self)


Device = Context


def cpu(device_id: int = 0) -> Context:
    """The CPU context with the given id; every id is a device of its own for bookkeeping."""
    return Context('cpu', device_id)


def cpu_pinned(device_id: int = 0) -> Context:
    """Page-locked host memory, for fast copies to a GPU."""
    return Context('cpu_pinned', device_id)


def gpu(device_id: int = 0) -> Context:
    """The GPU with the given id; naming one never fails, creating an array there may."""
    return Context('gpu', device_id)


def num_gpus() -> int:
    """The number of usable GPUs; 0 without cupy or without a device."""
    from . import device
    return device.gpu_count()


def gpu_memory_info(device_id: int = 0) -> tuple[int, int]:
    """Free and total memory of a GPU in bytes; MXNetError where there is none."""
    from . import device
    return device.memory_info(gpu(device_id))


_default = cpu(0)


def current_context() -> Context:
    """The innermost ``with context:`` of this thread, else cpu(0)."""
    return _current.context or _default


current_device = current_context


def as_context(value: Any) -> Context:
    """A context from a context, None (the current one) or text such as ``cpu(1)``."""
    if value is None:
        return _current.context or _default
    if isinstance(value, Context):
        return value
    if isinstance(value, str):
        name, bracket, rest = value.partition('(')
        digits = rest[:-1]
        if not bracket or not rest.endswith(')') or not digits.isdigit() or name not in Context.devstr2type:
            raise MXNetError(f'Invalid context string: {value}')
        return Context(name, int(digits))
    raise AttributeError(f"a context must be a Context such as mx.cpu(0), got {value!r}")
