"""``gluon.contrib.rnn.rnn_cell``: the cells that are no convolutions, under the name that MXNet's module has."""

from .lstmp_cell import LSTMPCell
from .variational_dropout import VariationalDropoutCell

__all__ = ['LSTMPCell', 'VariationalDropoutCell']
