"""AlexNet."""

from __future__ import annotations

from typing import Any

from ...hybrid_block import HybridBlock
from ...nn import Conv2D, Dense, Dropout, Flatten, HybridSequential, MaxPool2D
from ..model_store import load_pretrained


class Classifier(HybridBlock):
    """A network of two parts: ``features``, then ``output``, which has one number per class."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # type: ignore[override]
        """Scores of the classes."""
        return self.output(self.features(x))


class AlexNet(Classifier):
    """Five convolutions and three dense layers, for images of 224 by 224."""

    def __init__(self, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = HybridSequential(prefix='')
            with self.features.name_scope():
                self.features.add(
                    Conv2D(64, kernel_size=11, strides=4, padding=2, activation='relu'), MaxPool2D(3, 2),
                    Conv2D(192, kernel_size=5, padding=2, activation='relu'), MaxPool2D(3, 2),
                    Conv2D(384, kernel_size=3, padding=1, activation='relu'),
                    Conv2D(256, kernel_size=3, padding=1, activation='relu'),
                    Conv2D(256, kernel_size=3, padding=1, activation='relu'), MaxPool2D(3, 2), Flatten(),
                    Dense(4096, activation='relu'), Dropout(0.5), Dense(4096, activation='relu'), Dropout(0.5))
            self.output = Dense(classes)


def alexnet(pretrained: bool = False, ctx: Any = None, root: Any = None, **kwargs: Any) -> AlexNet:
    """AlexNet of "One weird trick for parallelizing convolutional neural networks"."""
    return load_pretrained(AlexNet(**kwargs), 'alexnet', pretrained, ctx, root)
