"""KVDECIDE-COMP: compression_params of a Trainer."""

from conformance.case import case
from conformance.suite import kit
from conformance.suite.kvdecide import stores

TWO_BIT = {"type": "2bit", "threshold": 0.5}


def weights_of_steps(mx, gradients, parameters, store="device", **keywords):
    """The weights of both replicas after each step(1) of plain SGD, one gradient per step for both devices."""
    x = stores.two_replicas(mx)
    trainer = kit.trainer(mx, [x], kvstore=store, compression_params=parameters, **keywords)
    seen = []
    for gradient in gradients:
        kit.backward(mx, (x, gradient))
        trainer.step(1)
        seen.append(kit.values(x))
    return seen


@case("KVDECIDE-COMP-001", samples={"on_store": {"given": True}, "locally": {"given": False}})
def two_bit_carries_the_residual(mx, check, given):
    seen = weights_of_steps(mx, [0.3, 0.3, 0.9, -2.0], TWO_BIT, update_on_kvstore=given)
    check.equal(seen, [[0.0, 0.0], [-1.0, -1.0], [-2.0, -2.0], [-1.0, -1.0]], "weights after each step")


@case("KVDECIDE-COMP-001")
def custom_store_receives_the_parameters(mx, check):
    received = []
    kind = stores.recording_class(mx)
    kind.set_gradient_compression = lambda self, parameters: received.append(parameters)
    x = stores.two_replicas(mx)
    trainer = kit.trainer(mx, [x], kvstore=kind(), compression_params=TWO_BIT)
    check.equal(received, [], "what the store received from the constructor")
    kit.backward(mx, (x, 1.0))
    trainer.step(1)
    check.equal(received, [TWO_BIT], "what the store received by the first step")
    check.equal(kit.values(x), [-2.0, -2.0], "weights after the step")


@case("KVDECIDE-COMP-003")
def local_store_refuses(mx, check):
    x = stores.two_replicas(mx, value=5.0)
    trainer = kit.trainer(mx, [x], kvstore="local", compression_params=TWO_BIT)
    kit.backward(mx, (x, 1.0))
    check.raises(Exception, "Gradient compression is not supported for this type of kvstore", trainer.step, 1)
    check.equal(kit.values(x), [5.0, 5.0], "weights after the error")


@case("KVDECIDE-COMP-004", samples={
    "one_device": {"devices": 1, "store": "device"}, "no_store": {"devices": 2, "store": None}})
def ignored_without_a_store(mx, check, devices, store):
    x = kit.parameter(mx, ctx=kit.devices(mx, devices))
    trainer = kit.trainer(mx, [x], kvstore=store, compression_params=TWO_BIT)
    kit.backward(mx, (x, 0.3))
    with check.no_warning(UserWarning):
        trainer.step(1)
    check.close(kit.values(x), [-0.3] * devices, "weights after the step", rtol=1e-6)


@case("KVDECIDE-COMP-005")
def threshold_is_a_half(mx, check):
    seen = weights_of_steps(mx, [0.6, 0.3, 0.1], {"type": "2bit"})
    # The residual after the steps is .1, .4 and 0.
    check.equal(seen, [[-1.0, -1.0], [-1.0, -1.0], [-2.0, -2.0]], "weights after each step")


@case("KVDECIDE-COMP-005")
def other_threshold(mx, check):
    seen = weights_of_steps(mx, [1.0, 1.0], {"type": "2bit", "threshold": 2.0})
    check.equal(seen, [[0.0, 0.0], [-4.0, -4.0]], "weights after each step")


@case("KVDECIDE-COMP-005", samples={
    "threshold_zero": {"parameters": {"type": "2bit", "threshold": 0}, "text": "threshold must be greater than 0"},
    "threshold_negative": {"parameters": {"type": "2bit", "threshold": -1}, "text": "threshold must be greater than 0"},
    "no_type": {"parameters": {"threshold": 0.5}, "text": "Required parameter type of string is not presented"},
    "unknown_type": {"parameters": {"type": "foo"}, "text": "Unknown type for gradient compression foo"}})
def wrong_parameters_fail_at_first_use(mx, check, parameters, text):
    x = stores.two_replicas(mx, value=5.0)
    trainer = kit.trainer(mx, [x], compression_params=parameters)
    kit.backward(mx, (x, 1.0))
    check.raises(mx.MXNetError, text, trainer.step, 1)
    check.equal(kit.values(x), [5.0, 5.0], "weights after the error")


@case("KVDECIDE-COMP-005")
def empty_parameters_mean_no_compression(mx, check):
    seen = weights_of_steps(mx, [0.25, 0.125], {})
    check.equal(seen, [[-0.5, -0.5], [-0.75, -0.75]], "weights after each step")


@case("KVDECIDE-COMP-005")
def unknown_keys_are_ignored(mx, check):
    seen = weights_of_steps(mx, [0.6], {"type": "2bit", "threshold": 0.5, "colour": "blue"})
    check.equal(seen, [[-1.0, -1.0]], "weights after the step")


@case("KVDECIDE-COMP-006")
def one_bit_gives_plus_or_minus_one(mx, check):
    seen = weights_of_steps(mx, [0.6, -0.2], {"type": "1bit"})
    # The residual after the first step is -.4, so the second sends -1.
    check.equal(seen, [[-2.0, -2.0], [0.0, 0.0]], "weights after each step")


@case("KVDECIDE-COMP-007", samples={"name": {"by_name": True}, "object": {"by_name": False}})
def custom_store_without_the_method(mx, check, by_name):
    x = stores.two_replicas(mx, value=5.0)
    store = "teststore" if by_name else stores.recording_class(mx)()
    trainer = kit.trainer(mx, [x], kvstore=store, compression_params=TWO_BIT)
    kit.backward(mx, (x, 1.0))
    check.raises(AttributeError, "set_gradient_compression", trainer.step, 1)
    check.equal(kit.values(x), [5.0, 5.0], "weights after the error")
