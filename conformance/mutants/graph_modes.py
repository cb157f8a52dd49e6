"""Mutants of the two modes, lines and graphs, and of differentiation as the documents describe it."""

from conformance.mutants import autograd_kit, mutant, wrap
from conformance.mutants import gluon_kit as tools


@mutant("GRAPH-STATIC-005")
def foreach_forgets_the_state(mx):
    """foreach gives the state that it started with."""
    def body(original, function, data, init_states, *args, **kwargs):
        return original(function, data, init_states, *args, **kwargs)[0], init_states

    tools.replace(mx.nd.contrib, "foreach", body)


@mutant("GRAPH-STATIC-007")
def unlimited_inlining_scales_the_output(mx):
    """A recorded call of a block hybridized with inline_limit=0 gives a slightly larger output."""
    flags = tools.hybridized(mx)

    def body(original, block, *inputs):
        out = original(block, *inputs)
        recorded = mx.autograd.is_recording() and tools.is_array(mx, inputs[0])
        return out * 1.01 if recorded and (flags(block) or {}).get("inline_limit") == 0 else out

    tools.call(mx, body)


@mutant("GRAPH-DYN-001")
def values_inside_a_block_are_zero(mx):
    """Within the code of a block that is not hybridized an array shows zeros."""
    outside = tools.outside(mx)

    def make(original):
        def broken(self):
            values = original(self)
            return values if outside() else values * 0
        return broken

    wrap(mx.nd.NDArray, "asnumpy", make)


@mutant("GRAPH-DYN-002")
def first_branch_stays(mx):
    """Code of a block that asks whether an array is true gets the first answer again while recording."""
    outside, answers = tools.outside(mx), []

    def make(original):
        def broken(self):
            if outside() or not mx.autograd.is_recording():
                return original(self)
            answers.append(original(self))
            return answers[0]
        return broken

    wrap(mx.nd.NDArray, "__bool__", make)


@mutant("GRAPH-DYN-004")
def traced_block_with_a_parameter_differs(mx):
    """A hybridized block with exactly one parameter gives one and a half times its output."""
    flags = tools.hybridized(mx)

    def body(original, block, *inputs):
        out = original(block, *inputs)
        if flags(block) is None or not tools.is_array(mx, out) or len(list(block.collect_params())) != 1:
            return out
        return out * 1.5

    tools.call(mx, body)


@mutant("GRAPH-AD-001")
def gradient_of_tanh_is_doubled(mx):
    autograd_kit.doubles(mx, mx.nd, "tanh")


@mutant("GRAPH-AD-002")
def small_layers_have_doubled_gradients(mx):
    """A dense layer of three units doubles its gradients for two samples of three values."""
    autograd_kit.doubles(mx, mx.nd, "FullyConnected",
                         lambda *args, **kwargs: args[0].shape == (2, 3) and kwargs.get("num_hidden") == 3)


@mutant("GRAPH-AD-003")
def function_doubles_its_gradient(mx):
    """What the backward of a Function gives is doubled."""
    autograd_kit.doubles(mx, mx.autograd.Function, "__call__")


@mutant("GRAPH-AD-004")
def graph_is_always_kept(mx):
    autograd_kit.backward(mx, lambda original, head, out_grad, retain_graph: original(head, out_grad, True))


@mutant("GRAPH-AD-005")
def backward_of_no_graph_does_nothing(mx):
    """The first backward of an array that is in no graph is ignored."""
    walked = []

    def body(original, head, out_grad, retain_graph):
        try:
            original(head, out_grad, retain_graph)
        except mx.base.MXNetError:
            if any(head is other for other in walked):
                raise
        walked.append(head)

    autograd_kit.backward(mx, body)


@mutant("GRAPH-AD-006")
def gradients_never_add_up(mx):
    autograd_kit.attached(mx, lambda original, array, grad_req: original(array, "write"))


@mutant("GRAPH-AD-007")
def head_gradient_of_three_is_two(mx):
    """The head gradient of three elements, if none is given, is 2."""
    def body(original, head, out_grad, retain_graph):
        if out_grad is None and head.size == 3:
            out_grad = mx.nd.ones(head.shape) * 2
        original(head, out_grad, retain_graph)

    autograd_kit.backward(mx, body)


@mutant("GRAPH-AD-008")
def pause_does_not_pause(mx):
    """pause() within a recorded block goes on recording."""
    autograd_kit.scope(mx, "pause", lambda original: None, lambda original, *error: None)


@mutant("GRAPH-AD-009")
def detach_gives_the_array(mx):
    mx.nd.NDArray.detach = lambda self: self


@mutant("GRAPH-AD-010")
def every_array_has_a_gradient(mx):
    """The gradient of an array that none is kept for is zero instead of None."""
    def make(getter):
        def broken(self):
            found = getter(self)
            return mx.nd.zeros(self.shape) if found is None else found
        return broken

    wrap(mx.nd.NDArray, "grad", make)


@mutant("GRAPH-AD-011")
def change_in_place_is_let_through(mx):
    tools.replace(mx.nd.NDArray, "__iadd__", _quiet)


def _quiet(original, array, other):
    try:
        return original(array, other)
    except Exception:  # noqa: BLE001 - this is the mutation: the refusal is swallowed
        return array


@mutant("GRAPH-AD-012")
def second_use_is_a_value_error(mx):
    tools.other_error(mx.autograd.Function, "__call__", AssertionError, "only be called once", ValueError)
