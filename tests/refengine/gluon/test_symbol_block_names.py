"""Names of parameters of a graph as a block: in files, in messages, and where another block shares its parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import refengine as mx
from refengine import gluon, nd
from refengine.gluon import nn


def imported(folder: Path, *layers: Any) -> gluon.SymbolBlock:
    """What comes back of a net that was exported."""
    net = nn.HybridSequential(prefix='N_')
    with net.name_scope():
        net.add(*[layer() for layer in layers])
    net.initialize()
    net.hybridize()
    net(nd.ones((1, 2)))
    symbol_file, parameter_file = net.export(str(folder / 'net'))
    return gluon.SymbolBlock.imports(symbol_file, ['data'], parameter_file)


class Holder(nn.HybridBlock):
    def __init__(self, inner: Any) -> None:
        super().__init__()
        self.inner = inner

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # type: ignore[override]
        return self.inner(x)


#: The layers, and the names in the file of a block that holds them, as MXNet 1.9.1 writes it.
FILES = {
    'one': ([lambda: nn.Dense(2)], ['inner.bias', 'inner.weight']),
    'one_parameter': ([lambda: nn.Dense(2, use_bias=False)], ['inner.']),
    'two': ([lambda: nn.Dense(2), lambda: nn.Dense(3)],
            ['inner.0_bias', 'inner.0_weight', 'inner.1_bias', 'inner.1_weight']),
    'named': ([lambda: nn.Dense(2), lambda: nn.Dense(3, prefix='z_')],
              ['inner.dense0_bias', 'inner.dense0_weight', 'inner.z_bias', 'inner.z_weight']),
}


@pytest.mark.parametrize('kind', FILES)
def test_a_file_names_parameters_as_the_release_does(tmp_path: Path, kind: str) -> None:
    layers, names = FILES[kind]
    holder = Holder(imported(tmp_path, *layers))
    holder.save_parameters(str(tmp_path / 'w.params'))
    assert sorted(nd.load(str(tmp_path / 'w.params'))) == names

    again = Holder(imported(tmp_path, *layers))
    for parameter in again.collect_params().values():
        parameter.set_data(nd.zeros(parameter.shape))
    again.load_parameters(str(tmp_path / 'w.params'))
    x = nd.array([[1, 2]])
    assert again(x).asnumpy().tolist() == holder(x).asnumpy().tolist() != [[0] * holder(x).shape[1]]


def test_full_names_stay(tmp_path: Path) -> None:
    block = imported(tmp_path, lambda: nn.Dense(2))
    assert list(block.collect_params()) == ['N_dense0_weight', 'N_dense0_bias']
    block.save_parameters(str(tmp_path / 'bare.params'))
    block.load_parameters(str(tmp_path / 'bare.params'))
    block.collect_params().save(str(tmp_path / 'full.params'))
    block.load_parameters(str(tmp_path / 'full.params'))


def test_parameters_of_another_block_are_shared() -> None:
    dense, x = nn.Dense(2, in_units=2, prefix='k_'), mx.sym.var('x')
    block = gluon.SymbolBlock(dense(x), x, params=dense.collect_params())
    assert list(block.collect_params()) == ['k_weight', 'k_bias']
    assert block.collect_params()['k_weight'] is dense.weight
    dense.initialize(init='ones')
    assert block(nd.array([[1, 2]])).asnumpy().tolist() == [[3, 3]]


def test_repr_names_the_graph_and_counts_what_goes_in_and_out(tmp_path: Path) -> None:
    block = imported(tmp_path, lambda: nn.Dense(2))
    assert repr(block) == 'SymbolBlock(\n<Symbol N_dense0_fwd> : 1 -> 1\n)'
    a, b = mx.sym.var('a'), mx.sym.var('b')
    pair = gluon.SymbolBlock([a + b, mx.sym.exp(a, name='e')], [a, b])
    assert repr(pair).endswith(' : 2 -> 2\n)')


def test_name_is_counted_and_prefix_is_empty() -> None:
    a = mx.sym.var('a')
    with mx.name.NameManager():
        block = gluon.SymbolBlock(mx.sym.exp(a), a)
    assert (block.name, block.prefix) == ('symbolblock0', '')
