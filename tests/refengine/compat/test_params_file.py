"""The binary file of arrays: bytes as both releases write them, and nothing but MXNetError for broken ones."""

from __future__ import annotations

import os
import pathlib
import random
import struct

import numpy as np
import pytest

import refengine as mx
from refengine import nd
from refengine.compat import params_file
from tests.refengine import releases

HEADER = struct.pack('<QQQ', 0x112, 0, 1)
LIST = struct.pack('<Q', 0)
CPU0 = struct.pack('<ii', 1, 0)
PAIR = np.array([1, 2], '<f4').tobytes()
V2 = struct.pack('<Iiiqq', 0xF993FAC9, 0, 2, 1, 2) + CPU0 + struct.pack('<i', 0) + PAIR
V1 = struct.pack('<Iiqq', 0xF993FAC8, 2, 1, 2) + CPU0 + struct.pack('<i', 0) + PAIR
V0 = struct.pack('<III', 2, 1, 2) + CPU0 + struct.pack('<i', 0) + PAIR


def parse(data):
    return nd.load_frombuffer(data)


class TestBytes:
    def test_dict(self, tmp_path):
        """Rule ND-SAVE-005, number by number."""
        file = tmp_path / 'f'
        nd.save(str(file), {'ab': nd.array([[1, 2], [3, 4]])})
        assert file.read_bytes() == (
            struct.pack('<QQQ', 274, 0, 1) + struct.pack('<Iii', 4187224777, 0, 2) + struct.pack('<qq', 2, 2)
            + struct.pack('<iii', 1, 0, 0) + struct.pack('<4f', 1, 2, 3, 4) + struct.pack('<Q', 1)
            + struct.pack('<Q', 2) + b'ab')

    def test_empty(self, tmp_path):
        file = tmp_path / 'f'
        for empty in ([], {}):
            nd.save(str(file), empty)
            assert file.read_bytes() == struct.pack('<QQQQ', 0x112, 0, 0, 0)
            assert nd.load(str(file)) == []

    def test_context_is_written(self, tmp_path):
        nd.save(str(tmp_path / 'f'), nd.array([1], ctx=mx.cpu(3)))
        assert struct.unpack_from('<ii', (tmp_path / 'f').read_bytes(), 24 + 12 + 8) == (1, 3)
        assert nd.load(str(tmp_path / 'f'))[0].context == mx.cpu(0)

    @pytest.mark.parametrize(('dtype', 'code'), [
        ('float32', 0), ('float64', 1), ('float16', 2), ('uint8', 3), ('int32', 4), ('int8', 5), ('int64', 6),
        ('bool', 7)])
    def test_types(self, tmp_path, dtype, code):
        file = tmp_path / 'f'
        nd.save(str(file), [nd.array([1, 0], dtype=dtype)])
        assert struct.unpack_from('<i', file.read_bytes(), 24 + 12 + 16)[0] == code
        loaded = nd.load(str(file))[0]
        assert loaded.dtype == np.dtype(dtype)
        assert loaded.asnumpy().tolist() == [1, 0]

    def test_memory_order_does_not_matter(self, tmp_path):
        array = nd.array(np.arange(24).reshape(2, 3, 4))
        nd.save(str(tmp_path / 'a'), array)
        array._data = np.ascontiguousarray(array._data.transpose(0, 2, 1)).transpose(0, 2, 1)
        nd.save(str(tmp_path / 'b'), array)
        assert (tmp_path / 'a').read_bytes() == (tmp_path / 'b').read_bytes()
        nd.save(str(tmp_path / 'c'), array[1])
        assert (nd.load(str(tmp_path / 'c'))[0].asnumpy() == array.asnumpy()[1]).all()

    @pytest.mark.needs_mxnet
    @pytest.mark.slow
    @pytest.mark.parametrize('engine', releases.RELEASES)
    def test_both_directions(self, tmp_path, engine):
        """What the release writes equals what this engine writes, and each reads the other's file."""
        values = {'w': np.random.default_rng(0).normal(size=(3, 4, 5)).astype('float32')}
        for dtype in ('float64', 'float16', 'uint8', 'int32', 'int8', 'int64', 'bool'):
            values['arg:' + dtype] = np.arange(6).reshape(1, 6).astype(dtype)
        values['é'] = np.ones(1, 'float32')
        np.savez(tmp_path / 'values.npz', **values)
        ours = {name: nd.array(v, dtype=v.dtype) for name, v in values.items()}
        nd.save(str(tmp_path / 'ours'), ours)
        nd.save(str(tmp_path / 'ours.list'), list(ours.values()))
        releases.run(engine, '''
from mxnet import nd
values = dict(np.load('values.npz'))
arrays = {n: nd.array(v, dtype=v.dtype) for n, v in values.items()}
nd.save('theirs', arrays)
nd.save('theirs.list', list(arrays.values()))
for n, a in nd.load('ours').items():
    assert a.dtype == values[n].dtype and (a.asnumpy() == values[n]).all(), n
assert len(nd.load('ours.list')) == len(values)
''', tmp_path)
        for name in ('', '.list'):
            assert (tmp_path / f'ours{name}').read_bytes() == (tmp_path / f'theirs{name}').read_bytes()
        loaded = nd.load(str(tmp_path / 'theirs'))
        assert list(loaded) == list(values)
        for name, value in values.items():
            assert (loaded[name].asnumpy() == value).all()


class TestReading:
    @pytest.mark.parametrize('body', [V0, V1, V2], ids=['oldest', 'old', 'current'])
    def test_versions(self, body):
        found = parse(HEADER + body + LIST)
        assert type(found) is list
        assert found[0].asnumpy().tolist() == [[1, 2]]

    def test_names_and_rest(self):
        names = struct.pack('<QQ', 1, 2) + 'é'.encode()
        assert list(parse(HEADER + V2 + names)) == ['é']
        assert len(parse(HEADER + V2 + LIST + b'anything')) == 1
        assert parse(struct.pack('<QQQ', 0x112, 5, 1) + V2 + LIST)[0].shape == (1, 2)
        for kind in (2, 9):                                 # arrays of a GPU, and of what nobody knows
            moved = V2[:28] + struct.pack('<ii', kind, 3) + V2[36:]
            assert parse(HEADER + moved + LIST)[0].context == mx.cpu(0)

    def test_numpy_shape_semantics(self, tmp_path):
        file = str(tmp_path / 'f')
        with mx.util.np_shape(True):
            nd.save(file, [nd.ones(2), nd.zeros((0, 2)), nd.array(5)])
            assert [a.shape for a in nd.load(file)] == [(2,), (0, 2), ()]
        with pytest.raises(mx.MXNetError, match='saved in np shape semantics'):
            nd.load(file)
        nd.save(file, [nd.ones(2)])
        with mx.util.np_shape(True), pytest.raises(mx.MXNetError, match='not saved in np shape semantics'):
            nd.load(file)

    def test_zero_dimensions(self, tmp_path):
        """Rule ND-SAVE-009."""
        nd.save(str(tmp_path / 'f'), nd.array(5))
        with pytest.raises(mx.MXNetError):
            nd.load(str(tmp_path / 'f'))

    @pytest.mark.parametrize(('data', 'fragment'), [
        (b'abc', 'the header needs 24 bytes, 3 are left'), (b'', 'the header'),
        (struct.pack('<QQQ', 0x113, 0, 1) + V2 + LIST, 'it begins with 0x113, expected 0x112'),
        (HEADER + V2, 'the number of names'), (HEADER + V2[:-4], 'needs 8 bytes, 4 are left'),
        (struct.pack('<QQQ', 0x112, 0, 1 << 60) + V2 + LIST, 'Invalid NDArray file format'),
        (HEADER + V2 + struct.pack('<QQ', 2, 1) + b'a', '2 names for 1 arrays'),
        (HEADER + V2 + struct.pack('<QQ', 1, 1 << 50), 'a name of'), (HEADER + V2 + struct.pack('<QQ', 1, 5) + b'a',
                                                                      'a name'),
        (HEADER + V2 + struct.pack('<QQ', 1, 1) + b'\xff', 'not UTF-8'),
        (HEADER + V2.replace(struct.pack('<qq', 1, 2), struct.pack('<qq', -1, 2)) + LIST, 'negative value'),
        (HEADER + V2.replace(struct.pack('<qq', 1, 2), struct.pack('<qq', 0, 2)) + LIST, 'legacy shape semantics'),
        (HEADER + V2.replace(struct.pack('<qq', 1, 2), struct.pack('<qq', 1 << 40, 1 << 40)) + LIST, 'are left'),
        (HEADER + struct.pack('<Iii', 0xF993FAC9, 0, 1 << 30) + LIST, 'dimensions'),
        (HEADER + struct.pack('<Iii', 0xF993FAC9, 0, -1) + LIST, 'dimensions'),
        (HEADER + struct.pack('<Iii', 0xF993FAC9, 7, 1) + LIST, 'Unknown storage type 7'),
        (HEADER + struct.pack('<Iii', 0xF993FAC9, 1, 1) + LIST, 'storage type row_sparse is not supported'),
        (HEADER + V2[:-12] + struct.pack('<i', 9) + PAIR + LIST, 'Unknown type enum 9'),
        (HEADER + struct.pack('<I', 1 << 31) + LIST, 'dimensions'),
    ])
    def test_malformed(self, data, fragment):
        with pytest.raises(mx.MXNetError, match=fragment):
            parse(data)

    def test_any_damage_is_an_mxnet_error(self):
        """Cut off anywhere, or with any byte changed: arrays or MXNetError, and little memory."""
        whole = HEADER + V2 + struct.pack('<QQ', 1, 2) + b'ab'
        for end in range(len(whole)):
            with pytest.raises(mx.MXNetError):
                parse(whole[:end])
        chance = random.Random(0)
        for _ in range(3000):
            damaged = bytearray(whole)
            for _ in range(chance.randint(1, 3)):
                damaged[chance.randrange(len(damaged))] = chance.randrange(256)
            try:
                found = parse(bytes(damaged))
            except mx.MXNetError:
                continue
            arrays = found if isinstance(found, list) else list(found.values())
            assert sum(a.size for a in arrays) <= len(whole)


class TestArguments:
    def test_what_can_be_saved(self, tmp_path):
        """Rule ND-SAVE-003; wrong data leave the file as it was."""
        file = tmp_path / 'f'
        file.write_bytes(b'old')
        array = nd.ones(2)
        for data in ('x', (array, array), 5):
            with pytest.raises(ValueError, match='data needs to either be a NDArray'):
                nd.save(str(file), data)
        for data in ([array, 5], {1: array}, {'a': 5}):
            with pytest.raises(TypeError, match='save only accept dict str->NDArray or list of NDArray'):
                nd.save(str(file), data)
        assert file.read_bytes() == b'old'

    def test_files(self, tmp_path):
        with pytest.raises(mx.MXNetError, match='No such file or directory'):
            nd.load('/nonexistent/file')
        with pytest.raises(mx.MXNetError, match='No such file or directory'):
            nd.save('/nonexistent/file', nd.ones(1))
        with pytest.raises(mx.MXNetError):
            nd.load(str(tmp_path))
        with pytest.raises(TypeError, match='fname required to be a string'):
            nd.load(5)
        nd.save(tmp_path / 'f', nd.ones(1))
        assert len(nd.load(pathlib.Path(tmp_path / 'f'))) == 1
        with pytest.raises(TypeError, match='buf required to be a string or bytes'):
            parse(bytearray(3))

    def test_writing_is_atomic(self, tmp_path, monkeypatch):
        file = tmp_path / 'f'
        nd.save(str(file), nd.ones(1))
        before = file.read_bytes()

        def fail(*args):
            raise RuntimeError('the disk is on fire')

        monkeypatch.setattr(params_file, '_write_array', fail)
        with pytest.raises(RuntimeError, match='on fire'):
            nd.save(str(file), nd.ones(100))
        assert file.read_bytes() == before
        assert os.listdir(tmp_path) == ['f']

    def test_permissions_and_links(self, tmp_path):
        file, link = tmp_path / 'f', tmp_path / 'link'
        nd.save(str(file), nd.ones(1))
        umask = os.umask(0)
        os.umask(umask)
        assert file.stat().st_mode & 0o777 == 0o666 & ~umask
        file.chmod(0o600)
        link.symlink_to(file)
        nd.save(str(link), nd.zeros(1))
        assert link.is_symlink()
        assert file.stat().st_mode & 0o777 == 0o600
        assert nd.load(str(file))[0].asscalar() == 0
