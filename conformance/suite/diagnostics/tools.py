"""DIAG-PRINT, -LEAK, -NUMGRAD, -ASYNC and -DOC: tools that help to look."""

import collections
import gc
import importlib

from conformance.case import case
from conformance.suite import kit


@case("DIAG-PRINT-001")
def array_is_described_on_a_line(mx, check):
    x = mx.nd.ones((2, 3), ctx=mx.cpu(1))
    with check.printed() as out:
        line = mx.nd.debug_print(x)
    check.equal(out.getvalue().strip(), line.strip(), "what was printed")
    check.that("\n" not in line.strip(), "it is one line", got=line)
    check.contains(line, "handle", "ctx", "shape", "stride", "dtype", "cpu(1)", "(2, 3)", "(3, 1)", "float32")


@case("DIAG-PRINT-001")
def values_are_neither_printed_nor_waited_for(mx, check):
    with check.printed() as out:
        mx.nd.debug_print(mx.nd.array([12345.0]))
        failed = mx.nd.random.normal(0, -1, shape=(2,))
        mx.nd.debug_print(failed)
    check.that("12345" not in out.getvalue(), "values are not printed", got=out.getvalue())
    check.contains(out.getvalue(), "(1,)", "(2,)", doing="what was printed")
    check.raises(mx.base.MXNetError, "scale parameter", failed.wait_to_read)
    check.raises((TypeError, AssertionError), mx.nd.debug_print, 5)


def _memory(mx, ctx):
    """Used and total bytes, and the fragmentation, as the listing of a memory check computes them."""
    info = mx.runtime.Runtime().get_memory_info(ctx)
    free = info["free"]
    return info["total"] - free, info["total"], 1 - info["max_free_block"] / free if free > 0 else 0


@case("DIAG-LEAK-001")
def memory_of_a_device(mx, check):
    used, total, fragmentation = _memory(mx, mx.cpu(0))
    check.that(0 <= used <= total, "used memory lies between 0 and the total", got=(used, total))
    check.that(0 <= fragmentation <= 1, "fragmentation lies between 0 and 1", got=fragmentation)


@case("DIAG-LEAK-001")
def leak_shows_as_growth(mx, check):
    size = 400 * 400 * 4

    def used():
        gc.collect()
        mx.nd.waitall()
        return mx.runtime.Runtime().get_memory_info(mx.cpu(0))["used"]

    kept = []
    for _ in range(3):
        (mx.nd.ones((400, 400)) * 2).wait_to_read()
    before = used()
    for _ in range(20):
        (mx.nd.ones((400, 400)) * 2).wait_to_read()
    check.that(abs(used() - before) <= 4 * size, "memory does not grow over steps that keep nothing",
               "<= %d" % (4 * size), used() - before)
    before = used()
    for _ in range(20):
        kept.append(mx.nd.ones((400, 400)) * 2)
    check.that(used() - before >= 16 * size, "memory grows over steps that keep an array each",
               ">= %d" % (16 * size), used() - before)


def _census(mx):
    """How many arrays live, per shape and context."""
    gc.collect()
    count = collections.Counter()
    for item in gc.get_objects():
        if type(item) is mx.nd.NDArray:
            count[item.shape, str(item.context)] += 1
    return count


@case("DIAG-LEAK-002")
def live_arrays_are_counted(mx, check):
    before = _census(mx)
    kept = [mx.nd.ones((5, 7)) for _ in range(3)] + [mx.nd.ones((5, 7), ctx=mx.cpu(1))]
    mx.nd.ones((5, 7)).wait_to_read()
    after = _census(mx)
    after.subtract(before)
    check.equal((after[(5, 7), "cpu(0)"], after[(5, 7), "cpu(1)"]), (3, 1), "arrays more than before, per context")
    del kept
    after = _census(mx)
    after.subtract(before)
    check.equal((after[(5, 7), "cpu(0)"], after[(5, 7), "cpu(1)"]), (0, 0), "arrays more when they are dropped")


@case("DIAG-NUMGRAD-001")
def right_gradient_passes(mx, check):
    with kit.legacy_mode(mx):
        symbol = mx.sym.sin(mx.sym.Variable("x"))
        check.same(mx.test_utils.check_numeric_gradient(symbol, [mx.nd.array([0.3, 0.4])]), None, "result")


@case("DIAG-NUMGRAD-001")
def wrong_gradient_is_noticed(mx, check):
    with kit.legacy_mode(mx):
        x = mx.sym.Variable("x")
        symbol = x * x + mx.sym.BlockGrad(x) * 3  # its gradient lacks the 3
        check.raises(AssertionError, mx.test_utils.check_numeric_gradient, symbol, [mx.nd.array([0.3, 0.4])])


LATE = """
try:
    y = mx.nd.take(mx.nd.ones(2), mx.nd.array([9]), mode="raise")
    print("=returned")
    y.wait_to_read()
except mx.base.MXNetError as error:
    print("=" + str("out of bound" in str(error)))
"""


@case("DIAG-ASYNC-001", timeout=120)
def naive_engine_reports_at_the_call(mx, check):
    _, out, _ = check.python(LATE, environment={"MXNET_ENGINE_TYPE": "NaiveEngine"})
    check.equal([line for line in out.split("\n") if line.startswith("=")], ["=True"], "answers with NaiveEngine")


@case("DIAG-ASYNC-001")
def waiting_finds_the_guilty_line(mx, check):
    sound = mx.nd.ones(2) * 3
    sound.wait_to_read()
    y = mx.nd.take(sound, mx.nd.array([9]), mode="raise")
    check.raises(mx.base.MXNetError, "take operator contains indices out of bound", y.wait_to_read)
    check.equal(sound, [3, 3], "result of the line before")


LISTINGS = {
    "copyfrom": lambda mx, x: mx.nd.empty((2,)).copyfrom([1, 2]).asnumpy().tolist() == [1, 2],
    "broadcast_axes": lambda mx, x: mx.nd.broadcast_axes(mx.nd.ones((1, 3)), mx.nd.ones((2, 1))) == (2, 3),
    "stride": lambda mx, x: x.stride == (3, 1),
    "is_leaf": lambda mx, x: (x.is_leaf, x.requires_grad) == (True, False),
    "debug_print": lambda mx, x: "(2, 3)" in mx.nd.debug_print(x),
    "isfinite": lambda mx, x: mx.nd.isfinite(x).prod().asscalar() == 1,
    "full_like": lambda mx, x: mx.nd.full_like(x, 5).asnumpy().tolist() == [[5] * 3] * 2,
    "memory_info": lambda mx, x: mx.runtime.Runtime().get_memory_info(mx.cpu())["total"] > 0,
    "loss_scaler": lambda mx, x: importlib.import_module(mx.__name__ + ".amp").LossScaler().loss_scale == 2.0 ** 16,
}


@case("DIAG-DOC-001", samples={name: {"holds": holds} for name, holds in LISTINGS.items()})
def name_from_a_listing(mx, check, holds):
    with check.printed():
        check.equal(bool(holds(mx, mx.nd.ones((2, 3)))), True, "whether it does what the listing says")
