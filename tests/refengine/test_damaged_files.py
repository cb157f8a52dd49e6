"""Whatever is in a file, reading it ends with what it holds or with the error that is promised."""

from __future__ import annotations

import copy
import io
import json
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refengine as mx
from refengine import nd, recordio


def archive(**arrays: Any) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def header_of_terabytes() -> bytes:
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,), }"
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, 'w') as made:
        made.writestr('a.npy', b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header + bytes(16))
    return stream.getvalue()


GOOD = archive(a=np.ones((2, 3)), b=np.arange(3))


@pytest.mark.parametrize(('content', 'text'), [
    (header_of_terabytes(), 'cannot be read'), (archive(a=np.array(['x'])), "'a' in the archive is <U1, expected one"),
    (archive(a=np.ones(3, complex)), 'complex128'), (archive(a=np.array([{1: 2}], dtype=object)), 'cannot be read'),
    (GOOD[:-30], 'cannot be read'),
])
def test_archives_of_other_things(content: bytes, text: str) -> None:
    with pytest.raises(mx.MXNetError, match=text):
        nd.load_frombuffer(content)


def test_damaged_archives() -> None:
    for place in range(len(GOOD)):
        for value in (0, 1, 255):
            try:
                nd.load_frombuffer(GOOD[:place] + bytes([value]) + GOOD[place + 1:])
            except mx.MXNetError:
                continue


def places(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if not isinstance(document, dict | list):
        return
    for key, value in document.items() if isinstance(document, dict) else enumerate(document):
        yield (*path, key)
        yield from places(value, (*path, key))


def test_damaged_graphs() -> None:
    symbol = mx.sym.FullyConnected(mx.sym.Convolution(mx.sym.var('x'), num_filter=2, kernel=(3, 3)), num_hidden=3)
    good = json.loads(symbol.tojson())
    read = refused = 0
    for path in places(good):
        for value in (None, -1, 10 ** 9, 'x', [], {}, [[]], 1.5):
            document = copy.deepcopy(good)
            part = document
            for key in path[:-1]:
                part = part[key]
            part[path[-1]] = value
            try:
                mx.sym.load_json(json.dumps(document))
                read += 1
            except mx.MXNetError:
                refused += 1
    assert min(read, refused) > 100
    with pytest.raises(mx.MXNetError, match='no JSON'):
        mx.sym.load_json('{"a":' * 100_000)


def test_what_is_no_file_of_a_graph(tmp_path: Path) -> None:
    (tmp_path / 'bytes').write_bytes(b'\xff\xfe\x00')
    for name, text in (('', 'Is a directory'), ('none', 'No such file'), ('bytes', 'no text')):
        with pytest.raises(mx.MXNetError, match=text):
            mx.sym.load(str(tmp_path / name))


@pytest.mark.parametrize(('index', 'text'), [
    ('x\n', "line 1 is 'x', expected a key of type int, a tab and a place"), ('0\t0\na\t4\n', "line 2 is 'a.t4'"),
    ('0\tx\n', 'line 1'), ('0\t0\t0\n', 'line 1'), ('\n', "line 1 is ''"), ('0\t-5\n', 'byte -5 of .*, which has 28'),
    ('0\t28\n', 'byte 28'),
])
def test_damaged_indices_of_records(index: str, text: str, tmp_path: Path) -> None:
    paths = [str(tmp_path / name) for name in ('a.idx', 'a.rec')]
    written = recordio.MXIndexedRecordIO(*paths, 'w')
    written.write_idx(0, b'x' * 20)
    written.close()
    Path(paths[0]).write_text(index)
    with pytest.raises(mx.MXNetError, match=text):
        recordio.MXIndexedRecordIO(*paths, 'r').read_idx(0)


@pytest.mark.parametrize(('record', 'text'), [
    (b'', 'at least 24 bytes, got 0'), (b'x' * 23, 'got 23'),
    (recordio.pack(recordio.IRHeader(0, [1.0, 2.0], 0, 0), b'')[:-1], 'says that 2 labels follow'),
])
def test_records_without_their_header(record: bytes, text: str) -> None:
    with pytest.raises(mx.MXNetError, match=text):
        recordio.unpack(record)
