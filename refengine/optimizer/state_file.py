"""State files: pickled optimizer states, read without trusting them.

``pickle`` would run whatever a file asks for. Here a file can name arrays, optimizers, schedules and plain data, and
nothing else. Files of MXNet 1.x and 2.x are understood as well.
"""

from __future__ import annotations

import collections
import io
import os
import pickle
import sys
from typing import Any

import numpy as np

from .. import lr_scheduler
from .. import ndarray as nd
from ..base import MXNetError
from ..context import cpu
from ..files import whole_file
from . import mxnet_array
from .optimizer import Optimizer

_BUILTINS = ('bytearray', 'bytes', 'complex', 'dict', 'float', 'frozenset', 'int', 'list', 'object', 'range', 'set',
             'slice', 'str', 'tuple', 'bool')

_NUMPY_SCALARS = ('bool', 'bool_', 'float16', 'float32', 'float64', 'int8', 'int16', 'int32', 'int64', 'uint8',
                  'uint16', 'uint32', 'uint64', 'longlong', 'ulonglong', 'intc')


def dumps(states: dict[Any, Any], optimizer: Optimizer | None = None) -> bytes:
    """The pickled states, or pair of states and optimizer."""
    return pickle.dumps(states if optimizer is None else (states, optimizer))


def loads(data: bytes) -> tuple[dict[Any, Any], Optimizer | None, int | None]:
    """States, optimizer (or None) and release (1, 2 or None) from what ``dumps`` or a release of MXNet wrote.

    States are in the form of that release; ``Optimizer.adopt_state`` changes it. Raises pickle.UnpicklingError, naming
    what it met, for a file that asks for anything but data of these kinds.
    """
    unpickler = _Unpickler(io.BytesIO(data))
    try:
        loaded = unpickler.load()
    except (pickle.UnpicklingError, MXNetError):
        raise
    except Exception as error:  # broken pickles raise errors of every kind
        raise pickle.UnpicklingError(f'not a state file: {error!r}') from error
    arrays = mxnet_array.Resolver()
    loaded = arrays.resolve(loaded)
    optimizer = None
    if isinstance(loaded, tuple) and len(loaded) == 2:
        loaded, optimizer = loaded
        if not isinstance(optimizer, Optimizer):
            raise pickle.UnpicklingError(f'not a state file: expected an optimizer, got {type(optimizer)}')
    if not isinstance(loaded, dict):
        raise pickle.UnpicklingError(f'not a state file: expected a dict of states, got {type(loaded)}')
    return loaded, optimizer, unpickler.release or arrays.release


class _Unpickler(pickle.Unpickler):
    """Knows the classes that a state file may hold."""

    def __init__(self, file: Any) -> None:
        super().__init__(file)
        self.release: int | None = None

    def find_class(self, module: str, name: str) -> Any:
        if module.partition('.')[0] == 'mxnet':
            found = self._of_mxnet(module, name)
        else:
            found = _builtin(module, name) or _numpy(module, name) or _own(module, name)
        if found is None:
            raise pickle.UnpicklingError(f'global {module}.{name} is forbidden in a state file')
        return found

    def persistent_load(self, pid: Any) -> Any:
        raise pickle.UnpicklingError('a state file refers to nothing outside of itself')

    def _of_mxnet(self, module: str, name: str) -> Any:
        """The counterpart of a class of MXNet."""
        if module.startswith(('mxnet.ndarray', 'mxnet.numpy')):
            return mxnet_array.KINDS.get(name)
        if module == 'mxnet.lr_scheduler':
            return getattr(lr_scheduler, name) if name in lr_scheduler.__all__ else None
        if module.startswith('mxnet.optimizer'):
            found = Optimizer.opt_registry.get(name.lower())
            if found is not None and found.__name__ == name:
                if module != 'mxnet.optimizer.contrib' and name != 'Test':  # those two are in both at the same place
                    self.release = 1 if module == 'mxnet.optimizer.optimizer' else 2
                return found
        return None


def _builtin(module: str, name: str) -> Any:
    if module in ('builtins', '__builtin__') and name in _BUILTINS:
        return getattr(__import__('builtins'), name)
    if module == 'collections' and name in ('OrderedDict', 'defaultdict'):
        return getattr(collections, name)
    if module == '_codecs' and name == 'encode':
        return _latin1
    if module in ('copyreg', 'copy_reg') and name == '_reconstructor':
        return _reconstructor
    return None


def _latin1(text: str, encoding: str) -> bytes:
    """What protocol 2 calls to make bytes, for the one encoding that it uses."""
    if encoding != 'latin1':
        raise pickle.UnpicklingError(f'encoding {encoding} is forbidden in a state file')
    return text.encode('latin1')


def _reconstructor(cls: type, base: type, state: Any) -> Any:
    """What protocols 0 and 1 call to make an object of a class without state of its own."""
    if base is not object:
        raise pickle.UnpicklingError(f'a {cls} built upon {base} is forbidden in a state file')
    return cls.__new__(cls)


def _numpy(module: str, name: str) -> Any:
    """The functions and classes that pickled numpy values name, in any release of numpy."""
    if module == 'numpy' and (name in ('ndarray', 'dtype') or name in _NUMPY_SCALARS):
        return getattr(np, name)
    if module in ('numpy.core.multiarray', 'numpy._core.multiarray') and name in ('_reconstruct', 'scalar'):
        return getattr(np._core.multiarray, name)
    if module in ('numpy.core.numeric', 'numpy._core.numeric') and name == '_frombuffer':
        return np._core.numeric._frombuffer
    return None


def _own(module: str, name: str) -> Any:
    """Arrays of this engine, and classes of optimizers and schedules that the program has loaded already."""
    rebuild = nd.ndarray._rebuild
    if (module, name) == (rebuild.__module__, rebuild.__qualname__):
        return _rebuild_array
    if (module, name) == (nd.NDArray.__module__, nd.NDArray.__qualname__):
        return _DENSE  # never the class itself: a pickle can set attributes of what it was given
    found: Any = sys.modules.get(module)
    for part in name.split('.'):
        found = getattr(found, part, None)
    if not isinstance(found, type):
        return None
    if issubclass(found, Optimizer) and found in Optimizer.opt_registry.values():
        return found
    return found if issubclass(found, lr_scheduler.LRScheduler) else None


_DENSE = object()


def _rebuild_array(cls: Any, data: Any) -> Any:
    if cls is not _DENSE or not isinstance(data, np.ndarray):
        raise pickle.UnpicklingError(f'a state file may not build a {cls}')
    return nd.array(data, ctx=cpu(0), dtype=data.dtype)


def write_atomically(name: str, data: bytes) -> None:
    """Write a file so that readers see the old content or the new one, never a part of it."""
    folder = os.path.dirname(os.path.abspath(name))
    if not os.path.isdir(folder):
        raise FileNotFoundError(2, f'No such directory: {folder!r}', name)
    with whole_file(name) as file:
        file.write(data)
