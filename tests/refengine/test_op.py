"""The operator record: parameters, their errors, the registry, documentation."""

from __future__ import annotations

import numpy as np
import pytest

import refengine as mx
from refengine import MXNetError, nd, op
from refengine.fields import Axes, Bool, Dtype, Enum, Float, Int, OptionalInts, Scalar, Shape


@pytest.mark.parametrize(('field', 'given', 'expected'), [
    (Int(), '3', 3), (Int(), 3.0, 3), (Int(), np.int64(3), 3), (Int(None), None, None), (Int(None), 'None', None),
    (Float(), '1.5', 1.5), (Float(), 2, 2.0), (Bool(), 'True', True), (Bool(), '0', False), (Bool(), np.bool_(1), True),
    (Shape(), '(2, 3)', (2, 3)), (Shape(), 4, (4,)), (Shape(), [np.int32(2), 3], (2, 3)), (Axes(), None, None),
    (Axes(), '1', (1,)), (Dtype(), np.float64, 'float64'), (Dtype(), 'int8', 'int8'), (Enum(('a', 'b')), 'b', 'b'),
    (OptionalInts(), (None, 1), (None, 1)), (Scalar(), np.float32(0.5), 0.5), (Scalar(), True, True),
])
def test_field_accepts_values_and_their_text(field, given, expected):
    assert field.parse(given, 'x', 'op') == expected


@pytest.mark.parametrize(('field', 'given', 'text'), [
    (Int(), 'x', "Invalid Parameter format for p expect int but value='x', in operator f"),
    (Int(), 1.5, 'Invalid Parameter format'), (Int(), None, 'Invalid Parameter format'),
    (Float(low=0, high=1), 2.0, r'exceed bound \[0,1\]'), (Int(low=1), 0, 'greater equal to 1'),
    (Bool(), 'maybe', 'expect boolean'), (Shape(), (1.5,), r'expect Shape\(tuple\)'), (Axes(), 'x', 'Shape or None'),
    (Enum(('b', 'a')), 'c', "Invalid Input: 'c', valid values are: {'a', 'b'}"), (Dtype(), 'int16', 'valid values are'),
])
def test_field_refuses_with_words(field, given, text):
    with pytest.raises(MXNetError, match=text):
        field.parse(given, 'p', 'f')


def test_unknown_and_missing_parameters_are_named():
    with pytest.raises(MXNetError, match=r"Cannot find argument 'axes'(?s:.)*keepdims : boolean, default=False"):
        op.get('sum').parse({'axes': 1})
    with pytest.raises(MXNetError, match='Required parameter depth of int is not presented, in operator one_hot'):
        op.get('one_hot').parse({})


def test_a_name_is_registered_once(monkeypatch):
    monkeypatch.setattr(op, 'registry', dict(op.registry))
    with pytest.raises(ValueError, match='registered twice'):
        op.register('sum')(lambda xp, data: data)
    with pytest.raises(ValueError, match='registered twice'):
        op.register('brand_new', 'sum')(lambda xp, data: data)


def test_every_operator_is_documented_and_reachable():
    for operator in op.operators():
        assert operator.doc.strip(), operator.name
        assert all(operator is op.registry[name] for name in operator.aliases)


def test_functions_show_signature_and_documentation():
    import inspect
    assert list(inspect.signature(nd.clip).parameters) == ['data', 'a_min', 'a_max', 'out', 'name']
    assert 'a_min : float, required' in nd.clip.__doc__
    assert 'ND-CLIP-001' in nd.clip.__doc__
    assert 'concat' in dir(nd)


def test_unregistered_operator():
    with pytest.raises(MXNetError, match='Operator nothing is not registered'):
        op.get('nothing')


def test_operators_without_parameters_drop_keywords_with_a_warning():
    with pytest.warns(UserWarning, match='operator zeros_like has no parameters: dtype is ignored'):
        assert mx.nd.zeros_like(mx.nd.ones(2), dtype='int64').dtype is np.float32
    with pytest.warns(UserWarning, match='operator exp has no parameters: foo is ignored'):
        assert mx.nd.zeros((2,)).exp(foo=[1]).asnumpy().tolist() == [1, 1]
    with pytest.raises(MXNetError, match="Cannot find argument 'foo'"):
        mx.nd.add_n(mx.nd.ones(2), foo=1)


def test_attributes_of_a_scope_stay_on_operators_without_parameters():
    with mx.AttrScope(foo='bar'):
        symbol = mx.sym.relu(mx.sym.exp(mx.sym.var('x'), name='a'), name='b')
    assert symbol.attr_dict()['b'] == {'foo': 'bar'}
    assert mx.sym.load_json(symbol.tojson()).eval(x=mx.nd.zeros(2))[0].asnumpy().tolist() == [1, 1]
