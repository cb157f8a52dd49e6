"""Inception v3: modules of parallel convolutions."""

from __future__ import annotations

from typing import Any

from ...contrib.nn import HybridConcurrent
from ...nn import Activation, AvgPool2D, BatchNorm, Conv2D, Dense, Dropout, HybridSequential, MaxPool2D
from ..model_store import load_pretrained
from .alexnet import Classifier

Branch = list[Any]
"""What stands in a row: convolutions as (channels, kernel, stride, padding), blocks, or a list of parallel branches."""


def _convolution(channels: int, kernel: Any, strides: int = 1, padding: Any = 0) -> HybridSequential:
    """Convolution, batch normalisation, ReLU."""
    row = HybridSequential(prefix='')
    row.add(Conv2D(channels, kernel_size=kernel, strides=strides, padding=padding, use_bias=False),
            BatchNorm(epsilon=0.001), Activation('relu'))
    return row


def _row(branch: Branch) -> HybridSequential:
    row = HybridSequential(prefix='')
    for item in branch:
        if item == 'avg':
            row.add(AvgPool2D(pool_size=3, strides=1, padding=1))
        elif item == 'max':
            row.add(MaxPool2D(pool_size=3, strides=2))
        else:
            row.add(_convolution(*item))
    return row


def _module(prefix: str, *branches: Branch) -> HybridConcurrent:
    module = HybridConcurrent(axis=1, prefix=prefix)
    with module.name_scope():
        module.add(*[_row(branch) for branch in branches])
    return module


def _a(pooled: int, prefix: str) -> HybridConcurrent:
    return _module(prefix, [(64, 1)], [(48, 1), (64, 5, 1, 2)], [(64, 1), (96, 3, 1, 1), (96, 3, 1, 1)],
                   ['avg', (pooled, 1)])


def _b(prefix: str) -> HybridConcurrent:
    return _module(prefix, [(384, 3, 2)], [(64, 1), (96, 3, 1, 1), (96, 3, 2)], ['max'])


def _c(channels: int, prefix: str) -> HybridConcurrent:
    across, down = ((1, 7), 1, (0, 3)), ((7, 1), 1, (3, 0))
    return _module(prefix, [(192, 1)], [(channels, 1), (channels, *across), (192, *down)],
                   [(channels, 1), (channels, *down), (channels, *across), (channels, *down), (192, *across)],
                   ['avg', (192, 1)])


def _d(prefix: str) -> HybridConcurrent:
    return _module(prefix, [(192, 1), (320, 3, 2)],
                   [(192, 1), (192, (1, 7), 1, (0, 3)), (192, (7, 1), 1, (3, 0)), (192, 3, 2)], ['max'])


def _e(prefix: str) -> HybridConcurrent:
    module = HybridConcurrent(axis=1, prefix=prefix)
    with module.name_scope():
        module.add(_row([(320, 1)]))
        for branch in ([(384, 1)], [(448, 1), (384, 3, 1, 1)]):
            both = HybridSequential(prefix='')
            module.add(both)
            both.add(_row(branch))
            split = HybridConcurrent(axis=1, prefix='')
            split.add(_row([(384, (1, 3), 1, (0, 1))]), _row([(384, (3, 1), 1, (1, 0))]))
            both.add(split)
        module.add(_row(['avg', (192, 1)]))
    return module


class Inception3(Classifier):
    """Inception v3, for images of 299 by 299."""

    def __init__(self, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = HybridSequential(prefix='')
            self.features.add(
                _convolution(32, 3, 2), _convolution(32, 3), _convolution(64, 3, 1, 1), MaxPool2D(3, 2),
                _convolution(80, 1), _convolution(192, 3), MaxPool2D(3, 2), _a(32, 'A1_'), _a(64, 'A2_'),
                _a(64, 'A3_'), _b('B_'), _c(128, 'C1_'), _c(160, 'C2_'), _c(160, 'C3_'), _c(192, 'C4_'), _d('D_'),
                _e('E1_'), _e('E2_'), AvgPool2D(8), Dropout(0.5))
            self.output = Dense(classes)


def inception_v3(pretrained: bool = False, ctx: Any = None, root: Any = None, **kwargs: Any) -> Inception3:
    """Inception v3 of "Rethinking the Inception Architecture for Computer Vision"."""
    return load_pretrained(Inception3(**kwargs), 'inceptionv3', pretrained, ctx, root)
