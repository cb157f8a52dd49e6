"""Convolutions, transposed convolutions, pooling and padding as blocks."""

from __future__ import annotations

from typing import Any

from .. import checks
from ..hybrid_block import HybridBlock
from .activations import Activation


class _Conv(HybridBlock):
    """What all convolutions share; the shape of the weight follows from the layout."""

    def __init__(self, channels: int, kernel_size: Any, strides: Any, padding: Any, dilation: Any, groups: int,
                 layout: str, in_channels: int = 0, activation: str | None = None, use_bias: bool = True,
                 weight_initializer: Any = None, bias_initializer: Any = 'zeros', op_name: str = 'Convolution',
                 adj: Any = None, prefix: str | None = None, params: Any = None) -> None:
        spatial = len(kernel_size)
        strides, padding, dilation = (checks.as_tuple(self, name, value, spatial) for name, value in (
            ('strides', strides), ('padding', padding), ('dilation', dilation)))
        checks.whole(self, channels=channels, groups=groups)
        checks.whole(self, checks.UNKNOWN, in_channels=in_channels)
        checks.sizes(self, spatial, 1, kernel_size=kernel_size, strides=strides, dilation=dilation)
        checks.sizes(self, spatial, 0, padding=padding)
        checks.divides(self, groups, channels=channels, in_channels=in_channels)
        if adj is not None:
            checks.sizes(self, spatial, 0, output_padding=adj)
            if any(extra >= stride for extra, stride in zip(adj, strides, strict=True)):
                raise checks.WrongValue(f'{type(self).__name__}: output_padding must be smaller than strides, got '
                                        f'output_padding={adj} and strides={strides}')
        super().__init__(prefix=prefix, params=params)
        if activation is not None:
            checks.activation(self, activation)
        with self.name_scope():
            self._channels = channels
            self._in_channels = in_channels
            self._op_name = op_name
            self._main_operator = op_name.lower()
            self._kwargs = {
                'kernel': kernel_size, 'stride': strides, 'dilate': dilation, 'pad': padding,
                'num_filter': channels, 'num_group': groups, 'no_bias': not use_bias, 'layout': layout}
            if adj is not None:
                self._kwargs['adj'] = adj
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


def _check_layout(layer: Any, layout: str, allowed: tuple[str, ...]) -> None:
    assert layout in allowed, (f"{type(layer).__name__}: Only supports {' and '.join(repr(a) for a in allowed)} layout "
                               f"for now, got {layout!r}")


def _of_length(layer: Any, name: str, value: Any, length: int) -> tuple[int, ...]:
    """A number for every axis; AssertionError for another number of them, as in the releases."""
    value = checks.as_tuple(layer, name, value, length)
    assert len(value) == length, (f'{type(layer).__name__}: {name} must be a number or a list of {length} ints, got '
                                  f'{value!r}')
    return value


class Conv1D(_Conv):
    """Convolution over one spatial axis."""

    def __init__(self, channels: int, kernel_size: Any, strides: Any = 1, padding: Any = 0, dilation: Any = 1,
                 groups: int = 1, layout: str = 'NCW', activation: str | None = None, use_bias: bool = True,
                 weight_initializer: Any = None, bias_initializer: Any = 'zeros', in_channels: int = 0,
                 **kwargs: Any) -> None:
        _check_layout(self, layout, ('NCW', 'NWC'))
        kernel_size = _of_length(self, 'kernel_size', kernel_size, 1)
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
        _check_layout(self, layout, ('NCHW', 'NHWC'))
        kernel_size = _of_length(self, 'kernel_size', kernel_size, 2)
        super().__init__(channels, kernel_size, strides, padding, dilation, groups, layout, in_channels, activation,
                         use_bias, weight_initializer, bias_initializer, **kwargs)


class Conv3D(_Conv):
    """Convolution over three spatial axes."""

    def __init__(self, channels: int, kernel_size: Any, strides: Any = (1, 1, 1), padding: Any = (0, 0, 0),
                 dilation: Any = (1, 1, 1), groups: int = 1, layout: str = 'NCDHW', activation: str | None = None,
                 use_bias: bool = True, weight_initializer: Any = None, bias_initializer: Any = 'zeros',
                 in_channels: int = 0, **kwargs: Any) -> None:
        _check_layout(self, layout, ('NCDHW', 'NDHWC'))
        kernel_size = _of_length(self, 'kernel_size', kernel_size, 3)
        super().__init__(channels, kernel_size, strides, padding, dilation, groups, layout, in_channels, activation,
                         use_bias, weight_initializer, bias_initializer, **kwargs)


class Conv1DTranspose(_Conv):
    """Transposed convolution over one spatial axis."""

    def __init__(self, channels: int, kernel_size: Any, strides: Any = 1, padding: Any = 0, output_padding: Any = 0,
                 dilation: Any = 1, groups: int = 1, layout: str = 'NCW', activation: str | None = None,
                 use_bias: bool = True, weight_initializer: Any = None, bias_initializer: Any = 'zeros',
                 in_channels: int = 0, **kwargs: Any) -> None:
        _check_layout(self, layout, ('NCW', 'NWC'))
        kernel_size = _of_length(self, 'kernel_size', kernel_size, 1)
        output_padding = _of_length(self, 'output_padding', output_padding, 1)
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
        _check_layout(self, layout, ('NCHW', 'NHWC'))
        kernel_size = _of_length(self, 'kernel_size', kernel_size, 2)
        output_padding = _of_length(self, 'output_padding', output_padding, 2)
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
        _check_layout(self, layout, ('NCDHW', 'NDHWC'))
        kernel_size = _of_length(self, 'kernel_size', kernel_size, 3)
        output_padding = _of_length(self, 'output_padding', output_padding, 3)
        super().__init__(channels, kernel_size, strides, padding, dilation, groups, layout, in_channels, activation,
                         use_bias, weight_initializer, bias_initializer, op_name='Deconvolution', adj=output_padding,
                         **kwargs)
        self.outpad = output_padding


class _Pooling(HybridBlock):
    """What all poolings share."""

    _main_operator = 'pooling'

    def __init__(self, pool_size: tuple[int, ...], strides: Any, padding: Any, ceil_mode: bool, global_pool: bool,
                 pool_type: str, layout: str, count_include_pad: bool | None = None, **kwargs: Any) -> None:
        spatial = len(pool_size)
        strides = pool_size if strides is None else checks.as_tuple(self, 'strides', strides, spatial)
        padding = checks.as_tuple(self, 'padding', padding, spatial)
        checks.sizes(self, spatial, 1, pool_size=pool_size, strides=strides)
        checks.sizes(self, spatial, 0, padding=padding)
        if any(pad >= size for pad, size in zip(padding, pool_size, strict=True)):
            raise checks.WrongValue(f'{type(self).__name__}: padding must be smaller than pool_size, got '
                                    f'padding={padding} and pool_size={pool_size}')
        super().__init__(**kwargs)
        self._kwargs = {
            'kernel': pool_size, 'stride': strides, 'pad': padding,
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


def _pool_size(layer: Any, value: Any, length: int) -> tuple[int, ...]:
    return _of_length(layer, 'pool_size', value, length)


class MaxPool1D(_Pooling):
    """Largest element of each window, one spatial axis."""

    def __init__(self, pool_size: Any = 2, strides: Any = None, padding: Any = 0, layout: str = 'NCW',
                 ceil_mode: bool = False, **kwargs: Any) -> None:
        _check_layout(self, layout, ('NCW', 'NWC'))
        super().__init__(_pool_size(self, pool_size, 1), strides, padding, ceil_mode, False, 'max', layout, **kwargs)


class MaxPool2D(_Pooling):
    """Largest element of each window, two spatial axes."""

    def __init__(self, pool_size: Any = (2, 2), strides: Any = None, padding: Any = 0, layout: str = 'NCHW',
                 ceil_mode: bool = False, **kwargs: Any) -> None:
        _check_layout(self, layout, ('NCHW', 'NHWC'))
        super().__init__(_pool_size(self, pool_size, 2), strides, padding, ceil_mode, False, 'max', layout, **kwargs)


class MaxPool3D(_Pooling):
    """Largest element of each window, three spatial axes."""

    def __init__(self, pool_size: Any = (2, 2, 2), strides: Any = None, padding: Any = 0, ceil_mode: bool = False,
                 layout: str = 'NCDHW', **kwargs: Any) -> None:
        _check_layout(self, layout, ('NCDHW', 'NDHWC'))
        super().__init__(_pool_size(self, pool_size, 3), strides, padding, ceil_mode, False, 'max', layout, **kwargs)


class AvgPool1D(_Pooling):
    """Mean of each window, one spatial axis."""

    def __init__(self, pool_size: Any = 2, strides: Any = None, padding: Any = 0, layout: str = 'NCW',
                 ceil_mode: bool = False, count_include_pad: bool = True, **kwargs: Any) -> None:
        _check_layout(self, layout, ('NCW', 'NWC'))
        super().__init__(_pool_size(self, pool_size, 1), strides, padding, ceil_mode, False, 'avg', layout,
                         count_include_pad, **kwargs)


class AvgPool2D(_Pooling):
    """Mean of each window, two spatial axes."""

    def __init__(self, pool_size: Any = (2, 2), strides: Any = None, padding: Any = 0, ceil_mode: bool = False,
                 layout: str = 'NCHW', count_include_pad: bool = True, **kwargs: Any) -> None:
        _check_layout(self, layout, ('NCHW', 'NHWC'))
        super().__init__(_pool_size(self, pool_size, 2), strides, padding, ceil_mode, False, 'avg', layout,
                         count_include_pad, **kwargs)


class AvgPool3D(_Pooling):
    """Mean of each window, three spatial axes."""

    def __init__(self, pool_size: Any = (2, 2, 2), strides: Any = None, padding: Any = 0, ceil_mode: bool = False,
                 layout: str = 'NCDHW', count_include_pad: bool = True, **kwargs: Any) -> None:
        _check_layout(self, layout, ('NCDHW', 'NDHWC'))
        super().__init__(_pool_size(self, pool_size, 3), strides, padding, ceil_mode, False, 'avg', layout,
                         count_include_pad, **kwargs)


class GlobalMaxPool1D(_Pooling):
    """Largest element over the spatial axis."""

    def __init__(self, layout: str = 'NCW', **kwargs: Any) -> None:
        _check_layout(self, layout, ('NCW', 'NWC'))
        super().__init__((1,), None, 0, True, True, 'max', layout, **kwargs)


class GlobalMaxPool2D(_Pooling):
    """Largest element over both spatial axes."""

    def __init__(self, layout: str = 'NCHW', **kwargs: Any) -> None:
        _check_layout(self, layout, ('NCHW', 'NHWC'))
        super().__init__((1, 1), None, 0, True, True, 'max', layout, **kwargs)


class GlobalMaxPool3D(_Pooling):
    """Largest element over the three spatial axes."""

    def __init__(self, layout: str = 'NCDHW', **kwargs: Any) -> None:
        _check_layout(self, layout, ('NCDHW', 'NDHWC'))
        super().__init__((1, 1, 1), None, 0, True, True, 'max', layout, **kwargs)


class GlobalAvgPool1D(_Pooling):
    """Mean over the spatial axis."""

    def __init__(self, layout: str = 'NCW', **kwargs: Any) -> None:
        _check_layout(self, layout, ('NCW', 'NWC'))
        super().__init__((1,), None, 0, True, True, 'avg', layout, **kwargs)


class GlobalAvgPool2D(_Pooling):
    """Mean over both spatial axes."""

    def __init__(self, layout: str = 'NCHW', **kwargs: Any) -> None:
        _check_layout(self, layout, ('NCHW', 'NHWC'))
        super().__init__((1, 1), None, 0, True, True, 'avg', layout, **kwargs)


class GlobalAvgPool3D(_Pooling):
    """Mean over the three spatial axes."""

    def __init__(self, layout: str = 'NCDHW', **kwargs: Any) -> None:
        _check_layout(self, layout, ('NCDHW', 'NDHWC'))
        super().__init__((1, 1, 1), None, 0, True, True, 'avg', layout, **kwargs)


class ReflectionPad2D(HybridBlock):
    """Pads the last two axes with the reflection of the input."""

    def __init__(self, padding: Any = 0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if isinstance(padding, int):
            padding = (0, 0, 0, 0, padding, padding, padding, padding)
        assert len(padding) == 8, f'ReflectionPad2D: padding must be a number or a tuple of 8 ints, got {padding!r}'
        checks.sizes(self, 8, 0, padding=padding)
        self._padding = tuple(padding)

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # type: ignore[override]
        """Pad."""
        return F.pad(x, mode='reflect', pad_width=self._padding)
