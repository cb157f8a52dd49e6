"""``gluon.contrib.rnn.conv_rnn_cell``: convolutional cells, under the name that MXNet's module has."""

from .conv_cells import (
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

__all__ = ['Conv1DGRUCell', 'Conv1DLSTMCell', 'Conv1DRNNCell', 'Conv2DGRUCell', 'Conv2DLSTMCell', 'Conv2DRNNCell',
           'Conv3DGRUCell', 'Conv3DLSTMCell', 'Conv3DRNNCell']
