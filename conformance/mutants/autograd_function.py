"""Mutants of AUTOGRAD-FUNC, -GRADFN, -SECOND, -SYM and -NP."""

from conformance.mutants import mutant, wrap
from conformance.mutants.autograd_kit import is_array, other_error, replace


def _grad(mx, body):
    """Replace autograd.grad by ``body(call, heads, variables, retain_graph, create_graph)``."""
    def broken(original, heads, variables, head_grads=None, retain_graph=None, create_graph=False, train_mode=True):
        def call(retain_graph, create_graph):
            return original(heads, variables, head_grads, retain_graph, create_graph, train_mode)
        return body(call, heads, variables, retain_graph, create_graph)

    replace(mx.autograd, "grad", broken)


@mutant("AUTOGRAD-GRADFN-001")
def gradient_is_written_to_the_buffer_too(mx):
    def body(call, heads, variables, retain_graph, create_graph):
        result = call(retain_graph, create_graph)
        before = mx.autograd.set_recording(False)
        for variable, gradient in zip(variables if isinstance(variables, list) else [], result):
            variable.grad[:] = gradient
        mx.autograd.set_recording(before)
        return result

    _grad(mx, body)


@mutant("AUTOGRAD-GRADFN-001")
def gradients_come_in_reverse(mx):
    _grad(mx, lambda call, heads, variables, retain_graph, create_graph: (
        call(retain_graph, create_graph)[::-1] if isinstance(variables, list) else call(retain_graph, create_graph)))


@mutant("AUTOGRAD-GRADFN-003")
def unreachable_variable_has_gradient_zero(mx):
    def zeros(error, heads, variables, *args, **kwargs):
        return [mx.nd.zeros_like(variable) for variable in variables]

    other_error(mx.autograd, "grad", mx.base.MXNetError, "unreachable from the outputs", zeros)


@mutant("AUTOGRAD-GRADFN-003")
def variables_are_counted_from_zero(mx):
    def renumbered(error, *args, **kwargs):
        raise mx.base.MXNetError(str(error).replace("1-th", "0-th").replace("2-th", "1-th")) from error

    other_error(mx.autograd, "grad", mx.base.MXNetError, "-th variable", renumbered)


@mutant("AUTOGRAD-GRADFN-004")
def grad_never_frees_the_graph(mx):
    _grad(mx, lambda call, heads, variables, retain_graph, create_graph: call(True, create_graph))


@mutant("AUTOGRAD-SECOND-001")
def create_graph_only_retains_the_graph(mx):
    _grad(mx, lambda call, heads, variables, retain_graph, create_graph: call(
        create_graph if retain_graph is None else retain_graph, False))


@mutant("AUTOGRAD-SECOND-004")
def graph_of_the_gradient_is_always_made(mx):
    _grad(mx, lambda call, heads, variables, retain_graph, create_graph: call(
        create_graph if retain_graph is None else retain_graph, True))


@mutant("AUTOGRAD-SYM-001")
def symbol_of_anything_else_is_none(mx):
    def body(original, x):
        return original(x) if is_array(mx, x) else None

    replace(mx.autograd, "get_symbol", body)


def _called(mx, body):
    """Replace the call of a Function by ``body(call, function, inputs)``."""
    def broken(original, self, *inputs):
        return body(lambda *given: original(self, *given), self, inputs)

    replace(mx.autograd.Function, "__call__", broken)


def _backward(mx, change):
    """Before a Function is called, replace its backward by ``change(backward, inputs)``."""
    def body(call, function, inputs):
        function.backward = change(function.backward, inputs)
        return call(*inputs)

    _called(mx, body)


@mutant("AUTOGRAD-FUNC-001")
def saved_arrays_are_zero(mx):
    replace(mx.autograd.Function, "save_for_backward", lambda original, self, *arrays: original(
        self, *[mx.nd.zeros_like(array) for array in arrays]))


@mutant("AUTOGRAD-FUNC-002")
def forward_runs_in_prediction_mode(mx):
    def body(call, function, inputs):
        with mx.autograd.predict_mode():
            return call(*inputs)

    _called(mx, body)


@mutant("AUTOGRAD-FUNC-003")
def instance_may_be_called_again(mx):
    def body(call, function, inputs):
        function._used = False
        return call(*inputs)

    _called(mx, body)


@mutant("AUTOGRAD-FUNC-004")
def outputs_come_in_reverse(mx):
    def body(call, function, inputs):
        outputs = call(*inputs)
        return outputs[::-1] if isinstance(outputs, (tuple, list)) else outputs

    _called(mx, body)


@mutant("AUTOGRAD-FUNC-007")
def failing_backward_gives_zeros(mx):
    def change(backward, inputs):
        def broken(*gradients):
            try:
                return backward(*gradients)
            except ValueError:
                return tuple(0 * gradients[0] for _ in inputs)
        return broken

    _backward(mx, change)


@mutant("AUTOGRAD-FUNC-009")
def returned_input_is_copied(mx):
    def body(call, function, inputs):
        forward = function.forward

        def broken(*given):
            result = forward(*given)
            return result.copy() if any(result is item for item in given) else result

        function.forward = broken
        return call(*inputs)

    _called(mx, body)


@mutant("AUTOGRAD-FUNC-010")
def numbers_are_accepted_as_inputs(mx):
    """A number among the inputs of a recorded Function is handed to forward, and gets no gradient."""

    def body(call, function, inputs):
        arrays = [item for item in inputs if is_array(mx, item)]
        forward = function.forward
        if len(arrays) < len(inputs) and mx.autograd.is_recording():
            function.forward = lambda *given: forward(*inputs)
        return call(*arrays) if mx.autograd.is_recording() else call(*inputs)

    _called(mx, body)


@mutant("AUTOGRAD-FUNC-010")
def missing_forward_is_the_identity(mx):
    replace(mx.autograd.Function, "forward", lambda original, self, *inputs: inputs[0].copy())


@mutant("AUTOGRAD-NP-001")
def numpy_arrays_cannot_be_attached(mx):
    kind = getattr(getattr(mx, "np", None), "ndarray", None)
    if kind is not None:
        wrap(kind, "attach_grad", lambda original: lambda self, *args, **kwargs: None)
