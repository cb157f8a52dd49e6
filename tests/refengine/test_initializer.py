"""Initializers: what they write, how the name decides, how they are named and made."""

from __future__ import annotations

import json
import logging
import math
import warnings

import numpy as np
import pytest

import refengine as mx
from refengine import initializer, nd
from refengine.initializer import InitDesc


def fill(init, name, shape, attrs=None, dtype='float32'):
    array = nd.full(shape, 7, dtype=dtype)
    init(InitDesc(name, attrs), array)
    return array.asnumpy()


@pytest.mark.parametrize(('name', 'expected'), [
    ('x_weight', 3), ('x_bias', 0), ('x_gamma', 1), ('x_beta', 0), ('x_min', 0), ('x_max', 1), ('x_bias_quantize', 0),
    ('stn_loc_weight', 3), ('upsampling_weight', 3)])
def test_the_name_decides(name, expected):
    assert fill(mx.init.Constant(3), name, (2,)).tolist() == [expected] * 2


@pytest.mark.parametrize('name', ['foo', 'x_moving_mean', 'x_running_var', 'x_alpha'])
def test_unknown_names(name):
    with pytest.raises(ValueError, match=f'Unknown initialization pattern for {name}'):
        fill(mx.init.Constant(3), name, (2,))


@pytest.mark.parametrize(('name', 'shape', 'expected'), [
    ('x_weight', (2,), [3, 3]), ('x_bias', (2,), [0, 0]), ('x_moving_mean', (1,), [0]), ('x_moving_var', (1,), [1]),
    ('x_moving_inv_var', (1,), [0]), ('x_moving_avg', (1,), [0]), ('stn_loc_weight', (2,), [0, 0]),
    ('stn_loc_bias', (6,), [1, 0, 0, 0, 1, 0])])
def test_plain_names(name, shape, expected):
    array = nd.full(shape, 7)
    with pytest.warns(DeprecationWarning, match='has been deprecated'):
        mx.init.Constant(3)(name, array)
    assert array.asnumpy().tolist() == expected


def test_wrong_types():
    for arguments, fragment in (((5, nd.ones(2)), 'name must be string'), (('x_weight', 5), 'arr must be NDArray')):
        with pytest.warns(DeprecationWarning, match='deprecated'), pytest.raises(TypeError, match=fragment):
            mx.init.One()(*arguments)


def test_attributes_come_before_names():
    assert fill(mx.init.Constant(3), 'x_bias', (2,), {'__init__': '["one", {}]'}).tolist() == [1, 1]
    assert fill(mx.init.Constant(3), 'x_bias', (2,), {'__init__': mx.init.One()}).tolist() == [1, 1]


def test_quantized_weights():
    values = fill(mx.init.One(), 'x_weight_quantize', (1000,))
    assert set(values) <= set(range(-127, 128))
    assert len(set(values)) > 100


class TestDistributions:
    def test_uniform_and_normal(self):
        mx.random.seed(0)
        values = fill(mx.init.Uniform(0.5), 'x_weight', (200, 200))
        assert -0.5 <= values.min() < -0.49
        assert 0.49 < values.max() <= 0.5
        values = fill(mx.init.Normal(0.3), 'x_weight', (200, 200))
        np.testing.assert_allclose([values.mean(), values.std()], [0, 0.3], atol=0.01)
        mx.random.seed(0)
        again = fill(mx.init.Uniform(0.5), 'x_weight', (200, 200))
        mx.random.seed(0)
        assert (again == fill(mx.init.Uniform(0.5), 'x_weight', (200, 200))).all()

    @pytest.mark.parametrize(('kind', 'factor', 'count'), [
        ('uniform', 'avg', (300 * 9 + 200 * 9) / 2), ('gaussian', 'in', 300 * 9), ('gaussian', 'out', 200 * 9)])
    def test_xavier(self, kind, factor, count):
        mx.random.seed(0)
        values = fill(mx.init.Xavier(kind, factor, 2), 'x_weight', (200, 300, 3, 3))
        scale = math.sqrt(2 / count)
        if kind == 'uniform':
            np.testing.assert_allclose(np.abs(values).max(), scale, rtol=1e-3)
            scale /= math.sqrt(3)
        np.testing.assert_allclose(values.std(), scale, rtol=0.01)

    def test_msra_prelu(self):
        mx.random.seed(0)
        values = fill(mx.init.MSRAPrelu('out', 0.5), 'x_weight', (200, 300))
        np.testing.assert_allclose(values.std(), math.sqrt(2 / 1.25 / 200), rtol=0.02)

    @pytest.mark.parametrize('kind', ['uniform', 'normal'])
    @pytest.mark.parametrize('shape', [(20, 3, 5), (6, 30), (8, 8)])
    def test_orthogonal(self, kind, shape):
        values = fill(mx.init.Orthogonal(2.0, kind), 'x_weight', shape).reshape(shape[0], -1)
        if values.shape[0] > values.shape[1]:
            values = values.T
        np.testing.assert_allclose(values @ values.T, 4 * np.eye(len(values)), atol=1e-5)

    def test_errors(self):
        with pytest.raises(ValueError, match='Xavier initializer cannot be applied to vector x_weight'):
            fill(mx.init.Xavier(), 'x_weight', (2,))
        with pytest.raises(ValueError, match='Unknown random type'):
            fill(mx.init.Xavier('foo'), 'x_weight', (2, 2))
        with pytest.raises(ValueError, match='Incorrect factor type'):
            fill(mx.init.Xavier(factor_type='foo'), 'x_weight', (2, 2))
        with pytest.raises(ValueError, match="rand_type must be 'uniform' or 'normal'"):
            fill(mx.init.Orthogonal(rand_type='foo'), 'x_weight', (2, 2))
        with pytest.raises(NotImplementedError, match='Must override it'):
            fill(mx.init.Initializer(), 'x_weight', (2,))


class TestFixedValues:
    def test_constants(self):
        for value in (2.5, [1, 2], nd.array([1, 2]), np.array([1.0, 2.0])):
            values = fill(mx.init.Constant(value), 'x_weight', (2,)).tolist()
            assert values == ([2.5, 2.5] if value is not None and not np.ndim(
                value.asnumpy() if isinstance(value, nd.NDArray) else value) else [1, 2])
        with pytest.raises(ValueError, match='could not be broadcast'):
            fill(mx.init.Constant([1, 2, 3]), 'x_weight', (2,))
        assert fill(mx.init.Zero(), 'x_weight', (1,)).tolist() == [0]

    def test_lstm_bias(self):
        assert fill(mx.init.LSTMBias(2.0), 'x_weight', (8,)).tolist() == [0, 0, 2, 2, 0, 0, 0, 0]

    def test_bilinear(self):
        """The weights of 1.9.1; odd sizes are not centred there either."""
        row = np.array([0.25, 0.75, 0.75, 0.25])
        values = fill(mx.init.Bilinear(), 'x_weight', (2, 1, 4, 4))
        np.testing.assert_allclose(values, np.broadcast_to(np.outer(row, row), (2, 1, 4, 4)))
        row = np.array([0.25, 0.75, 0.75])
        np.testing.assert_allclose(fill(mx.init.Bilinear(), 'x_weight', (1, 1, 3, 3))[0, 0], np.outer(row, row))

    def test_types_are_kept(self):
        for init in (mx.init.Uniform(), mx.init.Normal(), mx.init.One()):
            array = nd.zeros((2, 2), dtype='float64')
            init(InitDesc('x_weight'), array)
            assert array.dtype == np.float64


class TestCombinations:
    def test_mixed(self):
        init = mx.init.Mixed(['.*bias', '.*'], [mx.init.One(), mx.init.Constant(4)])
        assert fill(init, 'x_weight', (2,)).tolist() == [4, 4]
        with pytest.raises(ValueError, match='x_weight did not match any pattern'):
            fill(mx.init.Mixed(['.*bias'], [mx.init.One()]), 'x_weight', (2,))
        with pytest.raises(AssertionError):
            mx.init.Mixed(['.*'], [])

    def test_load(self, tmp_path):
        file = str(tmp_path / 'p')
        nd.save(file, {'arg:w': nd.array([5, 6]), 'b': nd.ones(3)})
        init = mx.init.Load(file, mx.init.Constant(9))
        assert fill(init, 'w', (2,)).tolist() == [5, 6]
        assert fill(init, 'x_weight', (2,)).tolist() == [9, 9]
        with pytest.raises(AssertionError, match=r'Shape mismatch, target \(2,\) vs loaded \(3,\)'):
            fill(init, 'b', (2,))
        with pytest.raises(AssertionError, match='Cannot Initialize x_weight'):
            fill(mx.init.Load({}), 'x_weight', (2,))


class TestRegistry:
    @pytest.mark.parametrize(('init', 'text'), [
        (mx.init.Zero(), '["zero", {}]'), (mx.init.Constant(2.5), '["constant", {"value": 2.5}]'),
        (mx.init.Uniform(), '["uniform", {"scale": 0.07}]'), (mx.init.Normal(), '["normal", {"sigma": 0.01}]'),
        (mx.init.Orthogonal(), '["orthogonal", {"scale": 1.414, "rand_type": "uniform"}]'),
        (mx.init.Xavier(), '["xavier", {"rnd_type": "uniform", "factor_type": "avg", "magnitude": 3}]'),
        (mx.init.MSRAPrelu(), '["msraprelu", {"factor_type": "avg", "slope": 0.25}]'),
        (mx.init.Bilinear(), '["bilinear", {}]'), (mx.init.LSTMBias(), '["lstmbias", {"forget_bias": 1.0}]'),
        (mx.init.Constant(nd.array([1, 2])), '["constant", {"value": [1.0, 2.0]}]')])
    def test_text_and_back(self, init, text):
        assert init.dumps() == text
        assert initializer.create(text) == init
        name, arguments = json.loads(text)
        assert initializer.create(name, **arguments) == init
        assert initializer.create({'initializer': name, **arguments}) == init

    def test_names(self):
        for name, kind in (('zeros', 'Zero'), ('ones', 'One'), ('Normal', 'Normal'), ('UNIFORM', 'Uniform')):
            assert type(initializer.create(name)).__name__ == kind
        one = mx.init.One()
        assert initializer.create(one) is one

    @pytest.mark.parametrize(('arguments', 'fragment'), [
        (('foo',), 'foo is not registered. Please register with initializer.register first'),
        ((mx.init.One(), 3), 'initializer is already an instance'), ((5,), 'initializer must be of string type')])
    def test_errors(self, arguments, fragment):
        with pytest.raises(AssertionError, match=fragment):
            initializer.create(*arguments)

    def test_own(self):
        class Mine(mx.init.Initializer):
            def _init_weight(self, name, arr):
                arr[:] = 42

        with warnings.catch_warnings():
            warnings.simplefilter('error')
            assert initializer.register(Mine) is Mine
        assert fill(initializer.create('mine'), 'x_weight', (1,)).tolist() == [42]
        with pytest.warns(UserWarning, match='registered with name mine is overriding existing initializer'):
            initializer.register(Mine)
        initializer.alias('another', 'third')(Mine)
        assert type(initializer.create('third')) is Mine
        with pytest.raises(AssertionError, match='Can only register subclass of Initializer'):
            initializer.register(int)

    def test_equality(self):
        assert mx.init.One() == mx.init.One()
        assert mx.init.Constant(2) != mx.init.Constant(3)
        assert mx.init.One() != mx.init.Zero()


def test_verbose(caplog):
    caplog.set_level(logging.INFO)
    init = mx.init.One().set_verbosity(True)
    fill(init, 'x_weight', (2,))
    assert 'Initialized x_weight as weight: 1.0' in caplog.text
    init.set_verbosity(True, lambda array: f'sum {array.sum().asscalar()}')
    fill(init, 'x_weight', (2,))
    assert 'sum 2.0' in caplog.text


class TestFusedRNN:
    class Counting(mx.init.Initializer):
        """Writes how many arrays it has filled, and remembers their names and shapes."""

        def __init__(self):
            super().__init__()
            self.seen = []

        def __call__(self, desc, arr):
            self.seen.append((str(desc), arr.shape))
            arr[:] = len(self.seen)

    def fill(self, size, *arguments, **options):
        init = self.Counting()
        vector = mx.nd.zeros((size,))
        mx.init.FusedRNN(init, *arguments, **options)._init_weight(mx.init.InitDesc('parameters'), vector)
        return init.seen, vector.asnumpy()

    def test_gates_stand_in_the_order_of_the_operator(self):
        seen, values = self.fill(2 * 4 * 2 * (3 + 2 + 2) + 2 * 4 * 2 * (4 + 2 + 2), 2, 2, 'lstm', True, 0.5)
        assert seen[0] == ('l0_i2h_i_weight', (2, 3))
        assert seen[16] == ('l1_i2h_i_weight', (2, 4))
        assert seen[31:34] == [('r1_h2h_o_weight', (2, 2)), ('l0_i2h_i_bias', (2,)), ('l0_i2h_c_bias', (2,))]
        assert values[:12].tolist() == [1] * 6 + [2] * 6
        assert values[-64:-54].tolist() == [33] * 2 + [0.5] * 2 + [34] * 2 + [35] * 2 + [36] * 2

    def test_gru_and_plain(self):
        seen, values = self.fill(3 * 2 * 7, 2, 1, 'gru')
        assert [name for name, _ in seen[:4]] == ['l0_i2h_r_weight', 'l0_i2h_z_weight', 'l0_i2h_o_weight',
                                                  'l0_h2h_r_weight']
        assert values[-2:].tolist() == [12, 12]
        seen, _ = self.fill(2 * 7, 2, 1, 'rnn_tanh')
        assert [name for name, _ in seen] == ['l0_i2h_weight', 'l0_h2h_weight', 'l0_i2h_bias',
                                          'l0_h2h_bias']

    def test_as_text(self):
        init = mx.init.FusedRNN(mx.init.Xavier(), 2, 1, 'lstm')
        assert init.dumps() == (
            r'["fusedrnn", {"init": "[\"xavier\", {\"rnd_type\": \"uniform\", \"factor_type\": \"avg\", \"magnitude\": '
            r'3}]", "num_hidden": 2, "num_layers": 1, "mode": "lstm", "bidirectional": false, "forget_bias": 1.0}]')
        vector = mx.nd.zeros((56,))
        initializer.create(init.dumps())._init_weight(mx.init.InitDesc('p'), vector)
        assert (vector.asnumpy()[:40] != 0).all()

    def test_a_vector_that_does_not_fit(self):
        with pytest.raises(ValueError, match='a vector of 57 parameters does not fit 1 layers of mode lstm'):
            self.fill(57, 2, 1, 'lstm')
