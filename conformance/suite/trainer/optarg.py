"""TRAINER-OPTARG: the optimizer argument and its parameters."""

from conformance.case import case
from conformance.suite import kit
from conformance.suite.trainer import _tools


def _steps_by_one(mx, check, trainer, x):
    """One step of SGD with learning rate 1 works."""
    kit.backward(mx, (x, 1.0))
    trainer.step(1)
    check.equal(kit.value(x), -1.0, "weight after a proper step")


@case("TRAINER-OPTARG-001", samples={
    name: {"name": name, "class_name": class_name}
    for name, class_name in (("sgd", "SGD"), ("SGD", "SGD"), ("Sgd", "SGD"), ("ADAM", "Adam"), ("nAg", "NAG"),
                             ("adagrad", "AdaGrad"), ("rmsprop", "RMSProp"))})
def name_in_any_case(mx, check, name, class_name):
    x = kit.parameter(mx)
    trainer = kit.trainer(mx, [x], name, {"learning_rate": 0.5})
    check.same(type(trainer.optimizer), getattr(mx.optimizer, class_name), "class of the optimizer")
    kit.backward(mx, (x, 1.0))
    trainer.step(1)
    check.that(kit.value(x) < 0.0, "the weight moves against the gradient", "< 0", str(kit.value(x)))


@case("TRAINER-OPTARG-002")
def unknown_name(mx, check):
    x = kit.parameter(mx)
    check.raises(ValueError, "Cannot find optimizer foo", kit.trainer, mx, [x], "foo")
    _steps_by_one(mx, check, kit.trainer(mx, [x]), x)


@case("TRAINER-OPTARG-003", samples={"class": {"make": lambda mx: mx.optimizer.SGD}, "none": {"make": lambda mx: None}})
def neither_name_nor_optimizer(mx, check, make):
    x = kit.parameter(mx)
    check.raises((AttributeError, TypeError), mx.gluon.Trainer, [x], make(mx))
    _steps_by_one(mx, check, kit.trainer(mx, [x]), x)


@case("TRAINER-OPTARG-004")
def parameters_beside_an_optimizer(mx, check):
    x = kit.parameter(mx)
    optimizer = mx.optimizer.SGD(learning_rate=1.0)
    check.raises(AssertionError, "optimizer_params must be None if optimizer is an instance of",
                 mx.gluon.Trainer, [x], optimizer, {"learning_rate": 0.1})
    check.equal(optimizer.learning_rate, 1.0, "learning rate afterwards")
    _steps_by_one(mx, check, mx.gluon.Trainer([x], optimizer), x)


@case("TRAINER-OPTARG-005")
def empty_parameters_beside_an_optimizer(mx, check):
    x = kit.parameter(mx)
    optimizer = mx.optimizer.SGD(learning_rate=1.0)
    trainer = mx.gluon.Trainer([x], optimizer, {})
    check.same(trainer.optimizer, optimizer, "trainer.optimizer")
    _steps_by_one(mx, check, trainer, x)


@case("TRAINER-OPTARG-006")
def optimizer_is_used_as_it_is(mx, check):
    x, y = kit.parameter(mx, "x"), kit.parameter(mx, "y")
    optimizer = mx.optimizer.SGD(learning_rate=1.0)
    trainer = mx.gluon.Trainer([x, y], optimizer)
    check.same(trainer.optimizer, optimizer, "trainer.optimizer")
    check.same(optimizer.param_dict[0], x, "param_dict[0]")
    check.same(optimizer.param_dict[1], y, "param_dict[1]")
    check.equal(len(optimizer.param_dict), 2, "entries of param_dict")


@case("TRAINER-OPTARG-006")
def optimizer_stays_under_the_users_control(mx, check):
    x = kit.parameter(mx)
    optimizer = mx.optimizer.SGD(learning_rate=1.0)
    trainer = mx.gluon.Trainer([x], optimizer)
    optimizer.set_learning_rate(0.25)
    check.equal(trainer.learning_rate, 0.25, "learning rate of the trainer")
    kit.backward(mx, (x, 1.0))
    trainer.step(1)
    check.equal(kit.value(x), -0.25, "weight")


@case("TRAINER-OPTARG-007", samples={
    "one_device": {"count": 1, "options": {}, "expected": [-1.0, -1.5, -1.5]},
    "on_kvstore": {"count": 2, "options": {"update_on_kvstore": True}, "expected": [-2.0, -3.0, -3.0]},
    "local": {"count": 2, "options": {"update_on_kvstore": False}, "expected": [-2.0, -3.0, -3.0]}})
def changed_lr_mult(mx, check, count, options, expected):
    x = kit.parameter(mx, ctx=kit.devices(mx, count))
    trainer = kit.trainer(mx, [x], **options)
    seen = []
    for factor in (1.0, 0.5, 0.0):
        x.lr_mult = factor
        kit.backward(mx, (x, 1.0))
        trainer.step(1)
        seen.append(kit.value(x))
    check.equal(seen, expected, "weight after steps with lr_mult 1, 0.5 and 0")


@case("TRAINER-OPTARG-008", samples={
    "one_device": {"count": 1, "options": {}}, "on_kvstore": {"count": 2, "options": {"update_on_kvstore": True}},
    "local": {"count": 2, "options": {"update_on_kvstore": False}}})
def changed_wd_mult(mx, check, count, options):
    x = kit.parameter(mx, value=1.0, ctx=kit.devices(mx, count))
    trainer = kit.trainer(mx, [x], options={"learning_rate": 0.1, "wd": 0.5}, **options)
    seen = []
    for factor in (1.0, 0.0, 2.0):
        x.wd_mult = factor
        kit.backward(mx, (x, 0.0))
        trainer.step(1)
        seen.append(kit.value(x))
    check.close(seen, [0.95, 0.95, 0.855], "weight after steps with wd_mult 1, 0 and 2", **_tools.NEAR)


@case("TRAINER-OPTARG-009")
def optimizer_of_two_trainers(mx, check):
    a, b = kit.parameter(mx, "a"), kit.parameter(mx, "b")
    optimizer = mx.optimizer.SGD(learning_rate=1.0)
    first = mx.gluon.Trainer([a], optimizer)
    kit.backward(mx, (a, 1.0))
    first.step(1)
    check.equal(kit.value(a), -1.0, "weight while there is one trainer")
    mx.gluon.Trainer([b], optimizer)
    check.same(optimizer.param_dict[0], b, "param_dict[0]")
    b.lr_mult = 0.0
    kit.backward(mx, (a, 1.0))
    first.step(1)
    check.equal(kit.value(a), -1.0, "weight of the first trainer, now under the second one's lr_mult 0")


@case("TRAINER-OPTARG-010", samples={
    "learning_rate": {"options": {"learning_rate": 0.5}, "expected": [-0.5, -1.0]},
    "momentum": {"options": {"learning_rate": 1.0, "momentum": 0.5}, "expected": [-1.0, -2.5]},
    "clip_gradient": {"options": {"learning_rate": 1.0, "clip_gradient": 0.25}, "expected": [-0.25, -0.5]}})
def options_reach_the_optimizer(mx, check, options, expected):
    x = kit.parameter(mx)
    trainer = kit.trainer(mx, [x], options=options)
    seen = []
    for _ in range(2):
        kit.backward(mx, (x, 1.0))
        trainer.step(1)
        seen.append(kit.value(x))
    check.equal(seen, expected, "weight after each of two steps with gradient 1")


@case("TRAINER-OPTARG-010")
def unknown_option(mx, check):
    x = kit.parameter(mx)
    check.raises(TypeError, kit.trainer, mx, [x], options={"learning_rate": 1.0, "foo": 1})
    _steps_by_one(mx, check, kit.trainer(mx, [x]), x)


@case("TRAINER-OPTARG-011")
def options_changed_later(mx, check):
    x = kit.parameter(mx)
    options = {"learning_rate": 0.5}
    trainer = kit.trainer(mx, [x], options=options)
    options["learning_rate"] = 9.0
    options["momentum"] = 0.5
    check.equal(trainer.learning_rate, 0.5, "learning rate")
    for _ in range(2):
        kit.backward(mx, (x, 1.0))
        trainer.step(1)
    check.equal(kit.value(x), -1.0, "weight after two steps")
    check.equal(options, {"learning_rate": 9.0, "momentum": 0.5}, "the dictionary of the user")


@case("TRAINER-OPTARG-012", samples={
    "list": {"options": [("learning_rate", 0.1)]}, "param_dict": {"options": {"param_dict": {}}}})
def options_that_cannot_be_passed(mx, check, options):
    x = kit.parameter(mx)
    fragment = "multiple values for keyword argument" if isinstance(options, dict) else "must be a mapping"
    check.raises(TypeError, fragment, kit.trainer, mx, [x], options=options)
    _steps_by_one(mx, check, kit.trainer(mx, [x]), x)


@case("TRAINER-OPTARG-013")
def weight_decay_of_a_bias(mx, check):
    net = mx.gluon.nn.Dense(1, in_units=1)
    net.initialize(mx.init.One())
    net.bias.set_data(kit.array(mx, [1.0]))
    trainer = kit.trainer(mx, net.collect_params(), options={"learning_rate": 0.1, "wd": 0.5})
    kit.backward(mx, (net.weight, 0.0), (net.bias, 0.0))
    trainer.step(1)
    check.close([kit.value(net.weight), kit.value(net.bias)], [0.95, 0.95], "weight and bias", **_tools.NEAR)


@case("TRAINER-OPTARG-013")
def weight_decay_of_normalisation(mx, check):
    net = mx.gluon.nn.LayerNorm(in_channels=2)
    net.initialize()
    trainer = kit.trainer(mx, net.collect_params(), options={"learning_rate": 0.1, "wd": 0.5})
    net.beta.set_data(kit.array(mx, [1.0, 1.0]))
    kit.backward(mx, (net.gamma, 0.0), (net.beta, 0.0))
    trainer.step(1)
    check.close([kit.value(net.gamma), kit.value(net.beta)], [0.95, 0.95], "gamma and beta", **_tools.NEAR)


@case("TRAINER-OPTARG-013")
def weight_decay_switched_off(mx, check):
    net = mx.gluon.nn.Dense(1, in_units=1)
    net.initialize(mx.init.One())
    net.bias.set_data(kit.array(mx, [1.0]))
    net.bias.wd_mult = 0.0
    trainer = kit.trainer(mx, net.collect_params(), options={"learning_rate": 0.1, "wd": 0.5})
    kit.backward(mx, (net.weight, 0.0), (net.bias, 0.0))
    trainer.step(1)
    check.close([kit.value(net.weight), kit.value(net.bias)], [0.95, 1.0], "weight and bias", **_tools.NEAR)


@case("TRAINER-OPTARG-014")
def each_device_has_its_own_momentum(mx, check):
    x = kit.parameter(mx, ctx=kit.devices(mx, 2))
    trainer = kit.trainer(mx, [x], options={"learning_rate": 1.0, "momentum": 0.5}, update_on_kvstore=False)
    for _ in range(2):
        kit.backward(mx, (x, [1.0, 4.0]))
        trainer.update(1)
    check.equal(kit.values(x), [-2.5, -10.0], "weights after two updates with gradients 1 and 4 of momentum 0.5")


@case("TRAINER-OPTARG-014")
def devices_share_the_optimizer(mx, check):
    """One optimizer counts one update per step, so the scheduler is asked for its value once per step."""
    x = kit.parameter(mx, ctx=kit.devices(mx, 2))
    scheduler = mx.lr_scheduler.FactorScheduler(step=1, factor=0.5, base_lr=1.0)
    optimizer = mx.optimizer.SGD(learning_rate=1.0, lr_scheduler=scheduler)
    trainer = mx.gluon.Trainer([x], optimizer, update_on_kvstore=False)
    rates = []
    for _ in range(3):
        kit.backward(mx, (x, [1.0, 2.0]))
        trainer.update(1)
        rates.append(trainer.learning_rate)
    check.equal(rates, [1.0, 0.5, 0.25], "learning rate after each update")
    check.equal(kit.values(x), [-1.75, -3.5], "weights")
    check.equal(optimizer.num_update, 3, "number of updates")


@case("TRAINER-OPTARG-015")
def adam_of_the_document(mx, check):
    x = kit.parameter(mx)
    trainer = kit.trainer(mx, [x], "adam", {"learning_rate": 0.001, "clip_gradient": 5.0, "multi_precision": True})
    check.isinstance(trainer.optimizer, mx.optimizer.Adam, "optimizer")
    check.equal(trainer.learning_rate, 0.001, "learning rate")
    check.equal(trainer.optimizer.clip_gradient, 5.0, "clip_gradient")
    check.equal(trainer.optimizer.multi_precision, True, "multi_precision")
    kit.backward(mx, (x, 2.0))
    trainer.step(1)
    check.close(kit.value(x), -0.001, "weight: Adam's first step has the size of the learning rate", rtol=1e-5)
