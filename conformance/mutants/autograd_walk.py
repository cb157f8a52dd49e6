"""Mutants of AUTOGRAD-BACK: heads, head gradients, what is written, what is freed."""

from conformance.mutants import mutant, wrap
from conformance.mutants.autograd_kit import Operators, after, attached, backward, doubles, is_array, replace, scope


@mutant("AUTOGRAD-BACK-001")
def row_times_column_has_twice_the_gradient(mx):
    doubles(mx, mx.nd, "dot", lambda a, b, **options: len(a.shape) == 2 and a.shape[0] == 1)


@mutant("AUTOGRAD-BACK-002")
def power_of_one_element_has_twice_the_gradient(mx):
    doubles(mx, mx.nd.NDArray, "__pow__", lambda self, exponent: self.size == 1)


@mutant("AUTOGRAD-BACK-003")
def square_head_gradient_is_transposed(mx):
    def body(original, head, out_grad, retain_graph):
        if is_array(mx, out_grad) and len(out_grad.shape) == 2 and out_grad.shape[0] == out_grad.shape[1]:
            out_grad = out_grad.T
        original(head, out_grad, retain_graph)

    backward(mx, body)


@mutant("AUTOGRAD-BACK-003")
def default_head_gradient_is_a_mean(mx):
    """Without a head gradient, backward of a matrix differentiates the mean."""

    def body(original, head, out_grad, retain_graph):
        if out_grad is None and head.shape == (2, 2):
            out_grad = mx.nd.ones_like(head) / head.size
        original(head, out_grad, retain_graph)

    backward(mx, body)


@mutant("AUTOGRAD-BACK-004")
def number_is_taken_as_a_head_gradient(mx):
    def body(original, head, out_grad, retain_graph):
        if isinstance(out_grad, float):
            out_grad = mx.nd.ones_like(head) * out_grad
        original(head, out_grad, retain_graph)

    backward(mx, body)


@mutant("AUTOGRAD-BACK-004")
def head_gradient_is_converted(mx):
    """A head gradient of another dtype than the head is converted."""

    def body(original, head, out_grad, retain_graph):
        if is_array(mx, out_grad) and out_grad.dtype != head.dtype:
            out_grad = out_grad.astype(head.dtype)
        original(head, out_grad, retain_graph)

    backward(mx, body)


@mutant("AUTOGRAD-BACK-006")
def head_gradient_of_another_context_is_refused(mx):
    def body(original, head, out_grad, retain_graph):
        if is_array(mx, out_grad) and out_grad.context != head.context:
            raise mx.base.MXNetError("the head gradient is on another context")
        original(head, out_grad, retain_graph)

    backward(mx, body)


@mutant("AUTOGRAD-BACK-007", "AUTOGRAD-BACK-008")
def graph_is_never_freed(mx):
    backward(mx, lambda original, head, out_grad, retain_graph: original(head, out_grad, True))


@mutant("AUTOGRAD-BACK-007")
def graph_is_always_freed(mx):
    backward(mx, lambda original, head, out_grad, retain_graph: original(head, out_grad, False))


@mutant("AUTOGRAD-BACK-009")
def error_gives_no_advice(mx):
    """The error of a head without graph does not mention autograd.record()."""

    def body(original, head, out_grad, retain_graph):
        try:
            original(head, out_grad, retain_graph)
        except mx.base.MXNetError as error:
            raise mx.base.MXNetError(str(error).replace("autograd.record()", "something")) from error

    backward(mx, body)


@mutant("AUTOGRAD-BACK-010")
def leaf_is_no_head(mx):
    def body(original, head, out_grad, retain_graph):
        if head.grad is not None:
            raise mx.base.MXNetError("a variable cannot be differentiated")
        original(head, out_grad, retain_graph)

    backward(mx, body)


@mutant("AUTOGRAD-BACK-011")
def missing_head_gradient_is_zero(mx):
    def body(original, heads, head_grads=None, retain_graph=False, train_mode=True):
        if isinstance(head_grads, list) and len(head_grads) == len(heads):
            head_grads = [mx.nd.zeros_like(head) if grad is None else grad for head, grad in zip(heads, head_grads)]
        return original(heads, head_grads, retain_graph, train_mode)

    replace(mx.autograd, "backward", body)


@mutant("AUTOGRAD-BACK-013", "AUTOGRAD-DETACH-002")
def blocked_result_is_disconnected(mx):
    """BlockGrad gives a result that is in no graph."""
    replace(mx.nd, "BlockGrad", lambda original, data: original(data).detach())


@mutant("AUTOGRAD-BACK-014")
def recording_clears_gradients(mx):
    """Entering record() sets the gradients of all variables to zero."""
    variables = []

    def attach(original, array, grad_req):
        original(array, grad_req)
        if grad_req == "write":
            variables.append(array)

    def enter(original):
        for array in variables:
            if array.grad is not None:
                array.grad[:] = 0
        return original.__enter__()

    attached(mx, attach)
    scope(mx, "record", enter)


@mutant("AUTOGRAD-BACK-015")
def backward_stops_recording(mx):
    def body(original, head, out_grad, retain_graph):
        original(head, out_grad, retain_graph)
        mx.autograd.set_recording(False)

    backward(mx, body)


@mutant("AUTOGRAD-BACK-016")
def second_term_passes_nothing_on(mx):
    """Where two recorded arrays are added, the gradient goes to the first one only."""

    def body(original, self, other):
        if mx.autograd.is_recording() and is_array(mx, other):
            other = other.detach()
        return original(self, other)

    replace(mx.nd.NDArray, "__add__", body)


@mutant("AUTOGRAD-BACK-017")
def written_gradient_is_called_twice(mx):
    def body(original, self, *inputs):
        backward = self.backward
        self.backward = lambda *gradients: (backward(*gradients), backward(*gradients))[1]
        return original(self, *inputs)

    replace(mx.autograd.Function, "__call__", body)


@mutant("AUTOGRAD-BACK-018", "AUTOGRAD-OPGRAD-014")
def terms_share_the_gradient(mx):
    """Each of two terms gets half of the gradient."""
    operators = Operators(mx)
    scale = mx.nd.NDArray.__mul__

    def change(result, self, other):
        half = scale(result, 0.5)
        return operators.add(half, operators.block(half))

    after(mx, mx.nd.NDArray, "__add__", change, lambda self, other: is_array(mx, other))


@mutant("AUTOGRAD-BACK-019")
def sum_spreads_the_gradient(mx):
    """The gradient of sum(axis=1) is divided by the length of the axis."""
    operators = Operators(mx)
    scale = mx.nd.NDArray.__mul__

    def change(result, data, **options):
        share = 1.0 / data.shape[1]
        return operators.add(scale(result, share), operators.block(scale(result, 1.0 - share)))

    after(mx, mx.nd, "sum", change, lambda data, **options: options.get("axis") == 1)


@mutant("AUTOGRAD-BACK-020")
def reshape_doubles_the_gradient(mx):
    doubles(mx, mx.nd.NDArray, "reshape", lambda self, *shape, **options: len(self.shape) == 1)


@mutant("AUTOGRAD-BACK-021")
def recorded_symbol_has_a_node_more(mx):
    replace(mx.autograd, "get_symbol", lambda original, x: original(x) + 0)


@mutant("AUTOGRAD-BACK-022")
def executor_doubles_head_gradients(mx):
    executor = getattr(getattr(mx, "executor", None), "Executor", None)
    if executor is not None:
        def body(original, self, out_grads=None, *args, **kwargs):
            return original(self, out_grads * 2 if is_array(mx, out_grads) else out_grads, *args, **kwargs)

        replace(executor, "backward", body)


@mutant("AUTOGRAD-BACK-023")
def third_loss_is_ignored(mx):
    """autograd.backward differentiates the first two heads only."""

    def body(original, heads, *args, **kwargs):
        return original(heads[:2] if isinstance(heads, list) and not args and not kwargs else heads, *args, **kwargs)

    replace(mx.autograd, "backward", body)


@mutant("AUTOGRAD-BACK-024")
def factor_that_is_a_gradient_counts_twice(mx):
    """A recorded product with x.grad has twice the gradient that it should have."""
    buffers = []

    def make(grad):
        def read(self):
            found = grad(self)
            if found is not None:
                buffers.append(found)
            return found
        return read

    wrap(mx.nd.NDArray, "grad", make)
    doubles(mx, mx.nd.NDArray, "__mul__", lambda self, other: any(other is buffer for buffer in buffers))


@mutant("AUTOGRAD-BACK-025")
def backward_returns_the_head(mx):
    def body(original, head, out_grad, retain_graph):
        original(head, out_grad, retain_graph)
        return head

    backward(mx, body)
