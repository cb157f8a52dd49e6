"""TRAINER-STATE: saving and loading what the optimizer remembers."""

import os
import pickle

from conformance.case import case
from conformance.suite import kit
from conformance.suite.trainer import _tools
from conformance.suite.trainer._tools import MODES, MOMENTUM, mean_step, trained

OTHER = {"learning_rate": 0.001, "momentum": 0.0, "wd": 0.3}


@case("TRAINER-STATE-001", samples=MODES)
def training_goes_on_identically(mx, check, count, options):
    x, trainer = trained(mx, count, options)
    check.equal(kit.values(x), [-2.5] * count, "weights after two steps")
    trainer.save_states(check.path("states"))
    y, other = trained(mx, count, options, steps=0, value=-2.5, parameters=OTHER)
    other.load_states(check.path("states"))
    for parameter, user in ((x, trainer), (y, other)):
        mean_step(mx, parameter, user, 2.0)
        check.equal(kit.values(parameter), [-5.25] * count, "weights: -2.5 - (0.5 * 1.5 + 2)")


@case("TRAINER-STATE-001")
def adam_goes_on_identically(mx, check):
    results = []
    for interrupted in (False, True):
        x = kit.parameter(mx, value=1.0, shape=(2,))
        trainer = kit.trainer(mx, [x], "adam", {"learning_rate": 0.1})
        for number in range(4):
            kit.backward(mx, (x, [[1.0, -2.0 * number]]))
            trainer.step(1)
            if interrupted and number == 1:
                trainer.save_states(check.path("states"))
                trainer = kit.trainer(mx, [x], "adam", {"learning_rate": 9.0})
                trainer.load_states(check.path("states"))
        results.append(x.data().asnumpy())
    check.equal(results[1], results[0], "weights of the interrupted run")
    check.close(results[0][0], 0.6, "weight under a constant gradient: 1 - 4 * 0.1", rtol=1e-5)


@case("TRAINER-STATE-002", samples=MODES)
def hyper_parameters_come_from_the_file(mx, check, count, options):
    _, trainer = trained(mx, count, options)
    trainer.save_states(check.path("states"))
    _, other = trained(mx, count, options, steps=0, parameters=OTHER)
    other.load_states(check.path("states"))
    check.equal(other.learning_rate, 1.0, "learning rate")
    check.equal(other.optimizer.momentum, 0.5, "momentum")
    check.equal(other.optimizer.wd, 0.0, "weight decay")
    check.equal(other.optimizer.num_update, 2, "number of updates")


@case("TRAINER-STATE-002")
def class_comes_from_the_file(mx, check):
    x = kit.parameter(mx)
    trainer = kit.trainer(mx, [x], "adam", {"learning_rate": 0.5})
    mean_step(mx, x, trainer)
    trainer.save_states(check.path("states"))
    y, other = trained(mx, 1, {}, steps=0)
    other.load_states(check.path("states"))
    check.isinstance(other.optimizer, mx.optimizer.Adam, "optimizer")
    check.close(mean_step(mx, y, other), -0.5, "weight after the second of two equal steps of Adam", rtol=1e-5)


@case("TRAINER-STATE-002", samples=MODES)
def scheduler_comes_from_the_file(mx, check, count, options):
    def made(**parameters):
        return kit.trainer(mx, [kit.parameter(mx, ctx=kit.devices(mx, count))], options=parameters, **options)

    trainer = made(learning_rate=1.0, lr_scheduler=mx.lr_scheduler.FactorScheduler(2, 0.5, base_lr=1.0))
    x = trainer.optimizer.param_dict[0]
    for _ in range(5):
        mean_step(mx, x, trainer)
    trainer.save_states(check.path("states"))
    other = made(learning_rate=9.0)
    other.load_states(check.path("states"))
    check.equal(other.learning_rate, 0.25, "learning rate")
    mean_step(mx, other.optimizer.param_dict[0], other)
    check.equal(other.optimizer.num_update, 6, "number of updates after one more step")
    mean_step(mx, other.optimizer.param_dict[0], other)
    check.equal(other.learning_rate, 0.125, "learning rate after seven steps in all")
    check.equal(kit.values(other.optimizer.param_dict[0]), [-0.375] * count, "weights: -0.25 - 0.125")


def _check_pair(mx, check, pair):
    check.that(type(pair) is tuple and len(pair) == 2, "the file holds a pair", got=str(type(pair)))
    states, optimizer = pair
    check.isinstance(states, dict, "first of the pair")
    check.equal(sorted(states), [0], "indices")
    check.equal(states[0], [-1.5], "momentum of index 0")
    check.isinstance(optimizer, mx.optimizer.SGD, "second of the pair")
    check.equal(optimizer.momentum, 0.5, "momentum option")


@case("TRAINER-STATE-003", samples={name: MODES[name] for name in ("one_device", "local")})
def file_of_local_updates(mx, check, count, options):
    _, trainer = trained(mx, count, options)
    trainer.save_states(check.path("states"))
    _check_pair(mx, check, _tools.read_states(mx, check.path("states")))


@case("TRAINER-STATE-004")
def file_of_updates_on_the_store(mx, check):
    _, trainer = trained(mx, 2, {"update_on_kvstore": True})
    trainer.save_states(check.path("states"))
    _check_pair(mx, check, _tools.read_states(mx, check.path("states")))


@case("TRAINER-STATE-004")
def the_store_writes_the_file(mx, check):
    x = kit.parameter(mx, ctx=kit.devices(mx, 2))
    store = mx.kv.create("device")
    log = _tools.logged(store, ("save_optimizer_states",))
    trainer = kit.trainer(mx, [x], kvstore=store, update_on_kvstore=True, options=MOMENTUM)
    mean_step(mx, x, trainer)
    trainer.save_states(check.path("states"))
    check.equal(len(log), 1, "calls of save_optimizer_states")
    check.equal(_tools.argument(log[0], 0, "fname"), check.path("states"), "fname")
    check.equal(_tools.argument(log[0], 1, "dump_optimizer", False), True, "dump_optimizer")
    check.that(os.path.exists(check.path("states")), "the file exists")


@case("TRAINER-STATE-004", samples={
    "%s_to_%s" % (source, target): {"source": MODES[source], "target": MODES[target]}
    for source in sorted(MODES) for target in sorted(MODES) if "on_kvstore" in (source, target)})
def file_of_another_mode(mx, check, source, target):
    _, trainer = trained(mx, source["count"], source["options"])
    trainer.save_states(check.path("states"))
    y, other = trained(mx, target["count"], target["options"], steps=0, value=-2.5)
    other.load_states(check.path("states"))
    mean_step(mx, y, other, 2.0)
    check.equal(kit.values(y), [-5.25] * target["count"], "weights: -2.5 - (0.5 * 1.5 + 2)")


@case("TRAINER-STATE-005", samples={name: MODES[name] for name in ("on_kvstore", "local")})
def saving_before_the_firstmean_step(mx, check, count, options):
    x, trainer = trained(mx, count, options, steps=0, value=1.0)
    x.list_data()[1][:] = 7.0
    check.same(kit.kvstore_of(trainer), None, "store before")
    trainer.save_states(check.path("states"))
    check.that(kit.kvstore_of(trainer) is not None, "there is a store afterwards")
    check.equal(kit.values(x), [1.0, 1.0], "weights: the first device's were broadcast")
    check.equal(_tools.read_states(mx, check.path("states"))[0], {}, "states in the file")
    trainer.load_states(check.path("states"))
    check.equal([mean_step(mx, x, trainer) for _ in range(2)], [0.0, -1.5], "weight after each of two steps")


@case("TRAINER-STATE-006", "TRAINER-ERR-006", needs=("sparse",))
def saving_with_a_parameter_not_on_the_store(mx, check):
    with _tools.sparse_world(mx):
        x = _tools.sparse_parameter(mx)
        deferred = mx.gluon.Parameter("deferred", shape=(2, 0), allow_deferred_init=True)
        deferred.initialize(mx.init.Constant(0.0), ctx=mx.cpu(0))
        trainer = kit.trainer(mx, [x, deferred])
        check.raises(AssertionError,
                     "Cannot save trainer states when some parameters are not yet initialized in kvstore",
                     trainer.save_states, check.path("states"))
        check.that(not os.path.exists(check.path("states")), "no file was written")
        x._set_trainer(None)
        trainer = kit.trainer(mx, [x])
        trainer.save_states(check.path("states"))
        check.equal(_tools.read_states(mx, check.path("states"))[0], {}, "states of a trainer whose shapes are known")


@case("TRAINER-STATE-007", samples=MODES)
def saving_before_the_first_forward(mx, check, count, options):
    net = mx.gluon.nn.Dense(2)
    net.initialize(ctx=kit.devices(mx, count))
    trainer = kit.trainer(mx, net.collect_params(), **options)
    check.raises(mx.gluon.parameter.DeferredInitializationError, trainer.save_states, check.path("states"))
    check.that(not os.path.exists(check.path("states")), "no file was written")
    for device in kit.devices(mx, count):
        net(kit.array(mx, [[1.0]], device))
    trainer.save_states(check.path("states"))
    check.equal(_tools.read_states(mx, check.path("states"))[0], {}, "states saved after one forward pass")


@case("TRAINER-STATE-008", samples=MODES)
def multipliers_are_not_saved(mx, check, count, options):
    x, trainer = trained(mx, count, options, steps=0, parameters={"learning_rate": 0.5, "wd": 0.5})
    x.lr_mult, x.wd_mult = 5.0, 7.0
    mean_step(mx, x, trainer)
    trainer.save_states(check.path("states"))
    y, other = trained(mx, count, options, steps=0, value=2.0)
    y.lr_mult = 2.0
    other.load_states(check.path("states"))
    check.equal((y.lr_mult, y.wd_mult), (2.0, 1.0), "multipliers of the parameter")
    check.equal(mean_step(mx, y, other, 0.0), 1.0, "weight: rate 0.5 * 2, decay 0.5 * 1")
    y.lr_mult = 4.0
    check.equal(mean_step(mx, y, other, 0.0), 0.0, "weight: rate 0.5 * 4, decay 0.5 * 1")


@case("TRAINER-STATE-009", samples=MODES)
def parameters_are_linked_again(mx, check, count, options):
    _, trainer = trained(mx, count, options)
    trainer.save_states(check.path("states"))
    y, other = trained(mx, count, options, steps=0)
    other.load_states(check.path("states"))
    check.equal(sorted(other.optimizer.param_dict), [0], "indices")
    check.same(other.optimizer.param_dict[0], y, "param_dict[0]")


@case("TRAINER-STATE-010")
def optimizer_of_the_user_is_replaced(mx, check):
    x = kit.parameter(mx)
    optimizer = mx.optimizer.SGD(learning_rate=0.25)
    trainer = mx.gluon.Trainer([x], optimizer)
    check.same(trainer.optimizer, optimizer, "trainer.optimizer before")
    trainer.save_states(check.path("states"))
    trainer.load_states(check.path("states"))
    check.not_same(trainer.optimizer, optimizer, "trainer.optimizer after loading")
    optimizer.set_learning_rate(9.0)
    check.equal(trainer.learning_rate, 0.25, "learning rate of the trainer")
    check.equal(mean_step(mx, x, trainer), -0.25, "weight after a step")


@case("TRAINER-STATE-011")
def states_of_the_first_device(mx, check):
    x = kit.parameter(mx, ctx=kit.devices(mx, 2))
    trainer = kit.trainer(mx, [x], options=MOMENTUM, update_on_kvstore=False)
    kit.backward(mx, (x, [1.0, 2.0]))
    trainer.update(1)
    check.equal(kit.values(x), [-1.0, -2.0], "weights; their momentum is the same")
    trainer.save_states(check.path("states"))
    trainer.load_states(check.path("states"))
    for number in (1, 2):
        kit.backward(mx, (x, [0.0, 0.0]))
        trainer.update(1)
        moved = 0.5 if number == 1 else 0.75
        check.equal(kit.values(x), [-1.0 - moved, -2.0 - moved], "weights after %d steps by momentum alone" % number)


@case("TRAINER-STATE-012")
def scale_of_the_trainer_stays(mx, check):
    x, trainer = trained(mx, 1, {}, steps=1, parameters={"learning_rate": 1.0, "rescale_grad": 0.5})
    check.equal(kit.value(x), -0.5, "weight of the trainer with the scale 0.5")
    trainer.save_states(check.path("states"))
    y, other = trained(mx, 1, {}, steps=0, parameters={"learning_rate": 1.0})
    other.load_states(check.path("states"))
    check.equal(other.optimizer.rescale_grad, 0.5, "optimizer.rescale_grad after loading")
    kit.backward(mx, (y, 1.0))
    other.step(2)
    check.equal(kit.value(y), -0.5, "weight of the trainer with the scale 1")
    check.equal(other.optimizer.rescale_grad, 0.5, "optimizer.rescale_grad after step(2)")


@case("TRAINER-STATE-012")
def scale_of_the_file_is_not_used(mx, check):
    _, trainer = trained(mx, 1, {}, steps=0, parameters={"learning_rate": 1.0})
    trainer.save_states(check.path("states"))
    y, other = trained(mx, 1, {}, steps=0, parameters={"learning_rate": 1.0, "rescale_grad": 0.25})
    other.load_states(check.path("states"))
    check.equal(mean_step(mx, y, other), -0.25, "weight of the trainer with the scale 0.25")


def _write(path, content):
    with open(path, "wb") as file:
        file.write(content)


@case("TRAINER-STATE-013", samples={
    "missing": {"content": None, "kind": FileNotFoundError},
    "garbage": {"content": b"\xff\xfe no state file", "kind": pickle.UnpicklingError}})
def file_that_cannot_be_read(mx, check, content, kind):
    x, trainer = trained(mx, 1, {})
    if content is not None:
        _write(check.path("states"), content)
    check.raises(kind, trainer.load_states, check.path("states"))
    check.equal(trainer.optimizer.num_update, 2, "number of updates afterwards")
    check.equal(mean_step(mx, x, trainer), -4.25, "weight after a third step: the momentum is kept")


@case("TRAINER-STATE-013")
def folder_that_does_not_exist(mx, check):
    _, trainer = trained(mx, 1, {})
    check.raises(FileNotFoundError, trainer.save_states, os.path.join(check.path("nowhere"), "states"))
    trainer.save_states(check.path("states"))
    check.equal(_tools.read_states(mx, check.path("states"))[0][0], [-1.5], "momentum saved into a proper folder")


@case("TRAINER-STATE-014", samples=MODES)
def weights_are_not_in_the_file(mx, check, count, options):
    _, trainer = trained(mx, count, options)
    trainer.save_states(check.path("states"))
    y, other = trained(mx, count, options, steps=0, value=10.0)
    other.load_states(check.path("states"))
    check.equal(kit.values(y), [10.0] * count, "weights after loading")
    check.equal(mean_step(mx, y, other, 0.0), 9.25, "weight after a step by momentum alone")


@case("TRAINER-STATE-014")
def weights_are_saved_with_the_parameters(mx, check):
    first, second = (mx.gluon.nn.Dense(1, in_units=2) for _ in range(2))
    first.initialize(mx.init.Constant(3.0))
    first.save_parameters(check.path("parameters"))
    second.load_parameters(check.path("parameters"))
    check.equal(second.weight.data(), [[3.0, 3.0]], "weight loaded")


@case("TRAINER-STATE-019", samples=MODES)
def states_of_updated_parameters_only(mx, check, count, options):
    devices = kit.devices(mx, count)
    a, b = kit.parameter(mx, "a", ctx=devices), kit.parameter(mx, "b", ctx=devices, grad_req="null")
    trainer = kit.trainer(mx, [b, a], options=MOMENTUM, **options)
    check.equal(_tools.saved_states(mx, check, trainer), {}, "states before the first step")
    mean_step(mx, a, trainer)
    states = _tools.saved_states(mx, check, trainer)
    check.equal(sorted(states), [1], "indices of the states after a step")
    check.equal(states[1], [-1.0], "momentum of index 1")


@case("TRAINER-STATE-020", samples=MODES)
def loaded_optimizer_is_the_one_in_use(mx, check, count, options):
    x, trainer = trained(mx, count, options)
    trainer.save_states(check.path("states"))
    before = trainer.optimizer
    trainer.load_states(check.path("states"))
    check.not_same(trainer.optimizer, before, "trainer.optimizer after loading")
    trainer.optimizer.set_learning_rate(0.5)
    check.equal(mean_step(mx, x, trainer), -3.75, "weight: -2.5 - (0.5 * 1.5 + 0.5)")
    check.equal(kit.values(x), [-3.75] * count, "every replica")
    check.equal(trainer.optimizer.num_update, 3, "number of updates that trainer.optimizer counted")


@case("TRAINER-STATE-021")
def resumed_with_both_files(mx, check):
    """Gradient of (w . (1, 1) + b) by each weight is 1, so v = -0.1, then -0.19: 1 - 0.29 = 0.71."""
    def run(net, trainer):
        with mx.autograd.record():
            loss = net(kit.array(mx, [[1.0, 1.0], [1.0, 1.0]]))
        loss.backward()
        trainer.step(2)
        return net.weight.data()

    first, second = (mx.gluon.nn.Dense(1, in_units=2) for _ in range(2))
    first.initialize(mx.init.One())
    second.initialize(mx.init.Zero())
    trainer = kit.trainer(mx, first.collect_params(), options={"learning_rate": 0.1, "momentum": 0.9})
    check.close(run(first, trainer), [[0.9, 0.9]], "weight after one step")
    first.save_parameters(check.path("parameters"))
    trainer.save_states(check.path("states"))
    other = kit.trainer(mx, second.collect_params(), options={"learning_rate": 0.5})
    second.load_parameters(check.path("parameters"))
    other.load_states(check.path("states"))
    check.close(run(first, trainer), [[0.71, 0.71]], "weight of the first run after two steps")
    check.close(run(second, other), [[0.71, 0.71]], "weight of the resumed run")


@case("TRAINER-STATE-021", samples={
    "parameters_only": {"states": False, "expected": 0.8}, "states_only": {"states": True, "expected": -0.19}})
def resumed_with_one_file(mx, check, states, expected):
    first, second = (mx.gluon.nn.Dense(1, in_units=1, use_bias=False) for _ in range(2))
    first.initialize(mx.init.One())
    second.initialize(mx.init.Constant(0.0))
    options = {"learning_rate": 0.1, "momentum": 0.9}
    trainer = kit.trainer(mx, first.collect_params(), options=options)
    mean_step(mx, first.weight, trainer)
    other = kit.trainer(mx, second.collect_params(), options=options)
    if states:
        trainer.save_states(check.path("states"))
        other.load_states(check.path("states"))
    else:
        first.save_parameters(check.path("parameters"))
        second.load_parameters(check.path("parameters"))
    check.close(mean_step(mx, second.weight, other), expected, "weight of the run resumed with half of what it needs",
                **_tools.NEAR)
