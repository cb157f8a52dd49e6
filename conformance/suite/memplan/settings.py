"""MEMPLAN-SET: switches of memory optimisation, and a limit for the pool."""

import contextlib
import gc
import itertools

import numpy as np

from conformance.case import case
from conformance.suite import kit

MEGA = 1000 * 1000


@contextlib.contextmanager
def restored(mx):
    """The settings are as at first in the block, and after it."""
    def reset():
        mx.set_cpu_memory_optimize(False)
        mx.set_gpu_memory_optimize(False)
        mx.set_memory_pool_size("cpu", None)
        mx.set_memory_pool_size("gpu", None)

    reset()
    try:
        yield
    finally:
        reset()


def _total(mx):
    """The memory of the CPU in bytes, as the pool sees it."""
    mx.set_memory_pool_size("cpu", 1)
    total = mx.memory_pool_info("cpu")["limit"]
    mx.set_memory_pool_size("cpu", None)
    return total


def _limit(mx, above):
    """Limit the pool to this many bytes above what is in use."""
    total = _total(mx)
    mx.nd.waitall()
    mx.set_memory_pool_size("cpu", (mx.memory_pool_info("cpu")["in_use"] + above) / total)


@case("MEMPLAN-SET-001", samples={"cpu": {"kind": "cpu"}, "gpu": {"kind": "gpu"}})
def switch_returns_the_setting_before(mx, check, kind):
    with restored(mx):
        switch = getattr(mx, "set_%s_memory_optimize" % kind)
        check.equal([switch(True), switch(True), switch(False), switch(False)], [False, True, True, False], "results")


@case("MEMPLAN-SET-001")
def first_setting_is_off(mx, check):
    status, out, _ = check.python("print(mx.set_cpu_memory_optimize(True), mx.set_gpu_memory_optimize(True))")
    check.equal((status, out.split()), (0, ["False", "False"]), "exit status and first settings")


@case("MEMPLAN-SET-001")
def switch_takes_nothing_but_a_bool(mx, check):
    with restored(mx):
        mx.set_cpu_memory_optimize(True)
        for value in (1, 0, "yes", None):
            check.raises(TypeError, "flag must be a bool", mx.set_cpu_memory_optimize, value)
            check.raises(TypeError, "flag must be a bool", mx.set_gpu_memory_optimize, value)
        check.equal(mx.set_cpu_memory_optimize(True), True, "setting after the refusals")


@case("MEMPLAN-SET-003", samples={"cpu": {"kind": "cpu"}, "gpu": {"kind": "gpu"}})
def attribute_mirrors_the_switch(mx, check, kind):
    name, switch = kind + "_memory_optimize", getattr(mx, "set_%s_memory_optimize" % kind)
    with restored(mx):
        check.equal(getattr(mx, name), False, "attribute at first")
        setattr(mx, name, True)
        check.equal(switch(True), True, "setting after True was assigned")
        switch(False)
        check.equal(getattr(mx, name), False, "attribute after the switch")
        check.raises(TypeError, "flag must be a bool", setattr, mx, name, 3)
        check.equal(getattr(mx, name), False, "attribute after the refusal")


@case("MEMPLAN-SET-004")
def limit_returns_the_one_before(mx, check):
    with restored(mx):
        results = [mx.set_memory_pool_size("cpu", 0.7), mx.set_memory_pool_size("cpu", 0.5),
                   mx.set_memory_pool_size(mx.cpu(1), 0.6), mx.set_memory_pool_size("cpu", None)]
        check.equal(results, [None, 0.7, 0.5, 0.6], "fractions before, by name and by context")
        check.equal([mx.set_memory_pool_size("gpu", 0.9), mx.set_memory_pool_size("gpu", 0.8)], [None, 0.9],
                    "fractions of gpu, which need not be there")
        check.equal(mx.set_memory_pool_size("cpu", None), None, "fraction of the cpu after that")


@case("MEMPLAN-SET-005")
def other_limits_are_refused(mx, check):
    with restored(mx):
        mx.set_memory_pool_size("cpu", 0.5)
        for value in (0, -0.1, 1.5, float("nan"), float("inf")):
            check.raises(ValueError, "fraction must be in (0, 1]", mx.set_memory_pool_size, "cpu", value)
        for other in (True, "0.5", [0.5]):
            check.raises(TypeError, "fraction", mx.set_memory_pool_size, "cpu", other)
        check.raises(ValueError, "unknown device", mx.set_memory_pool_size, "tpu", 0.5)
        check.equal(mx.set_memory_pool_size("cpu", 1), 0.5, "limit after the refusals; 1 is allowed")
        check.equal(mx.set_memory_pool_size("cpu", None), 1, "limit before it is removed")
        check.equal(mx.memory_pool_info("cpu")["limit"], None, "limit after that")


@case("MEMPLAN-SET-006")
def allocation_beyond_the_limit(mx, check):
    with restored(mx), kit.legacy_mode(mx):
        _limit(mx, 6 * MEGA)
        info = mx.memory_pool_info("cpu")

        def allocate():
            mx.nd.ones((2000, 1000)).wait_to_read()

        error = str(check.raises(mx.base.MXNetError, "out of memory", allocate))
        numbers = [int(word) for word in error.replace(",", " ").split() if word.isdigit()]
        check.that(any(8 * MEGA <= n <= 9 * MEGA for n in numbers), "the bytes requested are told", got=error)
        check.that(info["in_use"] in numbers and info["limit"] in numbers, "bytes in use and limit are told",
                   (info["in_use"], info["limit"]), error)
        small = mx.nd.ones((1000, 1000))
        check.equal(small.sum(), [1e6], "sum of a smaller array after that")


@case("MEMPLAN-SET-006")
def cached_blocks_make_room(mx, check):
    with restored(mx), kit.legacy_mode(mx):
        mx.nd.ones((1500, 1000)).wait_to_read()
        mx.nd.waitall()
        _limit(mx, 9 * MEGA)
        for rows in (1500, 2000, 1700):
            check.equal(mx.nd.ones((rows, 1000)).shape, (rows, 1000), "an array that fits if others are given up")
            mx.nd.waitall()


@case("MEMPLAN-SET-007")
def limit_below_what_is_used(mx, check):
    with restored(mx), kit.legacy_mode(mx):
        total = _total(mx)
        kept = [mx.nd.ones((1000, 1000)) * i for i in range(3)]
        mx.nd.waitall()
        gc.collect()    # what errors of earlier cases hold must not be freed between the limit and the refusal
        limit = mx.memory_pool_info("cpu")["in_use"] - MEGA
        mx.set_memory_pool_size("cpu", limit / total)

        def allocate():
            made = mx.nd.zeros((1000, 1000))
            made.wait_to_read()
            return made

        check.raises(mx.base.MXNetError, "out of memory", allocate)
        for i, array in enumerate(kept):
            check.equal(array, np.full((1000, 1000), i, "float32"), "data of a living array")
        del array
        kept.pop()
        kept.pop()
        mx.nd.waitall()
        check.equal(allocate(), np.zeros((1000, 1000)), "an array after two were dropped")


@case("MEMPLAN-SET-008")
def numbers_of_the_pool(mx, check):
    with restored(mx), kit.legacy_mode(mx):
        mx.nd.waitall()
        before = mx.memory_pool_info("cpu", reset_peak=True)
        check.equal(sorted(before), ["cached", "in_use", "limit", "peak"], "names")
        kept = mx.nd.ones((1000, 1000))
        kept.wait_to_read()
        during = mx.memory_pool_info(mx.cpu(0))
        grown = during["in_use"] - before["in_use"]
        check.that(4 * MEGA <= grown <= 2 ** 22, "use of 4 MB, at most rounded up to a power of two",
                   "4000000 ... 4194304", grown)
        check.equal(during["peak"], during["in_use"], "peak while it lives")
        del kept
        mx.nd.waitall()
        after = mx.memory_pool_info("cpu", reset_peak=True)
        check.equal((after["in_use"], after["peak"]), (before["in_use"], during["peak"]), "use and peak after it")
        check.equal(mx.memory_pool_info("cpu")["peak"], before["in_use"], "peak after it began anew")


@case("MEMPLAN-SET-009")
def settings_change_no_result(mx, check):
    def losses():
        mx.random.seed(3)
        net = mx.gluon.nn.HybridSequential()
        for units, inputs in ((200, 100), (200, 200), (4, 200)):
            net.add(mx.gluon.nn.Dense(units, activation="tanh", in_units=inputs))
        net.initialize(mx.init.Xavier())
        net.hybridize()
        trainer = kit.trainer(mx, net.collect_params(), options={"learning_rate": 0.1})
        x = kit.array(mx, np.linspace(-1, 1, 12800).reshape(128, 100))
        found = []
        for _ in range(4):
            with mx.autograd.record():
                loss = (net(x) ** 2).mean()
            loss.backward()
            trainer.step(1)
            found.append(float(loss.asnumpy().reshape(-1)[0]))
        return found

    with restored(mx):
        expected = losses()
        for cpu, gpu, size, other in itertools.product((False, True), (False, True), (None, 0.9), (None, 0.5)):
            mx.set_cpu_memory_optimize(cpu)
            mx.set_gpu_memory_optimize(gpu)
            mx.set_memory_pool_size("cpu", size)
            mx.set_memory_pool_size("gpu", other)
            check.equal(losses(), expected, "losses with the settings %s" % ((cpu, gpu, size, other),))


@case("MEMPLAN-SET-009")
def settings_survive_a_fork(mx, check):
    status, out, errors = check.python("""
import os
mx.set_cpu_memory_optimize(True)
mx.set_memory_pool_size("cpu", 0.5)
child = os.fork()
if child == 0:
    ok = mx.set_cpu_memory_optimize(True) is True and mx.set_memory_pool_size("cpu", 0.25) == 0.5
    os._exit(0 if ok else 9)
print(os.waitpid(child, 0)[1] >> 8, mx.set_memory_pool_size("cpu", None))
""")
    check.equal((status, out.split()), (0, ["0", "0.5"]), "status of the child, and the setting of the parent: %s"
                % errors[-300:])
