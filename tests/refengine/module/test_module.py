"""Modules, checkpoints, FeedForward, callbacks, monitors and the table of layers."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refengine as mx
from tests.refengine.releases import run

X = np.random.RandomState(0).randn(64, 6).astype('float32')
Y = (X.sum(1) > 0).astype('float32')


def network() -> Any:
    """Two layers with BatchNorm between them, and a loss."""
    x = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=16, name='fc1')
    x = mx.sym.BatchNorm(mx.sym.Activation(x, act_type='relu'), name='bn', fix_gamma=False)
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(x, num_hidden=2, name='fc2'), name='softmax')


def data() -> mx.io.NDArrayIter:
    """Batches of 16."""
    return mx.io.NDArrayIter(X, Y, 16)


def trained(contexts: Any = None) -> mx.mod.Module:
    """A module after some epochs."""
    mx.random.seed(0)
    np.random.seed(0)
    module = mx.mod.Module(network(), context=contexts)
    module.fit(data(), num_epoch=12, optimizer_params={'learning_rate': 0.5}, initializer=mx.init.Xavier())
    return module


@pytest.mark.parametrize('contexts', [None, [mx.cpu(0), mx.cpu(1)]], ids=['one', 'two'])
def test_fit_score_predict(contexts: Any) -> None:
    module = trained(contexts)
    assert dict(module.score(data(), 'acc'))['accuracy'] > 0.9
    assert module.predict(data()).shape == (64, 2)
    padded = mx.io.NDArrayIter(X[:20], Y[:20], 16)
    assert module.predict(padded).shape == (20, 2)
    assert module.predict(mx.nd.array(X[:16])).shape == (16, 2)


def test_checkpoints(tmp_path: Path) -> None:
    module = trained()
    module.save_checkpoint(f'{tmp_path}/m', 3, save_optimizer_states=True)
    again = mx.mod.Module.load(f'{tmp_path}/m', 3, load_optimizer_states=True)
    again.bind(data().provide_data, data().provide_label)
    again.init_optimizer(optimizer_params={'learning_rate': 0.5})
    assert np.array_equal(again.predict(data()).asnumpy(), module.predict(data()).asnumpy())
    symbol, args, aux = mx.model.load_checkpoint(f'{tmp_path}/m', 3)
    assert symbol.list_arguments() == network().list_arguments()
    assert set(aux) == {'bn_moving_mean', 'bn_moving_var'}
    assert set(args) == {'fc1_weight', 'fc1_bias', 'bn_gamma', 'bn_beta', 'fc2_weight', 'fc2_bias'}
    with pytest.raises(mx.MXNetError):
        mx.model.load_checkpoint(f'{tmp_path}/m', 4)


def test_names_are_checked() -> None:
    with pytest.raises(ValueError, match="input with name 'foo' is not found"):
        mx.mod.Module(network(), data_names=['foo'])
    with pytest.raises(ValueError, match="don't match names"):
        mx.mod.Module(network()).bind([('other', (4, 6))])
    module = mx.mod.Module(network())
    module.bind(data().provide_data, data().provide_label)
    with pytest.raises(RuntimeError, match='is not presented'):
        module.init_params(arg_params={}, aux_params={})


def test_fixed_parameters_stay() -> None:
    module = mx.mod.Module(network(), fixed_param_names=['fc1_weight'])
    module.bind(data().provide_data, data().provide_label)
    module.init_params(mx.init.Xavier())
    module.init_optimizer(optimizer_params={'learning_rate': 0.5})
    before = {k: v.asnumpy() for k, v in module.get_params()[0].items()}
    batch = next(data())
    module.forward_backward(batch)
    module.update()
    after = {k: v.asnumpy() for k, v in module.get_params()[0].items()}
    assert np.array_equal(before['fc1_weight'], after['fc1_weight'])
    assert not np.array_equal(before['fc2_weight'], after['fc2_weight'])


def test_other_batch_sizes() -> None:
    module = trained()
    module.forward(mx.io.DataBatch([mx.nd.array(X[:5])], [mx.nd.array(Y[:5])]), is_train=False)
    assert module.get_outputs()[0].shape == (5, 2)


def test_buckets_share_parameters() -> None:
    def generate(key: int) -> Any:
        total = mx.sym.sum(mx.sym.var('data'), axis=1, keepdims=True)
        return (mx.sym.LinearRegressionOutput(mx.sym.FullyConnected(total, num_hidden=1, name='fc'), name='lin'),
                ('data',), ('lin_label',))

    module = mx.mod.BucketingModule(generate, default_bucket_key=8)
    module.bind([('data', (4, 8))], [('lin_label', (4, 1))])
    module.init_params(mx.init.One())
    module.init_optimizer(optimizer_params={'learning_rate': 0.01})
    weight, bias = 1.0, 0.0
    for key in (8, 4, 6, 4, 8):
        batch = mx.io.DataBatch([mx.nd.ones((4, key))], [mx.nd.ones((4, 1))], bucket_key=key,
                                provide_data=[('data', (4, key))], provide_label=[('lin_label', (4, 1))])
        module.prepare(batch)
        module.forward(batch)
        out = key * weight + bias
        assert module.get_outputs()[0].asnumpy() == pytest.approx(out, rel=1e-4)
        module.backward()
        module.update()
        weight -= 0.01 * (out - 1) * key
        bias -= 0.01 * (out - 1)
        assert module.get_params()[0]['fc_weight'].asscalar() == pytest.approx(weight, rel=1e-4)


def test_a_chain_of_modules() -> None:
    mx.random.seed(0)
    np.random.seed(0)
    first = mx.sym.Activation(mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=8, name='a1'), act_type='relu')
    second = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=2, name='a2'), name='softmax')
    chain = mx.mod.SequentialModule()
    chain.add(mx.mod.Module(first, label_names=None)).add(mx.mod.Module(second), take_labels=True, auto_wiring=True)
    chain.fit(data(), num_epoch=20, optimizer_params={'learning_rate': 0.5}, initializer=mx.init.Xavier())
    assert dict(chain.score(data(), 'acc'))['accuracy'] > 0.9
    with pytest.raises(AssertionError, match='Unknown meta'):
        chain.add(mx.mod.Module(second), foo=1)


def test_monitor() -> None:
    module = mx.mod.Module(network())
    module.bind(data().provide_data, data().provide_label)
    module.init_params()
    monitor = mx.monitor.Monitor(1, pattern='fc1.*')
    module.install_monitor(monitor)
    monitor.tic()
    module.forward_backward(next(data()))
    assert [name for _, name, _ in monitor.toc()] == [
        'fc1_output', 'fc1_backward_output1', 'fc1_backward_output2', 'fc1_weight', 'fc1_bias']


def test_feed_forward(tmp_path: Path) -> None:
    np.random.seed(0)
    model = mx.model.FeedForward(network(), num_epoch=10, learning_rate=0.5, numpy_batch_size=16)
    model.fit(X, Y)
    assert model.score(data()) > 0.9
    model.save(f'{tmp_path}/f')
    again = mx.model.FeedForward.load(f'{tmp_path}/f', 10)
    assert np.array_equal(again.predict(X), model.predict(X))


def test_callbacks(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    module = mx.mod.Module(network())
    with caplog.at_level(logging.INFO):
        module.fit(data(), eval_data=data(), num_epoch=1, batch_end_callback=[
            mx.callback.Speedometer(16, 2), mx.callback.ProgressBar(4), mx.callback.log_train_metric(2)],
            epoch_end_callback=[mx.callback.do_checkpoint(f'{tmp_path}/a'),
                                mx.callback.module_checkpoint(module, f'{tmp_path}/b')],
            eval_end_callback=mx.callback.LogValidationMetricsCallback())
    text = caplog.text
    for part in ('samples/sec', 'Iter[0] Batch[2] Train-accuracy', '[===', 'Epoch[0] Validation-accuracy',
                 'Saved checkpoint to'):
        assert part in text
    assert (tmp_path / 'a-0001.params').exists()
    assert (tmp_path / 'b-symbol.json').exists()


def test_table_of_layers(capsys: pytest.CaptureFixture[str]) -> None:
    fc = mx.sym.FullyConnected(mx.sym.var('a'), num_hidden=4, name='fc')
    mx.viz.print_summary(fc, shape={'a': (2, 3)})
    text = capsys.readouterr().out
    assert text.splitlines()[1].startswith('Layer (type) ')
    assert 'fc(FullyConnected)' in text
    assert 'Total params: 16' in text


def test_drawing() -> None:
    try:
        import graphviz
    except ImportError:
        with pytest.raises(ImportError, match='requires graphviz'):
            mx.viz.plot_network(network())
    else:
        drawn = mx.viz.plot_network(network(), shape={'data': (4, 6)})
        assert isinstance(drawn, graphviz.Digraph)
        assert 'fc1_weight' not in drawn.source


_TRAIN = '''
symbol = mx.sym.load('m-symbol.json')
module = mx.mod.Module(symbol)
X, Y = np.load('x.npy'), np.load('y.npy')
batches = mx.io.NDArrayIter(X, Y, 16)
_, args, aux = mx.model.load_checkpoint('m', 0)
module.bind(batches.provide_data, batches.provide_label)
module.init_params(arg_params=args, aux_params=aux)
module.fit(batches, num_epoch=3, optimizer='sgd', optimizer_params={'learning_rate': 0.1, 'momentum': 0.9, 'wd': 1e-3})
args, aux = module.get_params()
mx.nd.save('after.params', {**args, **aux})
'''


@pytest.mark.needs_mxnet
def test_training_agrees_with_the_release(tmp_path: Path) -> None:
    module = mx.mod.Module(network())
    module.bind(data().provide_data, data().provide_label)
    module.init_params(mx.init.Xavier())
    module.save_checkpoint(f'{tmp_path}/m', 0)
    np.save(tmp_path / 'x.npy', X)
    np.save(tmp_path / 'y.npy', Y)
    run('mxnet-1.9.1', _TRAIN, tmp_path)
    with pytest.warns(UserWarning, match='Parameters already initialized'):
        module.fit(data(), num_epoch=3, optimizer='sgd',
                   optimizer_params={'learning_rate': 0.1, 'momentum': 0.9, 'wd': 1e-3})
    args, aux = module.get_params()
    expected = mx.nd.load(f'{tmp_path}/after.params')
    for name, array in {**args, **aux}.items():
        assert np.allclose(array.asnumpy(), expected[name].asnumpy(), rtol=1e-3, atol=1e-4), name
