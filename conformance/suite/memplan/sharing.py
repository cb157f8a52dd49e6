"""MEMPLAN-REUSE, MEMPLAN-FREE, MEMPLAN-DOC, MEMPLAN-HW: sharing, freeing, and what programs can rely on."""

import numpy as np

from conformance.case import case
from conformance.suite import kit

FLAGS = {"plain": {}, "static_memory": {"static_alloc": True},
         "static": {"static_alloc": True, "static_shape": True}}

RESIDENT = """
def resident():
    with open("/proc/self/status") as file:
        for line in file:
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
"""


def _model(mx):
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Flatten(), mx.gluon.nn.Dense(64, in_units=128, activation="relu"),
            mx.gluon.nn.Dense(16, in_units=64, activation="tanh"),
            mx.gluon.nn.Dense(16, in_units=16, activation="tanh"), mx.gluon.nn.Dense(3, in_units=16))
    net.initialize(mx.init.Zero())
    for number, parameter in enumerate(net.collect_params().values()):
        values = np.cos(np.arange(int(np.prod(parameter.shape))) + number).reshape(parameter.shape)
        parameter.set_data(kit.array(mx, values * 0.3))
    return net


def _first_output():
    """The output of the first call, by numpy."""
    value = np.sin(np.arange(3 * 128)).reshape(3, 128)
    shapes = [(64, 128), (64,), (16, 64), (16,), (16, 16), (16,), (3, 16), (3,)]
    weights = [0.3 * np.cos(np.arange(int(np.prod(shape))) + number).reshape(shape)
               for number, shape in enumerate(shapes)]
    for layer in range(4):
        value = value @ weights[2 * layer].T + weights[2 * layer + 1]
        value = np.maximum(value, 0) if layer == 0 else np.tanh(value) if layer < 3 else value
    return value


def _results(mx, net):
    """Outputs and all gradients of three calls, and an output for inference."""
    found = []
    for round_ in range(3):
        x = kit.array(mx, np.sin(np.arange(3 * 2 * 8 * 8) + round_).reshape(3, 2, 8, 8))
        x.attach_grad()
        with mx.autograd.record():
            y = net(x)
            loss = (y * y).sum()
        loss.backward()
        found += [y.asnumpy(), x.grad.asnumpy()]
        found += [parameter.grad().asnumpy() for parameter in net.collect_params().values()]
        found.append(net(x).asnumpy())
    return found


@case("MEMPLAN-REUSE-004", samples={name: {"flags": flags} for name, flags in FLAGS.items()})
def sharing_changes_no_result(mx, check, flags):
    expected = _results(mx, _model(mx))
    net = _model(mx)
    net.hybridize(**flags)
    got = _results(mx, net)
    check.equal(len(got), len(expected), "number of results")
    check.close(got[0], _first_output(), "output of the first call, hybridized", rtol=1e-3, atol=1e-4)
    for number, (one, other) in enumerate(zip(got, expected)):
        check.equal(one, other, "result %d, hybridized and not" % number)


@case("MEMPLAN-FREE-001", timeout=60)
def dropped_arrays_make_room(mx, check):
    status, out, errors = check.python(RESIDENT + """
import time
sizes = []
for _ in range(8):
    x = mx.nd.ones((4096, 4096))
    read = x[4095].asnumpy()[7]
    del x
    mx.nd.waitall()
    time.sleep(0.1)  # an engine may free in the background
    sizes.append(resident())
print(read, sizes[1], max(sizes[2:]))
""")
    check.equal(status, 0, "exit status of the process, which wrote %s" % errors[-300:])
    read, second, most = (float(word) for word in out.split())
    check.equal(read, 1.0, "an element of the last array")
    check.that(most - second <= 96, "six more arrays of 64 MB, one after the other, need no more memory",
               "<= 96 MB", most - second)


@case("MEMPLAN-FREE-003")
def waiting_makes_everything_readable(mx, check):
    with kit.legacy_mode(mx):
        arrays = [mx.nd.ones((50, 50)) * i for i in range(20)]
        check.same(mx.nd.waitall(), None, "result of waitall")
        for i, array in enumerate(arrays):
            check.equal(array, np.full((50, 50), i, "float32"), "a living array after waitall")


@case("MEMPLAN-FREE-003")
def waiting_raises_a_pending_error_once(mx, check):
    with kit.legacy_mode(mx):
        mx.nd.waitall()
        failed = mx.nd.random.normal(0, -1, shape=(2,))
        check.raises(mx.base.MXNetError, mx.nd.waitall)
        check.same(mx.nd.waitall(), None, "result of a second waitall")
        del failed
        check.equal(mx.nd.ones((2,)) + 1, [2, 2], "a sum after that")


@case("MEMPLAN-FREE-005", timeout=60)
def cached_memory_is_given_back(mx, check):
    status, out, errors = check.python(RESIDENT + """
x = mx.nd.ones((4096, 4096))
x.wait_to_read()
del x
mx.nd.waitall()
import time
time.sleep(0.2)
before = resident()
mx.cpu().empty_cache()
print(before - resident())
""")
    check.equal(status, 0, "exit status of the process, which wrote %s" % errors[-300:])
    check.that(float(out) >= 48, "memory given back, of an array of 64 MB", ">= 48 MB", float(out))


@case("MEMPLAN-DOC-001")
def loop_with_a_step_of_the_batch(mx, check):
    data = np.arange(8, dtype="float32").reshape(8, 1)
    set_ = mx.gluon.data.ArrayDataset(kit.array(mx, data), kit.array(mx, data * 2))
    net = mx.gluon.nn.Dense(1, use_bias=False, in_units=1)
    net.initialize(mx.init.Zero())
    trainer = kit.trainer(mx, net.collect_params(), options={"learning_rate": 0.02})
    weight, seen = 0.0, []
    for data_, label in mx.gluon.data.DataLoader(set_, batch_size=4):
        with mx.autograd.record():
            loss = ((net(data_) - label) ** 2).sum()
        loss.backward()
        trainer.step(data_.shape[0])
        x = data_.asnumpy().reshape(-1)
        seen += list(x)
        weight -= 0.02 * float(np.sum(2 * (weight * x - 2 * x) * x)) / 4
        check.close(net.weight.data().asnumpy().reshape(-1)[0], weight, "weight after a batch", rtol=1e-5)
    check.equal(seen, list(range(8)), "data of all batches")


@case("MEMPLAN-DOC-001")
def optimizer_takes_no_batch(mx, check):
    optimizer = mx.optimizer.create("sgd", learning_rate=0.1)
    check.raises((AttributeError, TypeError), lambda: optimizer.step(4))


@case("MEMPLAN-DOC-003")
def features_tell_what_is_in_effect(mx, check):
    features = mx.runtime.Features()
    for names in (("CUDA",), ("CUDNN",), ("MKLDNN", "ONEDNN"), ("OPENMP",)):
        found = [name for name in names if name in features]
        check.that(bool(found), "one of %s is listed" % (names,), got=list(features)[:40])
        check.isinstance(features.is_enabled(found[0]), bool, "whether %s is enabled" % found[0])
    check.raises(RuntimeError, "is unknown, known features are", features.is_enabled, "warp_drive")


@case("MEMPLAN-HW-005")
def first_device_is_the_cpu(mx, check):
    check.equal(mx.cpu(), mx.cpu(0), "cpu() and cpu(0)")
    check.equal(mx.context.current_context() if hasattr(mx.context, "current_context") else mx.current_device(),
                mx.cpu(0), "device of the program")
    check.equal(kit.device_of(mx.nd.array([1.0])), mx.cpu(0), "device of an array")
    check.equal(kit.device_of(mx.nd.zeros((2,))), mx.cpu(0), "device of zeros")
    net = mx.gluon.nn.Dense(2, in_units=2)
    net.initialize()
    check.equal([parameter.list_ctx() for parameter in net.collect_params().values()], [[mx.cpu(0)]] * 2,
                "devices of parameters")
