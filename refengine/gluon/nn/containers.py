"""Containers: blocks that call their children one after the other, and functions as blocks."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

from ... import ndarray as nd
from ..block import Block, indent
from ..hybrid_block import HybridBlock


class _Container(Block):
    """What Sequential and HybridSequential share."""

    def add(self, *blocks: Block) -> None:
        """Append blocks."""
        for block in blocks:
            self.register_child(block)

    def __repr__(self) -> str:
        children = '\n'.join(f'  ({key}): {indent(repr(block), 2)}' for key, block in self._children.items())
        return f'{type(self).__name__}(\n{children}\n)'

    def __getitem__(self, key: Any) -> Any:
        layers = list(self._children.values())[key]
        if isinstance(layers, list):
            part = type(self)(prefix=self._prefix)
            part.add(*layers)
            return part
        return layers

    def __len__(self) -> int:
        return len(self._children)

    def __iter__(self) -> Iterator[Block]:
        return iter(self._children.values())


class Sequential(_Container):
    """Calls its children in order, each with the result of the one before.

    >>> import refengine as mx
    >>> net = Sequential()
    >>> net.add(mx.gluon.nn.Dense(4), mx.gluon.nn.Dense(2))
    >>> net.initialize()
    >>> net(mx.nd.ones((1, 3))).shape
    (1, 2)
    """

    def __init__(self, prefix: str | None = None, params: Any = None) -> None:
        super().__init__(prefix=prefix, params=params)

    def forward(self, x: Any) -> Any:  # type: ignore[override]
        """The result of the last child; the input itself without children (rule GLUON-HYBRID-026)."""
        for block in self._children.values():
            x = block(x)
        return x

    def hybridize(self, active: bool = True, **kwargs: Any) -> None:
        """Hybridize the children; a warning suggests HybridSequential if all of them are hybrid."""
        if self._children and all(isinstance(child, HybridBlock) for child in self._children.values()):
            warnings.warn(f'All children of this Sequential layer "{self.prefix}" are HybridBlocks. Consider using '
                          f'HybridSequential for the best performance.', stacklevel=2)
        super().hybridize(active, **kwargs)


class HybridSequential(_Container, HybridBlock):
    """Sequential for hybrid blocks only; it can be hybridized as a whole."""

    _container = True

    def __init__(self, prefix: str | None = None, params: Any = None) -> None:
        super().__init__(prefix=prefix, params=params)

    def forward(self, x: Any, *args: Any) -> Any:
        """The result of the last child; the input itself without children (rule GLUON-HYBRID-026)."""
        if args or self._active or self._reg_params or not isinstance(x, nd.NDArray) \
                or type(self).hybrid_forward is not HybridSequential.hybrid_forward:
            return super().forward(x, *args)
        for block in self._children.values():
            x = block(x)
        return x

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # type: ignore[override]
        """Call the children in order."""
        for block in self._children.values():
            x = block(x)
        return x


class Lambda(Block):
    """A function, or the name of an operator, as a block."""

    def __init__(self, function: Any, prefix: str | None = None) -> None:
        super().__init__(prefix=prefix)
        if isinstance(function, str):
            assert hasattr(nd, function), f'Function name {function} is not found in ndarray.'
            self._func_impl = getattr(nd, function)
        elif callable(function):
            self._func_impl = function
        else:
            raise ValueError(f'Unrecognized function in lambda: {function} of type {type(function)}')

    def forward(self, *args: Any) -> Any:
        """Call the function."""
        return self._func_impl(*args)

    def __repr__(self) -> str:
        return f'{type(self).__name__}({self._func_impl.__name__})'


class HybridLambda(HybridBlock):
    """A function of ``(F, *inputs)``, or the name of an operator, as a hybrid block (rule GLUON-HYBRID-029)."""

    def __init__(self, function: Any, prefix: str | None = None) -> None:
        super().__init__(prefix=prefix)
        if isinstance(function, str):
            assert hasattr(nd, function), f'Function name {function} is not found in symbol/ndarray.'
            self._func = lambda F, *args: getattr(F, function)(*args)
            self._func_name = function
        elif callable(function):
            self._func = function
            self._func_name = function.__name__
        else:
            raise ValueError(f'Unrecognized function in lambda: {function} of type {type(function)}')

    def hybrid_forward(self, F: Any, x: Any, *args: Any) -> Any:  # type: ignore[override]
        """Call the function."""
        return self._func(F, x, *args)

    def __repr__(self) -> str:
        return f'{type(self).__name__}({self._func_name})'


class Concurrent(Sequential):
    """Gives its input to every child and joins their results along an axis."""

    def __init__(self, axis: int = -1, prefix: str | None = None, params: Any = None) -> None:
        super().__init__(prefix=prefix, params=params)
        self.axis = axis

    def forward(self, x: Any) -> Any:  # type: ignore[override]
        """The joined results of all children."""
        return nd.concat(*[block(x) for block in self._children.values()], dim=self.axis)


class HybridConcurrent(HybridSequential):
    """Concurrent for hybrid blocks only."""

    def __init__(self, axis: int = -1, prefix: str | None = None, params: Any = None) -> None:
        super().__init__(prefix=prefix, params=params)
        self.axis = axis

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # type: ignore[override]
        """The joined results of all children."""
        return F.concat(*[block(x) for block in self._children.values()], dim=self.axis)


Concatenate = Concurrent
HybridConcatenate = HybridConcurrent


class Identity(HybridBlock):
    """Gives its input back."""

    def __init__(self, prefix: str | None = None, params: Any = None) -> None:
        super().__init__(prefix=prefix, params=params)

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # type: ignore[override]
        """The input."""
        return x
