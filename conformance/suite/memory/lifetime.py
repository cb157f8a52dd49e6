"""MEM-INFO, MEM-GC, MEM-LEAK, MEM-ENV: what is known of memory, when it is freed, and settings of it."""

import gc

import numpy as np

from conformance.case import case
from conformance.suite.memory._tools import alive, seen


@case("MEM-INFO-001")
def memory_of_a_device(mx, check):
    info = mx.runtime.Runtime().get_memory_info(mx.cpu(0))
    for name in ("total", "free", "used", "max_free_block"):
        check.isinstance(info[name], int, name)
    check.that(info["total"] > 0, "total is positive", got=info)
    check.that(0 <= info["max_free_block"] <= info["free"] <= info["total"], "0 <= max_free_block <= free <= total",
               got=info)
    check.equal(info["used"], info["total"] - info["free"], "used")


@case("MEM-INFO-001")
def memory_that_an_array_uses(mx, check):
    runtime = mx.runtime.Runtime()
    before = runtime.get_memory_info(mx.cpu(0))["used"]
    kept = mx.nd.ones((2000, 1000))
    kept.wait_to_read()
    used = runtime.get_memory_info(mx.cpu(0))["used"] - before
    check.that(used >= kept.size * 4, "an array of 8 MB is counted", "8000000 bytes or more", str(used))


@case("MEM-INFO-001")
def memory_of_something_else(mx, check):
    runtime = mx.runtime.Runtime()
    check.raises(mx.MXNetError, runtime.get_memory_info, mx.gpu(mx.context.num_gpus()))
    check.raises(TypeError, runtime.get_memory_info, 0)


@case("MEM-INFO-002")
def memory_of_a_gpu(mx, check):
    number = mx.context.num_gpus()
    for index in range(number):
        free, total = mx.context.gpu_memory_info(index)
        check.that(0 < free <= total, "0 < free <= total on gpu(%d)" % index, got=(free, total))
    check.raises(mx.MXNetError, mx.context.gpu_memory_info, number)


@case("MEM-INFO-002", samples={"context": {"read": lambda mx, i: mx.context.gpu_memory_info(i)},
                               "util": {"read": lambda mx, i: mx.util.get_gpu_memory(i)}})
def no_gpu_in_this_build(mx, check, read):
    number = mx.context.num_gpus()
    error = check.raises(mx.MXNetError, read, mx, number)
    if number == 0:
        check.contains(str(error), "built with CUDA support", doing="message")


@case("MEM-INFO-003")
def cache_of_the_cpu(mx, check):
    kept = mx.nd.ones((500, 500))
    dropped = mx.nd.ones((500, 500))
    del dropped
    check.same(mx.cpu().empty_cache(), None, "what empty_cache returns")
    check.equal(kept, np.ones((500, 500)), "an array that is alive")
    check.equal(mx.nd.zeros((500, 500)), np.zeros((500, 500)), "an array made afterwards")


@case("MEM-INFO-003")
def cache_of_a_gpu_that_is_not_there(mx, check):
    check.raises(mx.MXNetError, mx.gpu(mx.context.num_gpus()).empty_cache)


@case("MEM-INFO-004")
def feature_of_the_build(mx, check):
    features = mx.runtime.Features()
    for name in ("CUDA", "LAPACK"):
        check.isinstance(features.is_enabled(name), bool, "is_enabled(%r)" % name)
        check.equal(features.is_enabled(name.lower()), features.is_enabled(name), "is_enabled(%r)" % name.lower())


@case("MEM-INFO-004")
def unknown_feature(mx, check):
    check.raises(RuntimeError, "Feature 'NOPE' is unknown", mx.runtime.Features().is_enabled, "nope")


@case("MEM-INFO-004")
def list_of_features(mx, check):
    listed = mx.runtime.feature_list()
    check.isinstance(listed, list, "feature_list()")
    features = mx.runtime.Features()
    for feature in listed:
        check.equal(features.is_enabled(feature.name), bool(feature.enabled), "feature %s" % feature.name)
    check.that("CUDA" in [feature.name for feature in listed], "CUDA is in the list")


SHAPE = (3, 1, 7)


@case("MEM-GC-001")
def freed_with_the_last_reference(mx, check):
    gc.collect()
    gc.disable()
    try:
        arrays = [mx.nd.ones(SHAPE) for _ in range(5)]
        mx.nd.waitall()
        check.equal(len(alive(mx, shape=SHAPE)), 5, "number of arrays alive")
        del arrays
        check.equal(len(alive(mx, shape=SHAPE)), 0, "number of arrays alive after the last reference went")
    finally:
        gc.enable()


@case("MEM-GC-001")
def cycle_waits_for_the_collector(mx, check):
    gc.collect()
    gc.disable()
    try:
        holder = {"array": mx.nd.ones(SHAPE)}
        holder["itself"] = holder
        del holder
        check.equal(len(alive(mx, shape=SHAPE)), 1, "number of arrays alive in a cycle")
        gc.collect()
        check.equal(len(alive(mx, shape=SHAPE)), 0, "number of arrays alive after gc.collect()")
    finally:
        gc.enable()


@case("MEM-GC-002")
def array_is_tracked(mx, check):
    made = {"made": mx.nd.ones((2,)), "computed": mx.nd.ones((2,)) + 1, "view": mx.nd.ones((2, 2))[0]}
    check.equal(made["computed"], [2, 2], "array that was computed")
    for name, array in sorted(made.items()):
        check.that(gc.is_tracked(array), "the array (%s) is tracked" % name)
        check.that(any(thing is array for thing in gc.get_objects()), "the array (%s) is found" % name)


@case("MEM-GC-003")
def growth_between_two_scans(mx, check):
    def scan():
        gc.collect()
        return len([array for array in alive(mx) if array.context.device_type == "cpu"])

    before = scan()
    kept = [mx.nd.ones(SHAPE), mx.nd.ones(SHAPE)]
    check.equal(scan() - before, 2, "growth while two arrays are kept")
    kept.pop()
    check.equal(scan() - before, 1, "growth while one is kept")
    del kept
    check.equal(scan() - before, 0, "growth afterwards")


@case("MEM-GC-004", samples={"cpu_pinned": {}, "cpu_shared": {}, "cpu": {}})
def scan_by_device_type(mx, check):
    kind = check.case_id.split("[")[1].rstrip("]")
    array = mx.nd.ones(SHAPE, ctx=mx.Context(kind, 0))
    found = [thing for thing in alive(mx, shape=SHAPE) if thing.context.device_type == kind]
    check.equal(len(found), 1, "number of arrays of this shape on %s" % kind)
    check.same(found[0], array, "array that was found")
    check.that(not any(thing is array for thing in alive(mx) if thing.context.device_type == "gpu"),
               "it is not on a gpu")


@case("MEM-GC-005")
def graph_is_kept_until_backward(mx, check):
    x = mx.nd.ones((3,))
    x.attach_grad()
    with mx.autograd.record():
        y = x * 2
        z = y * y
    del y
    gc.collect()
    z.backward(retain_graph=True)
    check.equal(x.grad, [8, 8, 8], "gradient while the graph is kept")
    x.grad[:] = 0
    z.backward()
    check.equal(x.grad, [8, 8, 8], "gradient of the second backward")
    check.raises(mx.MXNetError, "Cannot differentiate node because it is not in a computational graph", z.backward)


@case("MEM-GC-005", timeout=120)
def graph_goes_with_its_last_output(mx, check):
    """Losses over an intermediate of 4 MB each, which the gradient of exp needs."""
    kept, dropped = seen(check, """
x = mx.nd.ones((1000, 1000))
x.attach_grad()
def loss():
    with mx.autograd.record():
        made = mx.nd.exp(x).sum()
    made.wait_to_read()
    return made
loss()
before = high()
losses = [loss() for _ in range(30)]
with_losses = high()
print('seen', with_losses - before)
del losses
for _ in range(30):
    loss()
print('seen', high() - with_losses)
""")
    check.that(int(kept[0]) > 90, "30 losses without backward keep 120 MB", "more than 90 MB", kept[0])
    check.that(int(dropped[0]) < 60, "30 losses that are dropped need no memory of their own", "less than 60 MB",
               dropped[0])


@case("MEM-LEAK-001")
def loop_does_not_grow(mx, check):
    weight = mx.nd.ones((4, 4)) * 0.1
    weight.attach_grad()
    counts = []
    for step in range(30):
        with mx.autograd.record():
            loss = (mx.nd.dot(weight, weight) * step).sum()
        loss.backward()
        weight[:] = weight - 0.001 * weight.grad
        mx.nd.linalg.syrk(weight).wait_to_read()
        if step == 1:
            # The gradient of sum(w @ w) at 0.1 everywhere is 0.8, and the loss of step 0 is zero.
            check.close(weight, np.full((4, 4), 0.1 - 0.001 * 0.8), "weight after the second step")
        if step in (5, 29):
            gc.collect()
            counts.append(len(alive(mx)))
    check.equal(counts[1], counts[0], "arrays alive after 30 steps and after 6")


@case("MEM-LEAK-002")
def product_with_the_transpose(mx, check):
    source = np.array([[1, 2, 3], [4, 5, 6]], dtype="float32")
    array = mx.nd.array(source)
    check.equal(mx.nd.linalg.syrk(array), source.dot(source.T), "nd.linalg.syrk")
    check.equal(mx.nd.linalg.syrk(array, transpose=True, alpha=2.0), 2 * source.T.dot(source),
                "with transpose and alpha")


@case("MEM-LEAK-002", timeout=120)
def many_products_do_not_grow(mx, check):
    (grown,), = seen(check, """
a = mx.nd.ones((200, 200))
def loop(count):
    for _ in range(count):
        mx.nd.linalg.syrk(a).wait_to_read()
    return high()
before = loop(20)
print('seen', loop(200) - before)
""")
    check.that(int(grown) < 16, "200 products of 0.16 MB each need less than 16 MB more", "less than 16", grown)


@case("MEM-ENV-001")
def unknown_settings_are_ignored(mx, check):
    code = "a = mx.nd.ones((2, 2))\nprint('seen', (mx.nd.dot(a, a) + 1).asnumpy().tolist())"
    for settings in ({}, {"MXNET_EXEC_ENABLE_ADDTO": "1", "MXNET_MEMORY_OPTIMIZE": "1", "MXNET_NO_SUCH_SETTING": "x"}):
        status, printed, errors = check.python(code, settings)
        check.equal(status, 0, "exit status with %s" % settings)
        check.contains(printed, "seen [[3.0, 3.0], [3.0, 3.0]]", doing="what the process printed with %s" % settings)
        check.that("MXNET_NO_SUCH_SETTING" not in errors, "the unknown setting is not mentioned", got=errors)


@case("MEM-ENV-002")
def environment_as_the_core_sees_it(mx, check):
    check.same(mx.util.getenv("MXNET_SUITE_PROBE"), None, "variable that is not set")
    mx.util.setenv("MXNET_SUITE_PROBE", "1")
    try:
        check.equal(mx.util.getenv("MXNET_SUITE_PROBE"), "1", "variable that was set")
        mx.util.setenv("MXNET_SUITE_PROBE", "two")
        check.equal(mx.util.getenv("MXNET_SUITE_PROBE"), "two", "variable that was set again")
    finally:
        mx.util.setenv("MXNET_SUITE_PROBE", None)
    check.same(mx.util.getenv("MXNET_SUITE_PROBE"), None, "variable that was removed")
