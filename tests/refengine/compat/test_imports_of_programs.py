"""Lines with which programs for MXNet 1.9.1 begin; each works there."""

from __future__ import annotations

import importlib

import pytest

import refengine
from refengine.compat import alias

LINES = """
mxnet: is_np_array is_np_shape np_array np_shape set_np_shape use_np use_np_array use_np_shape log registry rtc
mxnet.base: check_call c_str py_str classproperty with_metaclass data_dir error_types register_error
mxnet.contrib: autograd io text sym symbol
mxnet.contrib.amp.amp: _amp_initialized
mxnet.contrib.io: DataLoaderIter
mxnet.contrib.text: embedding utils vocab
mxnet.error: InternalError MXNetError register
mxnet.gluon.block: Block HybridBlock SymbolBlock _flatten _indent _regroup
mxnet.gluon.contrib.cnn.conv_layers: DeformableConvolution ModulatedDeformableConvolution
mxnet.gluon.contrib.data.sampler: IntervalSampler
mxnet.gluon.contrib.estimator: event_handler
mxnet.gluon.contrib.estimator.event_handler: TrainBegin EpochEnd CheckpointHandler
mxnet.gluon.contrib.nn.basic_layers: Concurrent HybridConcurrent Identity SyncBatchNorm PixelShuffle2D
mxnet.gluon.contrib.rnn.conv_rnn_cell: Conv2DLSTMCell
mxnet.gluon.contrib.rnn.rnn_cell: VariationalDropoutCell LSTMPCell
mxnet.gluon.data.dataloader: default_batchify_fn default_mp_batchify_fn ForkingPickler _MultiWorkerIter _as_in_context
mxnet.gluon.data.dataset: _DownloadedDataset
mxnet.gluon.loss: _apply_weighting _reshape_like
mxnet.gluon.model_zoo.model_store: _model_sha1 short_hash
mxnet.gluon.nn: SymbolBlock
mxnet.gluon.nn.basic_layers: Dense HybridLambda HybridSequential Lambda Sequential
mxnet.gluon.parameter: Parameter ParameterDict
mxnet.gluon.rnn: rnn_cell rnn_layer
mxnet.gluon.rnn.rnn_cell: HybridRecurrentCell LSTMCell
mxnet.gluon.rnn.rnn_layer: LSTM
mxnet.gluon.utils: _get_repo_file_url _get_repo_url _indent
mxnet.image.image: _get_interp_method imresize
mxnet.metric: ndarray
mxnet.misc: FactorScheduler LearningRateScheduler
mxnet.model: _create_kvstore _initialize_kvstore _update_params _update_params_on_kvstore
mxnet.ndarray: CachedOp
mxnet.ndarray.ndarray: NDArray array concatenate zeros _DTYPE_NP_TO_MX _DTYPE_MX_TO_NP
mxnet.symbol.symbol: Group Symbol load_json var zeros
mxnet.test_utils: check_consistency check_symbolic_backward check_symbolic_forward download environment get_mnist
mxnet.test_utils: get_mnist_iterator simple_forward
"""


@pytest.fixture
def answered():
    alias.install()
    yield
    alias.remove()


@pytest.mark.parametrize("line", LINES.strip().splitlines())
def test_names_are_where_programs_look_for_them(line, answered):
    module, _, names = line.partition(": ")
    found = importlib.import_module(module)
    missing = [name for name in names.split() if not hasattr(found, name)]
    assert not missing


def test_they_are_the_names_of_the_engine():
    gluon = refengine.gluon
    assert gluon.nn.SymbolBlock is gluon.block.SymbolBlock is gluon.SymbolBlock
    assert gluon.rnn.rnn_cell.LSTMCell is gluon.rnn.LSTMCell
    assert gluon.contrib.nn.basic_layers.HybridConcurrent is gluon.contrib.nn.HybridConcurrent
    assert gluon.nn.basic_layers.Sequential is gluon.nn.Sequential
    assert gluon.parameter.ParameterDict is gluon.ParameterDict
    assert refengine.nd.ndarray.zeros is refengine.nd.zeros
    assert refengine.sym.symbol.var is refengine.sym.var


@pytest.mark.parametrize("module", ["nd.ndarray", "sym.symbol", "gluon.block", "gluon.parameter", "test_utils",
                                    "contrib", "image"])
def test_other_names_are_missing_as_ever(module):
    found = refengine
    for part in module.split("."):
        found = getattr(found, part)
    with pytest.raises(AttributeError, match="has no attribute 'nothing_of_the_kind'"):
        getattr(found, "nothing_of_the_kind")  # noqa: B009 - a bare attribute would be an unused expression
