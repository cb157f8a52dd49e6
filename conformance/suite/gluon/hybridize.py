"""GLUON-HYBRID: when a hybridized block is traced, what makes it trace anew, and the flags of hybridize."""

import numpy as np

from conformance.case import case
from conformance.suite import kit
from conformance.suite.gluon import _tools
from conformance.suite.gluon._tools import counted, initialised, ones


@case("GLUON-HYBRID-002")
def children_are_registered_and_sizes_may_be_open(mx, check):
    net = _tools.hybrid(mx, lambda block, F, x: block.conv(x), children={"conv": mx.gluon.nn.Conv2D(64, 3)})
    names = sorted(net.collect_params())
    check.equal(len(names), 2, "number of parameters of the block")
    check.equal(net.conv.weight.shape[:1] + net.conv.weight.shape[2:], (64, 3, 3), "known dimensions of the weight")
    check.that(net.conv.weight.shape[1] <= 0, "the number of input channels is open", "0 or -1",
               str(net.conv.weight.shape))
    net.initialize()
    out = net(ones(mx, (1, 3, 8, 8)))
    check.shape(out, (1, 64, 6, 6), "shape of the output")
    check.equal(tuple(net.conv.weight.shape), (64, 3, 3, 3), "shape of the weight after the first call")


@case("GLUON-HYBRID-003")
def traced_at_the_next_call_and_reused(mx, check):
    net, runs = counted(mx)
    net.hybridize()
    check.equal(len(runs), 0, "runs of the Python code after hybridize()")
    check.equal(net(ones(mx, (2,))), [2, 2], "first result")
    check.equal(len(runs), 1, "runs after the first call")
    check.equal(net(kit.array(mx, [3.0, 4.0])), [6, 8], "second result")
    check.equal(len(runs), 1, "runs after the second call")


@case("GLUON-HYBRID-003")
def eager_block_runs_its_code_at_every_call(mx, check):
    net, runs = counted(mx)
    for count in (1, 2, 3):
        check.equal(net(ones(mx, (2,))), [2, 2], "result")
        check.equal(len(runs), count, "runs of the Python code")


@case("GLUON-HYBRID-004")
def other_sizes_reuse_the_trace(mx, check):
    convolution = mx.gluon.nn.Conv2D(4, 3, in_channels=3)
    net, runs = counted(mx, lambda block, F, x: block.conv(x), children={"conv": convolution})
    net.initialize()
    net.hybridize()
    check.shape(net(ones(mx, (1, 3, 8, 8))), (1, 4, 6, 6), "output")
    traced = len(runs)
    check.shape(net(ones(mx, (2, 3, 8, 8))), (2, 4, 6, 6), "output of two samples")
    check.shape(net(ones(mx, (2, 3, 10, 9))), (2, 4, 8, 7), "output of larger samples")
    check.equal(len(runs), traced, "runs of the Python code after the first call")


@case("GLUON-HYBRID-004")
def other_dtypes_and_modes_reuse_the_trace(mx, check):
    net, runs = counted(mx)
    net.hybridize()
    net(ones(mx, (2,)))
    out = net(ones(mx, (3,), dtype="float64"))
    check.dtype(out, "float64", "dtype of the output for float64 input")
    check.equal(out, [2, 2, 2], "output for float64 input")
    x = ones(mx, (2,))
    x.attach_grad()
    with mx.autograd.record():
        out = net(x)
    out.backward()
    check.equal(x.grad, [2, 2], "gradient through the trace")
    check.equal(len(runs), 1, "runs of the Python code")


def _convolution(mx):
    net = initialised(mx.gluon.nn.Conv2D(4, 3, in_channels=3))
    net.hybridize()
    net(ones(mx, (1, 3, 8, 8)))
    return net


@case("GLUON-HYBRID-005", samples={
    "channels": {"shape": (1, 4, 8, 8), "fragments": ("Shape inconsistent", "(4,4,3,3)")},
    "rank": {"shape": (1, 3, 8), "fragments": ("Input data should be 4D",)}})
def bound_dimension_cannot_change(mx, check, shape, fragments):
    net = _convolution(mx)

    def call():
        net(ones(mx, shape)).asnumpy()

    message = str(check.raises(mx.base.MXNetError, call))
    squeezed = message.replace(" ", "")
    for fragment in fragments:
        check.contains(squeezed, fragment.replace(" ", ""), doing="message")
    check.that("conv" in message.lower() or "node_" in message, "the message names the operator",
               "conv0_fwd or node_0", message)
    check.equal(net(ones(mx, (1, 3, 8, 8)))[0, 0, 0, 0].asnumpy().item(), 27.0, "output of a right call afterwards")


@case("GLUON-HYBRID-006")
def hybridize_again_discards_the_trace(mx, check):
    net, runs = counted(mx)
    net.hybridize()
    net(ones(mx, (2,)))
    net.hybridize()
    check.equal(len(runs), 1, "runs of the Python code before the next call")
    check.equal(net(ones(mx, (2,))), [2, 2], "result")
    check.equal(len(runs), 2, "runs after the next call")
    net(ones(mx, (2,)))
    check.equal(len(runs), 2, "runs after a further call")


@case("GLUON-HYBRID-006")
def switched_off_it_runs_its_code_again(mx, check):
    net, runs = counted(mx)
    net.hybridize()
    net(ones(mx, (2,)))
    net.hybridize(active=False)
    for count in (2, 3):
        check.equal(net(ones(mx, (2,))), [2, 2], "result")
        check.equal(len(runs), count, "runs of the Python code")


@case("GLUON-HYBRID-006")
def added_child_takes_part_at_once(mx, check):
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(3))
    initialised(net)
    net.hybridize()
    check.equal(net(ones(mx, (1, 2))), [[2, 2, 2]], "output of one layer")
    net.add(mx.gluon.nn.Dense(5))
    initialised(net[1])
    check.equal(net(ones(mx, (1, 2))), [[6] * 5], "output of two layers")


FLAGS = {
    "static_alloc": {"static_alloc": True},
    "static_shape": {"static_alloc": True, "static_shape": True},
    "inline_limit": {"inline_limit": 0},
    "bulk_sizes": {"forward_bulk_size": 4, "backward_bulk_size": 3},
}


@case("GLUON-HYBRID-007", samples={name: {"flags": flags} for name, flags in FLAGS.items()})
def documented_flags_are_taken(mx, check, flags):
    net, runs = counted(mx)
    net.hybridize(**flags)
    for _ in range(2):
        check.equal(net(kit.array(mx, [1.0, 2.0])), [2, 4], "result")
    check.equal(len(runs), 1, "runs of the Python code")


@case("GLUON-HYBRID-007")
def static_shape_needs_static_alloc(mx, check):
    net, _ = counted(mx)
    net.hybridize(static_shape=True)
    check.raises(mx.base.MXNetError, "static_alloc must be True when static_shape is True", net, ones(mx, (2,)))
    net.hybridize(static_alloc=True, static_shape=True)
    check.equal(net(ones(mx, (2,))), [2, 2], "result with both flags")


@case("GLUON-HYBRID-008")
def unknown_flag_is_refused(mx, check):
    net, _ = counted(mx)
    check.raises((TypeError, ValueError, mx.base.MXNetError), "foo", lambda: net.hybridize(foo=True))
    check.equal(net(ones(mx, (2,))), [2, 2], "result afterwards")


@case("GLUON-HYBRID-009")
def outputs_of_two_calls_are_apart(mx, check):
    net, _ = counted(mx, lambda block, F, x: x * 3)
    net.hybridize(static_alloc=True)
    first = net(ones(mx, (2,)))
    second = net(ones(mx, (2,)) * 2)
    third = net(ones(mx, (2,)) * 5)
    check.equal([first, second, third], [[3, 3], [6, 6], [15, 15]], "outputs of three calls, read at the end")


@case("GLUON-HYBRID-010")
def static_shape_takes_another_shape(mx, check):
    net = initialised(mx.gluon.nn.Conv2D(6, 3, in_channels=5))
    net.hybridize(static_alloc=True, static_shape=True)
    check.equal(net(ones(mx, (1, 5, 8, 8))).asnumpy(), np.full((1, 6, 6, 6), 45.0), "output of the first shape")
    check.equal(net(ones(mx, (2, 5, 9, 9))).asnumpy(), np.full((2, 6, 7, 7), 45.0), "output of another shape")
    check.equal(net(ones(mx, (1, 5, 8, 8))).asnumpy(), np.full((1, 6, 6, 6), 45.0), "output of the first shape again")


@case("GLUON-HYBRID-011")
def plain_parent_hybridizes_its_hybrid_children(mx, check):
    child, runs = counted(mx)
    net = _tools.plain(mx, lambda block, x: block.inner(x), children={"inner": child})
    net.hybridize()
    for _ in range(3):
        check.equal(net(ones(mx, (2,))), [2, 2], "result")
    check.equal(len(runs), 1, "runs of the Python code of the child")
