"""Neural network layers."""

from ..block import Block
from ..hybrid_block import HybridBlock
from .activations import ELU, GELU, SELU, Activation, LeakyReLU, PReLU, SiLU, Swish
from .basic_layers import (
    BatchNorm,
    BatchNormReLU,
    Dense,
    Dropout,
    Embedding,
    Flatten,
    GroupNorm,
    InstanceNorm,
    LayerNorm,
)
from .containers import (
    Concatenate,
    HybridConcatenate,
    HybridLambda,
    HybridSequential,
    Identity,
    Lambda,
    Sequential,
)
from .conv_layers import (
    AvgPool1D,
    AvgPool2D,
    AvgPool3D,
    Conv1D,
    Conv1DTranspose,
    Conv2D,
    Conv2DTranspose,
    Conv3D,
    Conv3DTranspose,
    GlobalAvgPool1D,
    GlobalAvgPool2D,
    GlobalAvgPool3D,
    GlobalMaxPool1D,
    GlobalMaxPool2D,
    GlobalMaxPool3D,
    MaxPool1D,
    MaxPool2D,
    MaxPool3D,
    ReflectionPad2D,
)

__all__ = [
    'ELU', 'GELU', 'SELU', 'Activation', 'AvgPool1D', 'AvgPool2D', 'AvgPool3D', 'BatchNorm', 'BatchNormReLU', 'Block',
    'Concatenate', 'Conv1D', 'Conv1DTranspose', 'Conv2D', 'Conv2DTranspose', 'Conv3D', 'Conv3DTranspose', 'Dense',
    'Dropout', 'Embedding', 'Flatten', 'GlobalAvgPool1D', 'GlobalAvgPool2D', 'GlobalAvgPool3D', 'GlobalMaxPool1D',
    'GlobalMaxPool2D', 'GlobalMaxPool3D', 'GroupNorm', 'HybridBlock', 'HybridConcatenate', 'HybridLambda',
    'HybridSequential', 'Identity', 'InstanceNorm', 'Lambda', 'LayerNorm', 'LeakyReLU', 'MaxPool1D', 'MaxPool2D',
    'MaxPool3D', 'PReLU', 'ReflectionPad2D', 'Sequential', 'SiLU', 'Swish', 'SymbolBlock',
]


def __getattr__(name: str) -> object:
    if name == 'DynamicHybridBlock':
        from .dynamic import DynamicHybridBlock
        return DynamicHybridBlock
    if name == 'SymbolBlock':
        from ..symbol_block import SymbolBlock
        return SymbolBlock
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
