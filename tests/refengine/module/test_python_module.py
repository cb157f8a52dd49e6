"""Modules as code of the program, states of modules, and checkpoints of buckets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import refengine as mx


def batch(data: Any, label: Any = None) -> Any:
    return mx.io.DataBatch([data], [] if label is None else [label])


def test_a_loss_as_code() -> None:
    loss = mx.mod.PythonLossModule(grad_func=lambda scores, labels: scores.asnumpy() - labels.asnumpy())
    loss.bind([('data', (2, 3))], [('softmax_label', (2, 3))])
    assert (loss.data_names, loss.output_names) == (['data'], ['pyloss_output'])
    assert loss.output_shapes == [('pyloss_output', (2, 3))]
    assert loss.get_params() == ({}, {})
    loss.init_params()
    loss.init_optimizer()
    loss.forward(batch(mx.nd.ones((2, 3)), mx.nd.full((2, 3), 3)), is_train=True)
    assert loss.get_outputs()[0].asnumpy().tolist() == [[1] * 3] * 2
    loss.backward()
    assert loss.get_input_grads()[0].asnumpy().tolist() == [[-2] * 3] * 2
    loss.update()
    metric = mx.metric.create('mse')
    loss.update_metric(metric, [mx.nd.zeros((2, 3))])
    assert metric.get() == ('mse', 1.0)
    with pytest.raises(AssertionError, match='out_grads should be None'):
        loss.backward(mx.nd.ones(2))
    with pytest.raises(NotImplementedError):
        loss.install_monitor(None)


def test_what_a_python_module_must_say() -> None:
    with pytest.raises(NotImplementedError):
        mx.mod.PythonModule(['a'], ['b'], ['c']).bind([('a', (1,))])
    with pytest.raises(AssertionError, match=r"data are \['x'\], expected \['data'\]"):
        mx.mod.PythonLossModule().bind([('x', (1,))])
    loss = mx.mod.PythonLossModule()
    loss.bind([('data', (2, 1))])
    loss.forward(batch(mx.nd.ones((2, 1)), mx.nd.ones(2)), is_train=True)
    with pytest.raises(NotImplementedError, match='grad_func'):
        loss.backward()


def test_a_chain_ends_in_code() -> None:
    dense = mx.mod.Module(mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=1, name='fc'), label_names=None)
    loss = mx.mod.PythonLossModule(grad_func=lambda scores, labels: 2 * (scores - labels.reshape((-1, 1))))
    chain = mx.mod.SequentialModule().add(dense).add(loss, take_labels=True, auto_wiring=True)
    x = np.random.RandomState(0).randn(32, 2).astype('f')
    data = mx.io.NDArrayIter(x, x @ np.array([1, -2], 'f'), batch_size=8, label_name='softmax_label')
    chain.fit(data, num_epoch=30, optimizer_params={'learning_rate': 0.1}, eval_metric='mse')
    np.testing.assert_allclose(chain.get_params()[0]['fc_weight'].asnumpy(), [[1, -2]], atol=0.05)


def test_states() -> None:
    data, state = mx.sym.var('data'), mx.sym.var('st')
    module = mx.mod.Module(mx.sym.Group([mx.sym.FullyConnected(data, num_hidden=2) + state, state + 1]),
                           label_names=None, state_names=['st'])
    module.bind([('data', (2, 3))])
    module.init_params()
    module.set_states(value=2)
    module.forward(batch(mx.nd.ones((2, 3))))
    module.set_states(states=[[module.get_outputs()[1]]])
    assert module.get_states(merge_multi_context=False)[0][0].asnumpy().tolist() == [[3, 3]] * 2
    assert 'st' not in module.get_params()[0]
    with pytest.raises(AssertionError, match='At least one'):
        module.set_states()
    with pytest.raises(AssertionError, match='Only one'):
        module.set_states([1], 2)
    with pytest.raises(AssertionError, match='not supported'):
        module.get_states()


def generate(key: int) -> Any:
    total = mx.sym.sum(mx.sym.var('data'), axis=1, keepdims=True)
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(total, num_hidden=2, name='fc'), name='softmax'), ('data',), (
        'softmax_label',)


def test_checkpoints_of_buckets(tmp_path: Any) -> None:
    prefix = str(tmp_path / 'm')
    module = mx.mod.BucketingModule(generate, default_bucket_key=4)
    module.bind([('data', (2, 4))], [('softmax_label', (2,))])
    module.init_params(mx.init.Uniform(1))
    module.switch_bucket(3, [('data', (2, 3))], [('softmax_label', (2,))])
    module.save_checkpoint(prefix, 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ['m-0001.params', 'm-3-symbol.json', 'm-4-symbol.json',
                                                               'm.buckets']
    assert mx.nd.load(f'{prefix}.buckets')[0].asnumpy().tolist() == [4, 3]
    expected = module.get_params()[0]
    made = [mx.mod.BucketingModule.load(prefix, 1, generate, 4),
            mx.mod.BucketingModule.load_dict({}, generate, 4, *module.get_params())]
    for loaded in made:
        loaded.bind([('data', (2, 4))], [('softmax_label', (2,))])
        loaded.init_params()
        for name, array in loaded.get_params()[0].items():
            assert np.array_equal(array.asnumpy(), expected[name].asnumpy())
        assert loaded.output_shapes == [('softmax_output', (2, 2))]
    with pytest.raises(AssertionError, match='sym_gen is required'):
        mx.mod.BucketingModule.load(prefix, 1)
