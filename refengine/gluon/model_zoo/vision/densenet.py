"""DenseNet: every layer of a stage sees the outputs of all layers before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...contrib.nn import HybridConcurrent, Identity
from ...nn import Activation, AvgPool2D, BatchNorm, Conv2D, Dense, Dropout, Flatten, HybridSequential, MaxPool2D
from ..model_store import load_pretrained
from .alexnet import Classifier

_SPECS = {121: (64, 32, (6, 12, 24, 16)), 161: (96, 48, (6, 12, 36, 24)), 169: (64, 32, (6, 12, 32, 32)),
          201: (64, 32, (6, 12, 48, 32))}
"""For each depth the channels of the stem, those that each layer adds, and the layers of each stage."""


def _layer(growth_rate: int, bn_size: int, dropout: float) -> HybridConcurrent:
    new = HybridSequential(prefix='')
    new.add(BatchNorm(), Activation('relu'), Conv2D(bn_size * growth_rate, kernel_size=1, use_bias=False),
            BatchNorm(), Activation('relu'), Conv2D(growth_rate, kernel_size=3, padding=1, use_bias=False))
    if dropout:
        new.add(Dropout(dropout))
    joined = HybridConcurrent(axis=1, prefix='')
    joined.add(Identity(), new)
    return joined


class DenseNet(Classifier):
    """Stages of densely connected layers with a halving of channels and sizes between them."""

    def __init__(self, num_init_features: int, growth_rate: int, block_config: Sequence[int], bn_size: int = 4,
                 dropout: float = 0, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = HybridSequential(prefix='')
            self.features.add(Conv2D(num_init_features, kernel_size=7, strides=2, padding=3, use_bias=False),
                              BatchNorm(), Activation('relu'), MaxPool2D(3, 2, 1))
            channels = num_init_features
            for number, layers in enumerate(block_config):
                stage = HybridSequential(prefix=f'stage{number + 1}_')
                with stage.name_scope():
                    stage.add(*[_layer(growth_rate, bn_size, dropout) for _ in range(layers)])
                self.features.add(stage)
                channels += layers * growth_rate
                if number != len(block_config) - 1:
                    channels //= 2
                    between = HybridSequential(prefix='')
                    between.add(BatchNorm(), Activation('relu'), Conv2D(channels, kernel_size=1, use_bias=False),
                                AvgPool2D(2, 2))
                    self.features.add(between)
            self.features.add(BatchNorm(), Activation('relu'), AvgPool2D(7), Flatten())
            self.output = Dense(classes)


def _densenet(depth: int, pretrained: bool = False, ctx: Any = None, root: Any = None, **kwargs: Any) -> DenseNet:
    stem, growth_rate, layers = _SPECS[depth]
    return load_pretrained(DenseNet(stem, growth_rate, layers, **kwargs), f'densenet{depth}', pretrained, ctx, root)


def densenet121(**kwargs: Any) -> DenseNet:
    """DenseNet with 121 layers; keywords: pretrained, ctx, root, classes and those of DenseNet."""
    return _densenet(121, **kwargs)


def densenet161(**kwargs: Any) -> DenseNet:
    """DenseNet with 161 layers; keywords: pretrained, ctx, root, classes and those of DenseNet."""
    return _densenet(161, **kwargs)


def densenet169(**kwargs: Any) -> DenseNet:
    """DenseNet with 169 layers; keywords: pretrained, ctx, root, classes and those of DenseNet."""
    return _densenet(169, **kwargs)


def densenet201(**kwargs: Any) -> DenseNet:
    """DenseNet with 201 layers; keywords: pretrained, ctx, root, classes and those of DenseNet."""
    return _densenet(201, **kwargs)
