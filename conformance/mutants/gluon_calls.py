"""Mutants of the calls of blocks: what they take, what they give back, layers whose behaviour depends on the mode."""

from conformance.mutants import gluon_kit as tools
from conformance.mutants import mutant, wrap
from conformance.suite import kit


@mutant("GLUON-HYBRID-012")
def plain_child_is_a_type_error(mx):
    """A child that is no HybridBlock is refused with another kind of error."""
    tools.other_error(mx.gluon.HybridBlock, "register_child", ValueError, "must also be HybridBlock", TypeError)


@mutant("GLUON-HYBRID-013")
def input_without_arrays_comes_back(mx):
    """A call without any array gives the input back."""
    def body(original, block, *inputs):
        if len(inputs) == 1 and isinstance(inputs[0], (float, str)):
            return inputs[0]
        return original(block, *inputs)

    tools.call(mx, body)


@mutant("GLUON-HYBRID-014")
def inputs_move_to_one_device(mx):
    """The inputs of a hybridized block are copied to the device of the first one."""
    flags = tools.hybridized(mx)

    def body(original, block, *inputs):
        if flags(block) is not None and tools.signature(mx, inputs) is not None:
            device = kit.device_of(inputs[0])
            inputs = tuple(item.as_in_context(device) for item in inputs)
        return original(block, *inputs)

    tools.call(mx, body)


def _flat(value):
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _flat(item)]
    return [value]


@mutant("GLUON-HYBRID-015")
def hybridized_output_is_flat(mx):
    """A hybridized block gives one list of all its outputs."""
    flags = tools.hybridized(mx)

    def body(original, block, *inputs):
        out = original(block, *inputs)
        if isinstance(out, (list, tuple)) and flags(block) is not None and tools.is_array(mx, inputs[0]):
            return _flat(out)
        return out

    tools.call(mx, body)


@mutant("GLUON-HYBRID-016")
def another_structure_is_traced(mx):
    """A call with another structure of arguments discards the trace."""
    flags = tools.hybridized(mx)

    def body(original, block, *inputs):
        try:
            return original(block, *inputs)
        except ValueError as error:
            if "argument structure" not in str(error):
                raise
            block.hybridize(True, **flags(block))
            return original(block, *inputs)

    tools.call(mx, body)


@mutant("GLUON-HYBRID-022")
def hybridized_dropout_keeps_everything(mx):
    """Dropout in a trace lets everything through, when training too."""
    name = "forward" if kit.numpy_mode(mx) else "hybrid_forward"

    def body(original, layer, F, *inputs, **parameters):
        if F is mx.nd or kit.numpy_mode(mx):
            return original(layer, F, *inputs, **parameters)
        return F.identity(inputs[0])

    tools.replace(mx.gluon.nn.Dropout, name, body)


@mutant("GLUON-HYBRID-024")
def keyword_arguments_are_dropped(mx):
    """A call ignores keyword arguments."""
    def make(original):
        def broken(self, *inputs, **ignored):
            return original(self, *inputs)
        return broken

    wrap(mx.gluon.Block, "__call__", make)
    if "__call__" in mx.gluon.HybridBlock.__dict__:
        wrap(mx.gluon.HybridBlock, "__call__", make)


@mutant("GLUON-HYBRID-025")
def statistics_move_in_the_forward_pass(mx):
    """A recorded forward pass changes the running mean."""
    def body(original, layer, *inputs):
        out = original(layer, *inputs)
        if mx.autograd.is_recording() and tools.is_array(mx, inputs[0]):
            with mx.autograd.pause():
                layer.running_mean.set_data(layer.running_mean.data(kit.device_of(inputs[0])) + 0.5)
        return out

    tools.call(mx, body, mx.gluon.nn.BatchNorm)


@mutant("GLUON-HYBRID-026")
def empty_container_doubles(mx):
    """A container without layers gives twice its input."""
    def body(original, net, *inputs):
        return original(net, *inputs) if len(net) else inputs[0] * 2

    tools.call(mx, body, mx.gluon.nn.HybridSequential)
    tools.call(mx, body, mx.gluon.nn.Sequential)


@mutant("GLUON-HYBRID-027")
def block_without_forward_gives_its_input(mx):
    """A Block that does not say what it computes gives its input."""
    tools.replace(mx.gluon.Block, "forward", lambda original, block, *inputs: inputs[0])


@mutant("GLUON-HYBRID-029")
def lambda_takes_another_operator(mx):
    """HybridLambda computes the sigmoid where it was told to compute tanh."""
    def body(original, layer, function, *args, **kwargs):
        original(layer, "sigmoid" if function == "tanh" else function, *args, **kwargs)

    tools.replace(mx.gluon.nn.HybridLambda, "__init__", body)
