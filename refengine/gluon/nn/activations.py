"""Activation functions as blocks."""

from __future__ import annotations

from typing import Any

from ... import initializer
from ...base import numeric_types
from .. import checks
from ..hybrid_block import HybridBlock


class Activation(HybridBlock):
    """One of relu, sigmoid, tanh, softrelu, softsign.

    >>> import refengine as mx
    >>> Activation('relu')(mx.nd.array([-1, 2])).asnumpy().tolist()
    [0.0, 2.0]
    """

    _main_operator = 'activation'

    def __init__(self, activation: str, **kwargs: Any) -> None:
        checks.activation(self, activation)
        self._act_type = activation
        super().__init__(**kwargs)

    def _alias(self) -> str:
        return self._act_type

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # type: ignore[override]
        """Apply the function."""
        return F.Activation(x, act_type=self._act_type)

    def __repr__(self) -> str:
        return f'{type(self).__name__}({self._act_type})'


class LeakyReLU(HybridBlock):
    """x for positive x, alpha · x for the rest."""

    _main_operator = 'leakyrelu'

    def __init__(self, alpha: float, **kwargs: Any) -> None:
        if not isinstance(alpha, numeric_types):
            checks.number(self, alpha=alpha)
        assert alpha >= 0, f'Slope coefficient for LeakyReLU must be no less than 0, got {alpha}.'
        super().__init__(**kwargs)
        self._alpha = alpha

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # type: ignore[override]
        """Apply the function."""
        return F.LeakyReLU(x, act_type='leaky', slope=self._alpha)

    def __repr__(self) -> str:
        return f'{type(self).__name__}({self._alpha})'


class PReLU(HybridBlock):
    """LeakyReLU whose slope is learnt, one for all channels or one per channel."""

    _main_operator = 'leakyrelu'

    def __init__(self, alpha_initializer: Any = None, in_channels: int = 1, **kwargs: Any) -> None:
        checks.whole(self, in_channels=in_channels)
        super().__init__(**kwargs)
        if alpha_initializer is None:
            alpha_initializer = initializer.Constant(0.25)
        with self.name_scope():
            self.alpha = self.params.get('alpha', shape=(in_channels,), init=alpha_initializer)

    def hybrid_forward(self, F: Any, x: Any, alpha: Any) -> Any:  # type: ignore[override]
        """Apply the function."""
        return F.LeakyReLU(x, gamma=alpha, act_type='prelu')


class ELU(HybridBlock):
    """x for positive x, alpha · (exp(x) - 1) for the rest."""

    def __init__(self, alpha: float = 1.0, **kwargs: Any) -> None:
        checks.number(self, alpha=alpha)
        super().__init__(**kwargs)
        self._alpha = alpha

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # type: ignore[override]
        """Apply the function."""
        return F.LeakyReLU(x, act_type='elu', slope=self._alpha)


class SELU(HybridBlock):
    """ELU with the scale and slope that keep mean 0 and variance 1."""

    _main_operator = 'leakyrelu'

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # type: ignore[override]
        """Apply the function."""
        return F.LeakyReLU(x, act_type='selu')


class GELU(HybridBlock):
    """x · Φ(x) with the normal distribution function Φ."""

    _main_operator = 'leakyrelu'

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # type: ignore[override]
        """Apply the function."""
        return F.LeakyReLU(x, act_type='gelu')


class Swish(HybridBlock):
    """x · sigmoid(beta · x)."""

    _main_operator = 'sigmoid'

    def __init__(self, beta: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._beta = beta

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # type: ignore[override]
        """Apply the function."""
        return x * F.sigmoid(self._beta * x)


class SiLU(HybridBlock):
    """x · sigmoid(x)."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # type: ignore[override]
        """Apply the function."""
        return x * F.sigmoid(x)
