"""SqueezeNet: few parameters through squeezed layers."""

from __future__ import annotations

from typing import Any

from ...contrib.nn import HybridConcurrent
from ...nn import Activation, AvgPool2D, Conv2D, Dropout, Flatten, HybridSequential, MaxPool2D
from ..model_store import load_pretrained
from .alexnet import Classifier

_PLANS = {'1.0': (96, 7, ('pool', 16, 16, 32, 'pool', 32, 48, 48, 64, 'pool', 64)),
          '1.1': (64, 3, ('pool', 16, 16, 'pool', 32, 32, 'pool', 48, 48, 64, 64))}
"""For each version channels and kernel of the stem, then poolings and the squeezed channels of the fire modules."""


def _convolution(channels: int, kernel: int, padding: int = 0) -> HybridSequential:
    row = HybridSequential(prefix='')
    row.add(Conv2D(channels, kernel, padding=padding), Activation('relu'))
    return row


def _fire(squeezed: int) -> HybridSequential:
    """A 1x1 convolution to few channels, then 1x1 and 3x3 convolutions side by side to four times as many each."""
    fire = HybridSequential(prefix='')
    fire.add(_convolution(squeezed, 1))
    expanded = HybridConcurrent(axis=1, prefix='')
    expanded.add(_convolution(4 * squeezed, 1), _convolution(4 * squeezed, 3, 1))
    fire.add(expanded)
    return fire


class SqueezeNet(Classifier):
    """SqueezeNet, version '1.0' or '1.1', for images of 224 by 224."""

    def __init__(self, version: str, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        assert version in _PLANS, f'Unsupported SqueezeNet version {version}:1.0 or 1.1 expected'
        channels, kernel, plan = _PLANS[version]
        with self.name_scope():
            self.features = HybridSequential(prefix='')
            self.features.add(Conv2D(channels, kernel_size=kernel, strides=2), Activation('relu'))
            for step in plan:
                self.features.add(MaxPool2D(pool_size=3, strides=2, ceil_mode=True) if step == 'pool'
                                  else _fire(step))  # type: ignore[arg-type]
            self.features.add(Dropout(0.5))
            self.output = HybridSequential(prefix='')
            self.output.add(Conv2D(classes, kernel_size=1), Activation('relu'), AvgPool2D(13), Flatten())


def _squeezenet(version: str, pretrained: bool = False, ctx: Any = None, root: Any = None,
                **kwargs: Any) -> SqueezeNet:
    return load_pretrained(SqueezeNet(version, **kwargs), f'squeezenet{version}', pretrained, ctx, root)


def squeezenet1_0(**kwargs: Any) -> SqueezeNet:
    """SqueezeNet 1.0; keywords: pretrained, ctx, root, classes."""
    return _squeezenet('1.0', **kwargs)


def squeezenet1_1(**kwargs: Any) -> SqueezeNet:
    """SqueezeNet 1.1, which needs less computation; keywords: pretrained, ctx, root, classes."""
    return _squeezenet('1.1', **kwargs)
