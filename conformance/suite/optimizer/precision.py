"""OPT-COMMON-007 to -012: float16 and float64 weights."""

import numpy as np

from conformance.case import case
from conformance.suite import kit
from conformance.suite.optimizer import drive, names

POOR = "Accumulating with float16 in optimizer can lead to poor accuracy or slow convergence"


def trained(mx, name, precise, devices=1, **keywords):
    """A float16 weight of 1 after ten steps with a rate that float16 cannot resolve: ``(parameter, trainer)``."""
    x = kit.parameter(mx, value=1.0, dtype="float16", ctx=kit.devices(mx, devices))
    options = {"learning_rate": 1e-4, "multi_precision": precise}
    trainer = kit.trainer(mx, [x], name, options, **keywords)
    for _ in range(10):
        kit.backward(mx, (x, 1.0))
        trainer.step(1)
    return x, trainer


@case("OPT-COMMON-007")
def off_by_default(mx, check):
    for name in names.registered(mx, check):
        check.equal(mx.optimizer.create(name).multi_precision, False, "default multi_precision of %s" % name)


@case("OPT-COMMON-007", needs=("float16",), samples={
    "%s_%s" % (name, precise): {"name": name, "precise": precise}
    for name in ("sgd", "adam") for precise in (True, False)})
def small_steps_on_float16(mx, check, name, precise):
    x, _ = trained(mx, name, precise)
    check.dtype(x.data(), "float16", "dtype of the weight")
    # The float32 copy is at 0.999; the float16 numbers beside it are 0.99902 and 0.99854.
    check.equal(kit.value(x), float(np.float16(0.999)) if precise else 1.0, "weight after ten steps")


@case("OPT-COMMON-007", needs=("float16",))
def master_copy_on_the_store(mx, check):
    x, trainer = trained(mx, "sgd", True, devices=2, update_on_kvstore=True)
    check.equal(kit.values(x), [float(np.float16(0.998))] * 2, "weights after ten steps on two devices")
    path = check.path("states")
    trainer.save_states(path)
    other = kit.trainer(mx, [x], "sgd", {"learning_rate": 1e-4, "multi_precision": True}, update_on_kvstore=True)
    other.load_states(path)
    kit.backward(mx, (x, [2.5, 2.5]))
    other.step(1)
    # 0.998 - 0.0005 from the copy is 0.9975; from the float16 weight 0.99805 it would be 0.99755, another number.
    check.equal(kit.values(x), [float(np.float16(0.9975))] * 2, "weights after another step from the saved copy")


@case("OPT-COMMON-008")
def state_of_float32_without_momentum(mx, check):
    weight = kit.array(mx, [1.0, 2.0])
    plain = mx.optimizer.create("sgd", momentum=0.5, multi_precision=True).create_state_multi_precision(0, weight)
    check.that(not isinstance(plain, (list, tuple)), "the state is one array", got=type(plain))
    check.equal(plain, [0.0, 0.0], "state of sgd with momentum")


@case("OPT-COMMON-008")
def state_of_float32_with_two_moments(mx, check):
    weight = kit.array(mx, [1.0, 2.0])
    state = mx.optimizer.create("adam", multi_precision=True).create_state_multi_precision(0, weight)
    check.equal(len(state), 2, "number of arrays in the state of adam")
    for array, place in zip(state, ("mean", "variance")):
        check.equal(array, [0.0, 0.0], "%s of adam" % place)
        check.dtype(array, "float32", "dtype of the %s" % place)


@case("OPT-COMMON-008", samples={"sgd": {"name": "sgd"}, "adam": {"name": "adam"}})
def updates_of_float32_are_the_same(mx, check, name):
    precise = drive.weights(mx, name, dict(drive.FULL, multi_precision=True))
    plain = drive.weights(mx, name, drive.FULL)
    check.that(0.5 < float(plain[1][0]) < 1.0, "the first weight moved, and not far", got=plain[1])
    check.equal(precise[1], plain[1], "weight after two updates")


@case("OPT-COMMON-009", samples=names.each("test", "groupadagrad"))
def float16_warns(mx, check, name):
    weight = kit.array(mx, [1.0, 2.0], dtype="float16")
    with check.warns(UserWarning, POOR, "Consider using multi_precision=True option of the", "optimizer"):
        mx.optimizer.create(name).create_state_multi_precision(0, weight)


@case("OPT-COMMON-009", samples={"multi_precision": {"dtype": "float16", "precise": True},
                                 "float32": {"dtype": "float32", "precise": False}})
def nothing_to_warn_about(mx, check, dtype, precise):
    weight = kit.array(mx, [1.0, 2.0], dtype=dtype)
    optimizer = mx.optimizer.create("sgd", momentum=0.5, multi_precision=precise)
    with check.no_warning(UserWarning):
        state = optimizer.create_state_multi_precision(0, weight)
    check.that(state is not None, "there is a state", got=state)


@case("OPT-COMMON-010", samples={
    "sgd": {"name": "sgd", "options": {"momentum": 0.9}, "count": 1},
    "nag": {"name": "nag", "options": {"momentum": 0.9}, "count": 1},
    "lars": {"name": "lars", "options": {"momentum": 0.9}, "count": 1},
    "signum": {"name": "signum", "options": {}, "count": 1}, "adam": {"name": "adam", "options": {}, "count": 2},
    "ftrl": {"name": "ftrl", "options": {}, "count": 2}, "lamb": {"name": "lamb", "options": {}, "count": 2}})
def layout_of_the_state(mx, check, name, options, count):
    weight = kit.array(mx, [1.5, 2.5], dtype="float16")
    state = mx.optimizer.create(name, multi_precision=True, **options).create_state_multi_precision(0, weight)
    check.equal(len(state), 2, "number of parts of the state")
    check.equal(state[0], [1.5, 2.5], "first part: the weight")
    check.dtype(state[0], "float32", "its dtype")
    ordinary = state[1] if count > 1 else [state[1]]
    check.equal(len(ordinary), count, "number of arrays in the second part")
    for array in ordinary:
        check.equal(array, [0.0, 0.0], "array of the second part")
        check.dtype(array, "float32", "its dtype")


def refused(mx, check, name, dtype):
    """An update of a weight of this dtype raises and leaves the weight alone."""
    update, weight = drive.updater(mx, name, {"learning_rate": 0.1}), kit.array(mx, [1.0, 2.0], dtype=dtype)
    check.raises(mx.MXNetError, update, 0, kit.array(mx, [1.0, 1.0], dtype=dtype), weight)
    check.equal(weight, [1.0, 2.0], "weight after the error")


@case("OPT-COMMON-011", samples=names.each(names=("rmsprop", "adagrad", "ftrl")))
def float16_needs_multi_precision(mx, check, name):
    refused(mx, check, name, "float16")
    update = drive.updater(mx, name, {"learning_rate": 0.1, "multi_precision": True})
    weight = kit.array(mx, [1.0, 2.0], dtype="float16")
    update(0, kit.array(mx, [1.0, 1.0], dtype="float16"), weight)
    check.that(float(weight.asnumpy()[0]) != 1.0, "the weight moved with multi_precision", got=weight)


@case("OPT-COMMON-011", samples=names.each(names=("sgd", "nag", "adam", "signum")))
def float16_works_by_itself(mx, check, name):
    update = drive.updater(mx, name, {"learning_rate": 0.25})
    weight = kit.array(mx, [1.0, 2.0], dtype="float16")
    update(0, kit.array(mx, [1.0, -1.0], dtype="float16"), weight)
    moved = weight.asnumpy()
    check.dtype(moved, "float16", "dtype of the weight")
    check.that(bool(moved[0] < 1.0 and moved[1] > 2.0), "the weights moved against their gradients", got=moved)


@case("OPT-COMMON-012", samples={
    "sgd": {"name": "sgd", "options": {}, "wanted": 0.9},
    "nag": {"name": "nag", "options": {"momentum": 0.0}, "wanted": 0.9},
    "adam": {"name": "adam", "options": {}, "wanted": 0.9}})
def float64_works(mx, check, name, options, wanted):
    update = drive.updater(mx, name, dict({"learning_rate": 0.1}, **options))
    weight = kit.array(mx, [1.0], dtype="float64")
    update(0, kit.array(mx, [1.0], dtype="float64"), weight)
    check.dtype(weight, "float64", "dtype of the weight")
    check.close(weight, [wanted], "weight after one update", rtol=1e-6)


@case("OPT-COMMON-012", samples=names.each(names=("rmsprop", "adagrad", "adadelta")))
def float64_is_refused(mx, check, name):
    refused(mx, check, name, "float64")
