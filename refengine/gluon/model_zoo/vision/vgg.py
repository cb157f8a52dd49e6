"""VGG: rows of 3x3 convolutions, with or without batch normalisation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....initializer import Xavier
from ...nn import Activation, BatchNorm, Conv2D, Dense, Dropout, HybridSequential, MaxPool2D
from ..model_store import load_pretrained
from .alexnet import Classifier

_LAYERS = {11: (1, 1, 2, 2, 2), 13: (2, 2, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}
_FILTERS = (64, 128, 256, 512, 512)


class VGG(Classifier):
    """VGG: ``layers`` convolutions with ``filters`` channels per stage, a pooling after each, three dense layers."""

    def __init__(self, layers: Sequence[int], filters: Sequence[int], classes: int = 1000, batch_norm: bool = False,
                 **kwargs: Any) -> None:
        super().__init__(**kwargs)
        assert len(layers) == len(filters), \
            f'layers and filters must be equally many, got {list(layers)} and {list(filters)}'
        dense = {'weight_initializer': 'normal', 'bias_initializer': 'zeros'}
        with self.name_scope():
            self.features = HybridSequential(prefix='')
            for count, width in zip(layers, filters, strict=True):
                for _ in range(count):
                    self.features.add(Conv2D(
                        width, kernel_size=3, padding=1, bias_initializer='zeros',
                        weight_initializer=Xavier(rnd_type='gaussian', factor_type='out', magnitude=2)))
                    if batch_norm:
                        self.features.add(BatchNorm())
                    self.features.add(Activation('relu'))
                self.features.add(MaxPool2D(strides=2))
            for _ in range(2):
                self.features.add(Dense(4096, activation='relu', **dense), Dropout(rate=0.5))
            self.output = Dense(classes, **dense)


def get_vgg(num_layers: int, pretrained: bool = False, ctx: Any = None, root: Any = None, **kwargs: Any) -> VGG:
    """VGG with 11, 13, 16 or 19 layers, with ``batch_norm=True`` normalised; KeyError for others."""
    suffix = '_bn' if kwargs.get('batch_norm') else ''
    net = VGG(_LAYERS[num_layers], _FILTERS, **kwargs)
    return load_pretrained(net, f'vgg{num_layers}{suffix}', pretrained, ctx, root)


def vgg11(**kwargs: Any) -> VGG:
    """VGG-11; keywords: pretrained, ctx, root, classes."""
    return get_vgg(11, **kwargs)


def vgg13(**kwargs: Any) -> VGG:
    """VGG-13; keywords: pretrained, ctx, root, classes."""
    return get_vgg(13, **kwargs)


def vgg16(**kwargs: Any) -> VGG:
    """VGG-16; keywords: pretrained, ctx, root, classes."""
    return get_vgg(16, **kwargs)


def vgg19(**kwargs: Any) -> VGG:
    """VGG-19; keywords: pretrained, ctx, root, classes."""
    return get_vgg(19, **kwargs)


def vgg11_bn(**kwargs: Any) -> VGG:
    """VGG-11 with batch normalisation; keywords: pretrained, ctx, root, classes."""
    return get_vgg(11, batch_norm=True, **kwargs)


def vgg13_bn(**kwargs: Any) -> VGG:
    """VGG-13 with batch normalisation; keywords: pretrained, ctx, root, classes."""
    return get_vgg(13, batch_norm=True, **kwargs)


def vgg16_bn(**kwargs: Any) -> VGG:
    """VGG-16 with batch normalisation; keywords: pretrained, ctx, root, classes."""
    return get_vgg(16, batch_norm=True, **kwargs)


def vgg19_bn(**kwargs: Any) -> VGG:
    """VGG-19 with batch normalisation; keywords: pretrained, ctx, root, classes."""
    return get_vgg(19, batch_norm=True, **kwargs)
