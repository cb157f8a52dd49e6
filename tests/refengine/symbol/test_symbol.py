"""Symbols: composition, names, attributes, inference, executors."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import numpy as np
import pytest

import refengine as mx
from refengine.base import NotImplementedForSymbol


def var(name: str) -> mx.sym.Symbol:
    """A variable."""
    return mx.sym.var(name)


class TestStructure:
    def test_order_of_nodes(self) -> None:
        x = var('x')
        graph = json.loads((mx.sym.exp(x) * mx.sym.sin(x) + mx.sym.exp(x)).tojson())
        assert [n['op'] for n in graph['nodes']] == ['null', 'exp', 'sin', 'elemwise_mul', 'exp', 'elemwise_add']
        assert all(i[0] < k for k, n in enumerate(graph['nodes']) for i in n['inputs'])
        assert len(graph['heads']) == 1

    def test_a_value_used_twice_is_one_node(self) -> None:
        a, b = var('a'), var('b')
        graph = json.loads(((a + b) * a).tojson())
        assert [n['inputs'] for n in graph['nodes']] == [[], [], [[0, 0, 0], [1, 0, 0]], [[2, 0, 0], [0, 0, 0]]]

    def test_missing_inputs_become_variables(self) -> None:
        fc = mx.sym.FullyConnected(var('data'), num_hidden=4, name='fc')
        assert fc.list_arguments() == ['data', 'fc_weight', 'fc_bias']
        assert fc.list_outputs() == ['fc_output']
        without = mx.sym.FullyConnected(var('a'), num_hidden=1, no_bias=True, name='q')
        assert without.list_arguments() == ['a', 'q_weight']

    def test_states_are_no_arguments(self) -> None:
        bn = mx.sym.BatchNorm(var('x'), name='bn')
        assert bn.list_arguments() == ['x', 'bn_gamma', 'bn_beta']
        assert bn.list_auxiliary_states() == ['bn_moving_mean', 'bn_moving_var']
        assert bn.list_outputs() == ['bn_output']

    def test_names_count_per_operator(self) -> None:
        with mx.name.NameManager():
            first = mx.sym.FullyConnected(var('a'), num_hidden=1)
            second = mx.sym.FullyConnected(var('a'), num_hidden=1)
        assert (first.name, second.name) == ('fullyconnected0', 'fullyconnected1')
        with mx.name.Prefix('pp_'):
            assert mx.sym.FullyConnected(var('a'), num_hidden=1).name == 'pp_fullyconnected0'
            assert mx.sym.exp(var('a'), name='k').name == 'pp_k'

    @pytest.mark.parametrize(('make', 'text'), [
        (lambda: mx.sym.FullyConnected(var('a')), 'Required parameter num_hidden'),
        (lambda: mx.sym.FullyConnected(var('a'), num_hidden=1, foo=1), "Cannot find argument 'foo'"),
        (lambda: mx.sym.Activation(var('a'), act_type='foo'), "Invalid Input: 'foo', valid values are"),
        (lambda: mx.sym.exp(mx.sym.split(var('a'), num_outputs=2)), 'is a tuple, single value is required'),
        (lambda: (var('x') + 1)(zz=var('c')), 'Keyword argument name zz not found'),
    ])
    def test_parameters_are_checked_when_made(self, make: object, text: str) -> None:
        with pytest.raises(mx.MXNetError, match=text):
            make()  # type: ignore[operator]

    def test_arrays_are_refused(self) -> None:
        with pytest.raises(AssertionError, match='must be Symbol instances'):
            mx.sym.exp(mx.nd.ones(1))

    def test_groups_and_indexing(self) -> None:
        group = mx.sym.Group([mx.sym.exp(var('a'), name='e'), var('b')])
        assert len(group) == 2
        assert group[1].name == 'b'
        assert group['e_output'].name == 'e'
        assert [s.name for s in group] == ['e', 'b']
        assert repr(group) == '<Symbol group [e, b]>'
        with pytest.raises(IndexError):
            group[5]
        with pytest.raises(ValueError, match='Cannot find output that matches name "nope"'):
            group['nope']

    def test_internals(self) -> None:
        h = mx.sym.FullyConnected(var('a'), num_hidden=2, name='f1')
        net = mx.sym.FullyConnected(mx.sym.BatchNorm(h, name='bn'), num_hidden=1, name='f2')
        inside = net.get_internals()
        assert inside.list_outputs() == [
            'a', 'f1_weight', 'f1_bias', 'f1_output', 'bn_gamma', 'bn_beta', 'bn_moving_mean', 'bn_moving_var',
            'bn_output', 'f2_weight', 'f2_bias', 'f2_output']
        assert inside['f1_output'].list_arguments() == ['a', 'f1_weight', 'f1_bias']
        assert h.get_children().list_outputs() == ['a', 'f1_weight', 'f1_bias']
        assert var('a').get_children() is None

    def test_composition(self) -> None:
        y = mx.sym.exp(var('x'), name='e') + 1
        assert y(x=var('c')).list_arguments() == ['c']
        assert y.list_arguments() == ['x']
        with pytest.raises(mx.MXNetError, match='only support kwargs'):
            y(var('c'))

    def test_copies_and_pickles(self) -> None:
        y = mx.sym.BatchNorm(mx.sym.Convolution(var('x'), kernel=(3, 3), num_filter=2, name='c'), name='b')
        assert pickle.loads(pickle.dumps(y)).tojson() == y.tojson()
        assert copy.deepcopy(y).list_arguments() == y.list_arguments()

    @pytest.mark.parametrize('name', ['asnumpy', 'wait_to_read', 'asscalar', 'backward'])
    def test_only_arrays_have_data(self, name: str) -> None:
        with pytest.raises(NotImplementedForSymbol, match=f'Function {name} is not implemented for Symbol and only '
                                                          f'available in NDArray'):
            getattr(var('a'), name)()

    def test_no_shape_no_truth(self) -> None:
        with pytest.raises(AttributeError):
            var('a').shape  # noqa: B018
        with pytest.raises(NotImplementedForSymbol, match='__bool__'):
            bool(var('a'))
        a = var('a')
        with pytest.raises(NotImplementedForSymbol, match='__iadd__'):
            a += 1


class TestAttributes:
    def test_scopes(self) -> None:
        with mx.AttrScope(ctx_group='dev1'):
            inside = mx.sym.exp(var('a'))
        assert inside.attr('ctx_group') == 'dev1'
        assert mx.sym.exp(var('a')).attr('ctx_group') is None
        with pytest.raises(ValueError, match='Attributes need to be string'):
            mx.AttrScope(foo=3)

    def test_variables(self) -> None:
        w = mx.sym.var('w', lr_mult=2.0, shape=(1, 2), dtype='float16', init=mx.init.One(), attr={'mood': 'angry'})
        assert w.list_attr() == {'__lr_mult__': '2.0', 'lr_mult': '2.0', '__shape__': '(1, 2)', '__dtype__': '2',
                                 '__init__': '["one", {}]', 'mood': 'angry'}
        with pytest.raises(ValueError, match='is not supported'):
            mx.sym.var('w', foo='x')
        with pytest.raises(TypeError, match='Expect a string'):
            mx.sym.var(3)

    def test_created_variables_inherit(self) -> None:
        c = mx.sym.Convolution(var('a'), kernel=(1, 1), num_filter=1, name='c', attr={'__mood__': 'so so'}, lr_mult='3')
        assert c.attr_dict()['c_weight'] == {
            '__mood__': 'so so', '__lr_mult__': '3', 'lr_mult': '3', 'kernel': '(1, 1)', 'num_filter': '1'}

    def test_registered_functions(self) -> None:
        given = []

        @mx.optimizer.register_op_attr('Convolution', 'target')
        def target(params: dict[str, str]) -> str:
            given.append(params)
            return 'default'

        try:
            c = mx.sym.Convolution(var('x'), kernel=(1, 1), num_filter=1)
            assert c.attr('target') == 'default'
            assert given == [{'kernel': '(1, 1)', 'num_filter': '1'}]
            assert json.loads(c.tojson())['nodes'][-1]['attrs']['__target__'] == 'default'
            assert mx.sym.exp(var('x')).attr('target') is None
            own = mx.sym.Convolution(var('x'), kernel=(1, 1), num_filter=1, attr={'__target__': 'x'})
            assert own.attr('target') == 'x'
            with pytest.warns(UserWarning, match='registered again'):
                mx.optimizer.register_op_attr('Convolution', 'target')(lambda params: 3)
            with pytest.raises(TypeError, match='Attributes need to be string'):
                mx.sym.Convolution(var('x'), kernel=(1, 1), num_filter=1)
        finally:
            mx.optimizer.unregister_op_attr('Convolution', 'target')
        assert c.attr('target') == 'default'
        assert mx.sym.Convolution(var('x'), kernel=(1, 1), num_filter=1).attr('target') is None
        with pytest.raises(KeyError):
            mx.optimizer.unregister_op_attr('Convolution', 'target')
        with pytest.raises(ValueError, match='nosuch'):
            mx.optimizer.register_op_attr('nosuch', 'a')
        with pytest.raises(ValueError, match='identifier'):
            mx.optimizer.register_op_attr('Convolution', 'a b')
        with pytest.raises(TypeError):
            mx.optimizer.register_op_attr('Convolution', 'a')(3)


class TestInference:
    def test_shapes(self) -> None:
        fc = mx.sym.FullyConnected(var('a'), num_hidden=4, name='fc')
        assert fc.infer_shape(a=(2, 3)) == ([(2, 3), (4, 3), (4,)], [(2, 4)], [])
        assert fc.infer_shape((2, 3)) == fc.infer_shape(a=(2, 3))
        with pytest.raises(mx.MXNetError, match=r'Shape inconsistent, Provided = \[4,7\], inferred shape=\(4,3\)'):
            fc.infer_shape(a=(2, 3), fc_weight=(4, 7))
        with pytest.raises(mx.MXNetError, match='fc_weight'):
            fc.infer_shape(zz=(2, 3))
        with pytest.warns(UserWarning, match='Cannot decide shape'):
            assert fc.infer_shape() == (None, None, None)

    def test_partial_shapes(self) -> None:
        fc = mx.sym.FullyConnected(var('a'), num_hidden=4, name='fc')
        assert fc.infer_shape_partial(a=(0, 3)) == ([(0, 3), (4, 3), (4,)], [(0, 4)], [])
        assert mx.sym.Concat(var('a'), var('b'), dim=0).infer_shape_partial(a=(2, 3))[0] == [(2, 3), (0, 3)]
        assert mx.sym.elemwise_add(var('a'), var('b')).infer_shape(a=(2, 3))[0] == [(2, 3), (2, 3)]
        zeros = mx.sym.FullyConnected(mx.sym.zeros((0, 4)), num_hidden=8, name='f')
        both = zeros + mx.sym.FullyConnected(var('a'), num_hidden=8, name='x')
        assert both.infer_shape(a=(5, 3)) == ([(8, 4), (8,), (5, 3), (8, 3), (8,)], [(5, 8)], [])

    def test_labels(self) -> None:
        assert mx.sym.SoftmaxOutput(var('a'), name='s').infer_shape(a=(2, 3))[0] == [(2, 3), (2,)]
        assert mx.sym.LinearRegressionOutput(var('a'), name='s').infer_shape(a=(2, 3))[0] == [(2, 3), (2, 3)]

    def test_types(self) -> None:
        fc = mx.sym.BatchNorm(mx.sym.FullyConnected(var('a'), num_hidden=4, name='fc'), name='bn')
        half, single = np.float16, np.float32
        assert fc.infer_type(a='float16') == ([half, half, half, single, single], [half], [single, single])
        with pytest.warns(UserWarning, match='Cannot decide type'):
            assert fc.infer_type() == (None, None, None)


class TestExecutor:
    def test_simple_bind(self) -> None:
        a, b = var('a'), var('b')
        executor = ((a + b) * a).simple_bind(mx.cpu(), a=(1,), b=(1,))
        for _ in range(3):
            out, = executor.forward(is_train=True, a=mx.nd.array([2.]), b=mx.nd.array([3.]))
            executor.backward(mx.nd.ones(1))
            assert out.asscalar() == 10
            assert {n: g.asscalar() for n, g in executor.grad_dict.items()} == {'a': 7, 'b': 2}

    def test_requests(self) -> None:
        a, b = var('a'), var('b')
        c = mx.sym.make_loss((a + b) * a)
        none = c.simple_bind(mx.cpu(), a=(1,), b=(1,), grad_req='null')
        assert none.grad_dict == {'a': None, 'b': None}
        with pytest.raises(RuntimeError, match='grad_req=foo'):
            c.simple_bind(mx.cpu(), a=(1,), b=(1,), grad_req='foo')
        with pytest.raises(RuntimeError):
            mx.sym.broadcast_add(a, b).simple_bind(mx.cpu(), a=(1,))
        mixed = c.simple_bind(mx.cpu(), a=(1,), b=(1,), grad_req={'a': 'add', 'b': 'write'})
        for _ in range(2):
            mixed.forward(is_train=True, a=mx.nd.array([2.]), b=mx.nd.array([3.]))
            mixed.backward()
        assert (mixed.grad_dict['a'].asscalar(), mixed.grad_dict['b'].asscalar()) == (14, 2)

    def test_errors(self) -> None:
        c = var('a') + var('b')
        with pytest.raises(ValueError, match='key `b` is missing in `args`'):
            c.bind(mx.cpu(), {'a': mx.nd.ones(1)})
        executor = mx.sym.FullyConnected(var('a'), num_hidden=2, name='fc').simple_bind(mx.cpu(), a=(2, 3))
        with pytest.raises(ValueError, match='Shape not match'):
            executor.forward(a=mx.nd.ones((3, 3)))
        with pytest.raises(TypeError, match='Unknown argument zz'):
            executor.forward(zz=mx.nd.ones((3, 3)))
        executor.forward(is_train=True)
        with pytest.raises(mx.MXNetError, match='head_gradient is required'):
            executor.backward()

    def test_data_changes_the_program_does_not(self) -> None:
        executor = mx.sym.exp(var('a')).bind(mx.cpu(), {'a': mx.nd.zeros(2)})
        assert executor.forward()[0].asnumpy().tolist() == [1, 1]
        kept = executor.outputs[0]
        executor.arg_dict['a'][:] = 1
        assert executor.forward()[0].asnumpy() == pytest.approx(np.e)
        assert kept.asnumpy().tolist() == [1, 1]

    def test_statistics_move_in_backward(self) -> None:
        bn = mx.sym.BatchNorm(var('x'), name='bn', momentum=0.5)
        executor = bn.simple_bind(mx.cpu(), x=(2, 1))
        executor.forward(is_train=True, x=mx.nd.array([[1.], [3.]]))
        assert executor.aux_dict['bn_moving_mean'].asscalar() == 0
        executor.backward(mx.nd.ones((2, 1)))
        assert executor.aux_dict['bn_moving_mean'].asscalar() == 1

    def test_reshape_shares_parameters(self) -> None:
        executor = mx.sym.FullyConnected(var('a'), num_hidden=2, name='fc').simple_bind(mx.cpu(), a=(4, 3))
        other = executor.reshape(a=(2, 3))
        assert other.arg_dict['fc_weight'] is executor.arg_dict['fc_weight']
        assert other.forward()[0].shape == (2, 2)
        with pytest.raises(AssertionError, match='allow_up_sizing'):
            executor.reshape(a=(8, 3))

    def test_monitor(self) -> None:
        net = mx.sym.exp(mx.sym.FullyConnected(var('a'), num_hidden=2, name='fc'), name='e')
        executor = net.simple_bind(mx.cpu(), a=(1, 3))
        seen: dict[str, tuple[int, ...]] = {}
        executor.set_monitor_callback(lambda name, array: seen.update({name: array.shape}))
        executor.forward()
        assert seen == {'fc_output': (1, 2), 'e_output': (1, 2)}

    def test_copy_params_from(self) -> None:
        executor = mx.sym.exp(var('a')).simple_bind(mx.cpu(), a=(1,))
        with pytest.raises(ValueError, match='not in the arguments'):
            executor.copy_params_from({'b': mx.nd.ones(1)})
        executor.copy_params_from({'a': mx.nd.ones(1), 'b': mx.nd.ones(1)}, allow_extra_params=True)
        assert executor.arg_dict['a'].asscalar() == 1


class TestFiles:
    def test_keys_and_numbers(self) -> None:
        s = mx.sym.split(var('a'), num_outputs=2)
        graph = json.loads((s[0] + s[1]).tojson())
        assert list(graph) == ['nodes', 'arg_nodes', 'node_row_ptr', 'heads', 'attrs']
        assert graph['attrs'] == {'mxnet_version': ['int', 10901]}
        assert graph['node_row_ptr'] == [0, 1, 3, 4]
        assert graph['nodes'][2]['inputs'] == [[1, 0, 0], [1, 1, 0]]

    @pytest.mark.parametrize(('text', 'message'), [
        ('{}', 'Missing field'), ('garbage', "Expect '{'"), ('{"nodes": [', 'no JSON'),
        ('{"nodes":[{"op":"no_such_op","name":"x","inputs":[]}],"arg_nodes":[],"heads":[[0,0,0]]}',
         'Operator no_such_op is not registered'),
        ('{"nodes":[{"op":"exp","name":"x","inputs":[[0,0,0]]}],"arg_nodes":[],"heads":[[0,0,0]]}', 'earlier node'),
    ])
    def test_broken_files(self, text: str, message: str) -> None:
        with pytest.raises(mx.MXNetError, match=message):
            mx.sym.load_json(text)

    def test_save_and_load(self, tmp_path: object) -> None:
        y = mx.sym.FullyConnected(var('a'), num_hidden=2, name='fc')
        y.save(f'{tmp_path}/s.json')
        assert mx.sym.load(f'{tmp_path}/s.json').list_arguments() == y.list_arguments()
        with pytest.raises(mx.MXNetError, match='No such file or directory'):
            mx.sym.load(f'{tmp_path}/none.json')
        with pytest.raises(TypeError):
            mx.sym.load_json(3)

    def test_older_files(self) -> None:
        old = {'nodes': [{'op': 'null', 'name': 'a', 'inputs': []},
                         {'op': 'exp', 'name': 'e', 'param': {}, 'attr': {'ctx_group': 's'}, 'inputs': [[0, 0]]}],
               'arg_nodes': [0], 'heads': [[1, 0]]}
        again = json.loads(mx.sym.load_json(json.dumps(old)).tojson())
        assert again['nodes'][1]['attrs'] == {'__ctx_group__': 's'}


def test_gradient_of_every_head_is_summed() -> None:
    a = var('a')
    e = mx.sym.exp(a)
    executor = mx.sym.Group([mx.sym.make_loss(e), mx.sym.make_loss(e * 2)]).simple_bind(mx.cpu(), a=(1,))
    for _ in range(3):
        executor.forward(is_train=True)
        executor.backward()
        assert executor.grad_dict['a'].asscalar() == 3


def test_names_twice_in_one_graph() -> None:
    with pytest.warns(UserWarning, match='same name.*: z'):
        assert (var('z') + var('z')).list_arguments() == ['z', 'z']
    x = var('x')
    with pytest.warns(UserWarning, match='q_output'):
        mx.sym.Group([mx.sym.exp(x, name='q'), mx.sym.sin(x, name='q')])


def test_loops_and_branches() -> None:
    x, s, w = var('x'), var('s'), var('w')
    outs, last = mx.sym.contrib.foreach(lambda item, state: (item * w + state, item * w + state), x, s)
    both = mx.sym.Group([mx.sym.make_loss(outs), last])
    arrays = {'x': mx.nd.array([[1.], [2.], [3.]]), 's': mx.nd.zeros(1), 'w': mx.nd.array([2.])}
    grads = {name: mx.nd.zeros(a.shape) for name, a in arrays.items()}
    executor = both.bind(mx.cpu(), arrays, grads)
    for _ in range(2):
        found = executor.forward(is_train=True)
        assert [f.asnumpy().ravel().tolist() for f in found] == [[2, 6, 12], [12]]
        executor.backward([mx.nd.ones((3, 1)), mx.nd.zeros(1)])
        assert grads['w'].asscalar() == 1 + 3 + 6
        assert grads['x'].asnumpy().ravel().tolist() == [6, 4, 2]
    i, total = var('i'), var('total')
    outs, (_, end) = mx.sym.contrib.while_loop(lambda i, t: i < 3, lambda i, t: (t + i, [i + 1, t + i]), [i, total], 5)
    rows, end_value = mx.sym.Group([outs, end]).eval(i=mx.nd.zeros(1), total=mx.nd.zeros(1))
    assert rows.asnumpy().ravel().tolist() == [0, 1, 3, 0, 0]
    assert end_value.asscalar() == 3
    either = mx.sym.contrib.cond(mx.sym.sum(x) > 0, lambda: x * 2, lambda: -x)
    for value in (3.0, -3.0):
        assert either.eval(x=mx.nd.array([value]))[0].asscalar() == (6 if value > 0 else 3)


def test_loops_in_a_hybridized_block() -> None:
    class Sums(mx.gluon.HybridBlock):
        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return F.contrib.foreach(lambda item, state: (item + state, item + state), x, F.zeros((1,)))[0]

    net = Sums()
    x = mx.nd.array([[1.], [2.], [3.]])
    x.attach_grad()
    for active in (False, True, True):
        net.hybridize(active)
        with mx.autograd.record():
            y = net(x)
        y.backward()
        assert y.asnumpy().ravel().tolist() == [1, 3, 6]
        assert x.grad.asnumpy().ravel().tolist() == [3, 2, 1]


def test_library() -> None:
    assert 'cudnn' not in mx.libinfo()
    assert ('openmp' in mx.libinfo()) == mx.runtime.Features()['OPENMP'].enabled
    assert mx.libinfo.__version__ == mx.__version__
    assert mx.libinfo.find_lib_path()


def test_attributes_of_a_call_become_text() -> None:
    """As 1.9.1 has it: an initializer that a program passes on in this way is not one that is used."""
    symbol = mx.sym.Convolution(var('x'), num_filter=1, kernel=(1, 1), attr={'__init__': mx.init.Xavier(), '__n__': 1})
    assert symbol.attr('__n__') == '1'
    assert 'Xavier' in str(symbol.attr('__init__'))
    block = mx.gluon.SymbolBlock(symbol, var('x'))
    block.initialize(mx.init.One())
    assert block(mx.nd.ones((1, 2, 1, 1))).asnumpy().tolist() == [[[[3]]]]
    mx.sym.load_json(symbol.tojson())
