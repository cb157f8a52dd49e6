"""What programs do with modules, arrays and contexts as they stand; the answers are those of MXNet 1.9.1."""

from __future__ import annotations

import collections.abc
import threading
from types import ModuleType

import pytest

import refengine as mx
from refengine import gluon, nd

MODULES = [mx, mx.nd, mx.sym, mx.contrib, mx.optimizer, gluon, gluon.nn, gluon.rnn, gluon.data, gluon.contrib]


@pytest.mark.parametrize('module', MODULES, ids=lambda module: str(module.__name__))
def test_every_name_that_a_module_lists_exists(module: ModuleType) -> None:
    assert [name for name in dir(module) if not hasattr(module, name)] == []


def test_arrays_are_walked_through_but_are_no_iterables_by_type() -> None:
    """Programs tell lists from arrays by it."""
    array = nd.array([[1, 2], [3, 4]])
    assert not isinstance(array, collections.abc.Iterable)
    assert [row.asnumpy().tolist() for row in array] == [[1, 2], [3, 4]]
    first, second = array
    assert (first.shape, second.asnumpy().tolist(), next(iter(nd.zeros((1,)))).shape) == ((2,), [3, 4], (1,))


def test_the_default_context_is_assigned_for_one_thread() -> None:
    assert mx.Context.default_ctx == mx.cpu(0)
    try:
        mx.Context.default_ctx = mx.cpu(1)
        assert (nd.ones(1).context, mx.current_context(), mx.Context.default_ctx) == (mx.cpu(1),) * 3
        with mx.cpu(2):
            assert nd.ones(1).context == mx.Context.default_ctx == mx.cpu(2)
        assert nd.ones(1).context == mx.cpu(1)
        seen: list[mx.Context] = []
        thread = threading.Thread(target=lambda: seen.append(nd.ones(1).context))
        thread.start()
        thread.join()
        assert seen == [mx.cpu(0)]
    finally:
        mx.Context.default_ctx = mx.cpu(0)
    with pytest.raises(TypeError, match='expected a Context'):
        mx.Context.default_ctx = 'cpu'


class TestRecurrentLayersThatGiveNoStates:
    @pytest.mark.parametrize('kind', [gluon.rnn.LSTM, gluon.rnn.GRU, gluon.rnn.RNN])
    def test_export_has_one_output(self, kind: type, tmp_path: object) -> None:
        layer = kind(2, input_size=3, prefix='l_')
        layer.initialize()
        layer.hybridize()
        x = nd.ones((2, 1, 3))
        expected = layer(x)
        layer.export(f'{tmp_path}/net')
        assert mx.sym.load(f'{tmp_path}/net-symbol.json').list_outputs() == ['l_rnn0_output']
        block = gluon.SymbolBlock.imports(f'{tmp_path}/net-symbol.json', ['data0', *(
            ['data1', 'data2'] if kind is gluon.rnn.LSTM else ['data1'])], f'{tmp_path}/net-0000.params')
        assert block(x, *layer.begin_state(1)).asnumpy().tolist() == expected.asnumpy().tolist()

    def test_both_ways_of_calling_stay_compiled(self) -> None:
        layer = gluon.rnn.GRU(2, input_size=3)
        layer.initialize()
        x = nd.ones((2, 1, 3))
        eager = layer(x).asnumpy().tolist()
        layer.hybridize()
        for _ in range(2):
            assert layer(x).asnumpy().tolist() == eager
            without = layer._cache
            outputs, states = layer(x, layer.begin_state(1))
            assert (outputs.asnumpy().tolist(), len(states)) == (eager, 1)
            with_states = layer._cache
        assert layer(x).shape == (2, 1, 2)
        assert layer._cache is without is not with_states
        layer.cast('float64')
        assert layer(x.astype('float64')).dtype == layer(x.astype('float64'), layer.begin_state(1))[0].dtype
