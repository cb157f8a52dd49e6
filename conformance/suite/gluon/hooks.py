"""GLUON-HOOK: functions that run around a call, and walks over the blocks."""

from typing import Any, List

from conformance.case import case
from conformance.suite import kit
from conformance.suite.gluon import _tools
from conformance.suite.gluon._tools import counted, initialised, ones


@case("GLUON-HOOK-001")
def hooks_run_around_the_call(mx, check):
    log: List[Any] = []

    def body(block, F, x):
        log.append("forward")
        return x * 2

    net = _tools.hybrid(mx, body)
    net.register_forward_pre_hook(lambda block, inputs: log.append(("before", block, inputs)))
    net.register_forward_hook(lambda block, inputs, output: log.append(("after", block, inputs, output)))
    x = ones(mx, (2,))
    for _ in range(2):
        del log[:]
        out = net(x)
        check.equal([entry if isinstance(entry, str) else entry[0] for entry in log], ["before", "forward", "after"],
                    "order")
        check.that(all(entry[1] is net for entry in (log[0], log[2])), "the block is handed over")
        check.that(all(type(entry[2]) is tuple and len(entry[2]) == 1 for entry in (log[0], log[2])),
                   "the inputs are a tuple")
        check.that(all(entry[2][0] is x for entry in (log[0], log[2])), "the inputs are handed over")
        check.equal(log[2][3], [2, 2], "output that is handed over")
        check.equal(out, [2, 2], "result")


@case("GLUON-HOOK-001")
def what_a_hook_returns_is_ignored(mx, check):
    net = counted(mx)[0]
    net.register_forward_pre_hook(lambda block, inputs: (ones(mx, (2,)) * 9,))
    net.register_forward_hook(lambda block, inputs, output: output * 9)
    check.equal(net(ones(mx, (2,))), [2, 2], "result")


@case("GLUON-HOOK-001")
def hooks_of_a_child_run_in_an_eager_parent(mx, check):
    log = []
    net = mx.gluon.nn.HybridSequential()
    net.add(counted(mx)[0])
    net[0].register_forward_hook(lambda block, inputs, output: log.append(output))
    for count in (1, 2):
        net(ones(mx, (2,)))
        check.equal(len(log), count, "calls of the hook")
    check.equal(log[-1], [2, 2], "output of the child")


@case("GLUON-HOOK-002", samples={"before": {"kind": "register_forward_pre_hook"},
                                 "after": {"kind": "register_forward_hook"}})
def detached_hook_does_not_run(mx, check, kind):
    log, net = [], counted(mx)[0]
    handle = getattr(net, kind)(lambda *args: log.append("first"))
    getattr(net, kind)(lambda *args: log.append("second"))
    net(ones(mx, (2,)))
    check.equal(log, ["first", "second"], "calls of the hooks")
    handle.detach()
    net(ones(mx, (2,)))
    check.equal(log, ["first", "second", "second"], "calls after one was detached")


@case("GLUON-HOOK-002", samples={"before": {"kind": "register_forward_pre_hook"},
                                 "after": {"kind": "register_forward_hook"}})
def handle_as_context_manager(mx, check, kind):
    log, net = [], counted(mx)[0]
    with getattr(net, kind)(lambda *args: log.append(len(args))):
        net(ones(mx, (2,)))
    check.equal(len(log), 1, "calls of the hook within the block")
    net(ones(mx, (2,)))
    check.equal(len(log), 1, "calls of the hook after the block")


@case("GLUON-HOOK-003", samples={"before": {"kind": "register_forward_pre_hook"},
                                 "after": {"kind": "register_forward_hook"}})
def hook_that_is_no_function(mx, check, kind):
    net = counted(mx)[0]
    check.raises((TypeError, ValueError), getattr(net, kind), 3)
    check.equal(net(ones(mx, (2,))), [2, 2], "result afterwards")


@case("GLUON-HOOK-004")
def hooks_of_a_child_run_while_tracing_only(mx, check):
    log = []
    net = mx.gluon.nn.HybridSequential()
    net.add(initialised(mx.gluon.nn.Dense(2, in_units=2)))
    net[0].register_forward_hook(lambda block, inputs, output: log.append(type(output)))
    with check.warns(UserWarning, "is being hybridized while still having forward hook/pre-hook"):
        net.hybridize()
    for _ in range(3):
        check.equal(net(ones(mx, (1, 2))), [[2, 2]], "result")
    check.equal(len(log), 1, "calls of the hook in three calls of the parent")


@case("GLUON-HOOK-005")
def own_hooks_run_at_every_call(mx, check):
    log = []
    net = initialised(mx.gluon.nn.Dense(2, in_units=2))
    net.hybridize()
    net.register_forward_pre_hook(lambda block, inputs: log.append("before"))
    net.register_forward_hook(lambda block, inputs, output: log.append("after"))
    for count in (1, 2, 3):
        check.equal(net(ones(mx, (1, 2))), [[2, 2]], "result")
        check.equal(log, ["before", "after"] * count, "calls of the hooks")


@case("GLUON-HOOK-006")
def operators_of_a_hybridized_net(mx, check):
    seen = []
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(2, in_units=2))
    net.add(mx.gluon.nn.Dense(3, in_units=2))
    initialised(net)
    net.hybridize()
    net(ones(mx, (1, 2)))

    def report(name, operator, array):
        # In 1.x the text arrives as bytes, and the array as a handle.
        text = [part.decode() if isinstance(part, bytes) else str(part) for part in (name, operator)]
        seen.append(tuple(text))

    net.register_op_hook(report, monitor_all=False)
    net(ones(mx, (1, 2))).asnumpy()
    dense = [entry for entry in seen if "FullyConnected" in entry[1] or "fully_connected" in entry[1]]
    check.equal(len(dense), 2, "outputs of FullyConnected that were reported")
    check.that(all(name.endswith("output") for name, _ in dense), "the names end in output", "..._output", str(dense))
    check.that(dense[0][0] != dense[1][0], "the names differ", "two names", str(dense))


@case("GLUON-HOOK-007")
def apply_visits_children_first(mx, check):
    visited = []
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(2))
    net.add(mx.gluon.nn.Dense(3))
    result = net.apply(visited.append)
    check.same(result, net, "result")
    check.equal(len(visited), 3, "number of blocks visited")
    for got, want, name in zip(visited, (net[0], net[1], net), ("first", "second", "third")):
        check.same(got, want, "%s block visited" % name)


def _summed(mx):
    """Dense(4) of 3, BatchNorm, Dense(2): 16 + 16 + 10 parameters, 8 of them without a gradient."""
    net = _tools.network(mx)
    net.initialize()
    return net


@case("GLUON-HOOK-008")
def summary_counts_parameters(mx, check):
    net = _summed(mx)
    with check.printed() as out:
        net.summary(ones(mx, (1, 3)))
    text = out.getvalue()
    check.contains(text, "Total params: 42", "Trainable params: 34", "Non-trainable params: 8", doing="what it prints")
    check.contains(text, "Dense", "BatchNorm", "Output Shape", "(1, 2)", doing="what it prints")


@case("GLUON-HOOK-008")
def summary_of_a_hybridized_net(mx, check):
    net = _summed(mx)
    net.hybridize()
    check.raises(AssertionError, "must not be hybridized to print summary", net.summary, ones(mx, (1, 3)))


@case("GLUON-HOOK-008")
def summary_leaves_no_hook_behind(mx, check):
    net = _summed(mx)
    with check.printed():
        net.summary(ones(mx, (1, 3)))
    with check.printed() as out:
        check.shape(net(kit.array(mx, [[1.0, 2.0, 3.0]])), (1, 2), "output of a later call")
    check.equal(out.getvalue(), "", "what a later call prints")
