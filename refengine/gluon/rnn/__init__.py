"""Recurrent networks: cells that are stepped or unrolled, and layers that run whole sequences in one operator."""

from .base import HybridRecurrentCell, RecurrentCell
from .cells import GRUCell, LSTMCell, RNNCell
from .layers import GRU, LSTM, RNN
from .modifiers import DropoutCell, ModifierCell, ResidualCell, ZoneoutCell
from .stacks import BidirectionalCell, HybridSequentialRNNCell, SequentialRNNCell

__all__ = ['GRU', 'LSTM', 'RNN', 'BidirectionalCell', 'DropoutCell', 'GRUCell', 'HybridRecurrentCell',
           'HybridSequentialRNNCell', 'LSTMCell', 'ModifierCell', 'RNNCell', 'RecurrentCell', 'ResidualCell',
           'SequentialRNNCell', 'ZoneoutCell']
