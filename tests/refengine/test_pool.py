"""Pieces of memory are cut, joined and given back, and no two that are lent ever overlap."""

from __future__ import annotations

import gc
import itertools
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from refengine import storage
from refengine.base import MXNetError
from refengine.pool import CUT, Memory, Pieces, is_part, new_block, rounding

MIB = 1 << 20


def extent(piece: Any) -> tuple[int, int]:
    """The addresses at which a piece begins and ends."""
    begin = piece.__array_interface__['data'][0]
    return begin, begin + piece.nbytes


def test_a_large_piece_serves_smaller_requests_and_is_whole_again() -> None:
    pieces, block = Pieces(), new_block(8 * MIB)
    pieces.add(block)
    first, second = pieces.take(2 * MIB), pieces.take(3 * MIB)
    assert first is not None
    assert second is not None
    assert [is_part(first), is_part(second)] == [True, True]
    assert extent(first)[0] == extent(block)[0]
    assert extent(second)[0] == extent(first)[1]
    assert pieces.kept == 3 * MIB
    assert pieces.take(4 * MIB) is None
    pieces.add(second)
    pieces.add(first)
    assert pieces.take(8 * MIB) is block
    assert pieces.kept == 0


def test_the_smallest_piece_that_fits_is_cut() -> None:
    pieces = Pieces()
    large, small = new_block(16 * MIB), new_block(4 * MIB)
    pieces.add(large)
    pieces.add(small)
    found = pieces.take(2 * MIB)
    assert found is not None
    assert found.base is small


def test_small_requests_are_not_cut() -> None:
    pieces = Pieces()
    pieces.add(new_block(8 * MIB))
    assert pieces.take(CUT // 2) is None
    pieces.add(new_block(CUT // 2))
    assert pieces.take(CUT // 2) is not None


def test_blocks_in_use_stay_when_the_rest_is_given_back() -> None:
    pieces = Pieces()
    pieces.add(new_block(8 * MIB))
    used = pieces.take(2 * MIB)
    pieces.add(new_block(4 * MIB))
    pieces.drop()
    assert pieces.kept == 6 * MIB
    assert used is not None
    pieces.add(used)
    pieces.drop()
    assert pieces.kept == 0


def test_drop_stops_at_what_may_be_kept() -> None:
    pieces = Pieces()
    for size in (1, 2, 4, 8):
        pieces.add(new_block(size * MIB))
    pieces.drop(7 * MIB)
    assert pieces.kept == 7 * MIB
    assert pieces.take(8 * MIB) is None


def test_what_comes_back_during_the_work_waits() -> None:
    pieces = Pieces()
    pieces.add(new_block(2 * MIB))
    with pieces._alone():
        pieces.add(new_block(4 * MIB))
        assert pieces.kept == 6 * MIB
        assert 4 * MIB not in pieces._by_size
    assert pieces.take(4 * MIB) is not None


@pytest.fixture
def empty_pool() -> Iterator[None]:
    gc.collect()
    storage.empty_cache()
    yield
    gc.collect()
    storage.empty_cache()


@pytest.mark.parametrize('seed', range(3))
def test_no_two_living_arrays_share_memory(seed: int, empty_pool: None) -> None:
    draw, living, used = random.Random(seed), [], storage.used_bytes()
    for number in range(400):
        if living and draw.random() < 0.48:
            array, content = living.pop(draw.randrange(len(living)))
            assert (array == content).all()
        else:
            array = storage.empty((draw.choice([1, 2, 3, 5, 8]) * draw.choice([MIB // 16, MIB, 2 * MIB]),), 'uint8')
            array[::4096] = array[-1] = number % 251
            living.append((array[::4096], number % 251))
        del array
    spans = sorted(extent(array.base) for array, _ in living)
    assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(spans))
    assert storage.used_bytes() - used >= sum(end - begin for begin, end in spans)
    living.clear()
    assert storage.used_bytes() == used


def test_other_sizes_need_no_more_memory(empty_pool: None) -> None:
    before = storage.kept_bytes()
    del_me = storage.empty((32 * MIB,), 'uint8')
    address = del_me.ctypes.data
    del del_me
    small = [storage.empty((4 * MIB,), 'uint8') for _ in range(8)]
    assert sorted(array.ctypes.data - address for array in small) == [i * 4 * MIB for i in range(8)]
    assert storage.kept_bytes() == before
    small.clear()
    assert storage.empty((32 * MIB,), 'uint8').ctypes.data == address


def test_sizes() -> None:
    fine, coarse = rounding('Naive'), rounding('Round')
    assert [fine(n) for n in (65536, 65537, MIB + 1)] == [65536, 69632, MIB + MIB // 8]
    assert [coarse(n) for n in (65536, 65537, 3 * MIB, 17 * MIB)] == [65536, 131072, 4 * MIB, 32 * MIB]
    with pytest.raises(MXNetError, match=r'Unknown memory pool strategy specified: Best\. Expected Naive'):
        rounding('Best')(1)


@pytest.mark.parametrize(('kind', 'kept'), [('Naive', 4 * MIB), ('Round', 4 * MIB), ('Unpooled', 0)])
def test_kinds(kind: str, kept: int) -> None:
    code = """from refengine import storage
a = storage.empty((3 << 20 | 1,), 'uint8')
del a
print(storage.kept_bytes())"""
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, timeout=60,
                          env={**os.environ, 'MXNET_CPU_MEM_POOL_TYPE': kind,
                               'PYTHONPATH': os.pathsep.join(p for p in sys.path if p)})
    assert done.returncode == 0, done.stderr
    found = int(done.stdout)
    assert found == kept if kind != 'Naive' else 3 * MIB < found <= kept


def test_memory_is_told_from_views() -> None:
    assert not is_part(new_block(4096))
    assert type(storage.empty((storage.LARGE,), 'uint8').base.base) is Memory
    assert np.shares_memory(storage.empty((storage.LARGE,), 'uint8'), np.empty(3)) is False
