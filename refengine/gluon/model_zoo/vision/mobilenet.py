"""MobileNet and MobileNetV2: networks of depthwise convolutions in several widths."""

from __future__ import annotations

from typing import Any

from ...hybrid_block import HybridBlock
from ...nn import Activation, BatchNorm, Conv2D, Dense, Flatten, GlobalAvgPool2D, HybridSequential
from ..model_store import load_pretrained
from .alexnet import Classifier


class RELU6(HybridBlock):
    """min(max(x, 0), 6)."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # type: ignore[override]
        """The clipped input."""
        return F.clip(x, a_min=0, a_max=6, name='relu6')


def _add_convolution(row: HybridSequential, channels: int = 1, kernel: int = 1, stride: int = 1, pad: int = 0,
                     groups: int = 1, active: bool = True, relu6: bool = False) -> None:
    row.add(Conv2D(channels, kernel, stride, pad, groups=groups, use_bias=False), BatchNorm(scale=True))
    if active:
        row.add(RELU6() if relu6 else Activation('relu'))


class LinearBottleneck(HybridBlock):
    """Wide inside, narrow at both ends, with the input added where sizes and channels allow."""

    def __init__(self, in_channels: int, channels: int, t: int, stride: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.use_shortcut = stride == 1 and in_channels == channels
        with self.name_scope():
            self.out = HybridSequential()
            _add_convolution(self.out, in_channels * t, relu6=True)
            _add_convolution(self.out, in_channels * t, kernel=3, stride=stride, pad=1, groups=in_channels * t,
                             relu6=True)
            _add_convolution(self.out, channels, active=False)

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # type: ignore[override]
        """The narrow result."""
        out = self.out(x)
        return F.elemwise_add(out, x) if self.use_shortcut else out


class MobileNet(Classifier):
    """Pairs of a depthwise and a pointwise convolution; ``multiplier`` scales all widths."""

    def __init__(self, multiplier: float = 1.0, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        widths = [int(width * multiplier) for width in [32, 64] + [128] * 2 + [256] * 2 + [512] * 6 + [1024] * 2]
        strides = [1, 2] * 3 + [1] * 5 + [2, 1]
        with self.name_scope():
            self.features = HybridSequential(prefix='')
            with self.features.name_scope():
                _add_convolution(self.features, widths[0], kernel=3, stride=2, pad=1)
                for narrow, wide, stride in zip(widths, widths[1:], strides, strict=False):
                    _add_convolution(self.features, narrow, kernel=3, stride=stride, pad=1, groups=narrow)
                    _add_convolution(self.features, wide)
                self.features.add(GlobalAvgPool2D(), Flatten())
            self.output = Dense(classes)


class MobileNetV2(Classifier):
    """Linear bottlenecks; ``multiplier`` scales all widths."""

    def __init__(self, multiplier: float = 1.0, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        widths = [int(width * multiplier) for width in
                  [32, 16] + [24] * 2 + [32] * 3 + [64] * 4 + [96] * 3 + [160] * 3 + [320]]
        strides = [1, 2] * 2 + [1, 1, 2] + [1] * 6 + [2] + [1] * 3
        with self.name_scope():
            self.features = HybridSequential(prefix='features_')
            with self.features.name_scope():
                _add_convolution(self.features, widths[0], kernel=3, stride=2, pad=1, relu6=True)
                for index, stride in enumerate(strides):
                    self.features.add(LinearBottleneck(widths[index], widths[index + 1], 6 if index else 1, stride))
                last = int(1280 * multiplier) if multiplier > 1.0 else 1280
                _add_convolution(self.features, last, relu6=True)
                self.features.add(GlobalAvgPool2D())
            self.output = HybridSequential(prefix='output_')
            with self.output.name_scope():
                self.output.add(Conv2D(classes, 1, use_bias=False, prefix='pred_'), Flatten())


def _width(multiplier: float) -> str:
    """The width in the names of files: 1.0, 0.75, 0.5, 0.25."""
    text = f'{multiplier:.2f}'
    return text[:-1] if text in ('1.00', '0.50') else text


def get_mobilenet(multiplier: float, pretrained: bool = False, ctx: Any = None, root: Any = None,
                  **kwargs: Any) -> MobileNet:
    """MobileNet of any width; weights are looked for under ``mobilenetWIDTH``."""
    return load_pretrained(MobileNet(multiplier, **kwargs), f'mobilenet{_width(multiplier)}', pretrained, ctx, root)


def get_mobilenet_v2(multiplier: float, pretrained: bool = False, ctx: Any = None, root: Any = None,
                     **kwargs: Any) -> MobileNetV2:
    """MobileNetV2 of any width; weights are looked for under ``mobilenetv2_WIDTH``."""
    return load_pretrained(MobileNetV2(multiplier, **kwargs), f'mobilenetv2_{_width(multiplier)}', pretrained, ctx,
                           root)


def mobilenet1_0(**kwargs: Any) -> MobileNet:
    """MobileNet of full width; keywords: pretrained, ctx, root, classes."""
    return get_mobilenet(1.0, **kwargs)


def mobilenet0_75(**kwargs: Any) -> MobileNet:
    """MobileNet of width 0.75; keywords: pretrained, ctx, root, classes."""
    return get_mobilenet(0.75, **kwargs)


def mobilenet0_5(**kwargs: Any) -> MobileNet:
    """MobileNet of width 0.5; keywords: pretrained, ctx, root, classes."""
    return get_mobilenet(0.5, **kwargs)


def mobilenet0_25(**kwargs: Any) -> MobileNet:
    """MobileNet of width 0.25; keywords: pretrained, ctx, root, classes."""
    return get_mobilenet(0.25, **kwargs)


def mobilenet_v2_1_0(**kwargs: Any) -> MobileNetV2:
    """MobileNetV2 of full width; keywords: pretrained, ctx, root, classes."""
    return get_mobilenet_v2(1.0, **kwargs)


def mobilenet_v2_0_75(**kwargs: Any) -> MobileNetV2:
    """MobileNetV2 of width 0.75; keywords: pretrained, ctx, root, classes."""
    return get_mobilenet_v2(0.75, **kwargs)


def mobilenet_v2_0_5(**kwargs: Any) -> MobileNetV2:
    """MobileNetV2 of width 0.5; keywords: pretrained, ctx, root, classes."""
    return get_mobilenet_v2(0.5, **kwargs)


def mobilenet_v2_0_25(**kwargs: Any) -> MobileNetV2:
    """MobileNetV2 of width 0.25; keywords: pretrained, ctx, root, classes."""
    return get_mobilenet_v2(0.25, **kwargs)
