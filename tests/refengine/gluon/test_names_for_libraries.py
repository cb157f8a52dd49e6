"""What packages built on gluon take from its modules; expected values are those of MXNet 1.9.1."""

from __future__ import annotations

import doctest
import pickle
from multiprocessing.pool import ThreadPool

import numpy as np
import pytest

from refengine import gluon, nd, sym
from refengine.gluon.block import _flatten, _regroup
from refengine.gluon.data import dataloader, dataset, multi_worker_iter
from refengine.gluon.model_zoo import model_store


@pytest.mark.parametrize("module", [gluon.structure, dataset, dataloader, multi_worker_iter, gluon.utils])
def test_the_examples(module):
    result = doctest.testmod(module)
    assert result.attempted
    assert not result.failed


def test_losses_of_programs_weigh_and_reshape():
    F, loss = gluon.loss, nd.array([[1.0, 2.0], [3.0, 4.0]])
    weighted = F._apply_weighting(nd, loss, 2, nd.array([[1], [0]]))
    assert weighted.asnumpy().tolist() == [[2, 4], [0, 0]]
    assert F._reshape_like(nd, loss, nd.zeros((4, 1))).shape == (4, 1)
    with pytest.raises(AssertionError, match="weight must be a number"):
        F._apply_weighting(nd, loss, "2")


def test_forms_of_nested_arrays():
    a, b = nd.zeros(1), nd.ones(1)
    leaves, form = _flatten([a, [b, None]], "input")
    assert form == [0, [0, -1]]
    assert leaves[2] is None
    assert _regroup(leaves, form)[1][0] is b
    assert _flatten(a, "input") == ([a], 0)
    assert _flatten(sym.Group([sym.var("x"), sym.var("y")]), "input")[1] == 2
    assert _regroup([a, b, a], [0, [2]])[1][0][1] is a
    with pytest.raises(ValueError, match="input of HybridBlock must be .* but got 3 of type <class 'int'>"):
        _flatten((a, 3), "input")
    with pytest.raises(IndexError):
        _regroup([a], [0, 0])


def test_batches_for_other_processes_are_in_shared_memory():
    batch = dataloader.default_mp_batchify_fn([(nd.ones(2), 1), (nd.ones(2), 2.5)])
    assert [str(part.context) for part in batch] == ["cpu_shared(0)", "cpu_shared(0)"]
    assert [part.dtype for part in batch] == [np.float32, np.float64]
    moved = dataloader._as_in_context([batch[0], (batch[1], 3)], gluon.utils.Context("cpu", 1))
    assert (str(moved[1][0].context), moved[1][1]) == ("cpu(1)", 3)


class Doubling(dataloader._MultiWorkerIter):
    """Sends a factor along, as loaders with random transforms do."""

    def _push_next(self):
        indices = next(self._iter, None)
        if indices is not None:
            self._data_buffer[self._sent_idx] = self._worker_pool.apply_async(self._worker_fn, (indices, 2))
            self._sent_idx += 1


def test_an_iterator_over_the_pool_of_a_program():
    def work(indices, factor):
        return pickle.dumps(nd.array(indices) * factor)

    with ThreadPool(2) as pool:
        batches = Doubling(pool, None, [[0, 1], [2], [3, 4]], worker_fn=work, prefetch=2)
        assert len(batches) == 3
        found = list(batches)
    assert [batch.asnumpy().tolist() for batch in found] == [[0, 2], [4], [6, 8]]
    assert str(found[0].context) == "cpu_shared(0)"


def test_a_downloaded_dataset_sets_its_arrays(tmp_path):
    class Numbers(dataset._DownloadedDataset):
        def _get_data(self):
            self._data, self._label = [1, 2, 3], [4, 5, 6]

    numbers = Numbers(str(tmp_path / "new"), None)
    assert (tmp_path / "new").is_dir()
    assert (numbers[1], len(numbers)) == ((2, 5), 3)
    assert issubclass(gluon.data.vision.MNIST, dataset._DownloadedDataset)
    with pytest.raises(NotImplementedError):
        dataset._DownloadedDataset(str(tmp_path), None)


def test_the_file_of_the_known_digest_comes_first(tmp_path, monkeypatch):
    monkeypatch.setattr(model_store, "_model_sha1", {"net": "0123456789abcdef0123456789abcdef01234567"})
    for digits in ("01234567", "89abcdef"):
        (tmp_path / f"net-{digits}.params").write_bytes(b"")
    assert model_store.get_model_file("net", tmp_path) == str(tmp_path / "net-01234567.params")
    with pytest.raises(ValueError, match="Pretrained model for other is not available."):
        model_store.short_hash("other")


def test_the_repository_is_where_the_environment_says(monkeypatch):
    assert gluon.utils._get_repo_file_url("a/b", "c.zip").endswith("amazonaws.com/a/b/c.zip")
    monkeypatch.setenv("MXNET_GLUON_REPO", "http://x/y")
    assert gluon.utils._get_repo_file_url("a", "b") == "http://x/y/a/b"
    assert gluon.utils._indent("a\nb", 2) == "a\n  b"


def test_a_parameter_that_takes_over_the_arrays_of_another():
    """As those that drop weights out."""
    weight = gluon.Parameter("w", shape=(2,))
    weight.initialize(ctx=[gluon.utils.Context("cpu", 1), gluon.utils.Context("cpu", 0)])
    assert weight._ctx_map == [[], [1, 0]]
    other = gluon.Parameter(weight.name, shape=weight._shape)
    for name in ("_var", "_data", "_grad", "_ctx_list", "_ctx_map", "_trainer", "_deferred_init"):
        setattr(other, name, getattr(weight, name))
    assert other.data(gluon.utils.Context("cpu", 1)) is weight.data(gluon.utils.Context("cpu", 1))
    assert other._ctx_map == [[], [1, 0]]
