"""Record files: what is written is read again, here and in the release."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refengine as mx
from refengine import recordio
from tests.refengine import releases

MARK = bytes.fromhex('0a23d7ce')
RECORDS = [b'', b'a', b'four', b'12345', MARK, b'abcd' + MARK + b'efgh', MARK + MARK + b'x', b'ab' + MARK + b'cd',
           bytes(1000)]


def written(folder: Path, name: str = 'a') -> list[str]:
    paths = [str(folder / f'{name}.idx'), str(folder / f'{name}.rec')]
    file = recordio.MXIndexedRecordIO(*paths, 'w')
    for key, record in enumerate(RECORDS):
        file.write_idx(key, record)
    file.close()
    return paths


def test_there_and_back(tmp_path: Path) -> None:
    paths = written(tmp_path)
    file = recordio.MXRecordIO(paths[1], 'r')
    assert [file.read() for _ in RECORDS] == RECORDS
    assert file.read() is None
    file.reset()
    assert file.read() == RECORDS[0]
    indexed = recordio.MXIndexedRecordIO(*paths, 'r')
    assert indexed.keys == list(range(len(RECORDS)))
    assert [indexed.read_idx(key) for key in reversed(indexed.keys)] == RECORDS[::-1]
    copy = pickle.loads(pickle.dumps(indexed))
    assert copy.read_idx(5) == RECORDS[5]


def test_bytes_of_the_release(tmp_path: Path) -> None:
    path = str(tmp_path / 'b.rec')
    file = recordio.MXRecordIO(path, 'w')
    file.write(b'abcde')
    file.close()
    assert Path(path).read_bytes() == MARK + b'\x05\0\0\0abcde\0\0\0'


@pytest.mark.parametrize(('content', 'word'), [(b'no record file', 'no record file'), (MARK + b'\x09\0\0\0abc', 'ends'),
                                               (MARK + b'\x05', 'damaged')])
def test_what_is_no_record_file(tmp_path: Path, content: bytes, word: str) -> None:
    (tmp_path / 'c.rec').write_bytes(content)
    with pytest.raises(mx.MXNetError, match=word):
        recordio.MXRecordIO(str(tmp_path / 'c.rec'), 'r').read()


def test_misuse(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match='Invalid flag a'):
        recordio.MXRecordIO(str(tmp_path / 'd.rec'), 'a')
    with pytest.raises(mx.MXNetError, match='cannot open the record file'):
        recordio.MXRecordIO(str(tmp_path / 'none.rec'), 'r')
    file = recordio.MXRecordIO(str(tmp_path / 'd.rec'), 'w')
    with pytest.raises(AssertionError, match='open for writing'):
        file.read()
    file.close()
    file.close()


@pytest.mark.parametrize('label', [4.0, [1, 2, 3], np.arange(4)])
def test_headers(label: Any) -> None:
    header, data = recordio.unpack(recordio.pack(recordio.IRHeader(0, label, 2574, 0), b'data'))
    assert (data, header.id) == (b'data', 2574)
    np.testing.assert_array_equal(header.label, label)
    assert header.flag == (0 if isinstance(label, float) else len(label))


def test_images() -> None:
    pixels = np.random.RandomState(0).randint(0, 255, (6, 8, 3)).astype('uint8')
    header, found = recordio.unpack_img(recordio.pack_img((0, 3.0, 1, 0), pixels, quality=3, img_fmt='.png'))
    assert header.label == 3
    np.testing.assert_array_equal(found, pixels)
    smooth = np.broadcast_to(np.arange(0, 64, 4, dtype='uint8')[:, None, None], (16, 16, 3))
    _, found = recordio.unpack_img(recordio.pack_img((0, 3.0, 1, 0), smooth))
    assert np.abs(found.astype(int) - smooth).max() < 8
    _, grey = recordio.unpack_img(recordio.pack_img((0, 3.0, 1, 0), pixels[:, :, 0], img_fmt='.png', quality=1))
    np.testing.assert_array_equal(grey, pixels[:, :, 0])
    with pytest.raises(ValueError, match=r'not \.gif'):
        recordio.pack_img((0, 3.0, 1, 0), pixels, img_fmt='.gif')


@pytest.mark.needs_mxnet
def test_files_of_the_release_and_for_it(tmp_path: Path) -> None:
    written(tmp_path, 'ours')
    text = releases.run('mxnet-1.9.1', f"""
file = mx.recordio.MXIndexedRecordIO('ours.idx', 'ours.rec', 'r')
print([file.read_idx(k) for k in file.keys] == {RECORDS!r})
made = mx.recordio.MXIndexedRecordIO('theirs.idx', 'theirs.rec', 'w')
for key, record in enumerate({RECORDS!r}):
    made.write_idx(key, record)
made.close()
""", tmp_path)
    assert text.strip() == 'True'
    assert (tmp_path / 'theirs.rec').read_bytes() == (tmp_path / 'ours.rec').read_bytes()
    assert (tmp_path / 'theirs.idx').read_text() == (tmp_path / 'ours.idx').read_text()
