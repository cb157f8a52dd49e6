"""Layers of ``gluon.contrib.nn``."""

from __future__ import annotations

from typing import Any

from ... import checks
from ...block import Block
from ...hybrid_block import HybridBlock
from ...nn.basic_layers import _BatchNorm
from ...nn.containers import Concurrent, HybridConcurrent, Identity
from ..devices import run_on_devices

__all__ = ['Concurrent', 'HybridConcurrent', 'Identity', 'PixelShuffle1D', 'PixelShuffle2D', 'PixelShuffle3D',
           'SparseEmbedding', 'SyncBatchNorm', 'run_on_devices']


class _PixelShuffle(HybridBlock):
    """Moves groups of channels into space: each of ``factor`` neighbours takes its value from another channel."""

    _dims = 1

    def __init__(self, factor: Any) -> None:
        factors = (factor,) * self._dims if isinstance(factor, int | float) else tuple(factor)
        assert len(factors) == self._dims, f'wrong length {len(factors)}'
        checks.sizes(self, self._dims, 1, factor=[int(n) if isinstance(n, float) and n == int(n) else n
                                                  for n in factors])
        factors = tuple(map(int, factors))
        super().__init__()
        self._factors = factors

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # type: ignore[override]
        """(N, C·f₁·f₂…, W₁, W₂…) becomes (N, C, W₁·f₁, W₂·f₂…)."""
        product = 1
        for factor in self._factors:
            product *= factor
        x = F.reshape(x, shape=(0, -4, -1, product) + (0,) * self._dims)
        rest = product
        for place, factor in enumerate(self._factors[:-1]):
            rest //= factor
            x = F.reshape(x, shape=(0,) * (2 + place) + (-4, factor, rest) + (0,) * self._dims)
        # Now (N, C, f1, f2, …, W1, W2, …); each factor goes behind its axis and joins it.
        order = [0, 1]
        for axis in range(self._dims):
            order += [2 + self._dims + axis, 2 + axis]
        return F.reshape(F.transpose(x, axes=tuple(order)), shape=(0, 0) + (-3,) * self._dims)

    def __repr__(self) -> str:
        shown = self._factors[0] if self._dims == 1 else self._factors
        return f'{type(self).__name__}({shown})'


class PixelShuffle1D(_PixelShuffle):
    """(N, f·C, W) becomes (N, C, W·f).

    >>> import refengine as mx
    >>> PixelShuffle1D(2)(mx.nd.array([[[1, 2, 3], [4, 5, 6]]])).asnumpy().tolist()
    [[[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]]]
    """


class PixelShuffle2D(_PixelShuffle):
    """(N, f₁·f₂·C, H, W) becomes (N, C, H·f₁, W·f₂).

    >>> import refengine as mx
    >>> PixelShuffle2D((2, 3))(mx.nd.zeros((1, 12, 3, 5))).shape
    (1, 2, 6, 15)
    """

    _dims = 2


class PixelShuffle3D(_PixelShuffle):
    """(N, f₁·f₂·f₃·C, D, H, W) becomes (N, C, D·f₁, H·f₂, W·f₃).

    >>> import refengine as mx
    >>> PixelShuffle3D(2)(mx.nd.zeros((1, 8, 3, 4, 5))).shape
    (1, 1, 6, 8, 10)
    """

    _dims = 3


class SparseEmbedding(Block):
    """Embedding with a row_sparse weight and gradient: the rows that a batch needs are pulled through a Trainer.

    The engine has no row_sparse arrays yet, so that ``initialize`` raises MXNetError; the block itself can be made.
    """

    def __init__(self, input_dim: int, output_dim: int, dtype: Any = 'float32', weight_initializer: Any = None,
                 **kwargs: Any) -> None:
        checks.whole(self, input_dim=input_dim, output_dim=output_dim)
        super().__init__(**kwargs)
        self._kwargs = {'input_dim': input_dim, 'output_dim': output_dim, 'dtype': dtype, 'sparse_grad': True}
        self.weight = self.params.get('weight', shape=(input_dim, output_dim), init=weight_initializer, dtype=dtype,
                                      grad_stype='row_sparse', stype='row_sparse')

    def forward(self, x: Any) -> Any:  # type: ignore[override]
        """The rows of the weight at the given indices."""
        from .... import ndarray as nd
        weight = self.weight.row_sparse_data(x)
        return nd.Embedding(x, weight, **self._kwargs)

    def __repr__(self) -> str:
        return '{}({input_dim} -> {output_dim}, {dtype})'.format(type(self).__name__, **self._kwargs)


class SyncBatchNorm(_BatchNorm):
    """BatchNorm of axis 1 with statistics over the parts of a batch that several devices have.

    In training the results are there when all ``num_devices`` have come. Operators run at the call, so a network must
    not go on with the result of one device before: give every device a thread, with ``run_on_devices(net, batches)``.
    With one device, and outside training, this is BatchNorm.
    """

    def __init__(self, in_channels: int = 0, num_devices: int | None = None, momentum: float = 0.9,
                 epsilon: float = 1e-5, center: bool = True, scale: bool = True, use_global_stats: bool = False,
                 beta_initializer: Any = 'zeros', gamma_initializer: Any = 'ones',
                 running_mean_initializer: Any = 'zeros', running_variance_initializer: Any = 'ones',
                 **kwargs: Any) -> None:
        if num_devices is not None:
            checks.whole(self, num_devices=num_devices)
        super().__init__(1, momentum, epsilon, center, scale, False, use_global_stats, beta_initializer,
                         gamma_initializer, running_mean_initializer, running_variance_initializer, in_channels,
                         **kwargs)
        devices = self._get_num_devices() if num_devices is None else num_devices
        self._kwargs = {'eps': epsilon, 'momentum': momentum, 'fix_gamma': not scale,
                        'use_global_stats': use_global_stats, 'ndev': devices, 'key': self.prefix}

    def _get_num_devices(self) -> int:
        from ....context import num_gpus
        return max(1, num_gpus())

    def hybrid_forward(self, F: Any, x: Any, gamma: Any, beta: Any, running_mean: Any,  # type: ignore[override]
                       running_var: Any) -> Any:
        """Normalise, see the class."""
        return F.contrib.SyncBatchNorm(x, gamma, beta, running_mean, running_var, name='fwd', **self._kwargs)
