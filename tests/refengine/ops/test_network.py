"""Dropout, softmax with lengths, CTC, embedding, outputs: what the gradient checks do not reach."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import refengine as mx
from refengine import autograd, nd


class TestDropout:
    def test_prediction_gives_the_input(self):
        x = nd.array(np.arange(12.0).reshape(3, 4))
        assert (nd.Dropout(x, p=0.5).asnumpy() == x.asnumpy()).all()
        with autograd.record(train_mode=False):
            assert (nd.Dropout(x, p=0.5).asnumpy() == x.asnumpy()).all()

    @pytest.mark.parametrize('p', [0.5, 0.3])
    def test_share_and_scale(self, p):
        mx.random.seed(3)
        x = nd.ones((300, 1000))
        x.attach_grad()
        with autograd.record():
            y = nd.Dropout(x, p=p)
        y.backward()
        values = y.asnumpy()
        kept = values != 0
        np.testing.assert_allclose(values[kept], 1 / (1 - p), rtol=1e-6)
        assert abs(kept.mean() - (1 - p)) < 5 * (p * (1 - p) / values.size) ** 0.5
        assert (x.grad.asnumpy() == values).all()          # the mask of the forward pass

    def test_decisions_are_independent(self):
        mx.random.seed(4)
        kept = nd.Dropout(nd.ones((1000, 400)), p=0.5, mode='always').asnumpy() != 0
        for shift in (1, 2, 3, 4, 400):
            flat = kept.reshape(-1)
            together = (flat[shift:] & flat[:-shift]).mean()
            assert abs(together - 0.25) < 0.005

    def test_axes_share_a_decision(self):
        mx.random.seed(0)
        y = nd.Dropout(nd.ones((50, 6, 3)), p=0.5, mode='always', axes=(1,)).asnumpy()
        assert (y == y[:, :1]).all()
        assert 0 < (y != 0).mean() < 1

    def test_extremes_and_errors(self):
        x = nd.ones((2, 3))
        assert nd.Dropout(x, p=0, mode='always').asnumpy().tolist() == [[1] * 3] * 2
        assert nd.Dropout(x, p=1, mode='always').asnumpy().tolist() == [[0] * 3] * 2
        for p in (1.5, -0.5):
            with pytest.raises(mx.MXNetError, match=r'for Parameter p exceed bound \[0,1\]'):
                nd.Dropout(x, p=p)
        with pytest.raises(mx.MXNetError, match='must be in range'):
            nd.Dropout(x, p=0.5, axes=(5,))
        with pytest.raises(mx.MXNetError, match='only support floating point types'):
            nd.Dropout(x.astype('int32'))

    def test_seeded(self):
        draws = []
        for _ in range(2):
            mx.random.seed(11)
            draws.append(nd.Dropout(nd.ones(50), p=0.4, mode='always').asnumpy().tolist())
        assert draws[0] == draws[1]


class TestSoftmax:
    def test_length(self):
        x = nd.array([[1, 2, 3], [1, 1, 5]])
        y = nd.softmax(x, nd.array([2, 0], dtype='int32'), use_length=True).asnumpy()
        np.testing.assert_allclose(y, [[0.2689414, 0.7310586, 0], [0, 0, 0]], rtol=1e-6)
        along = nd.softmax(x, nd.array([1, 2, 1], dtype='int32'), use_length=True, axis=0).asnumpy()
        np.testing.assert_allclose(along, [[1, 0.7310586, 1], [0, 0.2689414, 0]], rtol=1e-6)

    def test_gradient_beyond_the_length_is_zero(self):
        x = nd.array([[1, 2, 3]])
        x.attach_grad()
        with autograd.record():
            y = nd.softmax(x, nd.array([2], dtype='int32'), use_length=True)
        y.backward(nd.array([[1, 0, 7]]))
        np.testing.assert_allclose(x.grad.asnumpy(), [[0.1966119, -0.1966119, 0]], rtol=1e-5)

    def test_types(self):
        x = nd.ones((2, 3), dtype='float16')
        assert nd.softmax(x).dtype == np.float16
        assert nd.softmax(x, dtype='float32').dtype == np.float32
        x.attach_grad()
        with autograd.record():
            y = nd.softmax(x, dtype='float32')
        y.backward()
        assert x.grad.dtype == np.float16
        with pytest.raises(mx.MXNetError, match='only support floating point types, not int32'):
            nd.softmax(x.astype('int32'))
        with pytest.raises(mx.MXNetError, match='exceeds the input dimension'):
            nd.softmax(x, axis=5)

    def test_extremes(self):
        np.testing.assert_allclose(nd.softmax(nd.array([1000.0, 0.0])).asnumpy(), [1, 0])
        np.testing.assert_allclose(nd.log_softmax(nd.array([1000.0, 0.0])).asnumpy(), [0, -1000])
        assert nd.softmax(nd.array([-np.inf, 0.0])).asnumpy().tolist() == [0, 1]


def alignments(label, steps, blank, classes):
    """All class sequences that become the label when repetitions are joined and blanks dropped."""
    for path in itertools.product(range(classes), repeat=steps):
        joined = [c for c, before in zip(path, (None, *path)) if c != before]
        if [c for c in joined if c != blank] == label:
            yield path


class TestCTC:
    @pytest.mark.parametrize(('label', 'blank'), [([1, 2], 'first'), ([1, 1], 'first'), ([2], 'first'), ([], 'first'),
                                                  ([0, 1], 'last'), ([1, 0, 1], 'last')])
    def test_sums_over_all_alignments(self, label, blank):
        steps, classes = 4, 3
        data = np.random.default_rng(2).normal(size=(steps, classes))
        log = data - np.log(np.exp(data).sum(axis=1, keepdims=True))
        empty = 0 if blank == 'first' else classes - 1
        total = sum(np.exp(sum(log[t, c] for t, c in enumerate(path)))
                    for path in alignments(label, steps, empty, classes))
        padded = label + [0 if blank == 'first' else -1] * (4 - len(label))
        loss = nd.CTCLoss(nd.array(data[:, None], dtype='float64'), nd.array([padded]), blank_label=blank)
        np.testing.assert_allclose(loss.asscalar(), -np.log(total), rtol=1e-10)

    def test_no_alignment(self):
        data = nd.ones((2, 1, 3))
        data.attach_grad()
        with autograd.record():
            loss = nd.CTCLoss(data, nd.array([[1, 1, 2]]))
        loss.backward()
        assert loss.asscalar() == 0
        assert not data.grad.asnumpy().any()

    def test_lengths(self):
        random = np.random.default_rng(5)
        data = random.normal(size=(5, 2, 4))
        whole = nd.CTCLoss(nd.array(data[:3, :1], dtype='float64'), nd.array([[1, 2]]))
        part = nd.CTCLoss(nd.array(data, dtype='float64'), nd.array([[1, 2, 3], [3, 2, 1]]), nd.array([3, 5]),
                          nd.array([2, 3]), use_data_lengths=True, use_label_lengths=True)
        np.testing.assert_allclose(part.asnumpy()[0], whole.asscalar())

    @pytest.mark.parametrize(('lengths', 'fragment'), [
        (((6, 3), (1, 1)), 'data_lengths must be from 1 to 5'), (((0, 3), (1, 1)), 'data_lengths'),
        (((5, 3), (4, 1)), 'label_lengths must be from 0 to 3')])
    def test_lengths_out_of_range(self, lengths, fragment):
        with pytest.raises(mx.MXNetError, match=fragment):
            nd.CTCLoss(nd.ones((5, 2, 4)), nd.ones((2, 3)), *map(nd.array, lengths), use_data_lengths=True,
                       use_label_lengths=True)

    def test_errors(self):
        with pytest.raises(mx.MXNetError, match='must be of rank 3'):
            nd.CTCLoss(nd.ones((2, 3)), nd.ones((3, 2)))
        with pytest.raises(mx.MXNetError, match='labels array must be of rank 2'):
            nd.CTCLoss(nd.ones((2, 3, 4)), nd.ones((2, 2)))
        with pytest.raises(mx.MXNetError, match='label must be from 0 to 3'):
            nd.CTCLoss(nd.ones((2, 1, 4)), nd.array([[9, 0]]))


class TestEmbedding:
    def test_repeated_rows_add_up(self):
        weight = nd.array(np.arange(8.0).reshape(4, 2))
        weight.attach_grad()
        index = nd.array([[1, 3], [1, 1]])
        with autograd.record():
            out = nd.Embedding(index, weight, input_dim=4, output_dim=2)
        out.backward(nd.array(np.arange(8.0).reshape(2, 2, 2)))
        assert out.asnumpy()[0].tolist() == [[2, 3], [6, 7]]
        assert weight.grad.asnumpy().tolist() == [[0, 0], [10, 13], [0, 0], [2, 3]]

    def test_many_rows(self):
        random = np.random.default_rng(0)
        index, above = random.integers(0, 50, (30, 20)), random.normal(size=(30, 20, 8))
        weight = nd.array(random.normal(size=(50, 8)), dtype='float64')
        weight.attach_grad()
        with autograd.record():
            out = nd.Embedding(nd.array(index), weight, input_dim=50, output_dim=8, dtype='float64')
        out.backward(nd.array(above, dtype='float64'))
        expected = np.zeros((50, 8))
        np.add.at(expected, index, above)
        np.testing.assert_allclose(weight.grad.asnumpy(), expected)

    def test_wrong_weight(self):
        with pytest.raises(mx.MXNetError, match=r'Provided = \[3,2\], inferred shape=\(4,2\)'):
            nd.Embedding(nd.array([1]), nd.ones((3, 2)), input_dim=4, output_dim=2)


class TestFullyConnected:
    @pytest.mark.parametrize(('shapes', 'params', 'fragment'), [
        (((2, 3), (5, 4), (5,)), {}, r'Provided = \[5,4\], inferred shape=\(5,3\)'),
        (((2, 3), (5, 3), (4,)), {}, r'Unexpected shape for bias \[4\]'),
        (((2, 3), (5, 3), (5,)), {'no_bias': True}, 'expects 2 inputs, but got 3'),
        (((2, 3), (5, 3)), {}, 'expects 3 inputs, but got 2'),
    ])
    def test_errors(self, shapes, params, fragment):
        with pytest.raises(mx.MXNetError, match=fragment):
            nd.FullyConnected(*map(nd.ones, shapes), num_hidden=5, **params)

    def test_errors_of_types(self):
        x, w, b = nd.ones((2, 3)), nd.ones((5, 3)), nd.ones(5)
        with pytest.raises(mx.MXNetError, match='Incompatible attr in node'):
            nd.FullyConnected(x, w.astype('float64'), b, num_hidden=5)
        with pytest.raises(mx.MXNetError, match='Unsupported type'):
            nd.FullyConnected(*(a.astype('int32') for a in (x, w, b)), num_hidden=5)
        with pytest.raises(mx.MXNetError, match='Required parameter num_hidden'):
            nd.FullyConnected(x, w, b)

    def test_memory_order_of_the_input_does_not_matter(self):
        values = np.random.default_rng(0).normal(size=(2, 3, 4, 5)).astype('float32')
        weight = nd.array(np.random.default_rng(1).normal(size=(6, 60)))
        x = nd.array(values)
        expected = nd.FullyConnected(x, weight, no_bias=True, num_hidden=6).asnumpy()
        x._data = np.ascontiguousarray(values.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
        assert (nd.FullyConnected(x, weight, no_bias=True, num_hidden=6).asnumpy() == expected).all()


class TestOutputs:
    def test_softmax_output_ignores_what_comes_from_above(self):
        x, label = nd.array([[1, 2, 3]]), nd.array([2])
        x.attach_grad()
        with autograd.record():
            y = nd.SoftmaxOutput(x, label) * 100
        y.backward()
        np.testing.assert_allclose(x.grad.asnumpy(), [[0.0900306, 0.2447285, -0.3347592]], rtol=1e-5)

    def test_out_grad_multiplies(self):
        x, label = nd.array([[1, 2, 3]]), nd.array([2])
        x.attach_grad()
        with autograd.record():
            y = nd.SoftmaxOutput(x, label, out_grad=True)
        y.backward(nd.array([[2, 0, 1]]))
        np.testing.assert_allclose(x.grad.asnumpy(), [[2 * 0.0900306, 0, -0.3347592]], rtol=1e-5)

    def test_wrong_labels(self):
        with pytest.raises(mx.MXNetError, match='Shape inconsistent'):
            nd.SoftmaxOutput(nd.ones((2, 3)), nd.ones(3))
        with pytest.raises(mx.MXNetError, match='Shape inconsistent'):
            nd.LinearRegressionOutput(nd.ones((2, 3)), nd.ones((2, 4)))


class TestActivations:
    def test_rrelu(self):
        mx.random.seed(0)
        x = nd.full((1000,), -1.0)
        x.attach_grad()
        with autograd.record():
            y = nd.LeakyReLU(x, act_type='rrelu', lower_bound=0.1, upper_bound=0.3)
        y.backward()
        slopes = -y.asnumpy()
        assert slopes.min() >= 0.1
        assert slopes.max() <= 0.3
        assert slopes.std() > 0.03
        np.testing.assert_allclose(x.grad.asnumpy(), slopes)
        np.testing.assert_allclose(nd.LeakyReLU(x, act_type='rrelu', lower_bound=0.1, upper_bound=0.3).asnumpy(), -0.2,
                                   rtol=1e-6)

    def test_errors(self):
        with pytest.raises(mx.MXNetError, match='Required parameter act_type'):
            nd.Activation(nd.ones(3))
        with pytest.raises(mx.MXNetError, match='expects 2 inputs, but got 1'):
            nd.LeakyReLU(nd.ones((2, 3)), act_type='prelu')
        with pytest.raises(mx.MXNetError, match='Cannot broadcast gamma to data'):
            nd.LeakyReLU(nd.ones((2, 4, 3)), nd.ones(3), act_type='prelu')
        with pytest.raises(mx.MXNetError, match='only support floating point types'):
            nd.Activation(nd.ones(3, dtype='int32'), act_type='relu')

    def test_large_arrays_take_the_pooled_way(self):
        values = np.random.default_rng(0).normal(size=(64, 512)).astype('float32')
        x = nd.array(values)
        x.attach_grad()
        with autograd.record():
            y = nd.Activation(x, act_type='relu')
        y.backward(nd.array(values))
        assert (x.grad.asnumpy() == np.where(values > 0, values, 0)).all()
