"""The symbolic cells: graphs, names and numbers, against MXNet 1.9.1 and against arithmetic of our own."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import warnings

import numpy as np
import pytest

import refengine as mx
from refengine import rnn, sym
from tests.refengine import releases

PROGRAM = """
import json, warnings
warnings.simplefilter('ignore')
R, S = mx.rnn, mx.sym
cells = {
    'rnn': lambda: R.RNNCell(4, 'relu', prefix='a_'), 'lstm': lambda: R.LSTMCell(4, forget_bias=2.0),
    'gru': lambda: R.GRUCell(4), 'residual': lambda: R.ResidualCell(R.GRUCell(5)),
    'zoneout': lambda: R.ZoneoutCell(R.LSTMCell(4), 0.2, 0.3),
    'bidirectional': lambda: R.BidirectionalCell(R.LSTMCell(4, prefix='l_'), R.GRUCell(4, prefix='r_')),
    'fused': lambda: R.FusedRNNCell(4, 2, 'lstm', bidirectional=True, get_next_state=True, prefix='f_'),
    'fused_gru': lambda: R.FusedRNNCell(4, 2, 'gru'),
    'unfused': lambda: R.FusedRNNCell(4, 2, 'rnn_tanh', bidirectional=True, dropout=0.3, prefix='f_').unfuse(),
}
def stack():
    made = R.SequentialRNNCell()
    for cell in (R.LSTMCell(4, prefix='a_'), R.DropoutCell(0.5), R.RNNCell(4, prefix='b_')):
        made.add(cell)
    return made
cells['stack'] = stack
def flat(states):
    return [one for s in states for one in (flat(s) if isinstance(s, list) else [s])]
shapes = {'data': (2, 3, 5)}
seen = {}
for name, make in cells.items():
    for merge in (True, False):
        with mx.name.NameManager():
            outputs, states = make().unroll(3, S.Variable('data'), merge_outputs=merge)
            graph = S.Group((outputs if isinstance(outputs, list) else [outputs]) + flat(states))
            arguments = graph.list_arguments()
            found, results, _ = graph.infer_shape(**shapes)
            row = {'names': graph.get_internals().list_outputs(), 'arguments': arguments, 'attrs': graph.attr_dict(),
                   'shapes': [list(s) for s in found], 'results': [list(s) for s in results]}
            values = np.random.RandomState(0)
            bound = {a: mx.nd.array(values.uniform(-1, 1, s)) for a, s in zip(arguments, found)}
            # A zoneout before the first step takes its state for an output of unknown batch, also in the release.
            row['numbers'] = [[round(float(x), 4) for x in o.asnumpy().ravel()]
                              for o in graph.bind(mx.cpu(), bound).forward()]
            seen['%s/%s' % (name, merge)] = row
for make in (R.ConvRNNCell, R.ConvLSTMCell, R.ConvGRUCell):
    with mx.name.NameManager():
        cell = make((2, 3, 8, 8), 5, i2h_kernel=(5, 5), i2h_stride=(2, 2), i2h_pad=(2, 2), h2h_kernel=(3, 5))
        output, states = cell(S.Variable('data'), cell.begin_state())
        arguments = output.list_arguments()
        found, results, _ = output.infer_shape(data=(2, 3, 8, 8))
        values = np.random.RandomState(0)
        bound = {a: mx.nd.array(values.uniform(-1, 1, s)) for a, s in zip(arguments, found)}
        seen[make.__name__] = {
            'names': S.Group([output] + states).get_internals().list_outputs(), 'shapes': [list(s) for s in found],
            'attrs': output.attr_dict(), 'info': [list(i['shape']) for i in cell.state_info],
            'numbers': [[round(float(x), 3) for x in output.bind(mx.cpu(), bound).forward()[0].asnumpy().ravel()[::7]]]}
print(json.dumps(seen))
"""


@pytest.mark.needs_mxnet
def test_graphs_and_numbers_are_those_of_the_release(tmp_path):
    expected = json.loads(releases.run("mxnet-1.9.1", PROGRAM, tmp_path).splitlines()[-1])
    done = subprocess.run([sys.executable, "-c", "import numpy as np, refengine as mx\n" + PROGRAM], timeout=120,
                          capture_output=True, text=True, check=True)
    actual = json.loads(done.stdout.splitlines()[-1])
    assert len(actual) == 23
    for name, row in expected.items():
        numbers, wanted = actual[name].pop("numbers"), row.pop("numbers")
        assert actual[name] == row, name
        for mine, theirs in zip(numbers, wanted, strict=True):
            np.testing.assert_allclose(mine, theirs, atol=2e-3 if name.startswith("Conv") else 2e-4, err_msg=name)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def test_lstm_computes_its_formulas():
    values = np.random.RandomState(1)
    data, weights = values.randn(2, 3, 5), {"i2h_weight": values.randn(16, 5), "i2h_bias": values.randn(16),
                                            "h2h_weight": values.randn(16, 4), "h2h_bias": values.randn(16)}
    outputs, states = rnn.LSTMCell(4, prefix="x_").unroll(3, sym.Variable("data"), merge_outputs=True)
    bound = {"x_" + name: mx.nd.array(value) for name, value in weights.items()}
    found = sym.Group([outputs, *states]).bind(mx.cpu(), {"data": mx.nd.array(data), **bound}).forward()
    h = c = np.zeros((2, 4))
    for step in range(3):
        gates = (data[:, step] @ weights["i2h_weight"].T + weights["i2h_bias"]
                 + h @ weights["h2h_weight"].T + weights["h2h_bias"])
        i, f, g, o = np.split(gates, 4, axis=1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        np.testing.assert_allclose(found[0].asnumpy()[:, step], h, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found[2].asnumpy(), c, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("mode", ["lstm", "gru", "rnn_tanh", "rnn_relu"])
@pytest.mark.parametrize("layout", ["TNC", "NTC"])
def test_fused_and_single_cells_compute_the_same_from_the_same_weights(mode, layout):
    fused = rnn.FusedRNNCell(3, 2, mode, bidirectional=True, prefix="f_")
    single = fused.unfuse()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        joined = fused.unroll(4, sym.Variable("data"), layout=layout, merge_outputs=True)[0]
    apart = single.unroll(4, sym.Variable("data"), layout=layout, merge_outputs=True)[0]
    data = mx.nd.random.uniform(shape=(4, 2, 5) if layout == "TNC" else (2, 4, 5))
    size = joined.infer_shape(data=data.shape)[0][1]
    vector = {"f_parameters": mx.nd.random.uniform(-0.5, 0.5, size), "other": mx.nd.ones((1,))}
    weights = single.pack_weights(fused.unpack_weights(vector))
    again = fused.pack_weights(single.unpack_weights(weights))
    assert (again["f_parameters"] == vector["f_parameters"]).asnumpy().all()
    assert sorted(again) == ["f_parameters", "other"]
    first = joined.bind(mx.cpu(), {"data": data, "f_parameters": vector["f_parameters"]}).forward()[0].asnumpy()
    weights.pop("other")
    second = apart.bind(mx.cpu(), {"data": data, **weights}).forward()[0].asnumpy()
    np.testing.assert_allclose(first, second, atol=1e-5)


def test_a_shared_cell_has_its_weights_once():
    params = rnn.RNNParams("s_")
    first, second = rnn.GRUCell(3, params=params), rnn.GRUCell(3, params=params)
    outputs, _ = second.unroll(1, first.unroll(1, sym.Variable("data"))[0])
    assert outputs[0].list_arguments().count("s_i2h_weight") == 1


@pytest.mark.parametrize(("wrong", "error", "fragment"), [
    (lambda: rnn.FusedRNNCell(3, mode="x"), ValueError, "one of rnn_relu, rnn_tanh, lstm, gru, got 'x'"),
    (lambda: rnn.FusedRNNCell(3)(sym.var("x"), []), NotImplementedError, "Please use unroll"),
    (lambda: rnn.BidirectionalCell(rnn.RNNCell(1), rnn.RNNCell(1))(sym.var("x"), []), NotImplementedError, "unroll"),
    (lambda: rnn.ZoneoutCell(rnn.FusedRNNCell(3)), AssertionError, "Please unfuse first"),
    (lambda: rnn.DropoutCell("a"), AssertionError, "must be a number"),
    (lambda: rnn.RNNCell(3).unroll(2, [sym.var("x")]), AssertionError, "expected 2 inputs"),
    (lambda: rnn.RNNCell(3).unroll(2, sym.Group([sym.var("x"), sym.var("y")])), AssertionError, "grouped symbol"),
    (lambda: rnn.ConvRNNCell((1, 3, 8, 8), 2, h2h_kernel=(2, 3)), AssertionError, "Only support odd number"),
    (lambda: rnn.ConvRNNCell((0, 3, 8, 8), 2), mx.MXNetError, "every dimension known"),
    (lambda: rnn.BucketSentenceIter([[1]], 1, layout="XX"), ValueError, "Invalid layout XX"),
    (lambda: rnn.BucketSentenceIter([[1]], 2), ValueError, "no bucket"),
    (lambda: rnn.encode_sentences([["q"]], vocab={"a": 1}), AssertionError, "Unknown token q"),
])
def test_wrong_use(wrong, error, fragment):
    with pytest.raises(error, match=fragment):
        wrong()


def test_a_modified_cell_is_used_through_its_modifier():
    cell = rnn.RNNCell(3)
    outer = rnn.ResidualCell(cell)
    with pytest.raises(AssertionError, match="Call the modifier cell instead"):
        cell.begin_state()
    assert [state.name for state in outer.begin_state()] == ["rnn_begin_state_0"]


def test_sentences_become_batches_of_one_length_with_the_next_word_as_label():
    sentences, vocabulary = rnn.encode_sentences([["a", "b", "c"], ["b"], ["c", "a"], ["a", "a"], list("abcabc")],
                                                 invalid_label=0, start_label=1)
    assert vocabulary == {"\n": 0, "a": 1, "b": 2, "c": 3}
    random.seed(0)
    np.random.seed(0)
    batches = rnn.BucketSentenceIter(sentences, 2, buckets=[4, 2], invalid_label=0, layout="TN", dtype="int32")
    assert batches.default_bucket_key == 4
    assert batches.provide_data[0].shape == (4, 2)
    (batch,) = list(batches)
    assert batch.bucket_key == 2
    data, label = batch.data[0].asnumpy(), batch.label[0].asnumpy()
    assert data.dtype == np.int32
    assert sorted(map(tuple, data.T)) in ([(1, 1), (3, 1)], [(1, 1), (2, 0)], [(2, 0), (3, 1)])
    assert (label[0] == data[1]).all()
    assert (label[1] == 0).all()
    batches.reset()
    assert len(list(batches)) == 1


def test_checkpoints_hold_every_gate_by_itself(tmp_path):
    cell = rnn.LSTMCell(2, prefix="x_")
    outputs, _ = cell.unroll(2, sym.Variable("data"), merge_outputs=True)
    names, shapes = outputs.list_arguments(), outputs.infer_shape(data=(1, 2, 3))[0]
    weights = {n: mx.nd.random.uniform(shape=s) for n, s in zip(names, shapes, strict=True) if n != "data"}
    prefix = str(tmp_path / "model")
    save = rnn.do_rnn_checkpoint(cell, prefix, period=2)
    save(0, outputs, weights, {})
    assert list(tmp_path.iterdir()) == []
    save(1, outputs, weights, {})
    assert "arg:x_i2h_f_bias" in mx.nd.load(prefix + "-0002.params")
    symbol, loaded, _ = rnn.load_rnn_checkpoint(cell, prefix, 2)
    assert symbol.list_arguments() == names
    assert all((loaded[n] == w).asnumpy().all() for n, w in weights.items())
