"""``gluon.rnn.rnn_layer``: the layers, under the name that MXNet's module has."""

from .layers import GRU, LSTM, RNN, _RNNLayer

__all__ = ['GRU', 'LSTM', 'RNN', '_RNNLayer']
