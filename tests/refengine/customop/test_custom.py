"""Operators written in Python: what the calls hand over, what comes back, and what goes wrong."""

from __future__ import annotations

import doctest
from typing import Any

import numpy as np
import pytest

import refengine as mx
from refengine import autograd, nd, operator

LOG: list[Any] = []


class Affine(operator.CustomOp):
    """y = a * x + shift on every output."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def forward(self, is_train, req, in_data, out_data, aux):
        LOG.append(('forward', is_train, req, [a.shape for a in in_data], str(mx.current_context())))
        for index, out in enumerate(out_data):
            self.assign(out, req[index], in_data[0] * self.factor + index)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        LOG.append(('backward', req, [g.shape for g in out_grad], [a.shape for a in out_data]))
        self.assign(in_grad[0], req[0], sum(out_grad[1:], out_grad[0]) * self.factor)


@operator.register('t_affine')
class AffineProp(operator.CustomOpProp):
    """Any number of outputs."""

    def __init__(self, factor='2', outputs='1'):
        super().__init__(need_top_grad=True)
        self.factor, self.number = float(factor), int(outputs)

    def list_outputs(self):
        return [f'o{i}' for i in range(self.number)]

    def create_operator(self, ctx, in_shapes, in_dtypes):
        return Affine(self.factor)


@pytest.fixture(autouse=True)
def _fresh_log():
    LOG.clear()


def test_one_output_is_an_array_and_several_are_a_list():
    x = nd.array([1.0, 2.0])
    assert nd.Custom(x, op_type='t_affine').asnumpy().tolist() == [2, 4]
    first, second = nd.Custom(x, op_type='t_affine', outputs=2, factor=3)
    assert first.asnumpy().tolist() == [3, 6]
    assert second.asnumpy().tolist() == [4, 7]


def test_unused_outputs_have_gradient_zero():
    x = nd.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        _, second = nd.Custom(x, op_type='t_affine', outputs=2)
    second.backward(nd.array([1.0, 10.0]))
    assert x.grad.asnumpy().tolist() == [2, 20]
    assert LOG[-1] == ('backward', ['write'], [(2,), (2,)], [(2,), (2,)])


def test_the_gradient_adds_to_other_uses_of_the_input():
    x = nd.array([1.0])
    x.attach_grad('add')
    for _ in range(2):
        with autograd.record():
            y = nd.Custom(x, op_type='t_affine') + x * 5
        y.backward()
    assert x.grad.asnumpy().tolist() == [14]
    middle = nd.array([1.0])
    middle.attach_grad()
    with autograd.record():
        y = nd.Custom(nd.Custom(middle, op_type='t_affine'), op_type='t_affine', factor=5)
    y.backward()
    assert middle.grad.asnumpy().tolist() == [10]


def test_out_receives_the_result_and_must_fit():
    x, out = nd.ones(2), nd.zeros(2)
    assert nd.Custom(x, op_type='t_affine', out=out) is out
    assert out.asnumpy().tolist() == [2, 2]
    with pytest.raises(mx.MXNetError, match='Shape inconsistent, Provided = \\[3\\], inferred shape=\\[2\\]'):
        nd.Custom(x, op_type='t_affine', out=nd.zeros(3))


def test_arrays_by_name_and_errors_about_them():
    x = nd.ones(2)
    assert nd.Custom(data=x, op_type='t_affine').asnumpy().tolist() == [2, 2]
    with pytest.raises(mx.MXNetError, match='expected arrays named data; wrong came'):
        nd.Custom(wrong=x, op_type='t_affine')
    with pytest.raises(mx.MXNetError, match='data came besides or twice'):
        nd.Custom(x, data=x, op_type='t_affine')
    with pytest.raises(mx.MXNetError, match='op_type'):
        nd.Custom(data=x)
    with pytest.raises(AssertionError, match='NDArray type'):
        nd.Custom(3, op_type='t_affine')


@pytest.mark.parametrize(('member', 'value', 'text'), [
    ('infer_type', lambda self, t: (t, []), 'expecting 1 entries in returned output types, got 0'),
    ('infer_type', lambda self, t: ([np.float64], [np.float64]), 'Type inconsistent, Provided = float32'),
    ('infer_shape', lambda self, s: ([[9]], [[9]]), 'Shape inconsistent, Provided = \\[2\\], inferred shape=\\[9\\]'),
    ('infer_shape', lambda self, s: 1 / 0, 'ZeroDivisionError'),
    ('list_arguments', lambda self: 1 / 0, 'ZeroDivisionError'),
    ('list_outputs', lambda self: None, 'TypeError'),
    ('__init__', lambda self, **k: 1 / 0, 'constructor failed.*ZeroDivisionError'),
])
def test_errors_of_the_description_are_raised_at_the_call(member, value, text, capsys):
    operator.register('t_wrong')(type('Wrong', (operator.CustomOpProp,), {member: value}))
    with pytest.raises(mx.MXNetError, match=text):
        nd.Custom(nd.ones(2), op_type='t_wrong')


def test_what_is_registered_must_give_a_description():
    operator.register('t_no_prop')(lambda: 5)
    with pytest.raises(mx.MXNetError, match='expected the registered object to give a CustomOpProp, got int'):
        nd.Custom(nd.ones(2), op_type='t_no_prop')


def test_failures_surface_at_the_wait_and_travel_on(capsys):
    class Fails(operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            raise KeyError('lost')

    operator.register('t_fails')(type('P', (operator.CustomOpProp,), {'create_operator': lambda *a: Fails()}))
    result = nd.Custom(nd.ones(2), op_type='t_fails')
    with pytest.raises(mx.MXNetError, match='lost'):
        (result + 1).asnumpy()
    assert 'Error in CustomOp.forward' in capsys.readouterr().out
    assert (nd.ones(2) + 1).asnumpy().tolist() == [2, 2]


def test_inputs_are_read_only():
    class Writes(operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            for change in (lambda a: a.__iadd__(1), lambda a: a.__imul__(a), lambda a: a.__setitem__(0, 9)):
                with pytest.raises(ValueError, match=r'read-?only'):
                    change(in_data[0])
            LOG.append('refused')
            self.assign(out_data[0], req[0], in_data[0])

    operator.register('t_writes')(type('P', (operator.CustomOpProp,), {'create_operator': lambda *a: Writes()}))
    x = nd.ones(2)
    assert nd.Custom(x, op_type='t_writes').asnumpy().tolist() == [1, 1]
    assert LOG == ['refused']
    assert x.asnumpy().tolist() == [1, 1]


def test_backward_gets_only_what_it_declared():
    class Seen(operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            self.assign(out_data[0], req[0], in_data[0] * in_data[0])

        def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
            LOG.append(([a.shape for a in out_grad], [a.shape for a in in_data], [a.shape for a in out_data]))
            self.assign(in_grad[0], req[0], in_data[0] * 2)

    class SeenProp(operator.CustomOpProp):
        def declare_backward_dependency(self, out_grad, in_data, out_data):
            return list(in_data)

        def create_operator(self, ctx, in_shapes, in_dtypes):
            return Seen()

    operator.register('t_seen')(SeenProp)
    x = nd.array([3.0])
    x.attach_grad()
    with autograd.record():
        y = nd.Custom(x, op_type='t_seen')
    y.backward()
    assert x.grad.asnumpy().tolist() == [6]
    assert LOG == [([()], [(1,)], [()])]


def test_the_gradient_of_a_gradient_is_refused():
    x = nd.array([3.0])
    x.attach_grad()
    with autograd.record():
        first = autograd.grad(nd.Custom(x, op_type='t_affine'), x, create_graph=True)
    assert first.asnumpy().tolist() == [2]
    with pytest.raises(mx.MXNetError, match='_backward_Custom is non-differentiable'):
        first.backward()


@pytest.mark.parametrize('base', [operator.NDArrayOp, operator.NumpyOp])
def test_the_older_kind(base):
    class Square(base):
        def forward(self, in_data, out_data):
            out_data[0][:] = in_data[0] * in_data[0]

        def backward(self, out_grad, in_data, out_data, in_grad):
            in_grad[0][:] = out_grad[0] * 2 * in_data[0]

    square = Square()
    x = nd.array([3.0, -1.0])
    x.attach_grad('add')
    for _ in range(2):
        with autograd.record():
            y = square(x)
        y.backward(nd.array([1.0, 10.0]))
    assert y.asnumpy().tolist() == [9, 1]
    assert x.grad.asnumpy().tolist() == [12, -40]


def test_arguments_of_operators():
    arguments = operator.get_operator_arguments('FullyConnected')
    assert arguments.names[:3] == ['data', 'weight', 'bias']
    assert arguments.types[0] == 'NDArray-or-Symbol'
    assert arguments.narg == len(arguments.names) == len(arguments.types)
    assert operator.get_operator_arguments('Custom').names == ['data', 'op_type']
    with pytest.raises(mx.MXNetError, match='Operator nope is not registered'):
        operator.get_operator_arguments('nope')


def test_examples_of_the_documentation():
    assert doctest.testmod(operator).failed == 0
