"""What arrays are called: a text is given only to the array that it means."""

from __future__ import annotations

import ast
import sys

import pytest

from refengine import diagnose, gluon, nd
from refengine.diagnose import naming
from refengine.op import get


def failed(function):
    with pytest.raises(Exception) as caught:       # of whatever class
        function()
    return diagnose.error(caught.value)


def test_keywords_out_of_order():
    result = failed(lambda: nd.broadcast_add(rhs=nd.ones((4, 3)), lhs=nd.ones((4,))))
    assert 'nd.ones((4,)) (4,), nd.ones((4, 3)) (4, 3)' in result.subject
    assert result.changes[0] == 'nd.ones((4,)).expand_dims(1) + nd.ones((4, 3))'
    assert eval(result.changes[0]).shape == (4, 3)
    result = failed(lambda: nd.dot(rhs=nd.ones((2, 4)), lhs=nd.ones((2, 3))))
    assert result.changes == ['nd.dot(nd.ones((2, 3)), nd.ones((2, 4)), transpose_a=True)']
    assert eval(result.changes[0]).shape == (3, 4)


def test_arguments_that_are_no_arrays_name_none():
    net = gluon.nn.Dense(2, in_units=3)
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), 'sgd')
    result = failed(lambda: trainer.step(1))
    assert result.findings == []


def test_files_name_no_array(tmp_path):
    net = gluon.nn.Dense(3, in_units=4)
    net.initialize()
    path = str(tmp_path / 'a.params')
    net.save_parameters(path)
    text = str(failed(lambda: gluon.nn.Dense(3, in_units=5).load_parameters(path)))
    assert 'path (3, 4)' not in text
    assert 'expected (3, 5) vs saved (3, 4)' in text


def test_arguments_of_functions_keep_their_order():
    result = failed(lambda: gluon.data.ArrayDataset(nd.ones((4, 2)), nd.ones((5,))))
    assert [f.text.partition(':')[0] for f in result] == ['nd.ones((4, 2))', 'nd.ones((5,))']


def test_a_function_of_python_between():
    arrays = [nd.ones((2, 3)), nd.ones((3, 3))]
    result = failed(lambda: sum(arrays))
    assert 'lhs (2, 3), rhs (3, 3)' in result.subject       # sum hands over none of what is written
    assert not any('dot' in change for change in result.changes)


def test_lists():
    arrays = [nd.ones((2, 3)), nd.ones((3, 3))]
    assert 'arrays[0] (2, 3), arrays[1] (3, 3)' in failed(lambda: nd.concat(*arrays, dim=1)).subject
    assert 'arrays[0] (2, 3), arrays[1] (3, 3)' in failed(lambda: nd.stack(arrays)).subject
    assert 'arrays[1] (3, 3), arrays[0] (2, 3)' in failed(lambda: arrays[1] - arrays[0]).subject


def test_expressions_keep_their_meaning_in_changes():
    a, b = nd.ones((2, 3)), nd.ones((3, 2))
    result = failed(lambda: a + (b - 1))
    assert result.changes[0] == 'a + (b - 1).T'
    assert eval(result.changes[0]).shape == (2, 3)


def test_a_block_with_the_name_of_an_operator():
    class Twice(gluon.Block):
        def forward(self, a, b):
            return nd.dot(b, a)

    dot = Twice()
    result = failed(lambda: dot(nd.ones((2, 3)), nd.ones((4, 5))))
    assert 'b (4, 5), a (2, 3)' in result.subject


def test_paths_to_blocks_and_parameters():
    class Net(gluon.Block):
        def __init__(self):
            super().__init__()
            self.body = gluon.nn.Sequential()
            self.body.add(gluon.nn.Dense(2), gluon.nn.Dense(3))

    model = Net()
    assert naming.path_to(model.body[1], sys._getframe()) == 'model.body[1]'
    assert naming.path_to(model.body[0].weight, sys._getframe()) == 'model.body[0].weight'
    assert naming.path_to(gluon.nn.Dense(1), sys._getframe()) == ''


@pytest.mark.parametrize(('text', 'op', 'count', 'expected'), [
    ('a + b', 'broadcast_add', 2, ['a', 'b']), ('a.b @ c[0]', 'dot', 2, ['a.b', 'c[0]']),
    ('a += b', 'broadcast_add', 2, ['a', 'b']), ('2 - a', '_rminus_scalar', 1, ['a']),
    ('nd.dot(x, y, transpose_a=True)', 'dot', 2, ['x', 'y']), ('x.dot(y)', 'dot', 2, ['x', 'y']),
    ('nd.dot(rhs=x, lhs=y)', 'dot', 2, ['y', 'x']), ('nd.concat(x, y, dim=0)', 'Concat', 2, ['x', 'y']),
    ('nd.stack([a, b], axis=1)', 'stack', 2, ['a', 'b']), ('nd.linalg.gemm2(a, b)', '_linalg_gemm2', 2, ['a', 'b']),
    ('nd.FullyConnected(w, bias=c, weight=v, num_hidden=3)', 'FullyConnected', 3, ['w', 'v', 'c']),
    ('nd.concat(*many)', 'Concat', 2, None), ('nd.dot(**both)', 'dot', 2, None), ('f(a, b)', 'dot', 2, None),
    ('a + b + c', 'broadcast_add', 3, None), ('a +', 'dot', 2, None), ('', 'dot', 2, None), ('x', 'dot', 1, None),
])
def test_what_is_written_for_the_inputs_of_an_operator(text, op, count, expected):
    found = naming.of_operator(naming.parsed(text), {}, get(op), count)
    assert (found and [ast.unparse(part) for part in found]) == expected
