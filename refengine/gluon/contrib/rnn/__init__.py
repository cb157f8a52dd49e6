"""Recurrent cells of ``gluon.contrib.rnn``."""

from . import conv_rnn_cell, rnn_cell
from .conv_rnn_cell import (
    Conv1DGRUCell,
    Conv1DLSTMCell,
    Conv1DRNNCell,
    Conv2DGRUCell,
    Conv2DLSTMCell,
    Conv2DRNNCell,
    Conv3DGRUCell,
    Conv3DLSTMCell,
    Conv3DRNNCell,
)
from .lstmp_cell import LSTMPCell
from .variational_dropout import VariationalDropoutCell

__all__ = ['Conv1DGRUCell', 'Conv1DLSTMCell', 'Conv1DRNNCell', 'Conv2DGRUCell', 'Conv2DLSTMCell', 'Conv2DRNNCell',
           'Conv3DGRUCell', 'Conv3DLSTMCell', 'Conv3DRNNCell', 'LSTMPCell', 'VariationalDropoutCell',
           'conv_rnn_cell', 'rnn_cell']
