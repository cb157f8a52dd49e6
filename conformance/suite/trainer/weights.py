"""TRAINER-STATE-015 to 018: weights that are replaced, initialised again or moved under a trainer."""

from conformance.case import case
from conformance.suite import kit
from conformance.suite.trainer._tools import MOMENTUM, mean_step, trained


@case("TRAINER-STATE-015", samples={
    "on_kvstore": {"on_kvstore": True, "expected": 9.0}, "local": {"on_kvstore": False, "expected": 8.5}})
def set_data_and_the_store(mx, check, on_kvstore, expected):
    x, trainer = trained(mx, 2, {"update_on_kvstore": on_kvstore}, steps=1)
    x.set_data(kit.array(mx, [10.0]))
    check.equal(kit.kvstore_of(trainer) is None, on_kvstore, "whether the store was dropped")
    check.equal(kit.values(x), [10.0, 10.0], "weights after set_data")
    check.equal(mean_step(mx, x, trainer), expected, "weight after the next step, without or with the old momentum")
    check.that(kit.kvstore_of(trainer) is not None, "there is a store after the step")


@case("TRAINER-STATE-015")
def load_parameters_and_the_store(mx, check):
    net = mx.gluon.nn.Dense(1, in_units=1, use_bias=False)
    net.initialize(mx.init.Constant(10.0), ctx=kit.devices(mx, 2))
    net.save_parameters(check.path("parameters"))
    trainer = kit.trainer(mx, net.collect_params(), options=MOMENTUM, update_on_kvstore=True)
    check.equal(mean_step(mx, net.weight, trainer), 9.0, "weight after a step")
    net.load_parameters(check.path("parameters"), ctx=kit.devices(mx, 2))
    check.equal(mean_step(mx, net.weight, trainer), 9.0, "weight loaded and stepped without the old momentum")


@case("TRAINER-STATE-016")
def initialising_again(mx, check):
    x = kit.parameter(mx, ctx=kit.devices(mx, 2))
    trainer = kit.trainer(mx, [x], update_on_kvstore=True)
    mean_step(mx, x, trainer)
    x.initialize(mx.init.Constant(10.0), ctx=kit.devices(mx, 2), force_reinit=True)
    check.equal(kit.values(x), [10.0, 10.0], "weights initialised again")
    mean_step(mx, x, trainer)
    check.equal(kit.values(x), [-2.0, -2.0], "weights after the next step: the store's copy went on")


@case("TRAINER-STATE-017")
def store_of_the_user_and_set_data(mx, check):
    x = kit.parameter(mx, ctx=kit.devices(mx, 2))
    trainer = kit.trainer(mx, [x], kvstore=mx.kv.create("device"), update_on_kvstore=True)
    check.equal(mean_step(mx, x, trainer), -1.0, "weight after a step")
    x.set_data(kit.array(mx, [10.0]))
    kit.backward(mx, (x, 1.0))
    check.raises(mx.base.MXNetError, "duplicate init of key 0", trainer.step, 2)
    check.equal(kit.values(x), [10.0, 10.0], "weights afterwards")


@case("TRAINER-STATE-017")
def store_of_two_trainers(mx, check):
    store = mx.kv.create("device")
    x, y = (kit.parameter(mx, name, ctx=kit.devices(mx, 2)) for name in "xy")
    first, second = (kit.trainer(mx, [p], kvstore=store, update_on_kvstore=True) for p in (x, y))
    check.equal(mean_step(mx, x, first), -1.0, "weight of the first trainer")
    kit.backward(mx, (y, 1.0))
    check.raises(mx.base.MXNetError, "duplicate init of key 0", second.step, 2)
    check.equal(kit.values(y), [0.0, 0.0], "weights of the second trainer")


@case("TRAINER-STATE-018")
def moved_before_the_firstmean_step(mx, check):
    x = kit.parameter(mx)
    trainer = kit.trainer(mx, [x])
    move = x.reset_device if hasattr(x, "reset_device") else x.reset_ctx
    move(kit.devices(mx, 2))
    kit.backward(mx, (x, 1.0))
    trainer.step(1)
    check.same(kit.kvstore_of(trainer), None, "store")
    check.equal(kit.values(x), [-1.0, 0.0], "weights")
