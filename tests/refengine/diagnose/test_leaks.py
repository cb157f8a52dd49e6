"""What stays behind a block: arrays and graphs, counted, with who holds them; how full a device is."""

from __future__ import annotations

import collections
import functools

import pytest

import refengine as mx
from refengine import autograd, diagnose, gluon, nd
from refengine.diagnose import leaks


@pytest.fixture(autouse=True)
def _forget():
    yield
    diagnose.forget()


def test_leaks_are_counted_and_their_holders_named():
    kept = []
    with diagnose.find_leaks() as found:
        for _ in range(4):
            kept.append(nd.ones((5, 7)))
            nd.zeros((9, 9)) + 1
    assert [(g.shape, g.context, g.count) for g in found.growth] == [((5, 7), 'cpu(0)', 4)]
    assert any('kept' in h for h in found.growth[0].holders)
    with diagnose.find_leaks() as found:
        nd.ones((3, 3)) * 2
    assert not found
    assert str(found) == 'no array more than before'


def test_a_graph_that_is_never_walked_is_a_leak():
    x = nd.ones(3)
    x.attach_grad()
    losses = []
    with diagnose.find_leaks() as found:
        for i in range(3):
            with autograd.record():
                losses.append((x * i).sum())
    assert found.growth[0].count == 3


def test_memory_of_devices():
    use = diagnose.check_gpu_memory(mx.cpu(0))
    assert 0 <= use.used <= use.total
    assert 0 <= use.fragmentation <= 1
    if not mx.num_gpus():
        with pytest.raises(mx.MXNetError):
            diagnose.check_gpu_memory(mx.gpu(0))


def test_census():
    kept = [nd.ones((2, 9)) for _ in range(3)]
    assert diagnose.census()[(2, 9), 'cpu(0)'] == len(kept)


# ---- graphs --------------------------------------------------------------------------------------------------------

def weight(size=200):
    w = nd.ones((size, size))
    w.attach_grad()
    return w


def test_a_sum_of_losses_holds_the_graphs_of_all_steps():
    w, total = weight(), nd.zeros((1,))
    with diagnose.find_leaks() as found:
        for _ in range(20):
            with autograd.record():
                loss = nd.exp(w * 0.1).sum()
                total = total + loss
    assert found.graphs.calls == 80
    assert found.graphs.size >= 40 * w.size * 4         # both results of each step, which no array shows
    assert found.graphs.holders == [
        'total in test_a_sum_of_losses_holds_the_graphs_of_all_steps: a graph of 20 steps, 80 calls']
    assert 'loss.asscalar()' in str(found)
    assert 'loss.detach()' in str(found)
    assert loss.shape == (1,)


def test_steps_are_counted_also_from_a_number_on():
    w, total = weight(3), 0
    with diagnose.find_leaks() as found:
        for _ in range(4):
            with autograd.record():
                total = total + (w * w).sum()
    assert 'a graph of 4 steps' in found.graphs.holders[0]


def test_a_state_that_is_carried_on():
    w, state = weight(3), nd.ones((1, 3))
    with diagnose.find_leaks() as found:
        for _ in range(5):
            with autograd.record():
                state = nd.tanh(nd.dot(state, w))
    assert found.graphs.holders[0].startswith('state in ')
    assert 'a graph of 5 steps, 10 calls' in found.graphs.holders[0]


def test_losses_in_a_list_hold_a_graph_each():
    w, losses = weight(3), []
    with diagnose.find_leaks() as found:
        for i in range(3):
            with autograd.record():
                losses.append((w * i).sum())
    assert 'losses[0] to [2]' in found.graphs.holders[0]
    assert 'graphs of 2 calls each' in found.graphs.holders[0]


def test_compiled_graphs_count_what_they_keep():
    net, total = gluon.nn.HybridSequential(), 0
    net.add(gluon.nn.Dense(100, activation='tanh'), gluon.nn.Dense(1))
    net.initialize()
    net.hybridize()
    x = nd.ones((100, 50))
    net(x)
    with diagnose.find_leaks() as found:
        for _ in range(3):
            with autograd.record():
                total = total + net(x).sum()
    assert found.graphs.size > 3 * 100 * 100 * 4
    assert 'total in ' in found.graphs.holders[0]


def test_a_training_as_it_should_be_keeps_no_graph():
    net, total = gluon.nn.Dense(1, in_units=3), 0.0
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), 'sgd')
    with diagnose.find_leaks() as found:
        for _ in range(3):
            with autograd.record():
                loss = net(nd.ones((2, 3))).sum()
            loss.backward()
            trainer.step(2)
            total += loss.asscalar()
    assert found.graphs is None


# ---- holders -------------------------------------------------------------------------------------------------------

class Run:
    def __init__(self):
        self.losses, self.cache, self.recent = [], {}, collections.deque()


class Slots:
    __slots__ = ('last',)


@functools.lru_cache(None)
def endless(n):
    return nd.ones((n,))


@functools.lru_cache(maxsize=2)
def bounded(n):
    return nd.ones((n,))


def closing_over():
    kept = nd.ones((4,))
    return lambda: kept


def waiting():
    kept = nd.ones((4,))
    yield 1
    yield kept


def fill(run):
    for i in range(3):
        run.cache[i] = nd.ones((4,))


def nest(run):
    for _ in range(2):
        run.losses.append({'out': nd.ones((4,))})


def one(run):
    run.cache['k'] = (nd.ones((4,)), 1)


def by_attribute(run):
    run.output = nd.ones((4,))


def by_slot(run):
    run.slots = Slots()
    run.slots.last = nd.ones((4,))


def by_closure(run):
    run.function = closing_over()


def by_generator(run):
    run.generator = waiting()
    next(run.generator)


def by_exception(run):
    def fails():
        inside = nd.ones((4,))
        raise ValueError(inside.shape)

    try:
        fails()
    except ValueError as error:
        run.error = error


@pytest.mark.parametrize(('keep', 'expected'), [
    (fill, 'Run.cache[0] to [2] (mine in test_holders_are_named) (3 of them)'),
    (nest, "Run.losses[0]['out'] to [1]['out'] (mine in test_holders_are_named) (2 of them)"),
    (one, "Run.cache['k'][0] (mine in test_holders_are_named)"),
    (by_attribute, 'Run.output (mine in test_holders_are_named)'),
    (lambda run: run.recent.append(nd.ones((4,))), 'Run.recent[0] (mine in test_holders_are_named)'),
    (by_slot, 'Slots.last'), (by_closure, 'kept, a closure variable of closing_over.<locals>.<lambda>'),
    (by_generator, 'kept in the generator waiting, which waits'),
    (by_exception, 'inside in fails, whose frame an exception keeps'),
    (lambda run: endless(4), 'the lru_cache of endless'), (lambda run: bounded(4), 'the lru_cache of bounded'),
])
def test_holders_are_named(keep, expected):
    endless.cache_clear()
    bounded.cache_clear()
    mine = Run()
    with diagnose.find_leaks() as found:
        keep(mine)
    assert found.growth[0].holders[0] == expected
    assert mine


def test_an_array_at_the_place_of_a_dead_one_counts(monkeypatch):
    old = nd.ones((2,))
    monkeypatch.setattr(leaks, 'id', lambda array: 1, raising=False)        # all at one place, one after another
    with diagnose.find_leaks() as found:
        new = nd.ones((5, 11, 13))
    assert [g.count for g in found.growth if g.shape == new.shape] == [1]
    assert old.shape == (2,)


def test_what_has_no_name_is_described():
    mine = {(1, 2): [nd.ones((1,))]}
    with diagnose.find_leaks() as found:
        function = functools.partial(print, nd.ones((7,)))

        def default(x=nd.ones((8,))):  # noqa: B008 - it is what is looked for
            return x

        mine[1, 2].append(nd.ones((9,)))
    text = str(found)
    assert 'an argument of partial(print)' in text
    assert 'a default value of' in text
    assert 'mine[(1, 2)][1] in test_what_has_no_name_is_described' in text
    assert function
    assert default
