"""OPT-REG: registered optimizers, and optimizers of one's own."""

import io
import itertools
import pickle

from conformance.case import case
from conformance.suite import kit
from conformance.suite.optimizer import drive, names
from conformance.suite.trainer._tools import read_states

_numbers = itertools.count(1)


def new_class(mx, stem, **members):
    """A new subclass of Optimizer whose name was not registered before, also when a case runs twice."""
    return type("%s%d" % (stem, next(_numbers)), (mx.optimizer.Optimizer,), members)


@case("OPT-REG-001", samples=names.each(names=names.ALL))
def name_is_registered(mx, check, name):
    check.isinstance(mx.optimizer.Optimizer.opt_registry.get(name), type, "what is registered as %s" % name)
    check.isinstance(mx.optimizer.create(name), mx.optimizer.Optimizer, "what create makes of it")


@case("OPT-REG-002", samples={"lower": {"change": str.lower}, "as_written": {"change": str},
                              "upper": {"change": str.upper}})
def registered_class_is_created_by_name(mx, check, change):
    kind = new_class(mx, "MyOpt")
    check.same(mx.optimizer.Optimizer.register(kind), kind, "the class that register returns")
    made = mx.optimizer.create(change(kind.__name__), learning_rate=0.5)
    check.isinstance(made, kind, "what create makes of the name")
    check.equal(made.learning_rate, 0.5, "its learning_rate")


@case("OPT-REG-002")
def registered_under_the_lower_case_name(mx, check):
    kind = new_class(mx, "MyOpt")
    mx.optimizer.register(kind)
    check.same(mx.optimizer.Optimizer.opt_registry.get(kind.__name__.lower()), kind, "entry of the registry")


@case("OPT-REG-002")
def registering_a_name_again_warns(mx, check):
    first = new_class(mx, "Twice")
    second = type(first.__name__, (mx.optimizer.Optimizer,), {})
    with check.no_warning(UserWarning):
        mx.optimizer.register(first)
    with check.warns(UserWarning, "New optimizer", "is overriding existing optimizer"):
        mx.optimizer.register(second)
    check.isinstance(mx.optimizer.create(first.__name__), second, "what create makes of the name")


@case("OPT-REG-002")
def unknown_name(mx, check):
    check.isinstance(mx.optimizer.create("sgd"), mx.optimizer.SGD, "what create makes of sgd")
    check.raises(ValueError, "Cannot find optimizer", "nosuch", mx.optimizer.create, "nosuch")


DEVICES = {"one_device": {"devices": 1, "wanted": -1.0}, "two_devices": {"devices": 2, "wanted": -2.0}}


def descend(self, index, weight, grad, state):
    """w -= lr * rescale * g, for one parameter."""
    del index, state
    weight[:] = weight - grad * (self.lr * self.rescale_grad)


@case("OPT-REG-003", samples=DEVICES)
def own_update(mx, check, devices, wanted):
    def update(self, index, weight, grad, state):
        if not isinstance(index, (list, tuple)):
            index, weight, grad, state = [index], [weight], [grad], [state]
        for each in zip(index, weight, grad, state):
            descend(self, *each)

    trained(mx, check, {"update": update, "create_state": lambda self, index, weight: None}, devices, wanted)


@case("OPT-REG-003", samples=DEVICES)
def own_step_where_there_is_one(mx, check, devices, wanted):
    """2.x documents ``step``, which takes lists, as the method to override; 1.x has ``update`` only."""

    def step(self, indices, weights, grads, states):
        for each in zip(indices, weights, grads, states):
            descend(self, *each)

    method = ("step", step) if hasattr(mx.optimizer.Optimizer, "step") else ("update", descend)
    trained(mx, check, dict([method], create_state=lambda self, index, weight: None), devices, wanted)


def trained(mx, check, members, devices, wanted):
    x = kit.parameter(mx, shape=(2,), ctx=kit.devices(mx, devices))
    kind = new_class(mx, "Own", **members)
    trainer = mx.gluon.Trainer([x], kind(learning_rate=0.5))
    kit.backward(mx, (x, 4.0))
    trainer.step(2)
    check.equal(kit.values(x), [wanted] * devices, "weights after the step")


@case("OPT-REG-003")
def own_state_is_kept(mx, check):
    def update(self, index, weight, grad, state):
        if not isinstance(index, (list, tuple)):
            index, weight, grad, state = [index], [weight], [grad], [state]
        for w, g, s in zip(weight, grad, state):
            s[:] = s + g
            w[:] = w - s * self.lr

    def create_state(self, index, weight):
        return weight * 0

    x = kit.parameter(mx)
    kind = new_class(mx, "Own", update=update, create_state=create_state)
    trainer = mx.gluon.Trainer([x], kind(learning_rate=0.5))
    seen = []
    for _ in range(3):
        kit.backward(mx, (x, 2.0))
        trainer.step(1)
        seen.append(kit.value(x))
    check.equal(seen, [-1.0, -3.0, -6.0], "weight after each step")


@case("OPT-REG-004")
def base_update_is_abstract(mx, check):
    base, weight = mx.optimizer.Optimizer(learning_rate=0.25), kit.array(mx, [1.0, 2.0])
    check.equal(base.learning_rate, 0.25, "learning_rate of the base class")
    check.raises(NotImplementedError, base.update, 0, weight, kit.array(mx, [1.0, 1.0]), None)
    check.equal(weight, [1.0, 2.0], "weight after the error")


@case("OPT-REG-004")
def base_has_no_state(mx, check):
    base, weight = mx.optimizer.Optimizer(wd=0.25), kit.array(mx, [1.0, 2.0])
    check.equal(base.wd, 0.25, "wd of the base class")
    check.equal(base.create_state(0, weight), None, "state of the base class")


@case("OPT-REG-005", samples={
    "adagrad_epsilon": {"name": "adagrad", "key": "epsilon"}, "rmsprop_rho": {"name": "rmsprop", "key": "rho"},
    "rmsprop_momentum": {"name": "rmsprop", "key": "momentum"}, "lars_epsilon": {"name": "lars", "key": "epsilon"}})
def argument_name(mx, check, name, key):
    check.equal(getattr(mx.optimizer.create(name, **{key: 0.375}), key), 0.375, "%s of %s" % (key, name))


@case("OPT-REG-006", samples=names.each(names=("sgd", "adam", "lars")))
def lazy_update_is_off(mx, check, name):
    check.equal(mx.optimizer.create(name).lazy_update, False, "default lazy_update of %s" % name)
    check.equal(mx.optimizer.create(name, lazy_update=True).lazy_update, True, "lazy_update that was given")


@case("OPT-REG-006", samples={
    "sgd_stepwise": {"name": "sgd", "options": {"use_fused_step": False}},
    "adam_stepwise": {"name": "adam", "options": {"use_fused_step": False}},
    "lars_stepwise": {"name": "lars", "options": {"use_fused_step": False}},
    "sgd_multi_precision": {"name": "sgd", "options": {"multi_precision": True}},
    "lars_multi_precision": {"name": "lars", "options": {"multi_precision": True}}})
def lazy_update_is_refused(mx, check, name, options):
    mx.optimizer.create(name, **options)
    check.raises(AssertionError, mx.optimizer.create, name, lazy_update=True, **options)


@case("OPT-REG-007")
def pickling_drops_the_parameters(mx, check):
    x = kit.parameter(mx, lr_mult=2.0)
    optimizer = mx.optimizer.create("sgd", learning_rate=0.25, momentum=0.5, wd=0.125, param_dict={0: x})
    update, weight = mx.optimizer.get_updater(optimizer), kit.array(mx, [1.0])
    update(0, kit.array(mx, [1.0]), weight)
    check.close(weight, [1.0 - 0.5 * 1.125], "weight after an update with twice the rate")
    stream = io.BytesIO()
    pickle.dump(optimizer, stream)
    path = check.path("optimizer")
    with open(path, "wb") as file:
        file.write(stream.getvalue())
    loaded = read_states(mx, path)
    check.same(type(loaded), type(optimizer), "class of the loaded optimizer")
    check.equal(loaded.param_dict, {}, "its param_dict")
    kept = (loaded.learning_rate, loaded.momentum, loaded.wd, loaded.num_update)
    check.equal(kept, (0.25, 0.5, 0.125, 1), "its learning_rate, momentum, wd and num_update")
    check.same(optimizer.param_dict[0], x, "the parameter in the param_dict of the original")


@case("OPT-REG-007")
def loaded_optimizer_goes_on(mx, check):
    optimizer = mx.optimizer.create("adam", learning_rate=0.1)
    drive_once(mx, optimizer, 2)
    path = check.path("optimizer")
    with open(path, "wb") as file:
        pickle.dump(optimizer, file)
    loaded = read_states(mx, path)
    drive_once(mx, loaded, 1)
    check.equal(loaded.num_update, 3, "num_update of the loaded optimizer after another update")
    check.equal(optimizer.num_update, 2, "num_update of the original")


def drive_once(mx, optimizer, count):
    update, weight = mx.optimizer.get_updater(optimizer), kit.array(mx, drive.WEIGHT)
    for _ in range(count):
        update(0, kit.array(mx, drive.GRADIENTS[0]), weight)
