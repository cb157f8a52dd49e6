"""GLUON-DYNBLOCK: DynamicHybridBlock, a hybrid block whose Python code may follow the data."""

import numpy as np

from conformance.case import case
from conformance.suite import kit
from conformance.suite.gluon import _tools
from conformance.suite.gluon._tools import initialised, ones


def _dynamic(mx, body):
    """A DynamicHybridBlock that computes ``body(x, ...)``, and the list that gets one entry per run of it."""
    runs = []

    class Own(mx.gluon.nn.DynamicHybridBlock):
        def forward(self, *inputs):
            runs.append(inputs)
            return body(*inputs)

    return Own(), runs


def _positive(x):
    return x if x.sum() > 0 else -x


def _layers(mx, kind):
    net = kind()
    for units, inputs in ((4, 3), (2, 4)):
        net.add(mx.gluon.nn.Dense(units, in_units=inputs))
    return net


@case("GLUON-DYNBLOCK-001")
def container_of_layers(mx, check):
    net = _layers(mx, mx.gluon.nn.DynamicHybridBlock)
    check.isinstance(net, mx.gluon.HybridBlock, "kind of the block")
    check.equal(len(net), 2, "number of layers")
    check.isinstance(net[1], mx.gluon.nn.Dense, "layer with index 1")
    initialised(net)
    check.equal(net(ones(mx, (1, 3))), [[12, 12]], "output")
    check.same(net.hybridize(static_alloc=True), None, "what hybridize returns")
    for _ in range(2):
        check.equal(net(ones(mx, (1, 3))), [[12, 12]], "hybridized output")


@case("GLUON-DYNBLOCK-001")
def empty_one_gives_its_input(mx, check):
    net = mx.gluon.nn.DynamicHybridBlock()
    check.equal(net(kit.array(mx, [1.0, 2.0])), [1, 2], "output")
    net.hybridize()
    check.equal(net(kit.array(mx, [1.0, 2.0])), [1, 2], "hybridized output")


@case("GLUON-DYNBLOCK-002")
def branch_follows_the_data(mx, check):
    net = _dynamic(mx, _positive)[0]
    for _ in range(2):
        check.equal(net(kit.array(mx, [1.0, 2.0])), [1, 2], "output")
        check.equal(net(kit.array(mx, [-1.0, -2.0, -3.0])), [1, 2, 3], "output")
        check.equal(net(kit.array(mx, [-1.0, -2.0])), [1, 2], "output of the shape that took the other branch")
        net.hybridize()


@case("GLUON-DYNBLOCK-003")
def one_trace_for_each_signature(mx, check):
    net, runs = _dynamic(mx, lambda x: x * 2)
    net.hybridize()
    for _ in range(2):
        check.equal(net(ones(mx, (2,))), [2, 2], "output")
    check.equal((len(runs), net.cache_info().traces), (1, 1), "runs and traces of one signature")
    check.equal(net(ones(mx, (3,))), [2, 2, 2], "output of another shape")
    check.equal((len(runs), net.cache_info().traces), (2, 2), "runs and traces after another shape")
    net(ones(mx, (2,)))
    check.equal(len(runs), 2, "runs after the first shape again")
    with mx.autograd.record():
        check.equal(net(ones(mx, (2,))), [2, 2], "output when training")
    check.equal(net.cache_info().traces, 3, "traces after a recorded call")
    net(ones(mx, (2,), dtype="float64"))
    check.equal(net.cache_info().traces, 4, "traces after another dtype")
    net(ones(mx, (2,), mx.cpu(1)))
    check.equal(net.cache_info().traces, 5, "traces after another device")


@case("GLUON-DYNBLOCK-003")
def mode_of_training_is_part_of_the_signature(mx, check):
    net = _dynamic(mx, lambda x: x * 2 if mx.autograd.is_training() else x * 3)[0]
    net.hybridize()
    for _ in range(2):
        check.equal(net(ones(mx, (2,))), [3, 3], "output when predicting")
        with mx.autograd.record():
            out = net(ones(mx, (2,)))
        check.equal(out, [2, 2], "output when training")


def _number(array):
    """The number that an array of one element holds; arrays of 1.x call it asscalar."""
    return array.asscalar() if hasattr(array, "asscalar") else array.item()


LOOKS = {
    "truth": lambda x: x if x.sum() > 0 else -x,
    "number": lambda x: x * (1 if _number(x.sum()) > 0 else -1),
    "asnumpy": lambda x: x * float(np.sign(x.asnumpy().sum())),
}


@case("GLUON-DYNBLOCK-004", samples={name: {"body": body} for name, body in LOOKS.items()})
def look_at_a_value_makes_it_eager(mx, check, body):
    net, runs = _dynamic(mx, body)
    net.hybridize()
    before = net.cache_info().fallbacks
    for count in (1, 2, 3):
        sign = -1.0 if count % 2 else 1.0
        check.equal(net(kit.array(mx, [sign, 2 * sign])), [1, 2], "output")
    check.that(net.cache_info().fallbacks > before, "the fallbacks are counted", "more than %d" % before,
               str(net.cache_info()))
    check.that(len(runs) >= 3, "the Python code runs at every call", "at least 3", str(len(runs)))


@case("GLUON-DYNBLOCK-005")
def cache_is_bounded(mx, check):
    net, runs = _dynamic(mx, lambda x: x + 1)
    net.hybridize(max_cached_graphs=8)
    for size in range(1, 10):
        check.equal(net(ones(mx, (size,))), [2] * size, "output for %d elements" % size)
    info = net.cache_info()
    check.equal((info.traces, info.currsize, info.maxsize, info.hits), (9, 8, 8, 0), "traces, sizes and hits")
    net(ones(mx, (9,)))
    check.equal((net.cache_info().hits, len(runs)), (1, 9), "hits and runs after the last shape again")
    net(ones(mx, (1,)))
    check.equal((net.cache_info().traces, len(runs)), (10, 10), "traces and runs after the first shape again")


@case("GLUON-DYNBLOCK-005")
def least_recently_used_goes_first(mx, check):
    net, runs = _dynamic(mx, lambda x: x + 1)
    net.hybridize(max_cached_graphs=2)
    for size in (1, 2, 1, 3):
        net(ones(mx, (size,)))
    check.equal(len(runs), 3, "runs for the sizes 1, 2, 1, 3")
    net(ones(mx, (1,)))
    check.equal(len(runs), 3, "runs after size 1 again, which was used later than size 2")
    net(ones(mx, (2,)))
    check.equal(len(runs), 4, "runs after size 2 again")


@case("GLUON-DYNBLOCK-005", samples={"zero": {"size": 0}, "negative": {"size": -1}})
def size_below_one_is_refused(mx, check, size):
    net = _dynamic(mx, lambda x: x + 1)[0]
    check.raises(ValueError, lambda: net.hybridize(max_cached_graphs=size))
    check.equal(net(ones(mx, (2,))), [2, 2], "output afterwards")


@case("GLUON-DYNBLOCK-006")
def side_effects_happen_once_per_trace(mx, check):
    net, runs = _dynamic(mx, lambda x: x * 2)
    net.hybridize()
    for _ in range(3):
        net(ones(mx, (2,)))
    check.equal(len(runs), 1, "runs of the Python code in three calls")
    net.hybridize(active=False)
    for count in (2, 3):
        check.equal(net(ones(mx, (2,))), [2, 2], "output")
        check.equal(len(runs), count, "runs of the Python code when switched off")


def _gradients(mx, check, kind, hybridized):
    net = _tools.filled(mx, _layers(mx, kind), check)
    if hybridized:
        net.hybridize()
    x = kit.array(mx, [[1.0, -2.0, 3.0]])
    with mx.autograd.record():
        loss = (net(x) ** 2).sum()
    loss.backward()
    return net, [layer.weight.grad().asnumpy() for layer in net]


@case("GLUON-DYNBLOCK-007")
def gradients_files_and_hooks(mx, check):
    _, want = _gradients(mx, check, mx.gluon.nn.HybridSequential, False)
    net, got = _gradients(mx, check, mx.gluon.nn.DynamicHybridBlock, True)
    for index in range(2):
        check.close(got[index], want[index], "gradient of weight %d" % index)
    check.equal(len(list(net.collect_params())), 4, "number of parameters")
    path, x, log = check.path("d.params"), kit.array(mx, [[1.0, -2.0, 3.0]]), []
    net.save_parameters(path)
    check.equal(sorted(_tools.load(mx, path)), ["0.bias", "0.weight", "1.bias", "1.weight"], "names in the file")
    other = _layers(mx, mx.gluon.nn.DynamicHybridBlock)
    other.load_parameters(path)
    check.equal(other(x).asnumpy(), net(x).asnumpy(), "output of a net that has loaded them")
    other.register_forward_hook(lambda block, inputs, output: log.append(block))
    for count in (1, 2):
        other(x)
        check.equal(len(log), count, "calls of the hook")
    other.cast("float64")
    check.dtype(other(kit.array(mx, [[1.0, -2.0, 3.0]], dtype="float64")), "float64", "dtype of the output after cast")


@case("GLUON-DYNBLOCK-007", needs=["symbol"])
def export_of_one_static_signature(mx, check):
    net = initialised(_layers(mx, mx.gluon.nn.DynamicHybridBlock))
    net.hybridize()
    net(ones(mx, (1, 3)))
    net.export(check.path("m"))
    block = mx.gluon.SymbolBlock.imports(check.path("m-symbol.json"), ["data"], check.path("m-0000.params"))
    check.equal(block(ones(mx, (1, 3))), [[12, 12]], "output of the imported block")


@case("GLUON-DYNBLOCK-007", needs=["symbol"])
def export_after_a_fallback_is_refused(mx, check):
    net = _dynamic(mx, _positive)[0]
    net.hybridize()
    net(ones(mx, (2,)))
    check.raises(RuntimeError, "dynamic", net.export, check.path("m"))
