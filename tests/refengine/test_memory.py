"""Settings of memory: a limit for the pool, and planning of graphs that are built while a switch is on."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import refengine as mx
from refengine import memory, storage


@pytest.fixture(autouse=True)
def _as_at_first() -> Iterator[None]:
    storage.empty_cache()
    yield
    storage.set_ceiling(None)
    mx.set_memory_pool_size("cpu", None)
    mx.set_cpu_memory_optimize(False)
    mx.set_gpu_memory_optimize(False)


def limit(above: int) -> int:
    """Let the pool hold this much more than is in use."""
    ceiling = storage.used_bytes() + above
    storage.set_ceiling(ceiling)
    return ceiling


def test_the_pool_never_holds_more_than_its_limit() -> None:
    ceiling = limit(4 << 20)
    random = np.random.default_rng(1)
    kept: list[np.ndarray] = []
    refused = 0
    for _ in range(300):
        if kept and random.random() < 0.45:
            kept.pop(int(random.integers(len(kept))))
        else:
            try:
                kept.append(storage.empty((int(random.integers(1 << 16, 1 << 20)),), "uint8"))
            except mx.MXNetError:
                refused += 1
        assert storage.used_bytes() + storage.kept_bytes() <= ceiling
    assert 0 < refused < 200


def test_a_refusal_leaves_the_numbers_alone() -> None:
    limit(1 << 20)
    used = storage.used_bytes()
    with pytest.raises(mx.MXNetError, match=r"out of memory: 8388608 bytes requested, \d+ bytes in use, the limit"):
        storage.empty((8 << 20,), "uint8")
    assert storage.used_bytes() == used


def test_what_comes_back_above_a_lowered_limit_is_not_kept() -> None:
    array = storage.empty((4 << 20,), "uint8")
    storage.set_ceiling(storage.used_bytes() - (1 << 20))
    del array
    assert storage.kept_bytes() == 0 or storage.used_bytes() + storage.kept_bytes() <= (4 << 20)


def test_graphs_keep_what_was_set_when_they_were_built() -> None:
    def built() -> mx.gluon.nn.Dense:
        net = mx.gluon.nn.Dense(2, in_units=2)
        net.initialize()
        net.hybridize()
        net(mx.nd.ones((1, 2)))
        return net

    assert memory.optimized() == frozenset()
    mx.set_cpu_memory_optimize(True)
    mx.gpu_memory_optimize = True
    assert memory.optimized() == {"cpu", "gpu"}
    net = built()
    mx.set_cpu_memory_optimize(False)
    np.testing.assert_array_equal(net(mx.nd.ones((1, 2))).asnumpy(), net(mx.nd.ones((1, 2))).asnumpy())
    assert memory.optimized() == {"gpu"}


def test_the_switch_plans_buffers() -> None:
    from refengine.graph.cached import CachedGraph
    from refengine.graph.program import Program

    program = Program([], 0, [], [], [])
    plain = CachedGraph(program)
    mx.set_cpu_memory_optimize(True)
    planned = CachedGraph(program)
    assert not plain.plan_for([], mx.cpu(), False).static_alloc
    assert planned.plan_for([], mx.cpu(), False).static_alloc
