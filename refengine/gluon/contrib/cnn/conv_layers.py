"""Convolutions of ``gluon.contrib.cnn`` that learn where to look."""

from __future__ import annotations

from typing import Any

from ... import checks
from ...hybrid_block import HybridBlock
from ...nn.activations import Activation

__all__ = ['DeformableConvolution', 'ModulatedDeformableConvolution']


class DeformableConvolution(HybridBlock):
    """A two-dimensional convolution whose points are moved by offsets that another convolution computes.

    >>> import refengine as mx
    >>> layer = DeformableConvolution(4, kernel_size=(3, 3), padding=(1, 1))
    >>> layer.initialize()
    >>> layer(mx.nd.ones((1, 2, 5, 6))).shape
    (1, 4, 5, 6)
    """

    _per_point = 2  # numbers that are computed for each point of the kernel
    _order = ('offset', 'deformable_conv')

    def __init__(self, channels: int, kernel_size: Any = (1, 1), strides: Any = (1, 1), padding: Any = (0, 0),
                 dilation: Any = (1, 1), groups: int = 1, num_deformable_group: int = 1, layout: str = 'NCHW',
                 use_bias: bool = True, in_channels: int = 0, activation: str | None = None,
                 weight_initializer: Any = None, bias_initializer: Any = 'zeros',
                 offset_weight_initializer: Any = 'zeros', offset_bias_initializer: Any = 'zeros',
                 offset_use_bias: bool = True, op_name: str = 'DeformableConvolution', adj: Any = None,
                 prefix: str | None = None, params: Any = None) -> None:
        super().__init__(prefix=prefix, params=params)
        assert layout in ('NCHW', 'NHWC'), f'Only supports NCHW and NHWC layout for now, got {layout}'
        assert adj is None, f'adj is for transposed convolutions, got {adj}'
        self._channels = channels
        self._in_channels = in_channels
        kernel, strides, padding, dilation = (checks.as_tuple(self, name, value, 2) for name, value in (
            ('kernel_size', kernel_size), ('strides', strides), ('padding', padding), ('dilation', dilation)))
        checks.whole(self, channels=channels, groups=groups, num_deformable_group=num_deformable_group)
        checks.whole(self, checks.UNKNOWN, in_channels=in_channels)
        checks.sizes(self, 2, 1, kernel_size=kernel, strides=strides, dilation=dilation)
        checks.sizes(self, 2, 0, padding=padding)
        checks.divides(self, groups, channels=channels, in_channels=in_channels)
        if activation is not None:
            checks.activation(self, activation)
        offsets = self._per_point * kernel[0] * kernel[1] * num_deformable_group
        common = {'kernel': kernel, 'stride': strides, 'dilate': dilation, 'pad': padding}
        self._kwargs_offset = {**common, 'num_filter': offsets, 'num_group': groups, 'no_bias': not offset_use_bias,
                               'layout': layout}
        self._kwargs_deformable_conv = {**common, 'num_filter': channels, 'num_group': groups,
                                        'num_deformable_group': num_deformable_group, 'no_bias': not use_bias,
                                        'layout': layout}
        self._op_name = op_name
        self._split = 2 * kernel[0] * kernel[1] * num_deformable_group
        inputs = in_channels // groups
        settings = {
            'offset': (offsets, offset_weight_initializer, offset_bias_initializer, offset_use_bias),
            'deformable_conv': (channels, weight_initializer, bias_initializer, use_bias)}
        for name in self._order:
            rows, weight_init, bias_init, biased = settings[name]
            shape = (rows, inputs, *kernel) if layout == 'NCHW' else (rows, *kernel, inputs)
            setattr(self, f'{name}_weight', self.params.get(f'{name}_weight', shape=shape, init=weight_init,
                                                            allow_deferred_init=True))
            if biased:
                setattr(self, f'{name}_bias', self.params.get(f'{name}_bias', shape=(rows,), init=bias_init,
                                                              allow_deferred_init=True))
            else:
                setattr(self, f'{name}_bias', None)
        with self.name_scope():
            self.act = None if activation is None else Activation(activation, prefix=f'{activation}_')

    def _alias(self) -> str:
        return 'deformable_conv'

    def _offsets(self, F: Any, x: Any, weight: Any, bias: Any) -> Any:
        arrays = (x, weight) if bias is None else (x, weight, bias)
        return F.Convolution(*arrays, **self._kwargs_offset)

    def hybrid_forward(self, F: Any, x: Any, offset_weight: Any, deformable_conv_weight: Any,  # type: ignore[override]
                       offset_bias: Any = None, deformable_conv_bias: Any = None) -> Any:
        """Compute the offsets, then convolve at the moved points."""
        offset = self._offsets(F, x, offset_weight, offset_bias)
        arrays = [x, offset, deformable_conv_weight, deformable_conv_bias]
        out = F.contrib.DeformableConvolution(*[a for a in arrays if a is not None], name='fwd',
                                              **self._kwargs_deformable_conv)
        return out if self.act is None else self.act(out)

    def __repr__(self) -> str:
        shape, options = self.deformable_conv_weight.shape, self._kwargs_deformable_conv
        place = 1 if options['layout'] == 'NCHW' else 3
        text = (f'{type(self).__name__}({shape[place] or None} -> {shape[0]}, kernel_size={options["kernel"]}, '
                f'stride={options["stride"]}')
        if options['pad'] != (0, 0):
            text += f', padding={options["pad"]}'
        if options['dilate'] != (1, 1):
            text += f', dilation={options["dilate"]}'
        if options['num_group'] != 1:
            text += f', groups={options["num_group"]}'
        if options['no_bias']:
            text += ', bias=False'
        return text + (')' if self.act is None else f', {self.act})')


class ModulatedDeformableConvolution(DeformableConvolution):
    """A deformable convolution that also weighs every point, by factors between 0 and 2."""

    _per_point = 3
    _order = ('deformable_conv', 'offset')

    def _alias(self) -> str:
        return 'modulated_deformable_conv'

    def __init__(self, channels: int, kernel_size: Any = (1, 1), strides: Any = (1, 1), padding: Any = (0, 0),
                 dilation: Any = (1, 1), groups: int = 1, num_deformable_group: int = 1, layout: str = 'NCHW',
                 use_bias: bool = True, in_channels: int = 0, activation: str | None = None,
                 weight_initializer: Any = None, bias_initializer: Any = 'zeros',
                 offset_weight_initializer: Any = 'zeros', offset_bias_initializer: Any = 'zeros',
                 offset_use_bias: bool = True, op_name: str = 'ModulatedDeformableConvolution', adj: Any = None,
                 prefix: str | None = None, params: Any = None) -> None:
        super().__init__(channels, kernel_size, strides, padding, dilation, groups, num_deformable_group, layout,
                         use_bias, in_channels, activation, weight_initializer, bias_initializer,
                         offset_weight_initializer, offset_bias_initializer, offset_use_bias, op_name, adj, prefix,
                         params)

    def hybrid_forward(self, F: Any, x: Any, offset_weight: Any, deformable_conv_weight: Any,  # type: ignore[override]
                       offset_bias: Any = None, deformable_conv_bias: Any = None) -> Any:
        """Compute offsets and factors, then convolve at the moved points."""
        both = self._offsets(F, x, offset_weight, offset_bias)
        offset = F.slice_axis(both, axis=1, begin=0, end=self._split)
        mask = F.sigmoid(F.slice_axis(both, axis=1, begin=self._split, end=None)) * 2
        arrays = [x, offset, mask, deformable_conv_weight, deformable_conv_bias]
        out = F.contrib.ModulatedDeformableConvolution(*[a for a in arrays if a is not None], name='fwd',
                                                       **self._kwargs_deformable_conv)
        return out if self.act is None else self.act(out)
