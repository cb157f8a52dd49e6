"""Recurrent cells of the symbolic front end, and the iterator over buckets of sentences that feeds them."""

from .base import BaseRNNCell, RNNParams
from .cells import GRUCell, LSTMCell, RNNCell
from .checkpoint import do_rnn_checkpoint, load_rnn_checkpoint, save_rnn_checkpoint
from .compound import BidirectionalCell, DropoutCell, ModifierCell, ResidualCell, SequentialRNNCell, ZoneoutCell
from .conv import BaseConvRNNCell, ConvGRUCell, ConvLSTMCell, ConvRNNCell
from .fused import FusedRNNCell
from .sentences import BucketSentenceIter, encode_sentences

__all__ = [
    'BaseConvRNNCell', 'BaseRNNCell', 'BidirectionalCell', 'BucketSentenceIter', 'ConvGRUCell', 'ConvLSTMCell',
    'ConvRNNCell', 'DropoutCell', 'FusedRNNCell', 'GRUCell', 'LSTMCell', 'ModifierCell', 'RNNCell', 'RNNParams',
    'ResidualCell', 'SequentialRNNCell', 'ZoneoutCell', 'do_rnn_checkpoint', 'encode_sentences', 'load_rnn_checkpoint',
    'save_rnn_checkpoint',
]
