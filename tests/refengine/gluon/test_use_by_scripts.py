"""What scripts do that were written for the releases."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import refengine as mx
from refengine import autograd, gluon, nd


@pytest.mark.parametrize("place", [mx.Context("cpu_shared", 0), mx.cpu_pinned()], ids=str)
def test_batches_in_shared_and_pinned_memory_go_through_a_network(place):
    """As loaders with workers make them; the release takes them in networks that are not hybridized."""
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Conv2D(2, 3), gluon.nn.BatchNorm(), gluon.nn.Dense(3))
    net.initialize()
    with autograd.record():
        result = net(nd.ones((2, 3, 6, 6), ctx=place)).sum()
    result.backward()
    assert net[0].weight.grad().shape == (2, 3, 3, 3)
    assert net[0].weight.data(place).context == mx.cpu(0)
    layer = gluon.rnn.LSTM(4)
    layer.initialize()
    assert layer(nd.ones((2, 3, 4), ctx=place)).shape == (2, 3, 4)


def test_a_network_trains_on_the_batches_of_loader_processes():
    data = gluon.data.ArrayDataset(np.ones((4, 3), "float32"), np.zeros(4, "float32"))
    net = gluon.nn.Dense(2)
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd")
    for batch, label in gluon.data.DataLoader(data, 2, num_workers=1):
        with autograd.record():
            loss = gluon.loss.SoftmaxCrossEntropyLoss()(net(batch), label)
        loss.backward()
        trainer.step(2)
    assert net.weight.data().shape == (2, 3)


@pytest.mark.parametrize(("start", "expected"), [(0.0, [3.0]), (1.0, [3.0])])
def test_while_loop_takes_one_bare_array(start, expected):
    _, last = nd.contrib.while_loop(lambda i: i < 3, lambda i: (i, i + 1), nd.array([start]), max_iterations=4)
    assert last.asnumpy().tolist() == expected
    _, last = nd.contrib.while_loop(lambda i: i.sum() < 7, lambda i: (i, i + 1), nd.ones(2), max_iterations=4)
    assert last.asnumpy().tolist() == [4.0, 4.0]


@pytest.mark.parametrize(("flags", "fragment"), [
    ({"static_alloc": "yes"}, "Invalid Parameter format for static_alloc expect boolean but value='yes'"),
    ({"static_shape": 2}, "Invalid Parameter format for static_shape expect boolean"),
    ({"inline_limit": "x"}, "Invalid Parameter format for inline_limit expect int"),
    ({"inline_limit": -1}, "inline_limit should be greater equal to 0"),
])
def test_hybridize_refuses_flags_of_another_kind(flags, fragment):
    net = gluon.nn.Dense(2)
    with pytest.raises(mx.MXNetError, match=fragment):
        net.hybridize(**flags)
    assert not net._active


def test_a_symbol_that_cannot_be_written_names_the_file(tmp_path):
    with pytest.raises(mx.MXNetError, match=r'Open ".*gone/x.json": No such file'):
        mx.sym.var("a").save(str(tmp_path / "gone" / "x.json"))


def test_a_crop_that_begins_outside_says_so():
    with pytest.raises(mx.MXNetError, match="x must not be negative, got -1"):
        nd.image.crop(nd.ones((4, 4, 3)), -1, 0, 2, 2)


def test_run_has_help():
    done = subprocess.run([sys.executable, "-m", "refengine", "run", "--help"], capture_output=True, text=True,
                          timeout=60, check=True)
    assert done.stdout.startswith("usage: python -m refengine run SCRIPT.py")
