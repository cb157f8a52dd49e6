"""State files: what is written, what is read, and what is refused."""

from __future__ import annotations

import io
import os
import pickle
import pickletools
import struct

import numpy as np
import pytest

import refengine as mx
from refengine.optimizer import mxnet_array, state_file
from tests.refengine import releases


def trained(name="sgd", **options):
    updater = mx.optimizer.get_updater(mx.optimizer.create(name, learning_rate=0.5, **options))
    weight = mx.nd.ones((2, 3))
    updater(0, weight * 1, weight)
    return updater


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("name", ["sgd", "adam", "rmsprop", "ftml", "dcasgd", "lars", "nadam"])
def test_round_trip_in_every_protocol(name, protocol):
    updater = trained(name)
    states, optimizer, release = state_file.loads(pickle.dumps((updater.states, updater.optimizer), protocol))
    assert release is None
    assert type(optimizer) is type(updater.optimizer)
    assert optimizer._all_index_update_counts == {0: {0: 1}}
    one, other = updater.states[0], states[0]
    for a, b in zip(*((s if isinstance(s, tuple) else (s,)) for s in (one, other))):
        assert a is None if b is None else np.array_equal(a.asnumpy(), b.asnumpy())


def test_both_forms():
    updater = trained("sgd", momentum=0.5)
    assert set(pickle.loads(updater.get_states())) == {0}
    states, optimizer = pickle.loads(updater.get_states(dump_optimizer=True))
    assert states[0].asnumpy().tolist() == [[-0.5] * 3] * 2
    assert type(optimizer) is mx.optimizer.SGD
    other = mx.optimizer.get_updater(mx.optimizer.create("adam", learning_rate=0.25))
    other.set_states(updater.get_states())
    assert type(other.optimizer) is mx.optimizer.Adam
    other.set_states(updater.get_states(dump_optimizer=True))
    assert (type(other.optimizer), other.optimizer.lr) == (mx.optimizer.SGD, 0.5)


def test_optimizers_and_schedules_of_ones_own():
    class Halving(mx.lr_scheduler.LRScheduler):
        def __call__(self, num_update):
            return self.base_lr / 2 ** num_update

    class Own(mx.optimizer.SGD):
        pass

    module = type(os)("own_module_of_this_test")
    import sys
    sys.modules[module.__name__] = module
    try:
        for cls in (Halving, Own):
            cls.__module__, cls.__qualname__ = module.__name__, cls.__name__
            setattr(module, cls.__name__, cls)
        data = state_file.dumps({}, Own(lr_scheduler=Halving(base_lr=1.0)))
        with pytest.raises(pickle.UnpicklingError, match=r"own_module_of_this_test\.Own is forbidden"):
            state_file.loads(data)
        mx.optimizer.register(Own)
        optimizer = state_file.loads(data)[1]
        assert type(optimizer) is Own
        assert type(optimizer.lr_scheduler) is Halving
        assert optimizer.lr_scheduler(3) == 0.125
    finally:
        del sys.modules[module.__name__]
        mx.optimizer.Optimizer.opt_registry.pop("own", None)


class Evil:
    def __init__(self, function, *arguments):
        self.function, self.arguments = function, arguments

    def __reduce__(self):
        return self.function, self.arguments


@pytest.mark.parametrize(("function", "arguments", "name"), [
    (os.system, ("true",), "system"), (eval, ("1",), "eval"), (getattr, (1, "real"), "getattr"),
    (__import__, ("os",), "__import__"), (pickle.loads, (b"N.",), "loads"), (np.load, ("x",), "load"),
    (exec, ("1",), "exec"), (open, ("x",), "open")])
def test_forbidden_globals_are_named(function, arguments, name):
    data = pickle.dumps({0: Evil(function, *arguments)})
    with pytest.raises(pickle.UnpicklingError, match=rf"\b{name} is forbidden in a state file"):
        state_file.loads(data)


def global_(module, name):
    return b"c" + module.encode() + b"\n" + name.encode() + b"\n"


@pytest.mark.parametrize("data", [
    global_("os", "system") + b"(X\x04\x00\x00\x00truetR.",
    global_("refengine.optimizer.state_file", "os.system") + b"(X\x04\x00\x00\x00truetR.",
    global_("refengine.optimizer.optimizer", "os") + b".",
    global_("refengine.optimizer.sgd", "SGD.register") + b".",
    global_("refengine.ndarray.ndarray", "NDArray.asnumpy") + b".",
    global_("builtins", "type") + b".",
    global_("numpy", "save") + b".",
    global_("numpy.core.multiarray", "fromstring") + b".",
    global_("mxnet.optimizer.optimizer", "os") + b".",
    global_("mxnet.lr_scheduler", "logging") + b".",
    global_("mxnet.test_utils", "download") + b".",
    b"P1\n.",
])
def test_other_ways_out_are_closed(data):
    pickletools.dis(data, out=io.StringIO())  # well formed: refused for what it asks, not for its form
    with pytest.raises(pickle.UnpicklingError):
        state_file.loads(data)


def test_a_pickle_cannot_change_classes():
    pop_method = b"(N(dX\x08\x00\x00\x00__call__" + global_("builtins", "bytearray") + b"stb0"
    for module, name in (("refengine.lr_scheduler", "FactorScheduler"), ("refengine.optimizer.sgd", "SGD"),
                         ("refengine.ndarray.ndarray", "NDArray")):
        with pytest.raises(pickle.UnpicklingError):
            state_file.loads(global_(module, name) + pop_method + b"}.")
    assert mx.lr_scheduler.FactorScheduler(1)(0) == 0.01


@pytest.mark.parametrize("data", [
    b"", b"garbage", b"\x80\x04", pickle.dumps([1, 2]), pickle.dumps(3), pickle.dumps(({}, 3)), pickle.dumps(None),
    pickle.dumps({0: 1})[:-3], b"\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\x7f."])
def test_what_is_no_state_file(data):
    with pytest.raises(pickle.UnpicklingError):
        state_file.loads(data)


def dense(shape, dtype="float32", magic=0xF993FAC9, storage=0, kind=0, cut=0):
    values = np.arange(np.prod(shape)).astype(dtype)
    raw = struct.pack(f"<Iii{len(shape)}qiii", magic, storage, len(shape), *shape, 1, 0, kind) + values.tobytes()
    return raw[:len(raw) - cut]


def test_arrays_of_mxnet():
    for kind, dtype in mxnet_array.TYPES.items():
        values = mxnet_array.decode(dense((2, 3), dtype, kind=kind))
        np.testing.assert_array_equal(values, np.arange(6).astype(dtype).reshape(2, 3))
        assert values.dtype == dtype
    assert mxnet_array.decode(dense((), magic=0xF993FACA)).shape == ()


@pytest.mark.parametrize("raw", [
    b"", b"abc", dense((2, 3), magic=7), dense((2, 3), cut=1), dense((2, 3), kind=99), dense((2, 3), cut=30),
    struct.pack("<Iii", 0xF993FAC9, 0, 10 ** 6), struct.pack("<Iii2qiii", 0xF993FAC9, 0, 2, -1, -1, 1, 0, 0),
    struct.pack("<Iii2qiii", 0xF993FAC9, 0, 2, 10 ** 9, 10 ** 9, 1, 0, 0)])
def test_broken_arrays_of_mxnet(raw):
    with pytest.raises(pickle.UnpicklingError, match="not an array of MXNet"):
        mxnet_array.decode(raw)


def test_sparse_arrays_are_refused():
    with pytest.raises(mx.MXNetError, match="sparse storage is not implemented yet"):
        mxnet_array.decode(dense((2, 3), storage=1))


def test_files_are_whole_or_absent(tmp_path, monkeypatch):
    name = tmp_path / "states"
    state_file.write_atomically(str(name), b"old")
    monkeypatch.setattr(os, "replace", lambda *names: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        state_file.write_atomically(str(name), b"new")
    assert (name.read_bytes(), os.listdir(tmp_path)) == (b"old", ["states"])
    with pytest.raises(FileNotFoundError):
        state_file.write_atomically(str(tmp_path / "none" / "states"), b"new")


TRAIN = """
def step(trainer, params, gradient):
    with mx.autograd.record():
        loss = sum((p.data() * mx.nd.array(gradient, dtype=p.dtype)).sum() for p in params)
    loss.backward()
    trainer.step(2)

GRADIENTS = [[[0.5, -1.0, 2.0], [1.0, 0.25, -0.5]], [[-0.25, 0.5, 1.0], [0.5, -2.0, 0.125]],
             [[1.5, -0.5, 0.5], [-1.0, 0.75, 2.5]], [[0.125, 1.0, -1.0], [2.0, -0.5, 0.25]]]
"""

RELEASE = TRAIN + """
def run(tag, name, options, dtype='float32', devices=1, **further):
    ctx = [mx.cpu(i) for i in range(devices)]
    params = [mx.gluon.Parameter('p%d' % i, shape=(2, 3), dtype=dtype) for i in range(2)]
    for p in params:
        p.initialize(mx.init.One(), ctx=ctx)
    trainer = mx.gluon.Trainer(params, name, options, **further)
    for gradient in GRADIENTS[:3]:
        with mx.autograd.record():
            losses = [(d * mx.nd.array(gradient, dtype=dtype, ctx=d.ctx)).sum() for p in params for d in p.list_data()]
        mx.autograd.backward(losses)
        trainer.step(2)
    trainer.save_states(tag + '.states')
    np.save(tag + '.before.npy', params[0].data(mx.cpu(0)).asnumpy())
    with mx.autograd.record():
        losses = [(d * mx.nd.array(GRADIENTS[3], dtype=dtype, ctx=d.ctx)).sum() for p in params for d in p.list_data()]
    mx.autograd.backward(losses)
    trainer.step(2)
    np.save(tag + '.after.npy', params[0].data(mx.cpu(0)).asnumpy())

for name in ('sgd', 'nag', 'adam', 'rmsprop', 'ftrl', 'signum', 'adadelta', 'adamax', 'nadam', 'ftml', 'dcasgd',
             'adagrad', 'lars', 'lamb'):
    run(name, name, {'learning_rate': .1})
run('momentum', 'sgd', {'learning_rate': .1, 'momentum': .9, 'wd': .01})
run('half', 'sgd', {'learning_rate': .1, 'momentum': .9, 'multi_precision': True}, 'float16')
run('half_plain', 'sgd', {'learning_rate': .1, 'multi_precision': True}, 'float16')
run('half_nag', 'nag', {'learning_rate': .1, 'momentum': .9, 'multi_precision': True}, 'float16')
run('half_adam', 'adam', {'learning_rate': .1, 'multi_precision': True}, 'float16')
run('scheduled', 'sgd', {'lr_scheduler': mx.lr_scheduler.FactorScheduler(2, .5, base_lr=.1), 'learning_rate': .1})
run('centered', 'rmsprop', {'learning_rate': .1, 'centered': True})
run('store', 'sgd', {'learning_rate': .1, 'momentum': .9}, devices=2)
"""

CONTINUED = ("sgd", "adam", "ftrl", "signum", "adamax", "nadam", "ftml", "dcasgd", "lars", "lamb", "momentum", "half",
             "half_plain", "half_adam", "scheduled", "centered", "store", "nag", "half_nag")
"""Files whose training goes on with the same numbers: the formula of the optimizer is the same in the release."""

LOADED = ("rmsprop", "adadelta", "adagrad")
"""Files that load, while the release has another formula for the optimizer."""


@pytest.fixture(scope="module", params=releases.RELEASES)
def written(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    releases.run(request.param, RELEASE, folder)
    return folder


@pytest.mark.needs_mxnet
@pytest.mark.parametrize("tag", [*CONTINUED, *LOADED])
def test_training_goes_on_from_a_file_of_a_release(written, tag):
    devices = 2 if tag == "store" else 1
    dtype = "float16" if tag.startswith("half") else "float32"
    ctx = [mx.cpu(i) for i in range(devices)]
    params = [mx.gluon.Parameter(f"p{i}", shape=(2, 3), dtype=dtype) for i in range(2)]
    for param in params:
        param.initialize(mx.init.One(), ctx=ctx)
        param.set_data(mx.nd.array(np.load(written / f"{tag}.before.npy"), dtype=dtype))
    trainer = mx.gluon.Trainer(params, "test")
    trainer.load_states(str(written / f"{tag}.states"))
    assert trainer.optimizer.num_update == 3
    assert set(trainer.optimizer._all_index_update_counts[0].values()) == {3}
    assert [type(trainer.optimizer.lr_scheduler)] == [
        mx.lr_scheduler.FactorScheduler if tag == "scheduled" else type(None)]
    scope: dict[str, object] = {}
    exec(TRAIN.split("GRADIENTS = ")[0] + "GRADIENTS = " + TRAIN.split("GRADIENTS = ")[1], {"mx": mx}, scope)
    gradient = scope["GRADIENTS"][3]
    with mx.autograd.record():
        losses = [(d * mx.nd.array(gradient, dtype=dtype, ctx=d.context)).sum() for p in params for d in p.list_data()]
    mx.autograd.backward(losses)
    trainer.step(2)
    after = params[0].data(mx.cpu(0)).asnumpy()
    assert np.isfinite(after).all()
    if tag in CONTINUED:
        np.testing.assert_allclose(after, np.load(written / f"{tag}.after.npy"), rtol=2e-5,
                                   atol=1e-3 if dtype == "float16" else 1e-6)


STORES = TRAIN + """
kv = mx.kv.create('local')
kv.init('w', mx.nd.zeros((2,)))
kv.set_optimizer(mx.optimizer.create('sgd', learning_rate=1.0, momentum=0.5))
kv.push('w', mx.nd.ones((2,)))
kv.save_optimizer_states('plain.states')
kv.save_optimizer_states('whole.states', dump_optimizer=True)
"""


@pytest.mark.needs_mxnet
@pytest.mark.parametrize("engine", releases.RELEASES)
def test_files_of_a_store_of_a_release(engine, tmp_path):
    releases.run(engine, STORES, tmp_path)
    for name in ("plain", "whole"):
        store = mx.kv.create("local")
        store.init("w", mx.nd.zeros((2,)))
        store.set_optimizer(mx.optimizer.create("sgd", learning_rate=1.0, momentum=0.5))
        store.load_optimizer_states(str(tmp_path / f"{name}.states"))
        store.push("w", mx.nd.ones((2,)))
        out = mx.nd.zeros((2,))
        store.pull("w", out=out)
        assert out.asnumpy().tolist() == [-1.5, -1.5]
