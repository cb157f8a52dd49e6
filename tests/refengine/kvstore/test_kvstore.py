"""The stores of one process."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import refengine as mx
from refengine import kvstore
from refengine.kvstore import reduce

KINDS = ("local", "device")


def ones(shape=(2,), value=1.0, device=0, dtype="float32"):
    return mx.nd.ones(shape, ctx=mx.cpu(device), dtype=dtype) * value


def pulled(store, key, shape=(2,), dtype="float32"):
    out = mx.nd.zeros(shape, dtype=dtype)
    store.pull(key, out=out)
    values = out.asnumpy()
    assert (values == values.reshape(-1)[0]).all()
    return values.reshape(-1)[0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("key", [3, "w"])
def test_sum_over_devices(kind, key):
    store = mx.kv.create(kind)
    store.init(key, mx.nd.zeros((2, 3)))
    values = [ones((2, 3), i + 1, i) for i in range(4)]
    store.push(key, values)
    outs = [mx.nd.zeros((2, 3), ctx=mx.cpu(i)) for i in range(3)]
    store.pull(key, out=outs)
    for i, out in enumerate(outs):
        assert out.context == mx.cpu(i)
        np.testing.assert_array_equal(out.asnumpy(), np.full((2, 3), 10))
    assert [float(v.asnumpy()[0, 0]) for v in values] == [1, 2, 3, 4]


def test_names():
    assert (mx.kv.create().type, mx.kv.create("LOCAL").type) == ("local", "local")
    store = mx.kv.create("nonsense")
    assert (store.type, store.rank, store.num_workers) == ("nonsense", 0, 1)
    for name, error, text in ((3, TypeError, "name must be a string"), (None, TypeError, "name must be a string"),
                              ("nccl", mx.MXNetError, "compile with USE_NCCL=1 to use nccl"),
                              ("horovod", ModuleNotFoundError, "horovod"), ("byteps", ModuleNotFoundError, "byteps"),
                              ("dist_sync", mx.MXNetError, '"dist"'), ("dist", mx.MXNetError, "DMLC_NUM_WORKER")):
        with pytest.raises(error, match=text):
            mx.kv.create(name)


def test_capabilities(monkeypatch):
    store = mx.kv.create("device")
    assert store.is_capable("OPTIMIZER")
    with pytest.raises(ValueError, match="Unknown capability: foo"):
        store.is_capable("foo")
    assert not mx.kv.create("teststore").is_capable("optimizer")
    monkeypatch.setenv("DMLC_PS_VAN_TYPE", "p3")
    assert store.is_capable("optimizer")
    assert not mx.kv.create("device").is_capable("optimizer")


def test_a_store_is_not_pickled():
    with pytest.raises(ValueError, match="cannot be pickled"):
        pickle.dumps(mx.kv.create("local"))


@pytest.mark.parametrize(("key", "error", "text"), [
    (1.5, AssertionError, "unexpected type for keys"), (None, AssertionError, "unexpected type for keys"),
    (b"a", AssertionError, "unexpected type for keys"), (np.int64(1), AssertionError, "unexpected type for keys"),
    (2 ** 31, OverflowError, "greater than maximum"), (-2 ** 31 - 1, OverflowError, "less than minimum")])
def test_wrong_keys(key, error, text):
    with pytest.raises(error, match=text):
        mx.kv.create("local").init(key, ones())


@pytest.mark.parametrize("key", [0, -5, 2 ** 31 - 1, True, "w", ""])
def test_right_keys(key):
    store = mx.kv.create("local")
    store.init(key, ones())
    assert pulled(store, key) == 1


def test_keys_are_new_and_of_one_kind():
    store = mx.kv.create("local")
    store.init(3, ones())
    for call, error, text in (
            (lambda: store.init(3, ones()), mx.MXNetError, "duplicate init of key 3"),
            (lambda: store.init([4, 4], [ones(), ones()]), mx.MXNetError, "duplicate init of key 4"),
            (lambda: store.init("4", ones()), mx.MXNetError, "Mixed key types are not allowed"),
            (lambda: store.init(["4", 3], [ones(), ones()]), AssertionError, "inconsistent types of keys detected"),
            (lambda: store.pull(9, out=ones()), mx.MXNetError, "key 9 has not been inited"),
            (lambda: store.push(9, ones()), mx.MXNetError, "key 9 has not been inited"),
            (lambda: store.init([1, 2], [ones()]), AssertionError, "2 keys"),
            (lambda: store.init(1, np.ones(3)), AssertionError, "NDArrays"),
            (lambda: store.init(1, 3.0), TypeError, "not iterable"),
            (lambda: store.pull(3), AssertionError, "needs out"),
            (lambda: store.push(3, None), TypeError, "not iterable")):
        with pytest.raises(error, match=text):
            call()
    words = mx.kv.create("local")
    words.init("3", ones())
    for call in (lambda: words.pull("9", out=ones()), lambda: words.push("9", ones())):
        with pytest.raises(mx.MXNetError, match=r"key 9 doesn't exist\. Did you init"):
            call()


def test_empty_lists_do_nothing():
    store = mx.kv.create("local")
    assert store.init([], []) is None
    store.init(3, ones())
    assert store.push(3, []) is None
    assert pulled(store, 3) == 1


def test_values():
    store, source = mx.kv.create("local"), ones(value=5)
    store.init(3, source)
    source[:] = 9
    assert pulled(store, 3) == 5
    store.push(3, ones(value=2))
    store.push(3, ones(value=7))
    assert pulled(store, 3) == 7
    store.push([3, 3], [ones(), ones(value=2)])
    assert pulled(store, 3) == 3
    store.push(3, ones((4, 4)))
    assert pulled(store, 3, (4, 4)) == 1


def test_lists_of_keys():
    store = mx.kv.create("device")
    keys = ["a", "b", "c"]
    store.init(keys, [ones()] * 3)
    store.push(keys, [[ones(value=10), ones(device=1)]] * 3)
    outs = [mx.nd.zeros((2,)) for _ in keys]
    store.pull(keys, out=outs)
    assert [o.asnumpy().tolist() for o in outs] == [[11, 11]] * 3
    store.pushpull(tuple(keys), [[ones(), ones(value=2, device=1)]] * 3, out=outs, priority=-3)
    assert [o.asnumpy().tolist() for o in outs] == [[3, 3]] * 3


def test_shapes_and_dtypes():
    store = mx.kv.create("local")
    store.init(3, ones((2, 3), 1.5))
    assert pulled(store, 3, (2, 3), "float16") == 1.5
    assert pulled(store, 3, (2, 3), "int32") == 1
    for out in (mx.nd.zeros((3, 3)), mx.nd.zeros((6,))):
        with pytest.raises(mx.MXNetError, match=r"operands shape mismatch from.shape = \[2,3\]"):
            store.pull(3, out=out)
    with pytest.raises(mx.MXNetError, match="operands shape mismatch"):
        store.push(3, [ones((2, 3)), ones((4, 4))])
    with pytest.raises(mx.MXNetError, match="data type do not match"):
        store.push(3, [ones((2, 3)), ones((2, 3), dtype="float64")])
    assert pulled(store, 3, (2, 3)) == 1.5


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "uint8", "int8", "int32", "int64"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_dtype(kind, dtype):
    store = mx.kv.create(kind)
    store.init(3, mx.nd.zeros((3,), dtype=dtype))
    store.push(3, [mx.nd.ones((3,), dtype=dtype), mx.nd.ones((3,), dtype=dtype)])
    assert pulled(store, 3, (3,), dtype) == 2


@pytest.mark.parametrize("kind", [*KINDS, "teststore"])
def test_pushpull(kind):
    store = mx.kv.create(kind)
    outs = [mx.nd.zeros((2,)), mx.nd.zeros((2,), ctx=mx.cpu(1))]
    store.broadcast("w", ones(value=5), outs)
    assert [o.asnumpy().tolist() for o in outs] == [[5, 5]] * 2
    values = [ones(), ones(value=2, device=1)]
    store.pushpull("w", values, out=outs)
    assert [v.asnumpy()[0] for v in values] == [1, 2]
    assert [o.asnumpy()[0] for o in outs] == [3, 3]
    store.pushpull("w", values)
    assert [v.asnumpy()[0] for v in values] == [3, 3]
    if kind != "teststore":
        assert pulled(store, "w") == 3
        with pytest.raises(mx.MXNetError, match="duplicate init of key w"):
            store.broadcast("w", ones(), outs)


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_sums_in_blocks(count, monkeypatch):
    monkeypatch.setattr(reduce, "BLOCK", 7)
    source = np.random.default_rng(1)
    raw = [source.normal(size=(4, 9)).astype("float32") for _ in range(count)]
    wanted = raw[0].copy()
    for other in raw[1:]:
        wanted += other
    store = mx.kv.create("device")
    store.init(0, mx.nd.zeros((4, 9)))
    values = [mx.nd.array(r, ctx=mx.cpu(i)) for i, r in enumerate(raw)]
    values[-1]._data = np.asfortranarray(values[-1]._data)
    store.pushpull(0, values)
    for value in values:
        np.testing.assert_array_equal(value.asnumpy(), wanted)


def test_updaters():
    store, seen = mx.kv.create("local"), []
    store.init("k", ones(value=4))

    def update(key, merged, stored):
        seen.append(key)
        stored += 2 * merged

    store._set_updater(update)
    store.push("k", [ones() for _ in range(4)])
    assert (pulled(store, "k"), seen) == (12, [b"k"])
    with pytest.raises(AttributeError, match="get_states"):
        store.save_optimizer_states("unused")

    def fail(key, merged, stored):
        raise ZeroDivisionError("in the updater")

    store._set_updater(fail)
    with pytest.raises(ZeroDivisionError, match="in the updater"):
        store.push("k", ones())
    assert pulled(store, "k") == 12


def test_what_is_pushed_stays_as_it_is():
    store, value = mx.kv.create("device"), ones()
    store.init(0, ones(value=10))

    def greedy(key, merged, stored):
        merged *= 3
        stored -= merged

    store._set_updater(greedy)
    store.push(0, value)
    assert (pulled(store, 0), value.asnumpy().tolist()) == (7, [1, 1])


@pytest.mark.parametrize("kind", KINDS)
def test_an_optimizer_on_the_store(kind, tmp_path):
    def make():
        store = mx.kv.create(kind)
        store.init(3, mx.nd.zeros((2,)))
        store.set_optimizer(mx.optimizer.create("sgd", learning_rate=1.0, momentum=0.5))
        return store

    store = make()
    store.push(3, [ones(value=0.5), ones(value=0.5, device=1)])
    assert pulled(store, 3) == -1
    for dump in (False, True):
        name = str(tmp_path / f"states{dump}")
        store.save_optimizer_states(name, dump_optimizer=dump)
        again = make()
        again.load_optimizer_states(name)
        again.push(3, ones())
        assert pulled(again, 3) == -1.5
    with pytest.raises(FileNotFoundError):
        store.save_optimizer_states(str(tmp_path / "none" / "states"))


def test_states_need_an_optimizer():
    store = mx.kv.create("local")
    with pytest.raises(AssertionError, match="Cannot save states for distributed training"):
        store.save_optimizer_states("unused")
    with pytest.raises(AssertionError, match="Cannot load states for distributed training"):
        store.load_optimizer_states("unused")
    with pytest.raises(AttributeError):
        store.set_optimizer(3)


def test_compression_on_devices():
    store = mx.kv.create("device")
    store.init(0, mx.nd.zeros((3,)))
    store.set_gradient_compression({"type": "2bit", "threshold": 0.5})
    store.push(0, [mx.nd.array([0.3, 0.6, -0.6]), mx.nd.array([0.3, 0.6, 0.6], ctx=mx.cpu(1))])
    out = mx.nd.zeros((3,))
    store.pull(0, out=out)
    assert out.asnumpy().tolist() == [0, 1, 0]
    store.pushpull(0, [mx.nd.array([0.3, 0.0, 0.0]), mx.nd.array([0.1, 0.6, 0.6], ctx=mx.cpu(1))], out=out)
    assert out.asnumpy().tolist() == [0.5, 0.5, 0.5]
    with pytest.raises(Exception, match="Gradient compression is not supported for this type of kvstore"):
        mx.kv.create("local").set_gradient_compression({"type": "2bit"})
    mx.kv.create("local_allreduce_device").set_gradient_compression({"type": "2bit"})


def test_a_new_threshold_keeps_the_residual():
    store, out = mx.kv.create("device"), mx.nd.zeros((4,))
    store.init(0, mx.nd.array([0.1, 0.2, 0.3, 0.4]))
    store.set_gradient_compression({"type": "2bit", "threshold": 0.5})
    store.pull(0, out=out)
    np.testing.assert_allclose(out.asnumpy(), [0.1, 0.2, 0.3, 0.4], rtol=1e-6)
    for threshold, wanted in ((0.5, [0, 0.5, -0.5, 0]), (0.25, [0.25, 0.25, -0.25, 0]), (0.25, [0.25, 0.25, -0.25, 0])):
        store.set_gradient_compression({"type": "2bit", "threshold": threshold})
        store.push(0, mx.nd.array([0.3, 0.6, -0.6, 0]))
        store.pull(0, out=out)
        assert out.asnumpy().tolist() == wanted


def test_sparse_calls_are_refused():
    store = mx.kv.create("local")
    store.init(0, ones((3, 1)))
    for options in ({}, {"out": ones((3, 1))}, {"row_ids": ones()}, {"out": ones((3, 1)), "row_ids": [1]}):
        with pytest.raises(AssertionError):
            store.row_sparse_pull(0, **options)
    with pytest.raises(mx.MXNetError, match="Expected row_sparse storage type for row_sparse_pull values"):
        store.row_sparse_pull(0, out=ones((3, 1)), row_ids=ones())


def test_failed_values_pass_their_error_on():
    for with_out in (False, True):
        store = mx.kv.create("device")
        store.init(0, ones())
        values = [mx.nd.random.normal(0, -1, shape=(2,)), ones(device=1)]
        out = ones()
        store.pushpull(0, values, out=out if with_out else None)
        with pytest.raises(mx.MXNetError):
            (out if with_out else values[1]).wait_to_read()


def test_stores_of_ones_own():
    class Mine(kvstore.KVStoreBase):
        pass

    try:
        kvstore.KVStoreBase.register(Mine)
        assert type(mx.kv.create("MINE")) is Mine
        with pytest.warns(UserWarning, match="New kvstore .*Mine is overriding existing kvstore .*Mine"):
            kvstore.KVStoreBase.register(Mine)
    finally:
        del kvstore.KVStoreBase.kv_registry["mine"]
    base = Mine()
    for call in (lambda: base.broadcast("0", None, None), lambda: base.pushpull("0", None),
                 lambda: base.set_optimizer(None), lambda: base.is_capable("optimizer"), lambda: base.type,
                 lambda: base.save_optimizer_states("x"), lambda: base.load_optimizer_states("x"),
                 lambda: base.rank, lambda: base.num_workers):
        with pytest.raises(NotImplementedError):
            call()
