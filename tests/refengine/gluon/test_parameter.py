"""Parameters, constants and dicts of parameters."""

from __future__ import annotations

import numpy as np
import pytest

import refengine as mx
from refengine import autograd, gluon, nd
from refengine.gluon import Constant, Parameter, ParameterDict


def made(ctx=None, **options):
    parameter = Parameter('w', **options)
    parameter.initialize(ctx=ctx)
    return parameter


def deferred():
    return made(shape=(0, 2), allow_deferred_init=True)


class TestBeforeInitialisation:
    @pytest.mark.parametrize('method', ['data', 'grad', 'list_data', 'list_grad', 'list_ctx'])
    def test_never_initialised(self, method):
        with pytest.raises(RuntimeError, match="Parameter 'w' has not been initialized") as info:
            getattr(Parameter('w', shape=(2,)), method)()
        assert type(info.value) is RuntimeError

    @pytest.mark.parametrize('method', ['data', 'grad', 'list_data', 'list_grad'])
    def test_deferred(self, method):
        with pytest.raises(gluon.DeferredInitializationError, match='because initialization was deferred') as info:
            getattr(deferred(), method)()
        assert isinstance(info.value, mx.MXNetError)

    def test_deferred_contexts_are_known(self):
        assert deferred().list_ctx() == [mx.cpu(0)]

    def test_zero_grad_does_nothing(self):
        Parameter('w', shape=(2,)).zero_grad()
        deferred().zero_grad()

    def test_set_data(self):
        with pytest.raises(AssertionError, match='has not been initialized'):
            Parameter('w', shape=(2,)).set_data(nd.ones(2))
        parameter = deferred()
        parameter.set_data(nd.full((3, 2), 7))
        assert parameter.shape == (3, 2)
        parameter._finish_deferred_init()
        assert (parameter.data().asnumpy() == 7).all()

    @pytest.mark.parametrize('shape', [(0, 3), None, (-1, 3)])
    def test_unknown_shape_needs_deferral(self, shape):
        with pytest.raises(ValueError, match="Cannot initialize Parameter 'w' because it has invalid shape"):
            Parameter('w', shape=shape).initialize()
        Parameter('w', shape=shape, allow_deferred_init=True).initialize()


class TestAttributes:
    def test_shape_only_fills_in(self):
        parameter = Parameter('w', shape=(0, 2))
        parameter.shape = (3, 2)
        assert parameter.shape == (3, 2)
        for shape in ((4, 2), (3, 2, 1)):
            with pytest.raises(AssertionError, match='is incompatible with given shape'):
                parameter.shape = shape
        assert Parameter('w', shape=3).shape == (3,)

    def test_grad_req(self):
        with pytest.raises(AssertionError, match="grad_req must be one of 'write', 'add', or 'null', but got 'foo'"):
            Parameter('w', grad_req='foo')
        parameter = made(shape=(2,))
        parameter.grad_req = 'null'
        with pytest.raises(RuntimeError, match="Cannot get gradient array for Parameter 'w' because grad_req='null'"):
            parameter.grad()
        assert parameter.data().grad is None
        parameter.grad_req = 'add'
        assert parameter.grad().asnumpy().tolist() == [0, 0]
        assert Parameter('w', shape=(2,), differentiable=False).grad_req == 'null'

    @pytest.mark.parametrize(('req', 'expected'), [('write', 2), ('add', 4)])
    def test_backward_writes_or_adds(self, req, expected):
        parameter = made(shape=(3,), grad_req=req)
        for _ in range(2):
            with autograd.record():
                y = (parameter.data() * 2).sum()
            y.backward()
        assert parameter.grad().asnumpy().tolist() == [expected] * 3
        parameter.zero_grad()
        assert parameter.grad().asnumpy().tolist() == [0] * 3

    def test_storage_types(self):
        for name in ('stype', 'grad_stype'):
            with pytest.raises(AssertionError, match=f"{name} for Parameter 'w' must be one of"):
                Parameter('w', **{name: 'foo'})
        sparse = Parameter('w', shape=(2, 2), stype='row_sparse')
        with pytest.raises(mx.MXNetError, match='sparse storage is not implemented yet'):
            sparse.initialize()
        with pytest.raises(RuntimeError, match='Please use row_sparse_data'):
            sparse.data()
        with pytest.raises(RuntimeError, match='Please use row_sparse_data'):
            sparse.list_data()
        with pytest.raises(RuntimeError, match='Please use data'):
            made(shape=(2, 2)).row_sparse_data(nd.array([0]))

    def test_repr(self):
        assert repr(Parameter('w', shape=(2, 3))) == "Parameter w (shape=(2, 3), dtype=<class 'numpy.float32'>)"
        assert repr(Constant('c', [[1, 2]])) == "Constant c (shape=(1, 2), dtype=<class 'numpy.float32'>)"

    def test_every_parameter_is_itself(self):
        assert made(shape=(2,)) != made(shape=(2,))
        assert Parameter('w')._uuid != Parameter('w')._uuid


class TestContexts:
    def test_several(self):
        parameter = made(shape=(2,), ctx=[mx.cpu(1), mx.cpu(2)])
        assert parameter.list_ctx() == parameter.list_device() == [mx.cpu(1), mx.cpu(2)]
        assert [a.context for a in parameter.list_data()] == [mx.cpu(1), mx.cpu(2)]
        assert parameter.data(mx.cpu(2)).context == parameter.grad(mx.cpu(2)).context == mx.cpu(2)
        one, other = parameter.list_data()
        assert one.asnumpy().tolist() == other.asnumpy().tolist()
        with mx.cpu(2):
            assert parameter.data().context == mx.cpu(2)
        with pytest.raises(RuntimeError, match=r'was not initialized on context cpu\(0\). '
                                               r'It was only initialized on \[cpu\(1\), cpu\(2\)\]'):
            parameter.data()

    def test_default_is_the_current_one(self):
        with mx.cpu(3):
            assert made(shape=(2,)).list_ctx() == [mx.cpu(3)]
            assert made(shape=(2,), ctx=mx.cpu(1)).data().context == mx.cpu(1)

    def test_device_is_another_word(self):
        parameter = Parameter('w', shape=(2,))
        parameter.initialize(device=mx.cpu(1))
        assert parameter.data(device=mx.cpu(1)) is parameter.data(mx.cpu(1))

    def test_reset(self):
        parameter = made(shape=(2,), ctx=[mx.cpu(0), mx.cpu(1)])
        parameter.data(mx.cpu(0))[:] = 1
        parameter.data(mx.cpu(1))[:] = 3
        parameter.reset_ctx(mx.cpu(2))
        assert parameter.list_ctx() == [mx.cpu(2)]
        assert parameter.data().asnumpy().tolist() == [2, 2]
        waiting = deferred()
        waiting.reset_device(mx.cpu(1))
        assert waiting.list_ctx() == [mx.cpu(1)]
        with pytest.raises(ValueError, match='Cannot reset context'):
            Parameter('w', shape=(2,)).reset_ctx(mx.cpu(1))


class TestData:
    def test_set_data_keeps_the_array(self):
        parameter = made(shape=(2,), ctx=[mx.cpu(0), mx.cpu(1)])
        arrays = parameter.list_data()
        parameter.set_data(nd.array([5, 6]))
        assert all(a is b for a, b in zip(arrays, parameter.list_data()))
        assert [a.asnumpy().tolist() for a in arrays] == [[5, 6]] * 2
        parameter.set_data(np.array([1, 2]))
        assert arrays[1].asnumpy().tolist() == [1, 2]
        with pytest.raises(AssertionError, match='incompatible with given shape'):
            parameter.set_data(nd.ones(3))

    def test_cast(self):
        parameter = made(shape=(2,))
        parameter.cast('float16')
        assert parameter.data().dtype == parameter.grad().dtype == np.float16
        parameter.dtype = 'float64'
        with autograd.record():
            y = parameter.data() * 2
        y.backward()
        assert parameter.grad().asnumpy().tolist() == [2, 2]
        with pytest.raises(TypeError, match='not understood'):
            parameter.cast('foo')

    def test_second_initialize_warns(self):
        parameter = made(shape=(2,))
        parameter.set_data(nd.array([8, 9]))
        with pytest.warns(UserWarning, match='is already initialized, ignoring. Set force_reinit=True'):
            parameter.initialize()
        assert parameter.data().asnumpy().tolist() == [8, 9]
        parameter.initialize(init='ones', force_reinit=True)
        assert parameter.data().asnumpy().tolist() == [1, 1]

    def test_order_of_initializers(self):
        def first(**options):
            parameter = Parameter('w', shape=(1,), init=options.pop('own', None))
            parameter.initialize(**options)
            return parameter.data().asscalar()

        assert first(init='ones', own='zeros', default_init=mx.init.Constant(5)) == 1
        assert first(own='zeros', default_init=mx.init.Constant(5)) == 0
        assert first(default_init=mx.init.Constant(5)) == 5
        assert abs(first()) <= 0.07

    def test_saving_takes_the_mean(self):
        """Rule PAR-DP-010."""
        parameter = made(shape=(2,), ctx=[mx.cpu(0), mx.cpu(1)])
        parameter.data(mx.cpu(0))[:] = 1
        parameter.data(mx.cpu(1))[:] = 5
        assert parameter._reduce().asnumpy().tolist() == [3, 3]


class TestConstant:
    def test_value(self):
        constant = Constant('c', [[1, 2]])
        constant.initialize(default_init=mx.init.One())
        assert constant.data().asnumpy().tolist() == [[1, 2]]
        assert Constant('c', nd.array([1], dtype='int32')).dtype == np.int32

    def test_never_a_gradient(self):
        constant = Constant('c', [1])
        with pytest.warns(UserWarning, match='does not support grad_req other than "null"'):
            constant.grad_req = 'write'
        assert constant.grad_req == 'null'


class TestParameterDict:
    def test_get(self):
        params = ParameterDict('net_')
        weight = params.get('weight', shape=(3, 0))
        assert weight.name == 'net_weight'
        assert params.get('weight', shape=(0, 7)) is weight
        assert weight.shape == (3, 7)
        for attribute in ({'shape': (9, 9)}, {'dtype': 'float16'}, {'lr_mult': 3.0}):
            with pytest.raises(AssertionError, match='desired attribute does not match with stored'):
                params.get('weight', **attribute)
        assert list(params) == list(params.keys()) == ['net_weight']
        assert params['net_weight'] is weight
        assert 'net_weight' in params

    def test_shared(self):
        owner = ParameterDict('a_')
        weight = owner.get('weight', shape=(2,))
        other = ParameterDict('a_', shared=owner)
        assert other.get('weight', shape=(2,)) is weight
        assert list(other) == ['a_weight']

    def test_constants(self):
        params = ParameterDict('net_')
        with pytest.raises(KeyError, match="No constant named 'net_c'"):
            params.get_constant('c')
        constant = params.get_constant('c', nd.ones(2))
        assert params.get_constant('c', np.ones(2)) is constant
        for value in (nd.ones(3), nd.zeros(2)):
            with pytest.raises(AssertionError, match="value doesn't match"):
                params.get_constant('c', value)
        params.get('w', shape=(1,))
        with pytest.raises(AssertionError, match='is not a constant'):
            params.get_constant('w', nd.ones(1))

    def test_update(self):
        a, b = ParameterDict('x_'), ParameterDict('x_')
        a.get('w', shape=(2,))
        b.get('w', shape=(2,))
        a.update(a)
        with pytest.raises(AssertionError, match='different Parameters with the same name'):
            a.update(b)

    def test_everything_at_once(self):
        params = ParameterDict('x_')
        params.get('weight', shape=(2, 2))
        params.get('bias', shape=(2,), init='zeros')
        params.initialize(mx.init.One(), ctx=mx.cpu(1))
        assert params['x_weight'].data().asnumpy().tolist() == [[1, 1], [1, 1]]
        assert params['x_bias'].data().asnumpy().tolist() == [0, 0]
        params.setattr('lr_mult', 5)
        assert params['x_bias'].lr_mult == 5
        assert params.list_ctx() == [mx.cpu(1)]
        params.reset_ctx(mx.cpu(0))
        assert params.list_ctx() == [mx.cpu(0)]
        params.zero_grad()

    def test_save_and_load(self, tmp_path):
        file = str(tmp_path / 'a.params')
        params = ParameterDict('x_')
        params.get('w', shape=(2,))
        params.initialize()
        with pytest.raises(ValueError, match='is to be striped before saving'):
            params.save(file, strip_prefix='q')
        params.save(file, strip_prefix='x_')
        assert list(nd.load(file)) == ['w']
        other = ParameterDict('x_')
        other.get('w', shape=(2,))
        with pytest.raises(AssertionError, match="'x_w' is missing in file"):
            other.load(file)
        with pytest.raises(AssertionError, match="restore_prefix is 'y_'"):
            other.load(file, restore_prefix='y_')
        other.load(file, restore_prefix='x_')
        assert other['x_w'].data().asnumpy().tolist() == params['x_w'].data().asnumpy().tolist()
        with pytest.raises(AssertionError, match='is not present in ParameterDict'):
            ParameterDict('x_').load(file, restore_prefix='x_')
        ParameterDict('x_').load(file, restore_prefix='x_', ignore_extra=True)
