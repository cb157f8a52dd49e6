"""Convolutions, transposed convolutions, pooling and padding as blocks."""

from __future__ import annotations

from typing import Any

from ..hybrid_block import HybridBlock
from .activations import Activation


def _tuple(value: Any, size: int) -> tuple[int, ...]:
    return (value,) * size if isinstance(value, int) else tuple(value)


class _Conv(HybridBlock):
    """What all convolutions share; the shape of the weight follows from the layout."""

    def __init__(self, channels: int, kernel_size: Any, strides: Any, padding: Any, dilation: Any, groups: int,
                 layout: str, in_channels: int = 0, activation: str | None = None, use_bias: bool = True,
                 weight_initializer: Any = None, bias_initializer: Any = 'zeros', op_name: str = 'Convolution',
                 adj: Any = None, prefix: str | None = None, params: Any = None) -> None:
        super().__init__(prefix=prefix, params=params)
        with self.name_scope():
            self._channels = channels
            self._in_channels = in_channels
            spatial = len(kernel_size)
            self._op_name = op_name
            self._kwargs = {
                'kernel': kernel_size, 'stride': _tuple(strides, spatial), 'dilate': _tuple(dilation, spatial),
                'pad': _tuple(padding, spatial), 'num_filter': channels, 'num_group': groups, 'no_bias': not use_bias,
                'layout': layout}
            if adj is not None:
                self._kwargs['adj'] = _tuple(adj, spatial)
            self.weight = self.params.get('weight', shape=self._weight_shape(layout, kernel_size, groups),
                                          init=weight_initializer, allow_deferred_init=True)
            self.bias = self.params.get('bias', shape=(channels,), init=bias_initializer,
                                        allow_deferred_init=True) if use_bias else None
            self.act = Activation(activation, prefix=activation + '_') if activation is not None else None

    def _weight_shape(self, layout: str, kernel: tuple[int, ...], groups: int) -> tuple[int, ...]:
        outer, inner = self._channels, self._in_channels // groups
        if self._op_name == 'Deconvolution':
            outer, inner = self._in_channels, self._channels // groups
        return (outer, *kernel, inner) if layout[-1] == 'C' else (outer, inner, *kernel)

    def hybrid_forward(self, F: Any, x: Any, weight: Any, bias: Any = None) -> Any:  # type: ignore[override]
        """Convolve."""
        inputs = (x, weight) if bias is None else (x, weight, bias)
        out = getattr(F, self._op_name)(*inputs, **self._kwargs)
        return out if self.act is None else self.act(out)

    def _alias(self) -> str:
        return 'conv'

    def __repr__(self) -> str:
        shape = self.weight.shape
        kwargs = self._kwargs
        zero, one = (0,) * len(kwargs['kernel']), (1,) * len(kwargs['kernel'])
        text = f'{shape[1] if shape[1] else None} -> {shape[0]}'
        text += f', kernel_size={kwargs["kernel"]}, stride={kwargs["stride"]}'
        if kwargs['pad'] != zero:
            text += f', padding={kwargs["pad"]}'
        if kwargs['dilate'] != one:
            text += f', dilation={kwargs["dilate"]}'
        if kwargs.get('adj') not in (None, zero):
            text += f', output_padding={kwargs["adj"]}'
        if kwargs['num_group'] != 1:
            text += f', groups={kwargs["num_group"]}'
        if self.bias is None:
            text += ', bias=False'
        if self.act:
            text += f', {self.act}'
        return f'{type(self).__name__}({text})'


def _check_layout(layout: str, allowed: tuple[str, ...]) -> None:
    assert layout in allowed, f"Only supports {' and '.join(repr(a) for a in allowed)} layout for now, got {layout!r}"


class Conv1D(_Conv):
    """Convolution over one spatial axis."""

    def __init__(self, channels: int, kernel_size: Any, strides: Any = 1, padding: Any = 0, dilation: Any = 1,
                 groups: int = 1, layout: str = 'NCW', activation: str | None = None, use_bias: bool = True,
                 weight_initializer: Any = None, bias_initializer: Any = 'zeros', in_channels: int = 0,
                 **kwargs: Any) -> None:
        _check_layout(layout, ('NCW', 'NWC'))
        kernel_size = _tuple(kernel_size, 1)
        assert len(kernel_size) == 1, 'kernel_size must be a number or a list of 1 ints'
        super().__init__(channels, kernel_size, strides, padding, dilation, groups, layout, in_channels, activation,
                         use_bias, weight_initializer, bias_initializer, **kwargs)


class Conv2D(_Conv):
    """Convolution over two spatial axes.

    >>> import refengine as mx
    >>> layer = Conv2D(4, 3); layer.initialize()
    >>> layer(mx.nd.ones((1, 3, 8, 8))).shape, layer.weight.shape
    ((1, 4, 6, 6), (4, 3, 3, 3))
    """

    def __init__(self, channels: int, kernel_size: Any, strides: Any = (1, 1), padding: Any = (0, 0),
                 dilation: Any = (1, 1), groups: int = 1, layout: str = 'NCHW', activation: str | None = None,
                 use_bias: bool = True, weight_initializer: Any = None, bias_initializer: Any = 'zeros',
                 in_channels: int = 0, **kwargs: Any) -> None:
        _check_layout(layout, ('NCHW', 'NHWC'))
        kernel_size = _tuple(kernel_size, 2)
        assert len(kernel_size) == 2, 'kernel_size must be a number or a list of 2 ints'
        super().__init__(channels, kernel_size, strides, padding, dilation, groups, layout, in_channels, activation,
                         use_bias, weight_initializer, bias_initializer, **kwargs)


class Conv3D(_Conv):
    """Convolution over three spatial axes."""

    def __init__(self, channels: int, kernel_size: Any, strides: Any = (1, 1, 1), padding: Any = (0, 0, 0),
                 dilation: Any = (1, 1, 1), groups: int = 1, layout: str = 'NCDHW', activation: str | None = None,
                 use_bias: bool = True, weight_initializer: Any = None, bias_initializer: Any = 'zeros',
                 in_channels: int = 0, **kwargs: Any) -> None:
        _check_layout(layout, ('NCDHW', 'NDHWC'))
        kernel_size = _tuple(kernel_size, 3)
        assert len(kernel_size) == 3, 'kernel_size must be a number or a list of 3 ints'
        super().__init__(channels, kernel_size, strides, padding, dilation, groups, layout, in_channels, activation,
                         use_bias, weight_initializer, bias_initializer, **kwargs)


class Conv1DTranspose(_Conv):
    """Transposed convolution over one spatial axis."""

    def __init__(self, channels: int, kernel_size: Any, strides: Any = 1, padding: Any = 0, output_padding: Any = 0,
                 dilation: Any = 1, groups: int = 1, layout: str = 'NCW', activation: str | None = None,
                 use_bias: bool = True, weight_initializer: Any = None, bias_initializer: Any = 'zeros',
                 in_channels: int = 0, **kwargs: Any) -> None:
        _check_layout(layout, ('NCW', 'NWC'))
        kernel_size, output_padding = _tuple(kernel_size, 1), _tuple(output_padding, 1)
        assert len(kernel_size) == 1, 'kernel_size must be a number or a list of 1 ints'
        assert len(output_padding) == 1, 'output_padding must be a number or a list of 1 ints'
        super().__init__(channels, kernel_size, strides, padding, dilation, groups, layout, in_channels, activation,
                         use_bias, weight_initializer, bias_initializer, op_name='Deconvolution', adj=output_padding,
                         **kwargs)
        self.outpad = output_padding


class Conv2DTranspose(_Conv):
    """Transposed convolution over two spatial axes."""

    def __init__(self, channels: int, kernel_size: Any, strides: Any = (1, 1), padding: Any = (0, 0),
                 output_padding: Any = (0, 0), dilation: Any = (1, 1), groups: int = 1, layout: str = 'NCHW',
                 activation: str | None = None, use_bias: bool = True, weight_initializer: Any = None,
                 bias_initializer: Any = 'zeros', in_channels: int = 0, **kwargs: Any) -> None:
        _check_layout(layout, ('NCHW', 'NHWC'))
        kernel_size, output_padding = _tuple(kernel_size, 2), _tuple(output_padding, 2)
        assert len(kernel_size) == 2, 'kernel_size must be a number or a list of 2 ints'
        assert len(output_padding) == 2, 'output_padding must be a number or a list of 2 ints'
        super().__init__(channels, kernel_size, strides, padding, dilation, groups, layout, in_channels, activation,
                         use_bias, weight_initializer, bias_initializer, op_name='Deconvolution', adj=output_padding,
                         **kwargs)
        self.outpad = output_padding


class Conv3DTranspose(_Conv):
    """Transposed convolution over three spatial axes."""

    def __init__(self, channels: int, kernel_size: Any, strides: Any = (1, 1, 1), padding: Any = (0, 0, 0),
                 output_padding: Any = (0, 0, 0), dilation: Any = (1, 1, 1), groups: int = 1, layout: str = 'NCDHW',
                 activation: str | None = None, use_bias: bool = True, weight_initializer: Any = None,
                 bias_initializer: Any = 'zeros', in_channels: int = 0, **kwargs: Any) -> None:
        _check_layout(layout, ('NCDHW', 'NDHWC'))
        kernel_size, output_padding = _tuple(kernel_size, 3), _tuple(output_padding, 3)
        assert len(kernel_size) == 3, 'kernel_size must be a number or a list of 3 ints'
        assert len(output_padding) == 3, 'output_padding must be a number or a list of 3 ints'
        super().__init__(channels, kernel_size, strides, padding, dilation, groups, layout, in_channels, activation,
                         use_bias, weight_initializer, bias_initializer, op_name='Deconvolution', adj=output_padding,
                         **kwargs)
        self.outpad = output_padding


class _Pooling(HybridBlock):
    """What all poolings share."""

    def __init__(self, pool_size: tuple[int, ...], strides: Any, padding: Any, ceil_mode: bool, global_pool: bool,
                 pool_type: str, layout: str, count_include_pad: bool | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        strides = pool_size if strides is None else strides
        self._kwargs = {
            'kernel': pool_size, 'stride': _tuple(strides, len(pool_size)), 'pad': _tuple(padding, len(pool_size)),
            'global_pool': global_pool, 'pool_type': pool_type, 'layout': layout,
            'pooling_convention': 'full' if ceil_mode else 'valid'}
        if count_include_pad is not None:
            self._kwargs['count_include_pad'] = count_include_pad

    def _alias(self) -> str:
        return 'pool'

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # type: ignore[override]
        """Pool."""
        return F.Pooling(x, **self._kwargs)

    def __repr__(self) -> str:
        kwargs = self._kwargs
        return (f'{type(self).__name__}(size={kwargs["kernel"]}, stride={kwargs["stride"]}, padding={kwargs["pad"]}, '
                f'ceil_mode={kwargs["pooling_convention"] == "full"}, global_pool={kwargs["global_pool"]}, '
                f'pool_type={kwargs["pool_type"]}, layout={kwargs["layout"]})')


def _pool_size(value: Any, size: int) -> tuple[int, ...]:
    value = _tuple(value, size)
    assert len(value) == size, f'pool_size must be a number or a list of {size} ints'
    return value


class MaxPool1D(_Pooling):
    """Largest element of each window, one spatial axis."""

    def __init__(self, pool_size: Any = 2, strides: Any = None, padding: Any = 0, layout: str = 'NCW',
                 ceil_mode: bool = False, **kwargs: Any) -> None:
        _check_layout(layout, ('NCW', 'NWC'))
        super().__init__(_pool_size(pool_size, 1), strides, padding, ceil_mode, False, 'max', layout, **kwargs)


class MaxPool2D(_Pooling):
    """Largest element of each window, two spatial axes."""

    def __init__(self, pool_size: Any = (2, 2), strides: Any = None, padding: Any = 0, layout: str = 'NCHW',
                 ceil_mode: bool = False, **kwargs: Any) -> None:
        _check_layout(layout, ('NCHW', 'NHWC'))
        super().__init__(_pool_size(pool_size, 2), strides, padding, ceil_mode, False, 'max', layout, **kwargs)


class MaxPool3D(_Pooling):
    """Largest element of each window, three spatial axes."""

    def __init__(self, pool_size: Any = (2, 2, 2), strides: Any = None, padding: Any = 0, ceil_mode: bool = False,
                 layout: str = 'NCDHW', **kwargs: Any) -> None:
        _check_layout(layout, ('NCDHW', 'NDHWC'))
        super().__init__(_pool_size(pool_size, 3), strides, padding, ceil_mode, False, 'max', layout, **kwargs)


class AvgPool1D(_Pooling):
    """Mean of each window, one spatial axis."""

    def __init__(self, pool_size: Any = 2, strides: Any = None, padding: Any = 0, layout: str = 'NCW',
                 ceil_mode: bool = False, count_include_pad: bool = True, **kwargs: Any) -> None:
        _check_layout(layout, ('NCW', 'NWC'))
        super().__init__(_pool_size(pool_size, 1), strides, padding, ceil_mode, False, 'avg', layout,
                         count_include_pad, **kwargs)


class AvgPool2D(_Pooling):
    """Mean of each window, two spatial axes."""

    def __init__(self, pool_size: Any = (2, 2), strides: Any = None, padding: Any = 0, ceil_mode: bool = False,
                 layout: str = 'NCHW', count_include_pad: bool = True, **kwargs: Any) -> None:
        _check_layout(layout, ('NCHW', 'NHWC'))
        super().__init__(_pool_size(pool_size, 2), strides, padding, ceil_mode, False, 'avg', layout,
                         count_include_pad, **kwargs)


class AvgPool3D(_Pooling):
    """Mean of each window, three spatial axes."""

    def __init__(self, pool_size: Any = (2, 2, 2), strides: Any = None, padding: Any = 0, ceil_mode: bool = False,
                 layout: str = 'NCDHW', count_include_pad: bool = True, **kwargs: Any) -> None:
        _check_layout(layout, ('NCDHW', 'NDHWC'))
        super().__init__(_pool_size(pool_size, 3), strides, padding, ceil_mode, False, 'avg', layout,
                         count_include_pad, **kwargs)


class GlobalMaxPool1D(_Pooling):
    """Largest element over the spatial axis."""

    def __init__(self, layout: str = 'NCW', **kwargs: Any) -> None:
        _check_layout(layout, ('NCW', 'NWC'))
        super().__init__((1,), None, 0, True, True, 'max', layout, **kwargs)


class GlobalMaxPool2D(_Pooling):
    """Largest element over both spatial axes."""

    def __init__(self, layout: str = 'NCHW', **kwargs: Any) -> None:
        _check_layout(layout, ('NCHW', 'NHWC'))
        super().__init__((1, 1), None, 0, True, True, 'max', layout, **kwargs)


class GlobalMaxPool3D(_Pooling):
    """Largest element over the three spatial axes."""

    def __init__(self, layout: str = 'NCDHW', **kwargs: Any) -> None:
        _check_layout(layout, ('NCDHW', 'NDHWC'))
        super().__init__((1, 1, 1), None, 0, True, True, 'max', layout, **kwargs)


class GlobalAvgPool1D(_Pooling):
    """Mean over the spatial axis."""

    def __init__(self, layout: str = 'NCW', **kwargs: Any) -> None:
        _check_layout(layout, ('NCW', 'NWC'))
        super().__init__((1,), None, 0, True, True, 'avg', layout, **kwargs)


class GlobalAvgPool2D(_Pooling):
    """Mean over both spatial axes."""

    def __init__(self, layout: str = 'NCHW', **kwargs: Any) -> None:
        _check_layout(layout, ('NCHW', 'NHWC'))
        super().__init__((1, 1), None, 0, True, True, 'avg', layout, **kwargs)


class GlobalAvgPool3D(_Pooling):
    """Mean over the three spatial axes."""

    def __init__(self, layout: str = 'NCDHW', **kwargs: Any) -> None:
        _check_layout(layout, ('NCDHW', 'NDHWC'))
        super().__init__((1, 1, 1), None, 0, True, True, 'avg', layout, **kwargs)


class ReflectionPad2D(HybridBlock):
    """Pads the last two axes with the reflection of the input."""

    def __init__(self, padding: Any = 0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if isinstance(padding, int):
            padding = (0, 0, 0, 0, padding, padding, padding, padding)
        assert len(padding) == 8, f'padding must be a number or a tuple of 8 ints, got {padding!r}'
        self._padding = tuple(padding)

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # type: ignore[override]
        """Pad."""
        return F.pad(x, mode='reflect', pad_width=self._padding)
