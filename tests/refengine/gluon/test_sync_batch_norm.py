"""Batch normalisation over several devices: values, gradients, and who waits for whom."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import refengine as mx
from refengine import autograd, gluon, nd
from refengine.gluon.contrib.nn import SyncBatchNorm, run_on_devices
from refengine.ndarray import awaited, synchronised

pytestmark = pytest.mark.inline_engine      # devices that meet need calls that run at the call: an error says so

DEVICES = [mx.cpu(0), mx.cpu(1)]
X = np.random.RandomState(0).randn(4, 3, 2).astype('f')
OG = np.random.RandomState(1).randn(4, 3, 2).astype('f')


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    monkeypatch.setattr(awaited, 'PATIENCE', 1.0)
    yield
    synchronised._meetings.clear()
    for waiting in list(synchronised._passes):
        waiting.restore()


def arrays(number: int, part: np.ndarray) -> list[Any]:
    ctx = DEVICES[number]
    made = [nd.array(part, ctx=ctx), nd.array([1, 2, 3], ctx=ctx) * (1 + number), nd.array([.1, .2, .3], ctx=ctx),
            nd.zeros(3, ctx=ctx), nd.ones(3, ctx=ctx)]
    for array in made[:3]:
        array.attach_grad()
    return made


def both(cut: int = 2, **params: Any) -> tuple[list[Any], list[Any]]:
    given = [arrays(0, X[:cut]), arrays(1, X[cut:])]
    with autograd.record():
        return given, [nd.contrib.SyncBatchNorm(*a, key='k', ndev=2, fix_gamma=False, **params) for a in given]


def test_values_and_gradients_of_the_release():
    """The numbers are those of MXNet 1.9.1 on cpu(0) and cpu(1)."""
    given, results = both()
    np.testing.assert_allclose(results[0].asnumpy().ravel()[:4], [1.9509125, 0.08229752, 1.276496, 3.2802172],
                               rtol=1e-5)
    np.testing.assert_allclose(results[1].asnumpy().ravel()[:4], [1.0534492, -0.6984783, 0.65472233, 0.30486387],
                               rtol=1e-5)
    assert given[0][3].asnumpy().tolist() == [0, 0, 0]      # running statistics move with the gradient
    autograd.backward(results, [nd.array(OG[:2], ctx=DEVICES[0]), nd.array(OG[2:], ctx=DEVICES[1])])
    expected = [([0.67026186, -1.15431857, -0.64117068], [4.88971806, -2.06081629, 2.03903866],
                 [1.99619389, -1.53147161, -2.03416371]),
                ([-2.17148614, -1.17874241, 4.13818932], [-1.01798522, 2.91382551, 0.15398288],
                 [-0.08144259, 0.07798254, 0.35379839])]
    for (data, gamma, beta, mean, variance), (by_data, by_gamma, by_beta) in zip(given, expected, strict=True):
        np.testing.assert_allclose(data.grad.asnumpy().ravel()[:3], by_data, rtol=1e-5)
        np.testing.assert_allclose(gamma.grad.asnumpy(), by_gamma, rtol=1e-5)
        np.testing.assert_allclose(beta.grad.asnumpy(), by_beta, rtol=1e-5)
        np.testing.assert_allclose(mean.asnumpy(), [0.04130783, 0.03006472, 0.04874738], rtol=1e-5)
        np.testing.assert_allclose(variance.asnumpy(), [0.9531748, 1.0586125, 1.0031235], rtol=1e-5)


def test_parts_of_different_sizes_have_the_same_weight():
    """As in MXNet 1.9.1."""
    x = np.arange(24).reshape(4, 3, 2).astype('f')
    given = [arrays(0, x[:3]), arrays(1, x[3:])]
    for array in (given[0][1], given[1][1]):
        array[:] = 1
    with autograd.record():
        results = [nd.contrib.SyncBatchNorm(*a, key='k', ndev=2, fix_gamma=False) for a in given]
    np.testing.assert_allclose(results[0].asnumpy()[0, 0] - 0.1, [-1.7995207, -1.6555591], rtol=1e-5)
    autograd.backward(results)
    np.testing.assert_allclose(given[0][0].grad.asnumpy()[0, 0], [-0.02660276, -0.02063557], rtol=1e-4)
    np.testing.assert_allclose(given[0][3].asnumpy(), [1.25, 1.45, 1.65], rtol=1e-5)


def test_mean_and_variance():
    _, results = both(output_mean_var=True)
    for _, mean, variance in results:
        np.testing.assert_allclose(mean.asnumpy(), X.mean(axis=(0, 2)), rtol=1e-4)
        np.testing.assert_allclose(variance.asnumpy(), X.var(axis=(0, 2)), rtol=1e-4)


@pytest.mark.parametrize('params', [{'use_global_stats': True}, {}])
def test_without_training_or_with_running_statistics_nobody_waits(params):
    given = arrays(0, X[:2])
    with autograd.record(train_mode=bool(params)):
        result = nd.contrib.SyncBatchNorm(*given, key='k', ndev=2, fix_gamma=False, **params)
    result.backward()
    assert np.isfinite(given[0].grad.asnumpy()).all()


def test_backward_passes_one_by_one_are_one_pass():
    together, results = both()
    autograd.backward(results)
    given, results = both()
    results[0].backward()
    with pytest.raises(mx.MXNetError, match='needs the backward passes of all of them'):
        given[0][0].grad.asnumpy()
    results[1].backward()
    for one, other in zip(together, given, strict=True):
        for a, b in zip(one[:3], other[:3], strict=True):
            np.testing.assert_array_equal(a.grad.asnumpy(), b.grad.asnumpy())


def test_a_step_that_was_given_up_does_not_hold_up_the_next():
    both()[1][0].backward()
    given = arrays(0, X[:2])
    with autograd.record():
        first = nd.contrib.SyncBatchNorm(*given, key='k', ndev=2)
    given, results = both()
    with pytest.raises(mx.MXNetError, match='came again before the others'):
        first.asnumpy()
    for result in results:
        result.backward()
    assert np.isfinite(given[0][0].grad.asnumpy()).all()


def test_who_waits_in_vain_gets_an_error():
    given = arrays(0, X[:2])
    with autograd.record():
        result = nd.contrib.SyncBatchNorm(*given, key='k', ndev=2)
        assert (result.shape, result.dtype, result.size, result.ndim) == ((2, 3, 2), np.float32, 12, 3)
        for use in (lambda: result + 1, result.asnumpy, lambda: nd.exp(result), result.wait_to_read):
            with pytest.raises(mx.MXNetError, match=r"'k' expects the batches of 2 devices, got 1 \(cpu\(0\)\)"):
                use()


def test_compiled_graphs_say_that_they_cannot():
    net = SyncBatchNorm(in_channels=3, num_devices=2)
    net.initialize(ctx=DEVICES)
    net.hybridize()
    x = nd.array(X[:2], ctx=DEVICES[0])
    net(x)
    with autograd.record(), pytest.raises(mx.MXNetError, match='trains imperatively only'):
        net(x)


class Net(gluon.nn.HybridSequential):
    """Two layers that wait, with others between them."""

    def __init__(self, sync: bool) -> None:
        super().__init__(prefix='n_')
        norm: Any = (lambda: SyncBatchNorm(in_channels=4, num_devices=2)) if sync else (
            lambda: gluon.nn.BatchNorm(in_channels=4))
        with self.name_scope():
            self.add(gluon.nn.Conv1D(4, 2, in_channels=3), norm(), gluon.nn.Activation('relu'),
                     gluon.nn.Conv1D(4, 1, in_channels=4), norm(), gluon.nn.Dense(1, in_units=4))


@pytest.mark.parametrize('one_pass', [True, False])
def test_a_network_on_two_devices_learns_as_on_one(one_pass):
    learnt = []
    for devices in ([mx.cpu(0)], DEVICES):
        mx.random.seed(3)
        np.random.seed(3)
        net = Net(len(devices) == 2)
        net.initialize(mx.init.Xavier(), ctx=devices)
        trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1})
        for _ in range(3):
            shards = gluon.utils.split_and_load(nd.array(X), devices)
            with autograd.record():
                losses = [(y * y).sum() for y in run_on_devices(net, shards)]
            if one_pass:
                autograd.backward(losses)
            else:
                for loss in losses:
                    loss.backward()
            trainer.step(4)
        learnt.append([p.data(mx.cpu(0)).asnumpy() for p in net.collect_params().values()])
    for alone, shared in zip(*learnt, strict=True):
        np.testing.assert_allclose(shared, alone, rtol=2e-3, atol=1e-4)


def test_threads_of_the_program():
    results: list[Any] = [None, None]

    def drive(number: int) -> None:
        with autograd.record():
            y = nd.contrib.SyncBatchNorm(*arrays(number, X[2 * number:2 * number + 2]), key='t', ndev=2)
            results[number] = (y * 2).asnumpy()

    threads = [threading.Thread(target=drive, args=(number,), daemon=True) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    _, expected = both()
    assert results[0].shape == expected[0].shape


def test_threads_that_wait_for_each_other_get_an_error_at_once():
    def wrong(x: Any) -> Any:
        key = f'key of {x.context}'
        return nd.contrib.SyncBatchNorm(x, *(nd.ones(3, ctx=x.context) for _ in range(4)), key=key, ndev=2) + 1

    awaited.PATIENCE = 60.0
    shards = gluon.utils.split_and_load(nd.array(X), DEVICES)
    with autograd.record(), pytest.raises(mx.MXNetError, match='no other device is under way'):
        run_on_devices(wrong, shards)


def test_run_on_devices_raises_what_a_call_raised():
    def fails(x: Any) -> Any:
        raise ValueError(f'no {x.context}')

    with pytest.raises(ValueError, match=r'no cpu\(0\)'):
        run_on_devices(fails, gluon.utils.split_and_load(nd.array(X), DEVICES))
    with pytest.raises(ValueError, match='shorter|longer'):
        run_on_devices(fails, [1], [1, 2])


@pytest.mark.parametrize('fix_gamma', [False, True])
def test_gradients_can_be_differentiated_again(fix_gamma):
    """Those of two devices with parts of one size are those of one device with both, up to the third."""
    random = np.random.default_rng(2)
    x, gamma, beta = random.normal(size=(4, 3, 2)), random.uniform(0.5, 1.5, 3), random.normal(size=3)
    found = []
    for parts in (1, 2):
        shards = [nd.array(p, dtype='float64', ctx=ctx) for p, ctx in zip(np.split(x, parts), DEVICES)]
        variables = [*shards]
        outs = []
        for shard in shards:
            shard.attach_grad()
        with autograd.record():
            for shard in shards:
                g, b, mean, variance = (nd.array(v, dtype='float64', ctx=shard.context)
                                        for v in (gamma, beta, np.zeros(3), np.ones(3)))
                if parts == 1:
                    outs.append(nd.BatchNorm(shard, g, b, mean, variance, fix_gamma=fix_gamma))
                else:
                    outs.append(nd.contrib.SyncBatchNorm(shard, g, b, mean, variance, fix_gamma=fix_gamma, ndev=2,
                                                         key='again'))
            heads = [(out ** 3).sum() for out in outs]
            for _ in range(2):
                heads = [(g ** 2).sum() for g in autograd.grad(heads, variables, create_graph=True)]
        autograd.backward(heads)
        found.append(np.concatenate([shard.grad.asnumpy() for shard in shards]))
    assert np.abs(found[0]).max() > 1
    np.testing.assert_allclose(found[1], found[0], rtol=1e-8, atol=1e-8 * np.abs(found[0]).max())
