"""The binary file of arrays: round trips here and with real releases, and malformed files."""

from __future__ import annotations

import random
import resource
import struct
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import refengine as mx
from refengine.compat import params_file
from tests.refengine import releases

DTYPES = ('float32', 'float64', 'float16', 'uint8', 'int32', 'int8', 'int64')
VALUES = [[1, 2, 3], [4, 5, 6]]


def arrays() -> list[mx.nd.NDArray]:
    """One array of each dtype."""
    return [mx.nd.array(VALUES, dtype=dtype) for dtype in DTYPES]


def same(left: mx.nd.NDArray, right: mx.nd.NDArray) -> bool:
    """Same dtype, shape and elements."""
    return left.dtype == right.dtype and left.shape == right.shape and bool((left.asnumpy() == right.asnumpy()).all())


def test_lists_and_dicts_come_back(tmp_path: Path) -> None:
    path = str(tmp_path / 'a.params')
    mx.nd.save(path, [*arrays(), mx.nd.array([1, 0], dtype='bool')])
    back = mx.nd.load(path)
    assert all(same(a, b) for a, b in zip([*arrays(), mx.nd.array([1, 0], dtype='bool')], back, strict=True))
    named = dict(zip(DTYPES, arrays(), strict=True))
    mx.nd.save(path, named)
    back = mx.nd.load(path)
    assert list(back) == list(named)
    assert all(same(named[name], back[name]) for name in named)


def test_no_dimension_and_no_element_need_numpy_shapes(tmp_path: Path) -> None:
    path = str(tmp_path / 'a.params')
    with mx.util.np_shape(True):
        given = [mx.nd.zeros((0, 3)), mx.nd.array(np.array(2.5), dtype='float64')]
        mx.nd.save(path, given)
        back = mx.nd.load(path)
        assert all(same(a, b) for a, b in zip(given, back, strict=True))
    with pytest.raises(mx.MXNetError, match='np shape semantics'):
        mx.nd.load(path)


WRITE = """
arrays = [mx.nd.array([[1, 2, 3], [4, 5, 6]], dtype=d) for d in {dtypes!r}]
mx.nd.save('list.params', arrays)
mx.nd.save('dict.params', dict(zip({dtypes!r}, arrays)))
with mx.util.np_shape(True):
    mx.nd.save('shape.params', [mx.nd.zeros((0, 3)), mx.nd.array(np.array(2.5), dtype='float64')])
"""

READ = """
for name in ('list.params', 'dict.params'):
    found = mx.nd.load(name)
    found = list(found.values()) if isinstance(found, dict) else found
    for dtype, array in zip({dtypes!r}, found):
        assert np.dtype(array.dtype).name == dtype and array.asnumpy().tolist() == [[1, 2, 3], [4, 5, 6]], array
with mx.util.np_shape(True):
    empty, single = mx.nd.load('shape.params')
    assert empty.shape == (0, 3) and single.shape == () and single.asnumpy() == 2.5
print('read')
"""


def write(folder: Path) -> None:
    """The same three files by this engine."""
    mx.nd.save(str(folder / 'list.params'), arrays())
    mx.nd.save(str(folder / 'dict.params'), dict(zip(DTYPES, arrays(), strict=True)))
    with mx.util.np_shape(True):
        mx.nd.save(str(folder / 'shape.params'), [mx.nd.zeros((0, 3)), mx.nd.array(np.array(2.5), dtype='float64')])


@pytest.mark.needs_mxnet
@pytest.mark.parametrize('release', releases.RELEASES)
def test_files_of_a_release(release: str, tmp_path: Path) -> None:
    """Byte for byte the same, and read in both directions."""
    theirs, ours = tmp_path / 'theirs', tmp_path / 'ours'
    theirs.mkdir()
    ours.mkdir()
    releases.run(release, WRITE.format(dtypes=DTYPES), theirs)
    write(ours)
    for name in ('list.params', 'dict.params', 'shape.params'):
        assert (ours / name).read_bytes() == (theirs / name).read_bytes(), name
    assert 'read' in releases.run(release, READ.format(dtypes=DTYPES), ours)
    assert all(same(a, b) for a, b in zip(arrays(), mx.nd.load(str(theirs / 'list.params')), strict=True))


def seeds(folder: Path) -> list[bytes]:
    """Sound files to start from."""
    write(folder)
    mx.nd.save(str(folder / 'one.params'), mx.nd.ones((2,)))
    return [path.read_bytes() for path in sorted(folder.glob('*.params'))]


def mutated(source: random.Random, data: bytes) -> bytes:
    """The bytes with a few of them changed, cut off, doubled or put in: numbers at their limits above all."""
    changed = bytearray(data)
    for _ in range(source.randint(1, 4)):
        if not changed:
            break
        place = source.randrange(len(changed))
        how = source.randrange(6)
        if how == 0:
            changed[place] = source.randrange(256)
        elif how == 1:
            form, value = source.choice([('<I', 0xFFFFFFFF), ('<Q', 1 << 60), ('<q', -1), ('<i', -1), ('<Q', 0),
                                         ('<I', 0xF993FAC8), ('<I', 0xF993FACA), ('<I', 0x7FFFFFFF), ('<I', 32)])
            number = struct.pack(form, value)
            place -= place % 4
            changed[place:place + len(number)] = number
        elif how == 2:
            del changed[place:]
        elif how == 3:
            del changed[place:place + source.randint(1, 16)]
        elif how == 4:
            changed[place:place] = source.randbytes(source.randint(1, 16))
        else:
            changed += changed[place:place + 64]
    return bytes(changed)


@pytest.mark.slow
def test_100_000_malformed_files_end_with_arrays_or_the_named_error(tmp_path: Path) -> None:
    source, started = random.Random(7), seeds(tmp_path)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    refused = 0
    for number in range(100_000):
        data = mutated(source, started[number % len(started)]) if number % 20 else source.randbytes(number % 400)
        try:
            with mx.util.np_shape(bool(number & 1)):
                params_file.load_frombuffer(data)
        except mx.MXNetError:                              # anything else fails the test
            refused += 1
    assert 50_000 < refused < 100_000                      # most are broken, and some of the changes do no harm
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 200 * 1024, f'{grown} KiB more than before'


@pytest.mark.parametrize('shape', [(1 << 60,), (1 << 31, 1 << 31), (1 << 20, 1 << 20, 1 << 20)])
def test_a_promise_of_many_elements_takes_no_memory(shape: tuple[int, ...]) -> None:
    head = struct.pack('<QQQ', params_file.FILE_MAGIC, 0, 1)
    one = struct.pack(f'<Iii{len(shape)}qiii', params_file.V2, 0, len(shape), *shape, 1, 0, 0)
    tracemalloc.start()
    begun = time.process_time()
    with pytest.raises(mx.MXNetError, match='Invalid NDArray file format'):
        params_file.load_frombuffer(head + one + b'x' * 100)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 20
    assert time.process_time() - begun < 5


def test_a_promise_of_many_arrays_or_names_takes_no_memory() -> None:
    for data in (struct.pack('<QQQ', params_file.FILE_MAGIC, 0, 1 << 60),
                 struct.pack('<QQQQ', params_file.FILE_MAGIC, 0, 0, 1 << 60)):
        with pytest.raises(mx.MXNetError, match='Invalid NDArray file format'):
            params_file.load_frombuffer(data)
