"""The reference engine: the MXNet/Gluon programming model on numpy, and on cupy where there is a GPU.

>>> import refengine as mx
>>> (mx.nd.ones((2, 2)) + 1).asnumpy().tolist()
[[2.0, 2.0], [2.0, 2.0]]
"""

from __future__ import annotations

import importlib
import sys
import types
from typing import Any

from . import autograd, base, context, engine, env, memory, ndarray, random, util
from . import ndarray as nd
from .base import MXNetError
from .context import Context, Device, cpu, cpu_pinned, current_context, current_device, gpu, num_gpus
from .memory import memory_pool_info, set_cpu_memory_optimize, set_gpu_memory_optimize, set_memory_pool_size
from .util import (
    is_np_array,
    is_np_shape,
    np_array,
    np_shape,
    set_np_shape,
    use_np,
    use_np_array,
    use_np_shape,
)

__version__ = '1.9.1+refengine.0.1.0'

__conformance__ = {'operators': 'refengine.samples:described'}
"""What the harness asks an engine for: here, how its operators are called."""

_LAZY = {
    'gluon': 'gluon', 'init': 'initializer', 'initializer': 'initializer', 'optimizer': 'optimizer', 'opt': 'optimizer',
    'lr_scheduler': 'lr_scheduler', 'kv': 'kvstore', 'kvstore': 'kvstore', 'metric': 'metric',
    'test_utils': 'test_utils',
    'runtime': 'runtime', 'recordio': 'recordio', 'io': 'io', 'image': 'image', 'profiler': 'profiler', 'name': 'name',
    'attribute': 'attribute', 'sym': 'symbol', 'symbol': 'symbol',
    'operator': 'operator', 'callback': 'callback', 'model': 'model', 'mod': 'module', 'module': 'module', 'amp': 'amp',
    'contrib': 'contrib', 'library': 'library', 'visualization': 'visualization', 'viz': 'visualization',
    'monitor': 'monitor', 'error': 'error', 'log': 'log', 'device': 'device', 'storage': 'storage', 'op': 'op',
    'dispatch': 'dispatch', 'samples': 'samples', 'compat': 'compat', 'kernels': 'kernels',
    'rnd': 'random', 'rnn': 'rnn', 'mon': 'monitor', 'img': 'image',
    'diagnose': 'diagnose', 'executor': 'symbol.executor', 'libinfo': 'libinfo', 'graph': 'graph',
    'board': 'board', 'misc': 'misc', 'rtc': 'rtc', 'registry': 'registry',
}
"""Parts that are imported when they are first used, so that importing the engine stays quick."""


def __getattr__(name: str) -> Any:
    target = _LAZY.get(name)
    if name == 'AttrScope':
        from .attribute import AttrScope
        return AttrScope
    if target is None:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    try:
        value = importlib.import_module(f'{__name__}.{target}')
    except ModuleNotFoundError as error:
        if error.name == f'{__name__}.{target}':
            raise AttributeError(f'module {__name__!r} has no attribute {name!r}') from None
        raise
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})


def waitall() -> None:
    """Wait until everything is done."""
    engine.waitall()


class _Engine(types.ModuleType):
    """The module itself, with the two switches that are read and assigned like variables (rule MEMPLAN-SET-003)."""

    @property
    def cpu_memory_optimize(self) -> bool:
        """Whether graphs on CPUs that are built now are planned."""
        return 'cpu' in memory.optimized()

    @cpu_memory_optimize.setter
    def cpu_memory_optimize(self, flag: bool) -> None:
        memory.set_cpu_memory_optimize(flag)

    @property
    def gpu_memory_optimize(self) -> bool:
        """Whether graphs on GPUs that are built now are planned."""
        return 'gpu' in memory.optimized()

    @gpu_memory_optimize.setter
    def gpu_memory_optimize(self, flag: bool) -> None:
        memory.set_gpu_memory_optimize(flag)


sys.modules[__name__].__class__ = _Engine

if env.get('REFENGINE_DIAGNOSE'):
    from . import diagnose
    diagnose.install()
if env.get('MXNET_PROFILER_AUTOSTART'):
    from .profiler import autostart
    autostart()

__all__ = ['Context', 'Device', 'MXNetError', 'autograd', 'base', 'context', 'cpu', 'cpu_pinned', 'current_context',
           'current_device', 'engine', 'gpu', 'is_np_array', 'is_np_shape', 'memory_pool_info', 'nd', 'ndarray',
           'np_array', 'np_shape', 'num_gpus', 'random', 'set_cpu_memory_optimize', 'set_gpu_memory_optimize',
           'set_memory_pool_size', 'set_np_shape', 'use_np', 'use_np_array', 'use_np_shape', 'util', 'waitall']
