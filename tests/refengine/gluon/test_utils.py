"""Splitting, clipping, checking files."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numpy as np
import pytest

import refengine as mx
from refengine import gluon, nd
from refengine.gluon import utils


class TestSplit:
    @pytest.mark.parametrize(('size', 'pieces', 'even', 'expected'), [
        (6, 3, True, [2, 2, 2]), (7, 3, False, [3, 2, 2]), (8, 3, False, [3, 3, 2]), (5, 1, True, [5])])
    def test_sizes(self, size, pieces, even, expected):
        parts = utils.split_data(nd.array(np.arange(size)), pieces, even_split=even)
        assert [len(p) for p in parts] == expected
        assert np.concatenate([p.asnumpy() for p in parts]).tolist() == list(range(size))

    def test_other_axis(self):
        parts = utils.split_data(nd.array(np.arange(10).reshape(2, 5)), 2, batch_axis=1, even_split=False)
        assert [p.shape for p in parts] == [(2, 3), (2, 2)]
        assert parts[1].asnumpy().tolist() == [[3, 4], [8, 9]]
        assert utils.split_data(nd.ones((2, 4)), 2, batch_axis=-1)[0].shape == (2, 2)

    @pytest.mark.parametrize(('size', 'pieces', 'options', 'fragment'), [
        (7, 3, {}, r'cannot be evenly split into 3 slices along axis 0. Use a batch size that\'s multiple of 3'),
        (2, 3, {}, 'cannot be evenly split'), (2, 3, {'even_split': False}, 'at least one would be empty'),
        (6, 0, {}, 'num_slice must be at least 1'), (6, 2, {'batch_axis': 4}, 'out of range')])
    def test_errors(self, size, pieces, options, fragment):
        with pytest.raises(ValueError, match=fragment):
            utils.split_data(nd.ones(size), pieces, **options)

    def test_load(self):
        contexts = [mx.cpu(0), mx.cpu(1)]
        parts = utils.split_and_load(np.arange(8, dtype='int64').reshape(4, 2), contexts)
        assert [p.context for p in parts] == contexts
        assert {p.dtype for p in parts} == {np.float32}
        assert utils.split_and_load([[1, 2]], mx.cpu(1))[0].context == mx.cpu(1)
        assert utils.split_and_load(nd.ones(3), [mx.cpu(1)])[0].shape == (3,)
        with pytest.raises(ValueError, match='at least one context'):
            utils.split_and_load(nd.ones(3), [])
        with pytest.raises(TypeError, match="unexpected keyword argument 'split_mode'"):
            utils.split_and_load(nd.ones(4), contexts, split_mode='channel')
        with pytest.raises(TypeError):
            utils.split_and_load(gluon.nn.Dense(1), contexts)


class TestClip:
    def test_scales_when_larger(self):
        a, b = nd.array([3.0]), nd.array([4.0], ctx=mx.cpu(1))
        assert utils.clip_global_norm([a, b], 1.0) == 5
        np.testing.assert_allclose([a.asscalar(), b.asscalar()], [0.6, 0.8], rtol=1e-6)

    @pytest.mark.parametrize('limit', [5.0, 10.0])
    def test_leaves_smaller_ones(self, limit):
        a = nd.array([3.0, 4.0])
        utils.clip_global_norm([a], limit)
        np.testing.assert_allclose(a.asnumpy(), [3, 4], rtol=1e-6)

    @pytest.mark.parametrize('bad', [np.nan, np.inf])
    def test_warns(self, bad):
        a, b = nd.array([bad, 1.0]), nd.array([2.0])
        with pytest.warns(UserWarning, match='nan or inf is detected. Clipping results will be undefined'):
            norm = utils.clip_global_norm([a, b], 1.0)
        assert not np.isfinite(norm)
        norm = utils.clip_global_norm([nd.array([3.0, 4.0])], 1.0, check_isfinite=False)
        assert isinstance(norm, nd.NDArray)
        assert norm.asnumpy().tolist() == [5]

    def test_half_precision(self):
        a = nd.array([300.0, 400.0], dtype='float16')
        assert utils.clip_global_norm([a], 1.0) == 500          # the squares overflow half precision
        np.testing.assert_allclose(a.asnumpy(), [0.6, 0.8], rtol=2e-3)

    def test_extremes(self):
        a = nd.zeros(2)
        assert utils.clip_global_norm([a], 1.0) == 0
        assert a.asnumpy().tolist() == [0, 0]
        b = nd.ones(4)
        utils.clip_global_norm([b], 0.0)
        assert b.asnumpy().tolist() == [0] * 4
        with pytest.raises(AssertionError):
            utils.clip_global_norm([], 1.0)


def test_sha1(tmp_path):
    file = tmp_path / 'f'
    file.write_bytes(b'abc' * 1000)
    digest = hashlib.sha1(b'abc' * 1000).hexdigest()
    assert utils.check_sha1(str(file), digest)
    assert utils.check_sha1(str(file), digest[:8])
    assert not utils.check_sha1(str(file), '0' * 40)


def test_shape_is_known():
    assert utils.shape_is_known((1, 2))
    assert not utils.shape_is_known((1, 0))
    assert not utils.shape_is_known((-1, 2))
    assert not utils.shape_is_known(None)


def test_hook_handle():
    handle, hooks = utils.HookHandle(), {}
    handle.attach(hooks, len)
    with pytest.raises(AssertionError, match='cannot be attached twice'):
        handle.attach(hooks, len)
    handle.detach()
    assert not hooks


class TestDownload:
    def test_a_file_is_fetched_once(self, tmp_path):
        source = tmp_path / 'source.txt'
        source.write_text('first')
        (tmp_path / 'folder').mkdir()
        folder = str(tmp_path / 'folder')
        path = utils.download(source.as_uri(), folder)
        assert path == os.path.join(folder, 'source.txt')
        source.write_text('second')
        digest = hashlib.sha1(b'second').hexdigest()
        utils.download(source.as_uri(), path)
        assert Path(path).read_text() == 'first'
        utils.download(source.as_uri(), path, sha1_hash=digest)
        assert Path(path).read_text() == 'second'
        source.write_text('third')
        assert Path(utils.download(source.as_uri(), path, overwrite=True)).read_text() == 'third'
        assert os.listdir(folder) == ['source.txt']

    def test_what_cannot_be_had(self, tmp_path):
        missing, target = (tmp_path / 'missing').as_uri(), tmp_path / 'target'
        with pytest.warns(UserWarning, match='retrying, 1 attempts left'), pytest.raises(OSError, match='missing'):
            utils.download(missing, str(target), retries=1)
        (tmp_path / 'there').write_text('x')
        with pytest.raises(OSError, match='content hash does not match'):
            utils.download((tmp_path / 'there').as_uri(), str(target), sha1_hash='0' * 40, retries=0)
        assert not target.exists()
        with pytest.raises(ValueError, match="Can't construct file-name"):
            utils.download('file:///', None)
        with pytest.raises(AssertionError, match='at least 0'):
            utils.download(missing, str(target), retries=-1)
