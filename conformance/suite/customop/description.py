"""CUSTOMOP-PROP: what a CustomOpProp says about its operator."""

import numpy as np

from conformance.case import case
from conformance.suite.customop._tools import legacy, register, times, variable


@case("CUSTOMOP-PROP-001")
def defaults_of_the_names(mx, check):
    prop = mx.operator.CustomOpProp()
    check.equal(prop.list_arguments(), ["data"], "arguments")
    check.equal(prop.list_outputs(), ["output"], "outputs")
    check.equal(prop.list_auxiliary_states(), [], "auxiliary states")
    check.equal(prop.need_top_grad_, True, "need_top_grad")
    check.isinstance(prop.create_operator(None, [], []), mx.operator.CustomOp, "operator")


@case("CUSTOMOP-PROP-001")
def defaults_of_shapes_and_dtypes(mx, check):
    prop = mx.operator.CustomOpProp()
    inputs, outputs, states = prop.infer_shape([[2, 3]])
    check.equal([list(part) for part in (inputs, outputs, states)], [[[2, 3]], [[2, 3]], []], "shapes")
    inputs, outputs, states = prop.infer_type([np.float64])
    check.equal([list(part) for part in (inputs, outputs, states)], [[np.float64], [np.float64], []], "dtypes")


@case("CUSTOMOP-PROP-001")
def defaults_of_the_dependencies(mx, check):
    prop = mx.operator.CustomOpProp()
    check.equal(prop.declare_backward_dependency([0], [1, 2], [3]), [0, 1, 2, 3], "what backward depends on")
    prop = mx.operator.CustomOpProp(need_top_grad=False)
    check.equal(prop.declare_backward_dependency([0], [1, 2], [3]), [1, 2, 3], "without the output gradients")


@case("CUSTOMOP-PROP-002")
def operator_is_created_for_context_shapes_and_dtypes(mx, check):
    given = []

    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0].sum(axis=1))

    def create(ctx, in_shapes, in_dtypes):
        given.append((str(ctx), in_shapes, in_dtypes))
        return type("Operator", (mx.operator.CustomOp,), {"forward": forward})()

    with legacy(mx):
        name = register(mx, "prop_002", operator=create, infer_shape=lambda self, s: (s, [[s[0][0]]]))
        check.equal(mx.nd.Custom(mx.nd.ones((2, 3)), op_type=name), [3, 3], "result")
        check.equal(given[-1:], [("cpu(0)", [[2, 3]], [0])], "context, shapes and dtype codes for float32 on cpu(0)")
        mx.nd.Custom(mx.nd.ones((2, 4), dtype="float64", ctx=mx.cpu(1)), op_type=name).wait_to_read()
        check.equal(given[-1:], [("cpu(1)", [[2, 4]], [1])], "context, shapes and dtype codes for float64 on cpu(1)")


def _boom(*args):
    raise ValueError("boom")


@case("CUSTOMOP-PROP-003", samples={
    "shapes_raise": {"name": "shapes", "methods": {"infer_shape": _boom}, "printed": "boom"},
    "no_output": {"name": "none", "methods": {"infer_shape": lambda self, s: (s, [])},
                  "printed": "expecting 1 entries in returned output shapes, got 0"},
    "one_list": {"name": "list", "methods": {"infer_shape": lambda self, s: s},
                 "printed": "infer_shape must return 2 or 3 lists"},
    "creation_raises": {"name": "creation", "methods": {"create_operator": _boom}, "printed": "boom"}})
def faulty_description_is_an_error_at_the_call(mx, check, name, methods, printed):
    with legacy(mx):
        name = register(mx, "prop_003_" + name, times(2), **methods)
        with check.printed() as out:
            check.raises(mx.base.MXNetError, mx.nd.Custom, mx.nd.ones(2), op_type=name)
        check.contains(out.getvalue(), "Traceback", printed, doing="standard output")
        check.equal(mx.nd.Custom(mx.nd.ones(2), op_type=register(mx, "prop_003_sound", times(2))), [2, 2],
                    "result of a sound operator afterwards")


@case("CUSTOMOP-PROP-004")
def several_inputs(mx, check):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] - 2 * in_data[1])

    with legacy(mx):
        name = register(mx, "prop_004", forward, list_arguments=lambda self: ["a", "b"],
                        infer_shape=lambda self, s: ([s[0], s[0]], [s[0]], []))
        check.equal(mx.nd.Custom(mx.nd.ones(2) * 5, mx.nd.ones(2), op_type=name), [3, 3], "result")
        check.raises(mx.base.MXNetError, "Shape inconsistent, Provided = [3], inferred shape=[2]",
                     mx.nd.Custom, mx.nd.ones(2), mx.nd.ones(3), op_type=name)


@case("CUSTOMOP-PROP-005")
def output_gradient_is_not_provided(mx, check):
    shapes = []

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        shapes.append(tuple(out_grad[0].shape) if out_grad else ())
        self.assign(in_grad[0], req[0], in_data[0] * 0 + 7)

    with legacy(mx):
        name = register(mx, "prop_005", times(2), backward, top_gradient=False)
        x = variable(mx, [1.0, 2.0])
        with mx.autograd.record():
            y = mx.nd.Custom(x, op_type=name)
        y.backward(mx.nd.array([100.0, 100.0]))
        check.equal(x.grad, [7, 7], "gradient, whatever the head gradient is")
        mx.nd.waitall()
        check.equal(shapes, [()], "shapes of the output gradient in backward: it has no content")


@case("CUSTOMOP-PROP-006")
def default_storage_types_are_dense(mx, check):
    prop = mx.operator.CustomOpProp()
    check.equal([list(part) for part in prop.infer_storage_type(["default"])], [["default"], ["default"], []],
                "storage types for a dense input")
    check.raises(AssertionError, "non default stype", prop.infer_storage_type, ["csr"])
