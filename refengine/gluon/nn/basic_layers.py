"""Layers that are no convolutions: dense, dropout, embedding, normalisation, flatten."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import checks
from ..hybrid_block import HybridBlock
from .activations import Activation
from .containers import HybridLambda, HybridSequential, Lambda, Sequential

__all__ = ['BatchNorm', 'BatchNormReLU', 'Dense', 'Dropout', 'Embedding', 'Flatten', 'GroupNorm', 'HybridLambda',
           'HybridSequential', 'InstanceNorm', 'Lambda', 'LayerNorm', 'Sequential']


class Dense(HybridBlock):
    """x · weightᵀ + bias, followed by an activation; ``weight`` has shape (units, in_units).

    With ``flatten`` all axes of the input after the first are taken together, else the last axis is transformed.

    >>> import refengine as mx
    >>> layer = Dense(2, in_units=3); layer.initialize(mx.init.One())
    >>> layer(mx.nd.ones((1, 3))).asnumpy().tolist()
    [[3.0, 3.0]]
    """

    _main_operator = 'fullyconnected'

    def __init__(self, units: int, activation: str | None = None, use_bias: bool = True, flatten: bool = True,
                 dtype: Any = 'float32', weight_initializer: Any = None, bias_initializer: Any = 'zeros',
                 in_units: int = 0, **kwargs: Any) -> None:
        checks.whole(self, units=units)
        checks.whole(self, checks.UNKNOWN, in_units=in_units)
        super().__init__(**kwargs)
        if activation is not None:
            checks.activation(self, activation)
        self._flatten = flatten
        with self.name_scope():
            self._units = units
            self._in_units = in_units
            self.weight = self.params.get('weight', shape=(units, in_units), init=weight_initializer, dtype=dtype,
                                          allow_deferred_init=True)
            self.bias = self.params.get('bias', shape=(units,), init=bias_initializer, dtype=dtype,
                                        allow_deferred_init=True) if use_bias else None
            self.act = Activation(activation, prefix=activation + '_') if activation is not None else None

    def hybrid_forward(self, F: Any, x: Any, weight: Any, bias: Any = None) -> Any:  # type: ignore[override]
        """Transform the input."""
        if bias is None:
            out = F.FullyConnected(x, weight, no_bias=True, num_hidden=self._units, flatten=self._flatten)
        else:
            out = F.FullyConnected(x, weight, bias, no_bias=False, num_hidden=self._units, flatten=self._flatten)
        return out if self.act is None else self.act(out)

    def __repr__(self) -> str:
        units, inputs = self.weight.shape
        return f'{type(self).__name__}({inputs if inputs else None} -> {units}, {self.act if self.act else "linear"})'


class Dropout(HybridBlock):
    """In training sets each element to 0 with probability ``rate`` and scales the others by 1 / (1 - rate).

    Along ``axes`` one decision holds for all elements.
    """

    _main_operator = 'dropout'

    def __init__(self, rate: float, axes: Any = (), **kwargs: Any) -> None:
        checks.number(self, 0, 1, rate=rate)
        super().__init__(**kwargs)
        self._rate = rate
        self._axes = axes

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # type: ignore[override]
        """Drop elements in training mode."""
        if self._rate > 0:
            return F.Dropout(x, p=self._rate, axes=self._axes, cudnn_off=False)
        return F.identity(x)

    def __repr__(self) -> str:
        return f'{type(self).__name__}(p = {self._rate}, axes={self._axes})'


class _BatchNorm(HybridBlock):
    """What BatchNorm and its relatives share."""

    _main_operator = 'batchnorm'

    def __init__(self, axis: int = 1, momentum: float = 0.9, epsilon: float = 1e-5, center: bool = True,
                 scale: bool = True, fuse_relu: bool = False, use_global_stats: bool = False,
                 beta_initializer: Any = 'zeros', gamma_initializer: Any = 'ones',
                 running_mean_initializer: Any = 'zeros',
                 running_variance_initializer: Any = 'ones', in_channels: int = 0, **kwargs: Any) -> None:
        checks.normalisation(self, epsilon, axis, in_channels)
        checks.number(self, 0, 1, momentum=momentum)
        super().__init__(**kwargs)
        self._kwargs = {'axis': axis, 'eps': epsilon, 'momentum': momentum, 'fix_gamma': not scale,
                        'use_global_stats': use_global_stats}
        self.fuse_relu = fuse_relu
        if in_channels != 0:
            self.in_channels = in_channels
        shape = (in_channels,)
        for name, req, init, learnt in (
                ('gamma', 'write' if scale else 'null', gamma_initializer, scale),
                ('beta', 'write' if center else 'null', beta_initializer, center),
                ('running_mean', 'null', running_mean_initializer, False),
                ('running_var', 'null', running_variance_initializer, False)):
            setattr(self, name, self.params.get(name, grad_req=req, shape=shape, init=init, allow_deferred_init=True,
                                                differentiable=learnt))

    def cast(self, dtype: Any) -> None:
        """Change the element type; statistics of a half precision network stay in float32."""
        super().cast('float32' if np.dtype(dtype).name == 'float16' else dtype)

    def hybrid_forward(self, F: Any, x: Any, gamma: Any, beta: Any, running_mean: Any,  # type: ignore[override]
                       running_var: Any) -> Any:
        """Normalise with the statistics of the batch in training mode, with the running ones otherwise."""
        out = F.BatchNorm(x, gamma, beta, running_mean, running_var, **self._kwargs)
        return F.Activation(out, act_type='relu') if self.fuse_relu else out

    def __repr__(self) -> str:
        channels = self.gamma.shape[0]
        content = ', '.join(f'{key}={value!r}' for key, value in self._kwargs.items())
        return f'{type(self).__name__}({content}, in_channels={channels if channels else None})'


class BatchNorm(_BatchNorm):
    """Batch normalisation over all axes but one.

    In training mode the statistics are those of the batch, and backward moves the running ones towards them (rule
    GLUON-HYBRID-025); otherwise, and with ``use_global_stats``, the running ones are used. ``scale=False`` fixes gamma
    to 1.
    """

    def __init__(self, axis: int = 1, momentum: float = 0.9, epsilon: float = 1e-5, center: bool = True,
                 scale: bool = True, use_global_stats: bool = False, beta_initializer: Any = 'zeros',
                 gamma_initializer: Any = 'ones', running_mean_initializer: Any = 'zeros',
                 running_variance_initializer: Any = 'ones', in_channels: int = 0, **kwargs: Any) -> None:
        super().__init__(axis, momentum, epsilon, center, scale, False, use_global_stats, beta_initializer,
                         gamma_initializer, running_mean_initializer, running_variance_initializer, in_channels,
                         **kwargs)


class BatchNormReLU(_BatchNorm):
    """BatchNorm followed by relu."""

    def __init__(self, axis: int = 1, momentum: float = 0.9, epsilon: float = 1e-5, center: bool = True,
                 scale: bool = True, use_global_stats: bool = False, beta_initializer: Any = 'zeros',
                 gamma_initializer: Any = 'ones', running_mean_initializer: Any = 'zeros',
                 running_variance_initializer: Any = 'ones', in_channels: int = 0, **kwargs: Any) -> None:
        super().__init__(axis, momentum, epsilon, center, scale, True, use_global_stats, beta_initializer,
                         gamma_initializer, running_mean_initializer, running_variance_initializer, in_channels,
                         **kwargs)


class Embedding(HybridBlock):
    """Rows of ``weight`` (input_dim, output_dim) by index; the output has one more axis than the input."""

    _main_operator = 'embedding'

    def __init__(self, input_dim: int, output_dim: int, dtype: Any = 'float32', weight_initializer: Any = None,
                 sparse_grad: bool = False, **kwargs: Any) -> None:
        checks.whole(self, input_dim=input_dim, output_dim=output_dim)
        super().__init__(**kwargs)
        self._input_dim = input_dim
        self._output_dim = output_dim
        self._kwargs = {'input_dim': input_dim, 'output_dim': output_dim, 'dtype': dtype, 'sparse_grad': sparse_grad}
        self.weight = self.params.get('weight', shape=(input_dim, output_dim), init=weight_initializer, dtype=dtype,
                                      allow_deferred_init=True,
                                      grad_stype='row_sparse' if sparse_grad else 'default')

    def cast(self, dtype: Any) -> None:
        """Change the element type of the rows."""
        super().cast(dtype)
        self._kwargs['dtype'] = np.dtype(dtype).name

    def hybrid_forward(self, F: Any, x: Any, weight: Any) -> Any:  # type: ignore[override]
        """Look rows up."""
        return F.Embedding(x, weight, **self._kwargs)

    def __repr__(self) -> str:
        return f'{type(self).__name__}({self._input_dim} -> {self._output_dim}, {self._kwargs["dtype"]})'


class Flatten(HybridBlock):
    """All axes after the first as one."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # type: ignore[override]
        """Reshape to two axes."""
        return F.Flatten(x)

    def __repr__(self) -> str:
        return type(self).__name__


class _AffineNorm(HybridBlock):
    """Normalisations with a learnt gamma and beta and without statistics of their own."""

    def _make(self, size: int, center: bool, scale: bool, beta_initializer: Any, gamma_initializer: Any) -> None:
        self.gamma = self.params.get('gamma', grad_req='write' if scale else 'null', shape=(size,),
                                     init=gamma_initializer, allow_deferred_init=True)
        self.beta = self.params.get('beta', grad_req='write' if center else 'null', shape=(size,),
                                    init=beta_initializer, allow_deferred_init=True)


class InstanceNorm(_AffineNorm):
    """Normalises each channel of each sample over its spatial axes."""

    _main_operator = 'instancenorm'

    def __init__(self, axis: int = 1, epsilon: float = 1e-5, center: bool = True, scale: bool = False,
                 beta_initializer: Any = 'zeros', gamma_initializer: Any = 'ones', in_channels: int = 0,
                 **kwargs: Any) -> None:
        checks.normalisation(self, epsilon, axis, in_channels)
        super().__init__(**kwargs)
        self._kwargs = {'eps': epsilon, 'axis': axis, 'center': center, 'scale': scale}
        self._axis, self._epsilon = axis, epsilon
        self._make(in_channels, center, scale, beta_initializer, gamma_initializer)

    def hybrid_forward(self, F: Any, x: Any, gamma: Any, beta: Any) -> Any:  # type: ignore[override]
        """Normalise; channels are moved to axis 1 and back where they stand elsewhere."""
        if self._axis == 1:
            return F.InstanceNorm(x, gamma, beta, eps=self._epsilon)
        return F.InstanceNorm(x.swapaxes(1, self._axis), gamma, beta, eps=self._epsilon).swapaxes(1, self._axis)

    def __repr__(self) -> str:
        content = ', '.join(f'{key}={value!r}' for key, value in self._kwargs.items())
        return f'{type(self).__name__}({content}, in_channels={self.gamma.shape[0]})'


class LayerNorm(_AffineNorm):
    """Normalises along one axis."""

    def __init__(self, axis: int = -1, epsilon: float = 1e-5, center: bool = True, scale: bool = True,
                 beta_initializer: Any = 'zeros', gamma_initializer: Any = 'ones', in_channels: int = 0,
                 prefix: str | None = None, params: Any = None) -> None:
        checks.normalisation(self, epsilon, axis, in_channels)
        super().__init__(prefix=prefix, params=params)
        self._kwargs = {'eps': epsilon, 'axis': axis, 'center': center, 'scale': scale}
        self._axis, self._epsilon = axis, epsilon
        self._make(in_channels, center, scale, beta_initializer, gamma_initializer)

    def hybrid_forward(self, F: Any, data: Any, gamma: Any, beta: Any) -> Any:  # type: ignore[override]
        """Normalise."""
        return F.LayerNorm(data, gamma=gamma, beta=beta, axis=self._axis, eps=self._epsilon)

    def __repr__(self) -> str:
        content = ', '.join(f'{key}={value!r}' for key, value in self._kwargs.items())
        return f'{type(self).__name__}({content}, in_channels={self.gamma.shape[0]})'


class GroupNorm(_AffineNorm):
    """Normalises groups of channels of each sample; gamma and beta have one value per group."""

    def __init__(self, num_groups: int = 1, epsilon: float = 1e-5, center: bool = True, scale: bool = True,
                 beta_initializer: Any = 'zeros', gamma_initializer: Any = 'ones', prefix: str | None = None,
                 params: Any = None) -> None:
        checks.normalisation(self, epsilon)
        checks.whole(self, num_groups=num_groups)
        super().__init__(prefix=prefix, params=params)
        self._kwargs = {'eps': epsilon, 'num_groups': num_groups, 'center': center, 'scale': scale}
        self._num_groups, self._epsilon = num_groups, epsilon
        self._make(num_groups, center, scale, beta_initializer, gamma_initializer)

    def hybrid_forward(self, F: Any, data: Any, gamma: Any, beta: Any) -> Any:  # type: ignore[override]
        """Normalise."""
        return F.GroupNorm(data, gamma=gamma, beta=beta, num_groups=self._num_groups, eps=self._epsilon)

    def __repr__(self) -> str:
        content = ', '.join(f'{key}={value!r}' for key, value in self._kwargs.items())
        return f'{type(self).__name__}({content})'
