"""CUSTOMOP-REG, -NP, -HYB and -KIND: registering an operator and reaching it."""

import numpy as np

from conformance.case import case
from conformance.suite import kit
from conformance.suite.customop._tools import LEGACY, legacy, passing, register, times, variable


@case("CUSTOMOP-NP-001")
def operator_receives_legacy_arrays(mx, check):
    seen = []

    def forward(self, is_train, req, in_data, out_data, aux):
        seen.extend(type(array).__name__ for array in (in_data[0], out_data[0]))
        self.assign(out_data[0], req[0], in_data[0] * 2)

    name = register(mx, "np_001", forward)
    check.equal(mx.nd.Custom(mx.nd.ones(2), op_type=name), [2, 2], "result")
    mx.nd.waitall()
    check.equal(seen, ["NDArray", "NDArray"], "types of input and output in forward")


def _sigmoid(mx):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], 1 / (1 + mx.nd.exp(-in_data[0])))

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        y = out_data[0]
        self.assign(in_grad[0], req[0], out_grad[0] * y * (1 - y))

    return register(mx, "reg_001", forward, backward)


SIGMOID = 1 / (1 + np.exp(-np.array([0.0, 1.0])))


@case("CUSTOMOP-REG-001")
def operator_runs_eagerly(mx, check):
    with legacy(mx):
        name = _sigmoid(mx)
        x = variable(mx, [0.0, 1.0])
        check.close(mx.nd.Custom(x, op_type=name), SIGMOID, "result")
        with mx.autograd.record():
            y = mx.nd.Custom(x * 1, op_type=name) * 2
        y.backward()
        check.close(y, 2 * SIGMOID, "recorded result")
        check.close(x.grad, 2 * SIGMOID * (1 - SIGMOID), "gradient")


@case("CUSTOMOP-REG-001", needs=["symbol"])
def operator_runs_symbolically(mx, check):
    with legacy(mx):
        symbol = mx.sym.Custom(data=mx.sym.Variable("d"), op_type=_sigmoid(mx), name="q")
        check.equal((symbol.list_arguments(), symbol.list_outputs()), (["d"], ["q_output"]), "arguments and outputs")
        outputs = symbol.eval(ctx=mx.cpu(), d=mx.nd.array([0.0, 1.0]))
        check.isinstance(outputs, list, "result of eval")
        check.close(outputs[0], SIGMOID, "output")


@case("CUSTOMOP-REG-002")
def name_that_is_not_registered(mx, check):
    with legacy(mx):
        check.raises(mx.base.MXNetError, "Cannot find custom operator", "conform_nobody",
                     mx.nd.Custom, mx.nd.ones(2), op_type="conform_nobody")
        check.raises(mx.base.MXNetError, "equired argument", "op_type", "is missing", mx.nd.Custom, mx.nd.ones(2))


@case("CUSTOMOP-REG-002")
def wrong_number_of_inputs(mx, check):
    with legacy(mx):
        name = register(mx, "reg_002", times(2))
        check.raises(mx.base.MXNetError, "expects 1 inputs, but got 2",
                     mx.nd.Custom, mx.nd.ones(2), mx.nd.ones(2), op_type=name)
        check.raises(mx.base.MXNetError, "expects 1 inputs, but got 0", mx.nd.Custom, op_type=name)
        check.equal(mx.nd.Custom(mx.nd.ones(2), op_type=name), [2, 2], "result with one input")


@case("CUSTOMOP-REG-003")
def registering_again_replaces_the_operator(mx, check):
    with legacy(mx):
        for factor in (2, 5):
            name = register(mx, "reg_003", times(factor))
            check.equal(mx.nd.Custom(mx.nd.ones(2), op_type=name), [factor] * 2, "result")


@case("CUSTOMOP-REG-004")
def keywords_reach_the_constructor_as_strings(mx, check):
    given = []

    class Scaled(mx.operator.CustomOpProp):
        def __init__(self, k="2", **others):
            super(Scaled, self).__init__()
            given.append((k, others))
            self.k = float(k)

        def create_operator(self, ctx, in_shapes, in_dtypes):
            return type("Operator", (mx.operator.CustomOp,), {"forward": times(self.k)})()

    with legacy(mx):
        mx.operator.register("conform_reg_004")(Scaled)
        x = mx.nd.ones(2)
        check.equal(mx.nd.Custom(x, op_type="conform_reg_004"), [2, 2], "result without keyword")
        check.equal(mx.nd.Custom(x, op_type="conform_reg_004", k=3), [3, 3], "result with k=3")
        mx.nd.Custom(x, op_type="conform_reg_004", k=3, z=(1, 2), w=None).wait_to_read()
        for want in (("2", {}), ("3", {}), ("3", {"z": "(1, 2)", "w": "None"})):
            check.that(want in given, "the constructor was given %r" % (want,), got=given)


@case("CUSTOMOP-REG-005")
def unknown_keyword(mx, check):
    status, out, _ = check.python(LEGACY + """
@mx.operator.register("conform_reg_005")
class Prop(mx.operator.CustomOpProp):
    pass
try:
    mx.nd.Custom(mx.nd.ones(2), op_type="conform_reg_005", foo=3)
    print("=accepted")
except Exception as error:
    print("=" + type(error).__name__)
""")
    answers = [line for line in out.split("\n") if line.startswith("=")]
    check.equal((status, answers), (0, ["=MXNetError"]), "exit status, kind of the error")


@case("CUSTOMOP-REG-005")
def exception_in_the_constructor(mx, check):
    status, out, _ = check.python(LEGACY + """
@mx.operator.register("conform_reg_005")
class Prop(mx.operator.CustomOpProp):
    def __init__(self):
        raise ValueError("boom")
try:
    mx.nd.Custom(mx.nd.ones(2), op_type="conform_reg_005")
    print("=accepted")
except Exception as error:
    print("=" + type(error).__name__, "boom" in str(error))
""")
    answers = [line for line in out.split("\n") if line.startswith("=")]
    check.equal((status, answers), (0, ["=MXNetError True"]), "exit status, error, whether it says boom")


@case("CUSTOMOP-REG-006")
def input_is_given_by_name(mx, check):
    status, out, _ = check.python(LEGACY + """
class Operator(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] - 2 * in_data[1])
@mx.operator.register("conform_reg_006")
class Prop(mx.operator.CustomOpProp):
    def list_arguments(self):
        return ["left", "right"]
    def infer_shape(self, in_shape):
        return in_shape, [in_shape[0]], []
    def create_operator(self, ctx, in_shapes, in_dtypes):
        return Operator()
result = mx.nd.Custom(right=mx.nd.ones(2), left=mx.nd.ones(2) * 5, op_type="conform_reg_006")
print("=" + str(result.asnumpy().tolist()))
""")
    answers = [line for line in out.split("\n") if line.startswith("=")]
    check.equal((status, answers), (0, ["=[3.0, 3.0]"]), "exit status, result")


@case("CUSTOMOP-HYB-001")
def operator_in_a_hybridized_block(mx, check):
    with legacy(mx):
        name = register(mx, "hyb_001", times(2), passing(2))

        class Net(mx.gluon.HybridBlock):
            def hybrid_forward(self, F, x):
                return F.Custom(x, op_type=name)

        net = Net()
        net.hybridize()
        x = variable(mx, [1.0, 3.0])
        check.equal(net(x), [2, 6], "result")
        with mx.autograd.record():
            y = net(x) * 5
        y.backward()
        check.equal(x.grad, [10, 10], "gradient")


@case("CUSTOMOP-KIND-001")
def operators_serve_both_interfaces(mx, check):
    with kit.legacy_mode(mx):
        for name in ("Custom", "broadcast_add", "FullyConnected", "softmax", "dot"):
            check.that(callable(getattr(mx.nd, name)), "nd.%s is a function" % name)
            check.that(callable(getattr(mx.sym, name)), "sym.%s is a function" % name)
        a, b = mx.nd.array([1.0, 2.0]), mx.nd.array([10.0, 20.0])
        check.equal(mx.nd.broadcast_add(a, b), [11, 22], "eager sum")
        symbol = mx.sym.broadcast_add(mx.sym.Variable("a"), mx.sym.Variable("b"))
        check.equal(symbol.eval(ctx=mx.cpu(), a=a, b=b)[0], [11, 22], "symbolic sum")
