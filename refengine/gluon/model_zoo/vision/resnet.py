"""ResNet, version 1 (activation after the sum) and version 2 (normalisation and activation first)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...hybrid_block import HybridBlock
from ...nn import Activation, BatchNorm, Conv2D, Dense, Flatten, GlobalAvgPool2D, HybridSequential, MaxPool2D
from ..model_store import load_pretrained
from .alexnet import Classifier


def _conv3x3(channels: int, stride: int, in_channels: int) -> Conv2D:
    return Conv2D(channels, kernel_size=3, strides=stride, padding=1, use_bias=False, in_channels=in_channels)


class _BlockV1(HybridBlock):
    """Sum of ``body(x)`` and x, the latter brought to the size of the former, then ReLU."""

    def __init__(self, channels: int, stride: int, downsample: bool = False, in_channels: int = 0,
                 **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.body = HybridSequential(prefix='')
        self._fill(channels, stride, in_channels)
        if downsample:
            self.downsample = HybridSequential(prefix='')
            self.downsample.add(Conv2D(channels, kernel_size=1, strides=stride, use_bias=False,
                                       in_channels=in_channels), BatchNorm())
        else:
            self.downsample = None

    def _fill(self, channels: int, stride: int, in_channels: int) -> None:
        raise NotImplementedError

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # type: ignore[override]
        """The block's output."""
        residual = x if self.downsample is None else self.downsample(x)
        return F.Activation(residual + self.body(x), act_type='relu')


class BasicBlockV1(_BlockV1):
    """Two 3x3 convolutions."""

    def _fill(self, channels: int, stride: int, in_channels: int) -> None:
        self.body.add(_conv3x3(channels, stride, in_channels), BatchNorm(), Activation('relu'),
                      _conv3x3(channels, 1, channels), BatchNorm())


class BottleneckV1(_BlockV1):
    """A 3x3 convolution on a quarter of the channels between two 1x1 convolutions."""

    def _fill(self, channels: int, stride: int, in_channels: int) -> None:
        self.body.add(Conv2D(channels // 4, kernel_size=1, strides=stride), BatchNorm(), Activation('relu'),
                      _conv3x3(channels // 4, 1, channels // 4), BatchNorm(), Activation('relu'),
                      Conv2D(channels, kernel_size=1, strides=1), BatchNorm())


class BasicBlockV2(HybridBlock):
    """Two 3x3 convolutions, each after normalisation and ReLU."""

    def __init__(self, channels: int, stride: int, downsample: bool = False, in_channels: int = 0,
                 **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.bn1 = BatchNorm()
        self.conv1 = _conv3x3(channels, stride, in_channels)
        self.bn2 = BatchNorm()
        self.conv2 = _conv3x3(channels, 1, channels)
        self.downsample = Conv2D(channels, 1, stride, use_bias=False, in_channels=in_channels) if downsample else None

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # type: ignore[override]
        """The block's output."""
        residual = x
        x = F.Activation(self.bn1(x), act_type='relu')
        if self.downsample is not None:
            residual = self.downsample(x)
        x = F.Activation(self.bn2(self.conv1(x)), act_type='relu')
        return self.conv2(x) + residual


class BottleneckV2(HybridBlock):
    """A 3x3 convolution between two 1x1 convolutions, each after normalisation and ReLU."""

    def __init__(self, channels: int, stride: int, downsample: bool = False, in_channels: int = 0,
                 **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.bn1 = BatchNorm()
        self.conv1 = Conv2D(channels // 4, kernel_size=1, strides=1, use_bias=False)
        self.bn2 = BatchNorm()
        self.conv2 = _conv3x3(channels // 4, stride, channels // 4)
        self.bn3 = BatchNorm()
        self.conv3 = Conv2D(channels, kernel_size=1, strides=1, use_bias=False)
        self.downsample = Conv2D(channels, 1, stride, use_bias=False, in_channels=in_channels) if downsample else None

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # type: ignore[override]
        """The block's output."""
        residual = x
        x = F.Activation(self.bn1(x), act_type='relu')
        if self.downsample is not None:
            residual = self.downsample(x)
        x = F.Activation(self.bn2(self.conv1(x)), act_type='relu')
        x = F.Activation(self.bn3(self.conv2(x)), act_type='relu')
        return self.conv3(x) + residual


def _stages(features: HybridSequential, block: type[HybridBlock], layers: Sequence[int],
            channels: Sequence[int]) -> None:
    """Add the stages; all but the first halve the size."""
    before = channels[0]
    for number, (count, width) in enumerate(zip(layers, channels[1:], strict=True)):
        stage = HybridSequential(prefix=f'stage{number + 1}_')
        with stage.name_scope():
            stage.add(block(width, 1 if number == 0 else 2, width != before, in_channels=before, prefix=''))
            stage.add(*[block(width, 1, False, in_channels=width, prefix='') for _ in range(count - 1)])
        features.add(stage)
        before = width


def _stem(features: HybridSequential, width: int, thumbnail: bool) -> None:
    if thumbnail:
        features.add(_conv3x3(width, 1, 0))
    else:
        features.add(Conv2D(width, 7, 2, 3, use_bias=False), BatchNorm(), Activation('relu'), MaxPool2D(3, 2, 1))


class ResNetV1(Classifier):
    """ResNet of "Deep Residual Learning for Image Recognition"; ``thumbnail`` keeps small images large."""

    def __init__(self, block: type[HybridBlock], layers: Sequence[int], channels: Sequence[int], classes: int = 1000,
                 thumbnail: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        assert len(layers) == len(channels) - 1, \
            f'channels must have one number more than layers, got {list(channels)} and {list(layers)}'
        with self.name_scope():
            self.features = HybridSequential(prefix='')
            _stem(self.features, channels[0], thumbnail)
            _stages(self.features, block, layers, channels)
            self.features.add(GlobalAvgPool2D())
            self.output = Dense(classes, in_units=channels[-1])


class ResNetV2(Classifier):
    """ResNet of "Identity Mappings in Deep Residual Networks"; ``thumbnail`` keeps small images large."""

    def __init__(self, block: type[HybridBlock], layers: Sequence[int], channels: Sequence[int], classes: int = 1000,
                 thumbnail: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        assert len(layers) == len(channels) - 1, \
            f'channels must have one number more than layers, got {list(channels)} and {list(layers)}'
        with self.name_scope():
            self.features = HybridSequential(prefix='')
            self.features.add(BatchNorm(scale=False, center=False))
            _stem(self.features, channels[0], thumbnail)
            _stages(self.features, block, layers, channels)
            self.features.add(BatchNorm(), Activation('relu'), GlobalAvgPool2D(), Flatten())
            self.output = Dense(classes, in_units=channels[-1])


_NARROW, _WIDE = (64, 64, 128, 256, 512), (64, 256, 512, 1024, 2048)
_SPECS: dict[int, tuple[str, tuple[int, ...], tuple[int, ...]]] = {
    18: ('basic', (2, 2, 2, 2), _NARROW), 34: ('basic', (3, 4, 6, 3), _NARROW),
    50: ('bottleneck', (3, 4, 6, 3), _WIDE), 101: ('bottleneck', (3, 4, 23, 3), _WIDE),
    152: ('bottleneck', (3, 8, 36, 3), _WIDE)}
"""For each depth the kind of block, the blocks of each stage and the channels of stem and stages."""

_VERSIONS: tuple[tuple[type[Classifier], dict[str, type[HybridBlock]]], ...] = (
    (ResNetV1, {'basic': BasicBlockV1, 'bottleneck': BottleneckV1}),
    (ResNetV2, {'basic': BasicBlockV2, 'bottleneck': BottleneckV2}))


def get_resnet(version: int, num_layers: int, pretrained: bool = False, ctx: Any = None, root: Any = None,
               **kwargs: Any) -> Any:
    """ResNet of version 1 or 2 with 18, 34, 50, 101 or 152 layers; AssertionError for others.

    >>> get_resnet(2, 18, classes=10).output
    Dense(512 -> 10, linear)
    """
    assert num_layers in _SPECS, f'Invalid number of layers: {num_layers}. Options are {_SPECS.keys()}'
    kind, layers, channels = _SPECS[num_layers]
    assert 1 <= version <= 2, f'Invalid resnet version: {version}. Options are 1 and 2.'
    network, blocks = _VERSIONS[version - 1]
    net = network(blocks[kind], layers, channels, **kwargs)  # type: ignore[arg-type]
    return load_pretrained(net, f'resnet{num_layers}_v{version}', pretrained, ctx, root)


def resnet18_v1(**kwargs: Any) -> ResNetV1:
    """ResNet-18, version 1; keywords: pretrained, ctx, root, classes, thumbnail."""
    return get_resnet(1, 18, **kwargs)


def resnet34_v1(**kwargs: Any) -> ResNetV1:
    """ResNet-34, version 1; keywords: pretrained, ctx, root, classes, thumbnail."""
    return get_resnet(1, 34, **kwargs)


def resnet50_v1(**kwargs: Any) -> ResNetV1:
    """ResNet-50, version 1; keywords: pretrained, ctx, root, classes, thumbnail."""
    return get_resnet(1, 50, **kwargs)


def resnet101_v1(**kwargs: Any) -> ResNetV1:
    """ResNet-101, version 1; keywords: pretrained, ctx, root, classes, thumbnail."""
    return get_resnet(1, 101, **kwargs)


def resnet152_v1(**kwargs: Any) -> ResNetV1:
    """ResNet-152, version 1; keywords: pretrained, ctx, root, classes, thumbnail."""
    return get_resnet(1, 152, **kwargs)


def resnet18_v2(**kwargs: Any) -> ResNetV2:
    """ResNet-18, version 2; keywords: pretrained, ctx, root, classes, thumbnail."""
    return get_resnet(2, 18, **kwargs)


def resnet34_v2(**kwargs: Any) -> ResNetV2:
    """ResNet-34, version 2; keywords: pretrained, ctx, root, classes, thumbnail."""
    return get_resnet(2, 34, **kwargs)


def resnet50_v2(**kwargs: Any) -> ResNetV2:
    """ResNet-50, version 2; keywords: pretrained, ctx, root, classes, thumbnail."""
    return get_resnet(2, 50, **kwargs)


def resnet101_v2(**kwargs: Any) -> ResNetV2:
    """ResNet-101, version 2; keywords: pretrained, ctx, root, classes, thumbnail."""
    return get_resnet(2, 101, **kwargs)


def resnet152_v2(**kwargs: Any) -> ResNetV2:
    """ResNet-152, version 2; keywords: pretrained, ctx, root, classes, thumbnail."""
    return get_resnet(2, 152, **kwargs)
