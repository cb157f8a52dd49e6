"""TRAINER-CORE: what a Trainer is."""

from conformance.case import case
from conformance.suite import kit


@case("TRAINER-CORE-001")
def one_iteration(mx, check):
    x = kit.parameter(mx, shape=(3,))
    trainer = mx.gluon.Trainer([x], "sgd", {"learning_rate": 1.0})
    with mx.autograd.record():
        y = 4 * x.data()
    y.backward()
    check.equal(trainer.step(2), None, "value returned by step")
    check.equal(x.data(), [-2.0, -2.0, -2.0], "weight after the step")


@case("TRAINER-CORE-001")
def each_backward_replaces_the_gradient(mx, check):
    x = kit.parameter(mx)
    trainer = kit.trainer(mx, [x])
    seen = []
    for gradient in (1.0, 2.0, -4.0):
        kit.backward(mx, (x, gradient))
        trainer.step(1)
        seen.append(kit.value(x))
    check.equal(seen, [-1.0, -3.0, 1.0], "weight after each of three iterations")


@case("TRAINER-CORE-002")
def public_names(mx, check):
    names = sorted(name for name in dir(mx.gluon.Trainer) if not name.startswith("_"))
    check.equal(names, ["allreduce_grads", "learning_rate", "load_states", "optimizer", "save_states",
                        "set_learning_rate", "step", "update"], "public names of Trainer")


@case("TRAINER-CORE-002", samples={name: {"name": name} for name in ("learning_rate", "optimizer")})
def read_only_property(mx, check, name):
    trainer = kit.trainer(mx, [kit.parameter(mx)], options={"learning_rate": 0.25})
    check.equal(trainer.learning_rate, 0.25, "learning_rate")
    check.raises(AttributeError, setattr, trainer, name, 1)
    check.equal(trainer.learning_rate, 0.25, "learning_rate afterwards")
    check.isinstance(trainer.optimizer, mx.optimizer.SGD, "optimizer afterwards")


@case("TRAINER-CORE-003")
def parameters_are_numbered_in_order(mx, check):
    first, second, third = (kit.parameter(mx, name) for name in "abc")
    table = kit.trainer(mx, [second, third, first]).optimizer.param_dict
    check.equal(sorted(table), [0, 1, 2], "indices")
    check.same(table[0], second, "parameter of index 0")
    check.same(table[1], third, "parameter of index 1")
    check.same(table[2], first, "parameter of index 2")


@case("TRAINER-CORE-003", samples={"first": {"which": 0}, "second": {"which": 1}})
def each_parameter_knows_its_trainer(mx, check, which):
    """set_data reaches the store through the trainer that the parameter refers to, so its value is not lost."""
    parameters = [kit.parameter(mx, name, ctx=kit.devices(mx, 2)) for name in "ab"]
    trainer = kit.trainer(mx, parameters, update_on_kvstore=True)
    kit.backward(mx, (parameters[0], 1.0), (parameters[1], 1.0))
    trainer.step(1)
    parameters[which].set_data(kit.array(mx, [10.0]))
    kit.backward(mx, (parameters[0], 1.0), (parameters[1], 1.0))
    trainer.step(1)
    check.equal(kit.values(parameters[which]), [8.0, 8.0], "weight set to 10 before the second step")
    check.equal(kit.values(parameters[1 - which]), [-4.0, -4.0], "the other weight")


@case("TRAINER-CORE-004", samples={
    "sgd": {"name": "sgd", "class_name": "SGD"}, "adam": {"name": "adam", "class_name": "Adam"},
    "rmsprop": {"name": "rmsprop", "class_name": "RMSProp"}})
def optimizer_of_a_name(mx, check, name, class_name):
    optimizer = kit.trainer(mx, [kit.parameter(mx)], name, {"learning_rate": 0.5}).optimizer
    check.same(type(optimizer), getattr(mx.optimizer, class_name), "class of trainer.optimizer")
    check.same(type(optimizer), type(mx.optimizer.create(name)), "class that optimizer.create makes")
    check.equal(optimizer.learning_rate, 0.5, "learning rate")


@case("TRAINER-CORE-004")
def optimizer_registered_by_the_user(mx, check):
    class ConformanceHalving(mx.optimizer.SGD):
        """SGD under another name."""

    mx.optimizer.Optimizer.register(ConformanceHalving)
    x = kit.parameter(mx)
    trainer = kit.trainer(mx, [x], "conformancehalving")
    check.same(type(trainer.optimizer), ConformanceHalving, "class of trainer.optimizer")
    kit.backward(mx, (x, 1.0))
    trainer.step(2)
    check.equal(kit.value(x), -0.5, "weight")


@case("TRAINER-CORE-005")
def minimal_example_with_l2_loss(mx, check):
    """The loss is 1/2 (w * data - label)^2, so its gradient by w is data * (w * data - label)."""
    x = kit.parameter(mx, value=1.0)
    trainer = kit.trainer(mx, [x])
    data, label = kit.array(mx, [[2.0], [3.0]]), kit.array(mx, [[0.0], [1.0]])
    criterion = mx.gluon.loss.L2Loss()
    with mx.autograd.record():
        loss = criterion(data * x.data(), label)
    loss.backward()
    check.equal(loss, [2.0, 2.0], "loss")
    trainer.step(2)
    check.equal(kit.value(x), 1.0 - (2 * 2 + 3 * 2) / 2.0, "weight")


@case("TRAINER-CORE-005")
def no_losses_namespace(mx, check):
    check.that(not hasattr(mx.nd, "losses"), "nd has no losses namespace")
    check.isinstance(mx.gluon.loss.L2Loss(), mx.gluon.loss.Loss, "gluon.loss.L2Loss()")


def _regression_step(mx, batch_size, averaged):
    x = kit.parameter(mx)
    trainer = kit.trainer(mx, [x])
    with mx.autograd.record():
        loss = kit.array(mx, [1.0, 2.0, 3.0, 4.0]) * x.data()
        loss = loss.mean() if averaged else loss
    loss.backward()
    trainer.step(batch_size)
    return kit.value(x)


@case("TRAINER-CORE-006", "TRAINER-STEP-005", samples={
    "step_1": {"batch_size": 1, "expected": -2.5}, "step_4": {"batch_size": 4, "expected": -0.625}})
def averaged_loss(mx, check, batch_size, expected):
    check.equal(_regression_step(mx, batch_size, True), expected, "weight after step(%d)" % batch_size)


@case("TRAINER-CORE-006", "TRAINER-STEP-005")
def summed_loss_with_the_batch_size(mx, check):
    check.equal(_regression_step(mx, 4, False), -2.5, "weight after step(4)")
