"""TRAINER-SPLIT: allreduce_grads and update, the two halves of a step."""

import numpy as np

from conformance.case import case
from conformance.suite import kit
from conformance.suite.trainer import _tools


def _on(mx, count, gradient, on_kvstore=False, **options):
    """A parameter on *count* devices with its gradient written, and its trainer."""
    x = kit.parameter(mx, ctx=kit.devices(mx, count))
    trainer = kit.trainer(mx, [x], update_on_kvstore=on_kvstore if count > 1 else None, **options)
    kit.backward(mx, (x, gradient))
    return x, trainer


def _gradients(x):
    return [float(kit.gradient(x, device)[0]) for device in range(len(x.list_grad()))]


@case("TRAINER-SPLIT-001")
def reduction_then_update(mx, check):
    x, trainer = _on(mx, 2, [1.0, 2.0], options={"learning_rate": 1.0, "momentum": 0.5})
    check.equal(trainer.allreduce_grads(), None, "value returned by allreduce_grads")
    check.equal(_gradients(x), [3.0, 3.0], "gradients after allreduce_grads")
    check.equal(kit.values(x), [0.0, 0.0], "weights after allreduce_grads")
    check.equal(trainer.update(1), None, "value returned by update")
    check.equal(kit.values(x), [-3.0, -3.0], "weights after update")


@case("TRAINER-SPLIT-001")
def two_rounds_with_momentum(mx, check):
    x, trainer = _on(mx, 2, [1.0, 2.0], options={"learning_rate": 1.0, "momentum": 0.5})
    for _ in range(2):
        kit.backward(mx, (x, [1.0, 2.0]))
        trainer.allreduce_grads()
        trainer.update(1)
    check.equal(kit.values(x), [-7.5, -7.5], "weights: velocities -3 and -4.5")


@case("TRAINER-SPLIT-002")
def gradients_clipped_between(mx, check):
    x, trainer = _on(mx, 2, 5.0)
    trainer.allreduce_grads()
    for gradient in x.list_grad():
        check.equal(gradient, [10.0], "reduced gradient")
        gradient[:] = np.minimum(gradient.asnumpy(), 1.0)[0]
    trainer.update(2)
    check.equal(kit.values(x), [-0.5, -0.5], "weights")


@case("TRAINER-SPLIT-003")
def every_replica_must_be_transformed(mx, check):
    x, trainer = _on(mx, 2, 5.0)
    trainer.allreduce_grads()
    for gradient in x.list_grad():
        gradient[:] = 1.0
    trainer.update(1)
    check.equal(kit.values(x), [-1.0, -1.0], "weights when list_grad() was transformed")


@case("TRAINER-SPLIT-003")
def grad_is_the_first_replica_only(mx, check):
    x, trainer = _on(mx, 2, 5.0)
    trainer.allreduce_grads()
    x.grad()[:] = 1.0
    trainer.update(1)
    check.equal(kit.values(x), [-1.0, -10.0], "weights when grad() alone was transformed")


@case("TRAINER-SPLIT-004")
def reduction_with_updates_on_the_store(mx, check):
    x, trainer = _on(mx, 2, 1.0, True)
    check.raises(AssertionError, "allreduce_grads() when parameters are updated on kvstore is not supported",
                 "Try setting `update_on_kvstore` to False when creating trainer", trainer.allreduce_grads)
    check.equal(kit.values(x) + _gradients(x), [0.0, 0.0, 1.0, 1.0], "weights and gradients afterwards")
    trainer.step(2)
    check.equal(kit.values(x), [-1.0, -1.0], "weights after a step")


@case("TRAINER-SPLIT-005")
def update_with_updates_on_the_store(mx, check):
    x, trainer = _on(mx, 2, 1.0, True)
    check.raises(AssertionError, "update() when parameters are updated on kvstore is not supported",
                 "Try setting `update_on_kvstore` to False when creating trainer", trainer.update, 1)
    check.equal(kit.values(x) + _gradients(x), [0.0, 0.0, 1.0, 1.0], "weights and gradients afterwards")
    trainer.step(2)
    check.equal(kit.values(x), [-1.0, -1.0], "weights after a step")


@case("TRAINER-SPLIT-006", samples={
    "allreduce_grads": {"name": "allreduce_grads", "arguments": ()}, "update": {"name": "update", "arguments": (1,)}})
def defaults_on_two_devices(mx, check, name, arguments):
    x = kit.parameter(mx, ctx=kit.devices(mx, 2))
    trainer = mx.gluon.Trainer([x], "sgd", {"learning_rate": 1.0})
    kit.backward(mx, (x, 1.0))
    check.raises(AssertionError, name + "() when parameters are updated on kvstore is not supported",
                 getattr(trainer, name), *arguments)
    trainer.step(2)
    check.equal(kit.values(x), [-1.0, -1.0], "weights after a step")


@case("TRAINER-SPLIT-007")
def reduction_on_one_device(mx, check):
    x, trainer = _on(mx, 1, 3.0)
    trainer.allreduce_grads()
    check.equal(_gradients(x) + kit.values(x), [3.0, 0.0], "gradient and weight after allreduce_grads")
    trainer.update(3)
    check.equal(kit.value(x), -1.0, "weight after update(3)")


@case("TRAINER-SPLIT-008")
def update_divides_by_the_batch_size(mx, check):
    x, trainer = _on(mx, 1, 4.0)
    trainer.update(8)
    check.equal(kit.value(x), -0.5, "weight")
    check.equal(trainer.optimizer.rescale_grad, 0.125, "optimizer.rescale_grad")


@case("TRAINER-SPLIT-008")
def update_with_a_scale_of_construction(mx, check):
    x, trainer = _on(mx, 1, 4.0, options={"learning_rate": 1.0, "rescale_grad": 0.5})
    trainer.update(2)
    check.equal(kit.value(x), -1.0, "weight")
    check.equal(trainer.optimizer.rescale_grad, 0.25, "optimizer.rescale_grad")


@case("TRAINER-SPLIT-009")
def reduction_again_and_again(mx, check):
    x, trainer = _on(mx, 2, 1.0)
    seen = []
    for _ in range(3):
        trainer.allreduce_grads()
        seen.append(_gradients(x))
    check.equal(seen, [[2.0, 2.0], [4.0, 4.0], [8.0, 8.0]], "gradients after each call")


@case("TRAINER-SPLIT-010")
def update_without_reduction(mx, check):
    x, trainer = _on(mx, 2, [1.0, 2.0])
    trainer.update(1)
    check.equal(kit.values(x), [-1.0, -2.0], "weights")
    check.equal(_gradients(x), [1.0, 2.0], "gradients")


@case("TRAINER-SPLIT-011")
def update_before_backward(mx, check):
    x = kit.parameter(mx, value=1.0)
    trainer = kit.trainer(mx, [x], options={"learning_rate": 1.0, "wd": 0.5})
    check.raises(UserWarning, "Gradient of Parameter `", "has not been updated by backward since last `step`",
                 trainer.update, 1)
    check.equal(kit.value(x), 1.0, "weight after the refusal")
    trainer.update(1, True)
    check.equal(kit.value(x), 1.0, "weight after update(1, True)")
    kit.backward(mx, (x, 1.0))
    trainer.update(1)
    check.equal(kit.value(x), -0.5, "weight after backward and update")


@case("TRAINER-SPLIT-011")
def second_update_without_backward(mx, check):
    x, trainer = _on(mx, 1, 1.0)
    trainer.update(1)
    check.raises(UserWarning, "has not been updated by backward since last `step`", trainer.update, 1)
    check.equal(kit.value(x), -1.0, "weight")


@case("TRAINER-SPLIT-012", samples={"one_device": {"count": 1}, "two_devices": {"count": 2}})
def clipping_by_the_global_norm(mx, check, count):
    """The norm of (3, 3, 4) is sqrt(34)."""
    devices = kit.devices(mx, count)
    x, y = kit.parameter(mx, "x", shape=(2,), ctx=devices), kit.parameter(mx, "y", ctx=devices)
    trainer = kit.trainer(mx, [x, y], update_on_kvstore=False if count > 1 else None)
    kit.backward(mx, (x, 3.0 / count), (y, 4.0 / count))
    trainer.allreduce_grads()
    for device in range(count):
        norm = mx.gluon.utils.clip_global_norm([x.list_grad()[device], y.list_grad()[device]], 1.0)
        check.close(float(norm), 34.0 ** 0.5, "norm returned on device %d" % device, **_tools.NEAR)
    trainer.update(1)
    check.close(kit.values(x), [-3.0 / 34.0 ** 0.5] * count, "weights of x", **_tools.NEAR)
    check.close(kit.values(y), [-4.0 / 34.0 ** 0.5] * count, "weights of y", **_tools.NEAR)
