"""Names of nodes, blocks and parameters; every expected name is what MXNet 1.9.1 gives."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import refengine as mx
from refengine import gluon, name
from refengine.gluon import nn


class ExpRelu(nn.HybridBlock):
    """Two operators without names."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # type: ignore[override]
        return F.relu(F.exp(x))


class Nested(nn.HybridBlock):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.dense = nn.Dense(2, in_units=2)
            self.nameless = ExpRelu(prefix='')

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # type: ignore[override]
        return self.nameless(F.relu(self.dense(F.relu(x))))


@pytest.fixture(autouse=True)
def fresh() -> Any:
    """Counters that start at 0."""
    with name.NameManager():
        yield


def outputs(block: Any, count: int = 1) -> list[str]:
    graph = block(*[mx.sym.var(f'x{index}' if count > 1 else 'x') for index in range(count)])
    return [label for label in graph.get_internals().list_outputs() if label.endswith(('output', 'output0'))]


class TestBlocksWithoutPrefix:
    def test_share_the_counters_of_the_block_around(self) -> None:
        net = nn.HybridSequential(prefix='s_')
        with net.name_scope():
            net.add(ExpRelu(prefix=''), ExpRelu(prefix=''), nn.Dense(2, prefix=''), ExpRelu())
        assert outputs(net) == ['s_exp0_output', 's_relu0_output', 's_exp1_output', 's_relu1_output', 's_fwd_output',
                                's_exprelu0_exp0_output', 's_exprelu0_relu0_output']
        graph = net(mx.sym.var('x')).get_internals()
        assert graph['s_relu1_output'].list_outputs() == ['s_relu1_output']

    def test_registered_outside_a_scope(self) -> None:
        net = nn.HybridSequential(prefix='d_')
        net.add(ExpRelu(prefix=''), ExpRelu())
        for _ in range(2):  # a scope counts afresh each time
            assert outputs(net) == ['d_exp0_output', 'd_relu0_output', 'exprelu0_exp0_output', 'exprelu0_relu0_output']

    def test_alone_go_on_counting(self) -> None:
        block = ExpRelu(prefix='')
        assert [block(mx.sym.var('x')).name for _ in range(2)] == ['relu0', 'relu1']

    def test_inside_a_block_with_a_prefix(self) -> None:
        first, second = Nested(prefix=''), Nested(prefix='c_')
        names = second(first(mx.sym.var('x'))).get_internals().list_outputs()
        assert names == ['x', 'relu0_output', 'dense0_weight', 'dense0_bias', 'dense0_fwd_output', 'relu1_output',
                         'exp0_output', 'relu2_output', 'c_relu0_output', 'c_dense0_weight', 'c_dense0_bias',
                         'c_dense0_fwd_output', 'c_relu1_output', 'c_exp0_output', 'c_relu2_output']

    def test_features_of_a_network_are_found_by_name(self) -> None:
        net = gluon.model_zoo.vision.resnet18_v1(prefix='r_')
        names = outputs(net)
        assert len(set(names)) == len(names)
        assert {'r_stage1__plus1_output', 'r_stage3_activation1_output', 'r_stage4_activation1_output'} <= set(names)


class TestManagers:
    def test_prefix_reaches_blocks(self) -> None:
        with name.Prefix('p_'):
            first, second = nn.Dense(1), nn.Dense(1)
        assert (first.name, second.prefix, nn.HybridSequential(prefix='k_').name) == ('p_dense0', 'p_dense1_', 'k')
        assert first(mx.sym.var('x')).name == 'p_dense0_fwd'

    def test_counters_of_an_inner_manager_are_its_own(self) -> None:
        with name.NameManager():
            assert (nn.Dense(1).name, mx.sym.exp(mx.sym.var('x')).name) == ('dense0', 'exp0')
        assert nn.Dense(1).name == 'dense0'

    def test_own_manager_names_blocks(self) -> None:
        class Mine(name.NameManager):
            def get(self, name: str | None, hint: str) -> str:
                return 'my_' + (name or hint)

        with Mine():
            assert (nn.Dense(3).name, nn.Dense(2).prefix) == ('my_dense', 'my_dense_')

    def test_blocks_and_symbols_are_counted_together(self) -> None:
        first = nn.Dropout(0.5)
        symbol = mx.sym.Dropout(mx.sym.var('x'))
        assert [first.name, symbol.name, nn.Dropout(0.5).name] == ['dropout0', 'dropout1', 'dropout2']

    def test_symbols_in_a_name_scope(self) -> None:
        net = nn.HybridSequential(prefix='q_')
        for _ in range(2):
            with net.name_scope():
                assert mx.sym.exp(mx.sym.var('x')).name == 'q_exp0'
                assert mx.sym.exp(mx.sym.var('x'), name='z').name == 'q_z'
                with name.NameManager():
                    assert mx.sym.exp(mx.sym.var('x')).name == 'exp0'
        assert mx.sym.exp(mx.sym.var('x')).name == 'exp0'

    def test_each_thread_counts_for_itself(self) -> None:
        nn.Dense(1)
        seen: list[str] = []
        thread = threading.Thread(target=lambda: seen.append(nn.Dense(1).name))
        thread.start()
        thread.join()
        assert seen == ['dense0']


LAYERS = {
    'dense': (lambda: nn.Dense(2, activation='relu'), ['dense0_fwd_output', 'dense0_relu_fwd_output']),
    'conv': (lambda: nn.Conv1D(2, 1, activation='tanh'), ['conv0_fwd_output', 'conv0_tanh_fwd_output']),
    'transposed': (lambda: nn.Conv3DTranspose(2, 2), ['conv0_fwd_output']),
    'batchnorm': (nn.BatchNorm, ['batchnorm0_fwd_output']),
    'pool': (nn.GlobalAvgPool2D, ['pool0_fwd_output']),
    'elu': (nn.ELU, ['elu0_leakyrelu0_output']),
    'gelu': (nn.GELU, ['gelu0_fwd_output']),
    'swish': (nn.Swish, ['swish0__mulscalar0_output', 'swish0_fwd_output', 'swish0__mul0_output']),
    'layernorm': (nn.LayerNorm, ['layernorm0_layernorm0_output']),
    'instancenorm': (lambda: nn.InstanceNorm(axis=2),
                     ['instancenorm0_swapaxes0_output', 'instancenorm0_fwd_output', 'instancenorm0_swapaxes1_output']),
    'lambda': (lambda: nn.HybridLambda('exp'), ['hybridlambda0_exp0_output']),
    'deformable': (lambda: gluon.contrib.cnn.DeformableConvolution(2, kernel_size=(3, 3), activation='relu'),
                   ['deformable_conv0_convolution0_output', 'deformable_conv0_fwd_output',
                    'deformable_conv0_relu_fwd_output']),
}


@pytest.mark.parametrize('layer', LAYERS)
def test_layers_name_their_operators(layer: str) -> None:
    make, expected = LAYERS[layer]
    assert outputs(make()) == expected


def test_a_layer_derived_by_a_user_keeps_the_names() -> None:
    class Mine(nn.Dense):
        pass

    assert outputs(Mine(2, prefix='m_')) == ['m_fwd_output']


def test_steps_of_cells() -> None:
    cell = gluon.rnn.LSTMCell(2, input_size=2)
    output, _ = cell(mx.sym.var('x'), cell.begin_state(func=mx.sym.zeros, batch_size=1))
    names = [label for label in output.get_internals().list_outputs() if '_t0_' in label]
    assert names == [f'lstm0_t0_{step}' for step in (
        'i2h_output', 'h2h_output', 'plus0_output', 'slice_output0', 'slice_output1', 'slice_output2', 'slice_output3',
        'o_output', 'f_output', 'mul0_output', 'i_output', 'c_output', 'mul1_output', 'state_output',
        'activation0_output', 'out_output')]
