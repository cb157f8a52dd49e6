"""Blocks: names, children, parameters, hooks, files."""

from __future__ import annotations

import re

import numpy as np
import pytest

import refengine as mx
from refengine import gluon, nd
from refengine.gluon import nn


class Net(gluon.HybridBlock):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.first = nn.Dense(4)
            self.second = nn.Dense(2, activation='relu')
            self.scale = self.params.get('scale', shape=(2,), init='ones')

    def hybrid_forward(self, F, x, scale):
        return F.broadcast_mul(self.second(self.first(x)), scale)


def three(inputs=4, initialize=True, dtype=None):
    net = nn.HybridSequential()
    net.add(nn.Dense(3, in_units=inputs), nn.BatchNorm(in_channels=3), nn.Dense(2, in_units=3))
    if dtype:
        net.cast(dtype)
    if initialize:
        net.initialize()
    return net


class TestNames:
    def test_scopes(self):
        net = Net(prefix='net_')
        assert list(net.collect_params()) == ['net_scale', 'net_dense0_weight', 'net_dense0_bias', 'net_dense1_weight',
                                              'net_dense1_bias']
        assert (net.prefix, net.name, net.first.prefix, net.second.act.prefix) == (
            'net_', 'net', 'net_dense0_', 'net_dense1_relu_')

    def test_counters_outside_of_scopes(self):
        first, second = nn.Dense(1), nn.Dense(1)
        numbers = [int(re.fullmatch(r'dense(\d+)_', block.prefix)[1]) for block in (first, second)]
        assert numbers[1] == numbers[0] + 1

    def test_empty_prefix(self):
        class Empty(gluon.Block):
            def __init__(self):
                super().__init__(prefix='')
                with self.name_scope():
                    self.layer = nn.Dense(1, prefix='layer_')

        assert list(Empty().collect_params()) == ['layer_weight', 'layer_bias']

    def test_aliases(self):
        for block, alias in ((nn.Conv2D(1, 1), 'conv'), (nn.MaxPool2D(), 'pool'), (nn.Activation('tanh'), 'tanh'),
                             (nn.BatchNorm(), 'batchnorm'), (nn.HybridSequential(), 'hybridsequential')):
            assert re.fullmatch(alias + r'\d+_', block.prefix)

    def test_repr(self):
        net = Net()
        assert repr(net) == ('Net(\n  (first): Dense(None -> 4, linear)\n'
                             '  (second): Dense(None -> 2, Activation(relu))\n)')
        assert repr(nn.HybridSequential()) == 'HybridSequential(\n\n)'


class TestChildren:
    def test_only_hybrid_children(self):
        with pytest.raises(ValueError, match='Children of HybridBlock must also be HybridBlock'):
            nn.HybridSequential().add(nn.Sequential())

    def test_replacing(self):
        net = Net()
        with pytest.raises(TypeError, match='Changing attribute type for first'):
            net.first = 3
        with pytest.raises(TypeError, match='Changing attribute type for scale'):
            net.scale = 3
        with pytest.raises(AssertionError, match='Overriding Parameter attribute scale is not allowed'):
            net.scale = gluon.Parameter('z', shape=(2,))
        net.first = nn.Dense(9)
        assert len(net._children) == 2

    @pytest.mark.parametrize('wrap', [lambda block: [block], lambda block: {'a': (block,)}])
    def test_hidden_blocks_are_warned_about(self, wrap):
        net = Net()
        net.layers = wrap(nn.Dense(1))
        with pytest.warns(UserWarning, match=r'"Net.layers" is an unregistered container with Blocks'):
            assert len(net.collect_params()) == 5

    def test_apply_goes_up(self):
        seen = []
        net = three()
        assert net.apply(lambda block: seen.append(type(block).__name__)) is net
        assert seen == ['Dense', 'BatchNorm', 'Dense', 'HybridSequential']

    def test_sequences(self):
        net = three()
        assert len(net) == 3
        assert isinstance(net[1], nn.BatchNorm)
        assert isinstance(net[-1], nn.Dense)
        part = net[1:]
        assert type(part) is nn.HybridSequential
        assert list(part) == [net[1], net[2]]
        with pytest.raises(IndexError):
            net[7]

    def test_lambda(self):
        assert nn.Lambda('tanh')(nd.zeros(1)).asscalar() == 0
        assert nn.HybridLambda(lambda F, x: F.exp(x))(nd.zeros(1)).asscalar() == 1
        for kind in (nn.Lambda, nn.HybridLambda):
            with pytest.raises(AssertionError, match='Function name nosuch is not found'):
                kind('nosuch')
            with pytest.raises(ValueError, match='Unrecognized function in lambda: 3'):
                kind(3)
        assert repr(nn.Lambda('tanh')) == 'Lambda(tanh)'


class TestParameters:
    def test_select(self):
        net = three()
        names = [name.partition('_')[2] for name in net.collect_params('.*weight')]
        assert names == ['weight', 'weight']
        assert len(net.collect_params('.*bias|.*gamma')) == 3
        assert not list(net.collect_params('weight'))
        with pytest.raises(re.error):
            net.collect_params('(')

    def test_shared_at_construction(self):
        one = nn.Dense(3, in_units=2)
        other = nn.Dense(3, in_units=2, params=one.params)
        assert other.weight is one.weight
        assert list(other.collect_params()) == list(one.collect_params())
        with pytest.raises(AssertionError, match='desired attribute does not match'):
            nn.Dense(3, in_units=9, params=one.params)

    @pytest.mark.parametrize('how', ['collected', 'structural'])
    def test_share_parameters(self, how):
        one, other = three(), three()
        shared = one.collect_params() if how == 'collected' else one._collect_params_with_prefix()
        assert other.share_parameters(shared) is other
        x = nd.ones((2, 4))
        assert other[0].weight is one[0].weight
        assert (one(x).asnumpy() == other(x).asnumpy()).all()
        assert list(other.collect_params()) == list(one.collect_params())
        with pytest.warns(UserWarning, match='Parameter name 9.weight is not in the current model'):
            other.share_parameters({'9.weight': one[0].weight})
        with pytest.raises(ValueError, match='expected a dict'):
            other.share_parameters([1])

    def test_own_parameters_join(self):
        """Parameters that are made without the dict of the block, as in 2.0."""
        class Two(gluon.HybridBlock):
            def __init__(self):
                super().__init__(prefix='two_')
                self.weight = gluon.Parameter('weight', shape=(2,), init='ones')
                self.other = gluon.Parameter('named', shape=(2,), init='ones')

            def forward(self, x):
                return x * self.weight.data() + self.other.data()

        net = Two()
        assert list(net.collect_params()) == ['two_weight', 'named']
        net.initialize()
        assert net(nd.ones(2)).asnumpy().tolist() == [2, 2]

    def test_cast(self):
        net = three()
        net.cast('float64')
        assert {str(np.dtype(p.dtype)) for p in net.collect_params().values()} == {'float64'}
        assert net(nd.ones((2, 4), dtype='float64')).dtype == np.float64
        with pytest.raises(mx.MXNetError, match='Incompatible attr'):
            net(nd.ones((2, 4)))
        with pytest.raises(TypeError, match='not understood'):
            net.cast('foo')

    def test_statistics_of_half_precision_stay_wide(self):
        net = three(dtype='float16')
        assert {str(np.dtype(p.dtype)) for p in net[1].collect_params().values()} == {'float32'}
        assert net(nd.ones((2, 4), dtype='float16')).dtype == np.float16


class TestHooks:
    def test_order_and_arguments(self):
        log = []
        net = three()
        pre = net.register_forward_pre_hook(lambda block, inputs: log.append(('pre', block, type(inputs), len(inputs))))
        post = net.register_forward_hook(lambda block, inputs, output: log.append(('post', output)) or 5)
        out = net(nd.ones((1, 4)))
        assert log == [('pre', net, tuple, 1), ('post', out)]
        with pre:
            net(nd.ones((1, 4)))
        net(nd.ones((1, 4)))
        assert [entry[0] for entry in log] == ['pre', 'post', 'pre', 'post', 'post']
        post.detach()
        post.detach()
        net(nd.ones((1, 4)))
        assert len(log) == 5

    def test_only_functions(self):
        with pytest.raises(TypeError, match='must be callable'):
            three().register_forward_hook(3)
        with pytest.raises(TypeError, match='must be callable'):
            three().register_forward_pre_hook(None)

    def test_hybridize_warns(self):
        net = three()
        net[0].register_forward_hook(lambda *args: None)
        with pytest.warns(UserWarning, match='is being hybridized while still having forward hook/pre-hook'):
            net.hybridize()


class TestFiles:
    @pytest.fixture
    def saved(self, tmp_path):
        net = three()
        file = str(tmp_path / 'n.params')
        net.save_parameters(file)
        return net, file

    def test_structural_names(self, saved):
        net, file = saved
        assert sorted(nd.load(file)) == ['0.bias', '0.weight', '1.beta', '1.gamma', '1.running_mean', '1.running_var',
                                         '2.bias', '2.weight']
        other = three()
        other.load_parameters(file)
        x = nd.ones((2, 4))
        assert (net(x).asnumpy() == other(x).asnumpy()).all()

    def test_fresh_nets_are_put_on_contexts(self, saved):
        net = three(initialize=False)
        net.load_parameters(saved[1], ctx=[mx.cpu(0), mx.cpu(1)])
        assert net[0].weight.list_ctx() == [mx.cpu(0), mx.cpu(1)]
        with pytest.raises(AssertionError, match=r'on \[cpu\(2\)\] because it was previous initialized on '
                                                 r'\[cpu\(0\), cpu\(1\)\]'):
            net.load_parameters(saved[1], ctx=mx.cpu(2))

    def test_unknown_shapes_are_settled(self, tmp_path):
        file = str(tmp_path / 'd.params')
        source = nn.Dense(3, in_units=4)
        source.initialize()
        source.save_parameters(file)
        layer = nn.Dense(3)
        layer.initialize()
        layer.load_parameters(file)
        assert layer.weight.data().shape == (3, 4)

    def test_missing_and_extra(self, saved, tmp_path):
        arrays = nd.load(saved[1])
        del arrays['0.weight']
        nd.save(str(tmp_path / 'less'), arrays)
        with pytest.raises(AssertionError, match="Parameter '0.weight' is missing in file.*Set allow_missing=True"):
            three().load_parameters(str(tmp_path / 'less'))
        three().load_parameters(str(tmp_path / 'less'), allow_missing=True)
        nd.save(str(tmp_path / 'more'), {**nd.load(saved[1]), '9.weight': nd.ones(1)})
        with pytest.raises(ValueError, match="'9.weight' loaded from file.*is not present in.*Set ignore_extra=True"):
            three().load_parameters(str(tmp_path / 'more'))
        three().load_parameters(str(tmp_path / 'more'), ignore_extra=True)

    def test_shape_and_dtype(self, saved):
        with pytest.raises(AssertionError, match=r'shape incompatible expected \(3, 5\) vs saved \(3, 4\)'):
            three(5).load_parameters(saved[1])
        with pytest.raises(AssertionError, match="dtype incompatible expected float16 vs saved <class "
                                                 "'numpy.float32'>"):
            three(dtype='float16').load_parameters(saved[1])
        net = three(dtype='float16')
        net.load_parameters(saved[1], cast_dtype=True)
        assert net[0].weight.data().dtype == np.float16
        net.load_parameters(saved[1], cast_dtype=True, dtype_source='saved')
        assert net[0].weight.data().dtype == net[0].weight.dtype == np.float32
        with pytest.raises(AssertionError, match="dtype_source must be 'current' or 'saved'"):
            three(dtype='float16').load_parameters(saved[1], cast_dtype=True, dtype_source='foo')

    def test_before_initialisation(self, tmp_path):
        with pytest.raises(RuntimeError, match='has not been initialized'):
            three(initialize=False).save_parameters(str(tmp_path / 'q'))
        layer = nn.Dense(3)
        layer.initialize()
        with pytest.raises(gluon.DeferredInitializationError):
            layer.save_parameters(str(tmp_path / 'q'))
        assert not list(tmp_path.iterdir())

    def test_no_such_file(self):
        with pytest.raises(mx.MXNetError, match='nofile.*No such file or directory'):
            three().load_parameters('nofile')

    def test_files_without_names(self, tmp_path):
        nd.save(str(tmp_path / 'list'), [nd.ones(2)])
        with pytest.raises(ValueError, match='without names'):
            three().load_parameters(str(tmp_path / 'list'))

    def test_shared_once(self, tmp_path):
        def make():
            net = nn.HybridSequential()
            first = nn.Dense(3, in_units=3)
            net.add(first, nn.Dense(3, in_units=3, params=first.params))
            net.initialize()
            return net

        net = make()
        net.save_parameters(str(tmp_path / 'all'))
        net.save_parameters(str(tmp_path / 'once'), deduplicate=True)
        assert sorted(nd.load(str(tmp_path / 'all'))) == ['0.bias', '0.weight', '1.bias', '1.weight']
        assert sorted(nd.load(str(tmp_path / 'once'))) == ['1.bias', '1.weight']
        other = make()
        other.load_parameters(str(tmp_path / 'once'))
        assert (other[0].weight.data().asnumpy() == net[0].weight.data().asnumpy()).all()

    def test_full_names(self, tmp_path):
        """Files of ParameterDict.save, of exports and of save_params."""
        net = Net(prefix='net_')
        net.initialize()
        x = nd.ones((1, 3))
        expected = net(x).asnumpy()
        values = {name: p.data() for name, p in net.collect_params().items()}
        for case, arrays in enumerate((values, {'arg:' + name: value for name, value in values.items()},
                                       {name[4:]: value for name, value in values.items()})):
            file = str(tmp_path / str(case))
            nd.save(file, arrays)
            other = Net(prefix='net_')
            other.load_parameters(file)
            assert (other(x).asnumpy() == expected).all()
        with pytest.warns(UserWarning, match='save_params is deprecated'):
            net.save_params(str(tmp_path / 'old'))
        assert 'dense0_weight' in nd.load(str(tmp_path / 'old'))
        with pytest.warns(UserWarning, match='load_params is deprecated'):
            Net(prefix='net_').load_params(str(tmp_path / 'old'))

    def test_load_dict(self):
        net, other = three(), three()
        other.load_dict({name: p.data().asnumpy() for name, p in net._collect_params_with_prefix().items()})
        assert (other[2].weight.data().asnumpy() == net[2].weight.data().asnumpy()).all()
        with pytest.raises(AssertionError, match='is missing in param_dict'):
            other.load_dict({'0.weight': nd.ones((3, 4))})


def test_summary(capsys):
    net = nn.HybridSequential()
    net.add(nn.Dense(3, activation='relu'), nn.BatchNorm(), nn.Dense(2, use_bias=False))
    net.initialize()
    net.summary(nd.ones((1, 4)))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines[3:9]] == [
        ['Input', '(1,', '4)', '0'], ['Activation-1', '(1,', '3)', '0'], ['Dense-2', '(1,', '3)', '15'],
        ['BatchNorm-3', '(1,', '3)', '12'], ['Dense-4', '(1,', '2)', '6'], ['=' * 80]]
    assert '   Total params: 33' in lines
    assert '   Trainable params: 27' in lines
    assert '   Non-trainable params: 6' in lines
    net.hybridize()
    with pytest.raises(AssertionError, match='must not be hybridized to print summary'):
        net.summary(nd.ones((1, 4)))
    with pytest.raises(RuntimeError, match='has not been initialized'):
        nn.Dense(1, in_units=1).summary(nd.ones((1, 1)))
