"""What this build of the engine can do, and how much memory it uses."""

from __future__ import annotations

from typing import Any

from . import context, device, engine, storage
from .context import Context


class Feature:
    """A named ability and whether it is there."""

    def __init__(self, name: str, enabled: bool) -> None:
        self.name, self.enabled = name, enabled

    def __repr__(self) -> str:
        return f'{"✔" if self.enabled else "✖"} {self.name}'


def feature_list() -> list[Feature]:
    """All features; the names that MXNet knows and this engine has no use for are off."""
    cuda = context.num_gpus() > 0
    enabled = {'CUDA': cuda, 'CUDNN': cuda, 'BLAS_OPEN': True, 'INT64_TENSOR_SIZE': True, 'F16C': True,
               'PROFILER': True}
    names = ('CUDA', 'CUDNN', 'NCCL', 'CUDA_RTC', 'TENSORRT', 'CPU_SSE', 'CPU_AVX', 'OPENMP', 'SSE', 'F16C', 'JEMALLOC',
             'BLAS_OPEN', 'BLAS_ATLAS', 'BLAS_MKL', 'BLAS_APPLE', 'LAPACK', 'MKLDNN', 'ONEDNN', 'OPENCV', 'CAFFE',
             'PROFILER', 'DIST_KVSTORE', 'CXX14', 'INT64_TENSOR_SIZE', 'SIGNAL_HANDLER', 'DEBUG', 'TVM_OP', 'NUMBA')
    return [Feature(n, enabled.get(n, n == 'LAPACK')) for n in names]


class Features(dict):
    """The features by name.

    >>> Features().is_enabled('blas_open')
    True
    """

    def __init__(self) -> None:
        super().__init__((f.name, f) for f in feature_list())

    def __repr__(self) -> str:
        return str(list(self.values()))

    def is_enabled(self, feature_name: str) -> bool:
        """Whether a feature is on, in any spelling; RuntimeError for a name that is not known (rule MEM-INFO-004)."""
        name = feature_name.upper()
        if name not in self:
            raise RuntimeError(f"Feature '{name}' is unknown, known features are: {list(self.keys())}")
        return self[name].enabled


class Runtime:
    """The running engine."""

    def get_memory_info(self, ctx: Any) -> dict[str, int]:
        """Bytes of a device: total, free, used and max_free_block; waits for pending work first (rule MEM-INFO-001).

        On a CPU context ``used`` counts the large buffers of living arrays. Errors of pending work are left to those
        who wait for its results.
        """
        if not isinstance(ctx, Context):
            raise TypeError(f'get_memory_info expects a Context, got {ctx!r}')
        engine.drain()
        device.synchronize(ctx)
        free, total = device.memory_info(ctx)
        if not ctx.is_gpu:
            free = max(total - storage.used_bytes(), 0)
        return {'total': total, 'free': free, 'used': total - free, 'max_free_block': free}
