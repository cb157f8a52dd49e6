"""TRAINER-STEP: what one step does, and in which order."""

import inspect

from conformance.case import case
from conformance.suite import kit
from conformance.suite.trainer import _tools

MODES = _tools.MODES


def _train(mx, x, trainer, gradient, batch_size):
    kit.backward(mx, (x, gradient))
    trainer.step(batch_size)
    return kit.value(x)


@case("TRAINER-STEP-001")
def signature_of_step(mx, check):
    parameters = list(inspect.signature(mx.gluon.Trainer.step).parameters.values())
    check.equal([p.name for p in parameters], ["self", "batch_size", "ignore_stale_grad"], "names")
    check.same(parameters[1].default, inspect.Parameter.empty, "default of batch_size")
    check.equal(parameters[2].default, False, "default of ignore_stale_grad")


@case("TRAINER-STEP-001")
def step_without_batch_size(mx, check):
    x = kit.parameter(mx)
    trainer = kit.trainer(mx, [x])
    kit.backward(mx, (x, 1.0))
    check.raises(TypeError, "batch_size", trainer.step)
    check.equal(kit.value(x), 0.0, "weight afterwards")
    trainer.step(2)
    check.equal(kit.value(x), -0.5, "weight after step(2)")


@case("TRAINER-STEP-002", samples={
    "1": {"batch_size": 1, "weight": -4.0, "scale": 1.0}, "2": {"batch_size": 2, "weight": -2.0, "scale": 0.5},
    "4": {"batch_size": 4, "weight": -1.0, "scale": 0.25}, "half": {"batch_size": 0.5, "weight": -8.0, "scale": 2.0},
    "negative": {"batch_size": -1, "weight": 4.0, "scale": -1.0}})
def gradient_is_divided_by_the_batch_size(mx, check, batch_size, weight, scale):
    x = kit.parameter(mx)
    trainer = kit.trainer(mx, [x])
    check.equal(_train(mx, x, trainer, 4.0, batch_size), weight, "weight")
    check.equal(trainer.optimizer.rescale_grad, scale, "optimizer.rescale_grad")


@case("TRAINER-STEP-002")
def scale_given_at_construction(mx, check):
    x = kit.parameter(mx)
    trainer = kit.trainer(mx, [x], options={"learning_rate": 1.0, "rescale_grad": 0.5})
    check.equal(_train(mx, x, trainer, 4.0, 2), -1.0, "weight")
    check.equal(trainer.optimizer.rescale_grad, 0.25, "optimizer.rescale_grad")


@case("TRAINER-STEP-003")
def scale_changed_later(mx, check):
    x = kit.parameter(mx)
    trainer = kit.trainer(mx, [x], options={"learning_rate": 1.0, "rescale_grad": 0.5})
    trainer.optimizer.rescale_grad = 100.0
    check.equal(_train(mx, x, trainer, 4.0, 2), -1.0, "weight")
    check.equal(trainer.optimizer.rescale_grad, 0.25, "optimizer.rescale_grad")


@case("TRAINER-STEP-004", samples={
    "zero": {"batch_size": 0, "kind": ZeroDivisionError}, "text": {"batch_size": "a", "kind": TypeError},
    "none": {"batch_size": None, "kind": TypeError}})
def batch_size_that_is_no_divisor(mx, check, batch_size, kind):
    x = kit.parameter(mx)
    trainer = kit.trainer(mx, [x])
    kit.backward(mx, (x, 4.0))
    check.raises(kind, trainer.step, batch_size)
    check.equal(kit.value(x), 0.0, "weight afterwards")
    trainer.step(2)
    check.equal(kit.value(x), -2.0, "weight after a proper step with the same gradient")


@case("TRAINER-STEP-006")
def scale_is_set_before_the_store_is_made(mx, check):
    x = kit.parameter(mx, ctx=kit.devices(mx, 2))
    trainer = kit.trainer(mx, [x], kvstore=5)
    kit.backward(mx, (x, 1.0))
    check.raises(TypeError, trainer.step, 4)
    check.equal(trainer.optimizer.rescale_grad, 0.25, "optimizer.rescale_grad after the failed creation")
    check.equal(kit.values(x), [0.0, 0.0], "weights")
    check.equal([kit.gradient(x, 0), kit.gradient(x, 1)], [[1.0], [1.0]], "gradients")


@case("TRAINER-STEP-006")
def scale_then_initialisation_then_reduction_then_update(mx, check):
    x = kit.parameter(mx, ctx=kit.devices(mx, 2))
    store = mx.kv.create("device")
    trainer = kit.trainer(mx, [x], kvstore=store, update_on_kvstore=False)
    seen = []
    _tools.logged(store, ("broadcast", "pushpull"),
                  lambda name, *_: seen.append((name, trainer.optimizer.rescale_grad, kit.value(x))))
    for batch_size in (4, 2):
        kit.backward(mx, (x, 1.0))
        trainer.step(batch_size)
    check.equal(seen, [("broadcast", 0.25, 0.0), ("pushpull", 0.25, 0.0), ("pushpull", 0.5, -0.5)],
                "scale and weight at each call of the store")
    check.equal(kit.values(x), [-1.5, -1.5], "weights in the end")


@case("TRAINER-STEP-007", samples={"one_device": MODES["one_device"], "local": MODES["local"]})
def step_inside_record(mx, check, count, options):
    x = kit.parameter(mx, ctx=kit.devices(mx, count))
    trainer = kit.trainer(mx, [x], **options)
    with mx.autograd.record():
        losses = [4 * replica for replica in x.list_data()]
        mx.autograd.backward(losses)
        check.raises(mx.base.MXNetError, "Assigning to NDArrays that are already in a computational graph",
                     trainer.step, count)
    check.equal(kit.values(x), [0.0] * count, "weights afterwards")
    check.equal(_train(mx, x, trainer, 4.0, count), -4.0, "weight after a step outside")


@case("TRAINER-STEP-008")
def step_before_backward(mx, check):
    x = kit.parameter(mx, "x", value=1.0)
    trainer = kit.trainer(mx, [x], options={"learning_rate": 1.0, "wd": 0.5})
    check.raises(UserWarning, "Gradient of Parameter `", "x`", "has not been updated by backward since last `step`",
                 trainer.step, 1)
    check.equal(kit.value(x), 1.0, "weight afterwards")
    check.equal(_train(mx, x, trainer, 1.0, 1), -0.5, "weight after backward and step")


@case("TRAINER-STEP-009", samples=MODES)
def batch_size_may_change(mx, check, count, options):
    x = kit.parameter(mx, ctx=kit.devices(mx, count))
    trainer = kit.trainer(mx, [x], **options)
    seen = [_train(mx, x, trainer, 8.0 / count, batch_size) for batch_size in (1, 2, 4)]
    check.equal(seen, [-8.0, -12.0, -14.0], "weight after step(1), step(2), step(4) with the summed gradient 8")
    check.equal(kit.values(x), [-14.0] * count, "every replica")


@case("TRAINER-STEP-013", samples={"%d_devices" % n: {"count": n} for n in (1, 2, 4)})
def batch_size_counts_all_devices(mx, check, count):
    x = kit.parameter(mx, ctx=kit.devices(mx, count))
    trainer = kit.trainer(mx, [x])
    _train(mx, x, trainer, 1.0, count)
    check.equal(kit.values(x), [-1.0] * count, "weights")


@case("TRAINER-STEP-013", samples={"on_kvstore": {"on_kvstore": True}, "local": {"on_kvstore": False}})
def gradients_are_summed(mx, check, on_kvstore):
    x = kit.parameter(mx, ctx=kit.devices(mx, 3))
    trainer = kit.trainer(mx, [x], update_on_kvstore=on_kvstore)
    _train(mx, x, trainer, [1.0, 2.0, 4.0], 1)
    check.equal(kit.values(x), [-7.0, -7.0, -7.0], "weights")


@case("TRAINER-STEP-014", samples={
    "one_device": {"gradients": [1.5], "options": {}},
    "on_kvstore": {"gradients": [1.0, 0.5], "options": {"update_on_kvstore": True}},
    "local": {"gradients": [1.0, 0.5], "options": {"update_on_kvstore": False}}})
def momentum_on_several_devices(mx, check, gradients, options):
    """v <- 0.9 v - 0.1 * 0.75 from weight 1: -0.075, -0.1425, -0.20325."""
    x = kit.parameter(mx, value=1.0, ctx=kit.devices(mx, len(gradients)))
    trainer = kit.trainer(mx, [x], options={"learning_rate": 0.1, "momentum": 0.9}, **options)
    for _ in range(3):
        _train(mx, x, trainer, gradients, 2)
    check.close(kit.values(x), [0.57925] * len(gradients), "weights", **_tools.NEAR)


@case("TRAINER-STEP-014", samples={
    "%s_%s" % (store, "on_kvstore" if flag else "locally"): {"store": store, "flag": flag}
    for store in ("local", "device") for flag in (True, False)})
def adam_on_several_devices(mx, check, store, flag):
    """Equal to one device with the summed gradient, step by step; 0.700011 was computed by hand with the formula."""
    results = []
    for gradients, options in (([1.0, 0.5], {"kvstore": store, "update_on_kvstore": flag}), ([1.5], {})):
        x = kit.parameter(mx, value=1.0, ctx=kit.devices(mx, len(gradients)))
        trainer = kit.trainer(mx, [x], "adam", {"learning_rate": 0.1, "wd": 0.01}, **options)
        results.append([_train(mx, x, trainer, gradients, 2) for _ in range(3)])
    check.close(results[0], results[1], "weight after each step, against one device", **_tools.NEAR)
    check.close(results[0][-1], 0.700011, "weight", rtol=2e-5)


@case("TRAINER-STEP-015", samples=MODES)
def parameter_without_gradient_is_skipped(mx, check, count, options):
    devices = kit.devices(mx, count)
    x, y = kit.parameter(mx, "x", ctx=devices), kit.parameter(mx, "y", value=1.0, ctx=devices, grad_req="null")
    trainer = kit.trainer(mx, [x, y], options={"learning_rate": 1.0, "wd": 0.5}, **options)
    _train(mx, x, trainer, 1.0, count)
    check.equal(kit.values(x), [-1.0] * count, "weight with a gradient")
    check.equal(kit.values(y), [1.0] * count, "weight without one")


@case("TRAINER-STEP-015", samples=MODES)
def gradient_switched_off_later(mx, check, count, options):
    devices = kit.devices(mx, count)
    x, y = kit.parameter(mx, "x", ctx=devices), kit.parameter(mx, "y", value=1.0, ctx=devices)
    trainer = kit.trainer(mx, [x, y], options={"learning_rate": 1.0, "wd": 0.5}, **options)
    kit.backward(mx, (x, 1.0), (y, 0.0))
    trainer.step(count)
    y.grad_req = "null"
    _train(mx, x, trainer, 1.0, count)
    check.equal(kit.values(x), [-1.5] * count, "weight with a gradient: -1 - (1 + 0.5 * -1)")
    check.equal(kit.values(y), [0.5] * count, "weight without one: decayed in the first step only")


@case("TRAINER-STEP-016")
def added_gradients_are_kept(mx, check):
    x = kit.parameter(mx, grad_req="add")
    trainer = kit.trainer(mx, [x])
    check.equal([_train(mx, x, trainer, 1.0, 1) for _ in range(3)], [-1.0, -3.0, -6.0], "weight after each step")


@case("TRAINER-STEP-016")
def added_gradients_are_cleared_by_the_user(mx, check):
    net = mx.gluon.nn.Dense(1, in_units=1, use_bias=False)
    net.initialize(mx.init.Constant(0.0))
    net.weight.grad_req = "add"
    trainer = kit.trainer(mx, net.collect_params())
    seen = []
    for _ in range(3):
        seen.append(_train(mx, net.weight, trainer, 1.0, 1))
        _tools.zero_gradients(net)
    check.equal(seen, [-1.0, -2.0, -3.0], "weight after each step")


@case("TRAINER-STEP-017")
def last_backward_counts(mx, check):
    x = kit.parameter(mx)
    trainer = kit.trainer(mx, [x])
    kit.backward(mx, (x, 1.0))
    check.equal(_train(mx, x, trainer, 2.0, 1), -2.0, "weight")


@case("TRAINER-STEP-018")
def arguments_by_name(mx, check):
    x, y = kit.parameter(mx, "x"), kit.parameter(mx, "y")
    trainer = kit.trainer(mx, [x, y])
    kit.backward(mx, (x, 4.0))
    check.equal(trainer.step(ignore_stale_grad=True, batch_size=2), None, "value returned")
    check.equal([kit.value(x), kit.value(y)], [-2.0, 0.0], "weights")


@case("TRAINER-STEP-019", samples={
    "on_kvstore": {"on_kvstore": True, "expected": [[1.0], [2.0]]},
    "local": {"on_kvstore": False, "expected": [[3.0], [3.0]]}})
def gradients_after_the_step(mx, check, on_kvstore, expected):
    x = kit.parameter(mx, ctx=kit.devices(mx, 2))
    trainer = kit.trainer(mx, [x], update_on_kvstore=on_kvstore)
    _train(mx, x, trainer, [1.0, 2.0], 1)
    check.equal(kit.values(x), [-3.0, -3.0], "weights")
    check.equal([kit.gradient(x, 0), kit.gradient(x, 1)], expected, "gradients")


class _Scaler(object):
    """A loss scaler that reports what it is told to."""

    loss_scale = 1.0

    def __init__(self):
        self.overflow = True

    def has_overflow(self, params):
        return self.overflow

    def launch_check_overflow(self, params):
        pass

    def wait_and_update(self):
        return self.overflow


@case("TRAINER-STEP-020", samples=MODES)
def overflow_skips_the_update(mx, check, count, options):
    x = kit.parameter(mx, ctx=kit.devices(mx, count))
    trainer = kit.trainer(mx, [x], **options)
    trainer._amp_loss_scaler = _Scaler()
    _train(mx, x, trainer, 4.0, 2)
    check.equal(kit.values(x), [0.0] * count, "weights after a step with an overflow")
    trainer._amp_loss_scaler.overflow = False
    _train(mx, x, trainer, 4.0, 2)
    check.equal(kit.values(x), [-2.0 * count] * count, "weights after a step without one")


@case("TRAINER-STEP-020")
def overflow_keeps_the_gradient_fresh(mx, check):
    x = kit.parameter(mx)
    trainer = kit.trainer(mx, [x])
    trainer._amp_loss_scaler = _Scaler()
    _train(mx, x, trainer, 4.0, 2)
    check.equal(kit.value(x), 0.0, "weight after a step with an overflow")
    trainer._amp_loss_scaler.overflow = False
    trainer.step(2)
    check.equal(kit.value(x), -2.0, "weight after a step without one, no backward between")


@case("TRAINER-STEP-021", samples={
    "one_device": {"count": 1, "options": {}}, "local": {"count": 2, "options": {"update_on_kvstore": False}}})
def step_equals_reduction_and_update(mx, check, count, options):
    results = []
    for split in (False, True):
        x = kit.parameter(mx, value=1.0, shape=(2,), ctx=kit.devices(mx, count))
        trainer = kit.trainer(mx, [x], options={"learning_rate": 0.5, "momentum": 0.5, "wd": 0.25}, **options)
        for _ in range(3):
            kit.backward(mx, (x, [[1.0, -3.0]] * count))
            if split:
                trainer.allreduce_grads()
                trainer.update(count)
            else:
                trainer.step(count)
        results.append(x.data().asnumpy())
    weight, velocity = [1.0, 1.0], [0.0, 0.0]
    for _ in range(3):  # the formula, in exactly representable numbers
        velocity = [0.5 * v - 0.5 * (g + 0.25 * w) for v, g, w in zip(velocity, (1.0, -3.0), weight)]
        weight = [w + v for w, v in zip(weight, velocity)]
    check.close(results[0], weight, "weight after three steps")
    check.equal(results[1], results[0], "weight after three reductions and updates")


@case("TRAINER-STEP-022", samples=MODES)
def one_script_for_every_device_count(mx, check, count, options):
    net = mx.gluon.nn.Dense(1, in_units=1, use_bias=False)
    net.initialize(mx.init.Constant(2.0), ctx=kit.devices(mx, count))
    trainer = kit.trainer(mx, net.collect_params(), options={"learning_rate": 0.5, "momentum": 0.5}, **options)
    for _ in range(2):
        with mx.autograd.record():
            losses = [net(kit.array(mx, [[2.0 / count]], device)).sum() for device in kit.devices(mx, count)]
        mx.autograd.backward(losses)
        trainer.step(2)
    check.equal(kit.values(net.weight), [0.75] * count, "weights: 2 - 0.5 - (0.25 + 0.5)")
