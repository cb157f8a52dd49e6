"""GRAPH-STATIC and GRAPH-DYN: code that runs line by line, and the same code traced into a graph."""

import numpy as np

from conformance.case import case
from conformance.suite import kit
from conformance.suite.gluon import _tools as blocks
from conformance.suite.gluon._tools import counted, ones
from conformance.suite.graph._tools import marked


@case("GRAPH-STATIC-003")
def python_state_is_read_while_tracing(mx, check):
    state = {"n": 0}

    def body(block, F, x):
        state["n"] += 1
        return x * state["n"]

    net = counted(mx, body)[0]
    x = ones(mx, (1,))
    check.equal([net(x) for _ in range(3)], [[1], [2], [3]], "eager results")
    state["n"] = 0
    net.hybridize()
    check.equal([net(x) for _ in range(3)], [[1], [1], [1]], "hybridized results")
    net.hybridize()
    check.equal([net(x) for _ in range(2)], [[2], [2]], "results after hybridize() again")


@case("GRAPH-STATIC-004", samples={"positive_first": {"signs": (1, -1)}, "negative_first": {"signs": (-1, 1)}})
def branch_on_a_value_is_refused_or_right(mx, check, signs):
    net = counted(mx, lambda block, F, x: x if x.sum() > 0 else -x)[0]
    net.hybridize()
    for sign in signs:
        try:
            out = net(kit.array(mx, [sign * 1.0, sign * 2.0])).asnumpy()
        except (mx.base.MXNetError, TypeError, ValueError, NotImplementedError) as error:
            check.that(bool(str(error)), "the refusal says something", "a message", repr(error))
        else:
            check.equal(out, np.array([1.0, 2.0]), "result for the sign %d" % sign)
    net.hybridize(active=False)
    check.equal(net(kit.array(mx, [-1.0, -2.0])), [1, 2], "eager result")


@case("GRAPH-STATIC-005")
def running_sum_by_foreach(mx, check):
    def body(item, state):
        return item + state, item + state

    outputs, state = mx.nd.contrib.foreach(body, mx.nd.array([1.0, 2.0, 3.0]), mx.nd.array([0.0]))
    check.equal(outputs.asnumpy().reshape(-1), np.array([1.0, 3.0, 6.0]), "outputs")
    check.equal(state.asnumpy().reshape(-1), np.array([6.0]), "last state")


@case("GRAPH-STATIC-005", samples={"true": {"value": 1.0, "want": 10.0}, "false": {"value": -1.0, "want": 20.0}})
def branch_by_cond(mx, check, value, want):
    out = mx.nd.contrib.cond(mx.nd.array([value]) > 0, lambda: mx.nd.array([10.0]), lambda: mx.nd.array([20.0]))
    check.equal((out[0] if isinstance(out, list) else out).asnumpy(), np.array([want]), "result of the branch")


def _three_steps(mx):
    """Counts to three with room for five steps; outputs, states."""
    return mx.nd.contrib.while_loop(lambda i, total: i < 3, lambda i, total: (i + 1, (i + 1, total + i)),
                                    [mx.nd.array([0.0]), mx.nd.array([0.0])], max_iterations=5)


@case("GRAPH-STATIC-005")
def loop_by_while_loop(mx, check):
    outputs, states = _three_steps(mx)
    outputs = outputs[0] if isinstance(outputs, list) else outputs
    check.equal(outputs.asnumpy()[:3], np.array([[1.0], [2.0], [3.0]]), "outputs of the steps taken")
    check.equal([state.asnumpy() for state in states], [[3], [3]], "last states")


@case("GRAPH-STATIC-005", needs=["symbol"])
def foreach_in_a_graph(mx, check):
    def body(item, state):
        return item + state, item + state

    graph = mx.sym.Group(list(mx.sym.contrib.foreach(body, mx.sym.var("items"), mx.sym.var("start"))))
    outputs, state = graph.eval(ctx=mx.cpu(), items=mx.nd.array([[1.0], [2.0], [3.0]]), start=mx.nd.array([0.0]))
    check.equal(outputs.asnumpy(), np.array([[1.0], [3.0], [6.0]]), "outputs")
    check.equal(state.asnumpy(), np.array([6.0]), "last state")


@case("GRAPH-STATIC-006")
def padding_of_a_loop_is_zero(mx, check):
    for _ in range(20):
        # Leave small pieces of used memory behind for an engine that does not clear what it pads with.
        used = [mx.nd.full((size, 1), 7.0) for size in (1, 2, 3, 4, 5) for _ in range(4)]
        for array in used:
            array.wait_to_read()
        del used, array
        outputs, _ = _three_steps(mx)
        outputs = outputs[0] if isinstance(outputs, list) else outputs
        check.equal(outputs.asnumpy()[3:], np.zeros((2, 1)), "rows beyond the three steps taken")


FLAGS = {
    "plain": {}, "static_alloc": {"static_alloc": True}, "static_shape": {"static_alloc": True, "static_shape": True},
    "inline_limit": {"inline_limit": 0}, "bulk_sizes": {"forward_bulk_size": 1, "backward_bulk_size": 1}}


def _convolutional(mx, check):
    nn = mx.gluon.nn
    net = nn.HybridSequential()
    for layer in (nn.Conv2D(3, 3, in_channels=2, activation="relu"), nn.BatchNorm(in_channels=3),
                  nn.MaxPool2D(2), nn.Dense(2, in_units=12)):
        net.add(layer)
    return blocks.filled(mx, net, check, ones(mx, (1, 2, 6, 6)))


@case("GRAPH-STATIC-007", samples={name: {"flags": flags} for name, flags in FLAGS.items()})
def hybridizing_keeps_results_and_gradients(mx, check, flags):
    data = np.random.RandomState(3).uniform(-1, 1, (2, 2, 6, 6))
    seen = []
    for hybridized in (False, True):
        net = _convolutional(mx, check)
        if hybridized:
            net.hybridize(**flags)
        for _ in range(2):
            x = marked(mx, data)
            with mx.autograd.record():
                loss = (net(x) ** 2).sum()
            loss.backward()
        gradients = [net[k].weight.grad().asnumpy() for k in (0, 3)] + [net[1].gamma.grad().asnumpy()]
        seen.append((float(loss.asnumpy().reshape(-1)[0]), x.grad.asnumpy(), gradients))
    (loss, of_input, gradients), (loss_2, of_input_2, gradients_2) = seen
    check.that(loss > 1.0 and np.abs(of_input).max() > 1e-3, "there is something to compare", "a loss above 1",
               str(loss))
    check.close(loss_2, loss, "loss", rtol=1e-5)
    check.close(of_input_2, of_input, "gradient of the input", rtol=1e-5, atol=1e-5 * np.abs(of_input).max())
    for got, want, name in zip(gradients_2, gradients, ("convolution", "dense layer", "gamma")):
        check.close(got, want, "gradient of the %s" % name, rtol=1e-5, atol=1e-5 * np.abs(want).max())


@case("GRAPH-DYN-001")
def every_line_computes_at_once(mx, check):
    seen = []

    def body(block, F, x):
        y = x * 3
        seen.append(y.asnumpy())
        return y + 1

    net = counted(mx, body)[0]
    for factor in (1.0, 2.0):
        check.equal(net(kit.array(mx, [factor, 5.0])), [3 * factor + 1, 16], "result")
    check.equal(seen, [[3, 15], [6, 15]], "values inside the block, call by call")


@case("GRAPH-DYN-002")
def graph_may_differ_from_iteration_to_iteration(mx, check):
    net = counted(mx, lambda block, F, x: x * 5 if x.sum() > 0 else x * x)[0]
    for values, want in (([1.0, 2.0], [5, 5]), ([-1.0, -2.0], [-2, -4]), ([3.0, -1.0], [5, 5])):
        x = marked(mx, values)
        with mx.autograd.record():
            out = net(x)
        out.backward()
        check.equal(x.grad, want, "gradient of the branch taken for %s" % values)


@case("GRAPH-DYN-003", timeout=60)
def trace_avoids_the_overhead_per_operator(mx, check):
    x = ones(mx, (8, 32))

    def call_of(**hybridized):
        net = mx.gluon.nn.HybridSequential()
        for _ in range(20):
            net.add(mx.gluon.nn.Dense(32, in_units=32))
        net.initialize()
        if hybridized:
            net.hybridize(**hybridized)
        for _ in range(10):
            net(x).asnumpy()
        return lambda: net(x).asnumpy()

    ratio = kit.times_as_long(call_of(), call_of(static_alloc=True, static_shape=True), 1.3, calls=20)
    check.that(ratio >= 1.3, "eager time / hybridized time", "at least 1.3", "%.2f" % ratio)


@case("GRAPH-DYN-004")
def same_definition_eager_and_traced(mx, check):
    def body(block, F, x, w):
        return x * w + 1

    net, runs = counted(mx, body, parameters={"w": {"shape": (2,), "init": "ones"}})
    net.initialize()
    net.w.set_data(kit.array(mx, [2.0, -3.0]))
    x = kit.array(mx, [5.0, 7.0])
    check.equal(net(x), [11, -20], "eager result")
    del runs[:]
    net.hybridize()
    for _ in range(3):
        check.equal(net(x), [11, -20], "hybridized result")
    check.equal(len(runs), 1, "runs of the Python code")
    net.w.set_data(kit.array(mx, [0.0, 1.0]))
    check.equal(net(x), [1, 8], "hybridized result with other parameters")


@case("GRAPH-DYN-005")
def print_inside_a_trace(mx, check):
    def body(block, F, x):
        print("inside: %r" % (x,))
        return x * 2

    net = counted(mx, body)[0]
    x = kit.array(mx, [1.25])
    counts = []
    for active in (None, True, False):
        if active is not None:
            net.hybridize(active=active)
        with check.printed() as out:
            for _ in range(3):
                check.equal(net(x), [2.5], "result")
        counts.append(out.getvalue().count("inside: "))
        if active is not True:
            check.contains(out.getvalue(), "1.25", doing="what is printed")
    check.equal(counts, [3, 1, 3], "lines printed by three calls: eager, hybridized, switched off")


@case("GRAPH-DYN-006")
def guards_of_a_compiled_block(mx, check):
    class Static(mx.gluon.nn.DynamicHybridBlock):
        def forward(self, x):
            return x * 2

    class Branching(mx.gluon.nn.DynamicHybridBlock):
        def forward(self, x):
            return x if x.sum() > 0 else -x

    net = Branching()
    net.hybridize()
    for sign in (1.0, -1.0, 1.0):
        check.equal(net(kit.array(mx, [sign, 2 * sign])), [1, 2], "result of the branch")
    net = Static()
    net.hybridize()
    traces = []
    for values, dtype in (([1.0], "float32"), ([2.0], "float32"), ([1.0, 2.0], "float32"), ([1.0], "float64")):
        check.equal(net(kit.array(mx, values, dtype=dtype)), [2 * value for value in values], "result")
        traces.append(net.cache_info().traces)
    check.equal(traces, [1, 1, 2, 3], "compilations: first, same, other shape, other dtype")
