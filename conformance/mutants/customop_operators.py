"""Mutants of CUSTOMOP: operators written in Python, and libraries."""

import os

import numpy as np

from conformance.mutants import mutant
from conformance.mutants.autograd_kit import other_error, replace


def _registered(mx, methods):
    """Register a subclass of every Prop class: ``methods(cls)`` makes what it overrides, name -> function."""
    def body(original, name):
        decorate = original(name)

        def broken(cls):
            decorate(type(cls.__name__, (cls,), methods(cls)))
            return cls
        return broken

    replace(mx.operator, "register", body)


def _prop(mx, name, change):
    """Override a method of every registered Prop by ``change(original, prop, *arguments)``."""
    def methods(cls):
        return {name: lambda self, *args: change(getattr(cls, name), self, *args)}

    _registered(mx, methods)


def _computing(mx, name, change):
    """Replace forward or backward of every operator that is created by ``change(original, *arguments)``."""
    def create(original, self, *args):
        operator = original(self, *args)
        method = getattr(operator, name)

        def broken(*given, **named):
            order = (("is_train", "req", "in_data", "out_data", "aux") if name == "forward"
                     else ("req", "out_grad", "in_data", "out_data", "in_grad", "aux"))
            arguments = dict(zip(order, given))
            arguments.update(named)
            return change(method, arguments)

        setattr(operator, name, broken)
        return operator

    _prop(mx, "create_operator", create)


@mutant("CUSTOMOP-NP-001")
def operator_receives_numpy_arrays(mx):
    _computing(mx, "forward", lambda forward, given: forward(
        given["is_train"], given["req"], [array.asnumpy() for array in given["in_data"]], given["out_data"],
        given["aux"]))


@mutant("CUSTOMOP-REG-001")
def only_variables_pass_the_gradient(mx):
    """The inputs of nd.Custom that are results themselves count as constants."""
    replace(mx.nd, "Custom", lambda original, *arrays, **options: original(
        *[array.detach() if array.grad is None else array for array in arrays], **options))


@mutant("CUSTOMOP-REG-002")
def unknown_operator_is_a_key_error(mx):
    def refused(error, *args, **kwargs):
        raise KeyError(kwargs.get("op_type")) from error

    other_error(mx.nd, "Custom", mx.base.MXNetError, "Cannot find custom operator", refused)


@mutant("CUSTOMOP-REG-003")
def first_registration_wins(mx):
    names = set()

    def body(original, name):
        if name in names:
            return lambda cls: cls
        names.add(name)
        return original(name)

    replace(mx.operator, "register", body)


@mutant("CUSTOMOP-REG-004")
def whole_numbers_arrive_as_fractions(mx):
    """k=3 reaches the constructor as "3.0"."""
    replace(mx.nd, "Custom", lambda original, *arrays, **options: original(*arrays, **{
        name: float(value) if type(value) is int else value for name, value in options.items()}))


@mutant("CUSTOMOP-PROP-001")
def default_output_dtype_is_float32(mx):
    replace(mx.operator.CustomOpProp, "infer_type", lambda original, self, types: (
        original(self, types)[0], [np.float32] * len(self.list_outputs()), []))


@mutant("CUSTOMOP-RUN-009")
def default_output_dtype_of_integers_is_float32(mx):
    def body(original, self, types):
        inputs, outputs, states = original(self, types)
        return inputs, [np.float32 if np.dtype(kind).kind == "i" else kind for kind in outputs], states

    replace(mx.operator.CustomOpProp, "infer_type", body)


@mutant("CUSTOMOP-PROP-001", "CUSTOMOP-PROP-005")
def output_gradient_is_always_provided(mx):
    replace(mx.operator.CustomOpProp, "declare_backward_dependency",
            lambda original, self, gradients, inputs, outputs: [*gradients, *inputs, *outputs])


@mutant("CUSTOMOP-PROP-002")
def shapes_are_given_as_tuples(mx):
    _prop(mx, "create_operator", lambda original, self, ctx, shapes, dtypes: original(
        self, ctx, [tuple(shape) for shape in shapes], dtypes))


@mutant("CUSTOMOP-PROP-003")
def faulty_shape_inference_is_ignored(mx):
    """Where infer_shape raises, the outputs are taken to be like the first input."""

    def body(original, self, shapes):
        try:
            return original(self, shapes)
        except ValueError:
            return shapes, [shapes[0]], []

    _prop(mx, "infer_shape", body)


@mutant("CUSTOMOP-PROP-004")
def input_shapes_are_not_enforced(mx):
    def body(original, self, shapes):
        given = [list(shape) for shape in shapes]
        return (given,) + tuple(original(self, shapes)[1:])

    _prop(mx, "infer_shape", body)


@mutant("CUSTOMOP-PROP-006")
def every_storage_type_is_accepted(mx):
    replace(mx.operator.CustomOpProp, "infer_storage_type", lambda original, self, stypes: (
        stypes, ["default"] * len(self.list_outputs()), []))


def _forward(mx, change):
    """Change the arguments of every forward: ``change(arguments)`` edits them by name."""
    def body(forward, given):
        change(given)
        return forward(given["is_train"], given["req"], given["in_data"], given["out_data"], given["aux"])

    _computing(mx, "forward", body)


@mutant("CUSTOMOP-RUN-001")
def forward_is_always_told_to_predict(mx):
    _forward(mx, lambda given: given.update(is_train=0))


@mutant("CUSTOMOP-RUN-002")
def unknown_request_overwrites(mx):
    def body(original, self, dst, req, src):
        return original(self, dst, req if req in ("null", "write", "inplace", "add") else "write", src)

    replace(mx.operator.CustomOp, "assign", body)


@mutant("CUSTOMOP-RUN-003")
def gradients_that_nobody_needs_are_asked_for(mx):
    """The request of an input without gradient is "write"."""

    def body(backward, given):
        words = ["write" if word == "null" else word for word in given["req"]]
        return backward(words, given["out_grad"], given["in_data"], given["out_data"], given["in_grad"], given["aux"])

    _computing(mx, "backward", body)


@mutant("CUSTOMOP-RUN-004")
def exception_in_forward_is_swallowed(mx):
    def body(forward, given):
        try:
            forward(given["is_train"], given["req"], given["in_data"], given["out_data"], given["aux"])
        except ValueError:
            given["out_data"][0][:] = 0

    _computing(mx, "forward", body)


@mutant("CUSTOMOP-RUN-005")
def base_class_writes_zeros_in_backward(mx):
    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        for word, gradient in zip(req, in_grad):
            self.assign(gradient, word, 0)

    mx.operator.CustomOp.backward = backward


@mutant("CUSTOMOP-RUN-006")
def inputs_are_writable_copies(mx):
    _forward(mx, lambda given: given.update(in_data=[array.copy() for array in given["in_data"]]))


@mutant("CUSTOMOP-RUN-007")
def forward_runs_on_the_first_cpu(mx):
    def body(forward, given):
        with mx.cpu(0):
            forward(given["is_train"], given["req"], given["in_data"], given["out_data"], given["aux"])

    _computing(mx, "forward", body)


@mutant("CUSTOMOP-RUN-008")
def auxiliary_states_are_copies(mx):
    _forward(mx, lambda given: given.update(aux=[array.copy() for array in given["aux"]]))


@mutant("CUSTOMOP-MASK-001")
def softmax_overflows(mx):
    """softmax does not subtract the maximum first."""

    def body(original, data, **options):
        powers = mx.nd.exp(data)
        return mx.nd.broadcast_div(powers, powers.sum(axis=-1, keepdims=True))

    replace(mx.nd, "softmax", body)


@mutant("CUSTOMOP-LIB-001")
def relative_path_is_made_absolute(mx):
    replace(mx.library, "load", lambda original, path, *args, **kwargs: original(
        os.path.abspath(path) if os.path.exists(path) else path, *args, **kwargs))


@mutant("CUSTOMOP-LIB-002")
def any_shared_library_is_accepted(mx):
    other_error(mx.library, "load", mx.base.MXNetError, "_opVersion", lambda error, *args, **kwargs: None)


@mutant("CUSTOMOP-LIB-003")
def symbol_of_an_unknown_operator_is_a_variable(mx):
    if hasattr(mx, "sym"):
        other_error(mx.sym, "Custom", mx.base.MXNetError, "Cannot find custom operator",
                    lambda error, *args, **kwargs: mx.sym.Variable("unknown"))


@mutant("CUSTOMOP-LIB-005")
def python_operators_are_not_listed(mx):
    replace(mx.operator, "get_all_registered_operators",
            lambda original: [name for name in original() if name != "Custom"])


@mutant("CUSTOMOP-HYB-001")
def symbolic_operator_doubles_its_result(mx):
    if hasattr(mx, "sym"):
        replace(mx.sym, "Custom", lambda original, *args, **kwargs: original(*args, **kwargs) * 2)


@mutant("CUSTOMOP-KIND-001")
def an_operator_lacks_its_symbol(mx):
    if hasattr(mx, "sym"):
        mx.sym.softmax = None
