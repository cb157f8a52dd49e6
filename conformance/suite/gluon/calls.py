"""GLUON-HYBRID: what a block may be called with and what it gives back."""

import numpy as np

from conformance.case import case
from conformance.suite import kit
from conformance.suite.gluon import _tools
from conformance.suite.gluon._tools import counted, initialised, ones

HYBRIDIZED = {"eager": {"hybridized": False}, "hybridized": {"hybridized": True}}


@case("GLUON-HYBRID-012")
def sequential_refuses_a_plain_block(mx, check):
    net = mx.gluon.nn.HybridSequential()
    check.raises(ValueError, "Children of HybridBlock must also be HybridBlock", net.add, mx.gluon.nn.Sequential())
    check.equal(len(net), 0, "children afterwards")
    net.add(mx.gluon.nn.HybridSequential())
    check.equal(len(net), 1, "children after a hybrid one was added")


@case("GLUON-HYBRID-012")
def attribute_refuses_a_plain_block(mx, check):
    net, _ = counted(mx)
    with check.raises(ValueError, "Children of HybridBlock must also be HybridBlock"):
        net.inner = mx.gluon.nn.Sequential()
    check.equal(net(ones(mx, (2,))), [2, 2], "result afterwards")


@case("GLUON-HYBRID-013", samples={
    "number": {"given": 3.0}, "text": {"given": "abc"}, "numpy": {"given": np.ones(3, "float32")}})
def without_an_array_it_refuses(mx, check, given):
    net, runs = counted(mx)
    check.raises(ValueError, "there must be one NDArray", net, given)
    check.equal(len(runs), 0, "runs of the Python code")
    check.equal(net(ones(mx, (2,))), [2, 2], "result of a right call")


@case("GLUON-HYBRID-014")
def inputs_on_two_devices_are_refused(mx, check):
    net = counted(mx, lambda block, F, x, y: x + y)[0]
    net.hybridize()
    x, y = ones(mx, (2,), mx.cpu(0)), ones(mx, (2,), mx.cpu(1))
    message = str(check.raises(ValueError, "Find multiple", "in the input", net, x, y))
    check.contains(message, "multiple devices" if "device" in message else "multiple contexts", doing="message")
    check.equal(net(y, y), [2, 2], "result on one device")


NESTED = {"eager": {"hybridized": False, "kinds": (tuple, list, tuple)},
          "hybridized": {"hybridized": True, "kinds": (list, list, list)}}


@case("GLUON-HYBRID-015", samples=NESTED)
def nested_output(mx, check, hybridized, kinds):
    net = counted(mx, lambda block, F, x: (x, [x * 2, (x * 3,)]))[0]
    if hybridized:
        net.hybridize()
    for _ in range(2):
        out = net(ones(mx, (2,)))
        check.equal((type(out), type(out[1]), type(out[1][1])), kinds, "kinds of the sequences")
        check.equal([len(out), len(out[1]), len(out[1][1])], [2, 2, 1], "lengths")
        check.equal([out[0], out[1][0], out[1][1][0]], [[1, 1], [2, 2], [3, 3]], "values")


@case("GLUON-HYBRID-015", samples=HYBRIDIZED)
def nested_input(mx, check, hybridized):
    net = counted(mx, lambda block, F, x, rest: x + rest[0] * 10 + rest[1][0] * 100)[0]
    if hybridized:
        net.hybridize()
    a, b, c = (ones(mx, (1,)) * k for k in (1, 2, 3))
    for _ in range(2):
        check.equal(net(a, [b, (c,)]), [321], "result for the input x, [y, (z,)]")
    check.equal(net(c, [a, (b,)]), [213], "result for other arrays in the same places")


@case("GLUON-HYBRID-016")
def structure_is_fixed_by_the_first_call(mx, check):
    net = counted(mx, lambda block, F, x, y=None: x * 2 if y is None else x + y)[0]
    net.hybridize()
    x = ones(mx, (2,))
    check.equal(net(x), [2, 2], "first call")
    check.raises(ValueError, "The argument structure of HybridBlock does not match the cached version", net, x, x * 4)
    check.equal(net(x), [2, 2], "call of the first structure again")
    net.hybridize()
    check.equal(net(x, x * 4), [5, 5], "call of the other structure after hybridize()")


@case("GLUON-HYBRID-024", samples=HYBRIDIZED)
def keyword_arguments_are_refused(mx, check, hybridized):
    net = counted(mx, lambda block, F, x, y=None: x if y is None else x + y)[0]
    if hybridized:
        net.hybridize()
    x = ones(mx, (2,))
    check.raises(TypeError, "unexpected keyword argument", lambda: net(x, y=x))
    check.equal(net(x), [1, 1], "result without the second argument")


@case("GLUON-HYBRID-024")
def plain_block_refuses_keyword_arguments(mx, check):
    net = _tools.plain(mx, lambda block, x, y=None: x if y is None else x + y)
    x = ones(mx, (2,))
    check.raises(TypeError, "unexpected keyword argument", lambda: net(x, y=x))
    check.equal(net(x, x), [2, 2], "result with two positional arguments")


@case("GLUON-HYBRID-026", samples={
    "sequential": {"kind": "Sequential", "hybridized": False},
    "hybrid": {"kind": "HybridSequential", "hybridized": False},
    "hybridized": {"kind": "HybridSequential", "hybridized": True}})
def empty_container_gives_its_input(mx, check, kind, hybridized):
    net = getattr(mx.gluon.nn, kind)()
    if hybridized:
        net.hybridize()
    for _ in range(2):
        check.equal(net(kit.array(mx, [[1.0, 2.0]])), [[1, 2]], "output")
    net.add(mx.gluon.nn.Dense(3, in_units=2))
    check.equal(initialised(net)(kit.array(mx, [[1.0, 2.0]])), [[3, 3, 3]], "output once there is a layer")


@case("GLUON-HYBRID-027", samples={"block": {"kind": "Block"}, "hybrid_block": {"kind": "HybridBlock"}})
def without_forward_it_is_not_implemented(mx, check, kind):
    net = getattr(mx.gluon, kind)()
    check.raises(NotImplementedError, net, ones(mx, (2,)))


@case("GLUON-HYBRID-028")
def called_with_a_symbol_it_gives_a_symbol(mx, check):
    net = mx.gluon.nn.Dense(2, in_units=3)
    out = net(mx.sym.var("x"))
    check.isinstance(out, mx.sym.Symbol, "result")
    check.equal(out.list_arguments(), ["x", net.weight.name, net.bias.name], "arguments of the graph")
    larger = mx.gluon.nn.Dense(4, in_units=2)(out * 2)
    check.equal(larger.list_arguments()[:3], ["x", net.weight.name, net.bias.name], "arguments of a larger graph")
    check.equal(len(larger.list_arguments()), 5, "number of arguments of a larger graph")


@case("GLUON-HYBRID-029", samples=HYBRIDIZED)
def name_of_an_operator(mx, check, hybridized):
    net = mx.gluon.nn.HybridLambda("tanh")
    if hybridized:
        net.hybridize()
    for _ in range(2):
        check.close(net(kit.array(mx, [1.0, 0.0, -1.0])), [0.7615942, 0.0, -0.7615942], "tanh")


@case("GLUON-HYBRID-029", samples=HYBRIDIZED)
def function(mx, check, hybridized):
    new_style = _tools.forward_style(mx)
    net = mx.gluon.nn.HybridLambda((lambda x: x * x + 1) if new_style else (lambda F, x: F.square(x) + 1))
    if hybridized:
        net.hybridize()
    for _ in range(2):
        check.equal(net(kit.array(mx, [1.0, 2.0])), [2, 5], "x * x + 1")


@case("GLUON-HYBRID-029")
def neither_name_nor_function(mx, check):
    check.raises(Exception, "Function name nosuch is not found", mx.gluon.nn.HybridLambda, "nosuch")
    check.raises(ValueError, "Unrecognized function in lambda", mx.gluon.nn.HybridLambda, 3)


def _running_mean(net):
    return net.running_mean.list_data()[0].asnumpy()


@case("GLUON-HYBRID-025", samples=HYBRIDIZED)
def statistics_move_in_the_backward_pass(mx, check, hybridized):
    net = mx.gluon.nn.BatchNorm(momentum=0.5, in_channels=1)
    net.initialize()
    if hybridized:
        net.hybridize()
    x = kit.array(mx, [[1.0], [3.0]])
    with mx.autograd.record():
        out = net(x).sum()
    out.asnumpy()
    check.equal(_running_mean(net), [0.0], "running mean after a recorded forward pass")
    out.backward()
    check.equal(_running_mean(net), [1.0], "running mean after the backward pass: 0.5 * 0 + 0.5 * 2")
    net(x).asnumpy()
    check.equal(_running_mean(net), [1.0], "running mean after a forward pass that predicts")


@case("GLUON-HYBRID-022", samples=HYBRIDIZED)
def dropout_obeys_the_mode(mx, check, hybridized):
    net = initialised(mx.gluon.nn.Dropout(0.5))
    if hybridized:
        net.hybridize()
    x = ones(mx, (1000,))
    check.equal(net(x).asnumpy(), np.ones(1000), "output when predicting")
    with mx.autograd.record():
        out = net(x)
    values = out.asnumpy()
    check.equal(sorted(set(values.tolist())), [0.0, 2.0], "values that occur when training")
    check.that(300 < (values == 2).sum() < 700, "about half are kept", "between 300 and 700", str((values == 2).sum()))
    check.equal(net(x).asnumpy(), np.ones(1000), "output when predicting again")
