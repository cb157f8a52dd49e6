"""KVDECIDE-ARG: what the argument kvstore accepts, and which store comes of it."""

import inspect

from conformance.case import case
from conformance.suite import kit
from conformance.suite.kvdecide import stores


@case("KVDECIDE-ARG-001")
def default_in_the_signature(mx, check):
    parameters = inspect.signature(mx.gluon.Trainer.__init__).parameters
    check.equal(parameters["kvstore"].default, "device", "default of kvstore")


@case("KVDECIDE-ARG-001")
def store_without_the_argument(mx, check):
    x = stores.two_replicas(mx)
    trainer = kit.trainer(mx, [x])
    kit.backward(mx, (x, [1.0, 2.0]))
    trainer.step(1)
    check.equal(kit.kvstore_of(trainer).type, "device", "type of the store")
    check.equal(kit.values(x), [-3.0, -3.0], "weights after the step")


@case("KVDECIDE-ARG-002", samples={name: {"name": name} for name in ("device", "local")})
def named_store_on_two_devices(mx, check, name):
    x, trainer = stores.stepped(mx, name)
    check.isinstance(kit.kvstore_of(trainer), mx.kvstore.KVStore, "the store")
    check.equal(kit.kvstore_of(trainer).type, name, "type of the store")
    check.equal(kit.values(x), [-3.0, -3.0], "weights after the step")


@case("KVDECIDE-ARG-003", samples={name: {"name": name} for name in ("device", "local")})
def store_object_on_one_device(mx, check, name):
    store = mx.kvstore.create(name)
    x, trainer = stores.stepped(mx, store, devices=1)
    check.same(kit.kvstore_of(trainer), store, "the store of the trainer")
    check.equal(kit.update_on_kvstore(trainer), True, "update_on_kvstore")
    check.equal(kit.values(x), [-1.0], "weight after the step")


@case("KVDECIDE-ARG-003")
def teststore_object_on_one_device(mx, check):
    store = mx.kvstore.create("teststore")
    x, trainer = stores.stepped(mx, store, devices=1)
    check.same(kit.kvstore_of(trainer), store, "the store of the trainer")
    check.equal(kit.update_on_kvstore(trainer), False, "update_on_kvstore")
    check.equal(kit.values(x), [-1.0], "weight after the step")


@case("KVDECIDE-ARG-003")
def custom_store_object_on_one_device(mx, check):
    store = stores.recording_class(mx)()
    x, trainer = stores.stepped(mx, store, devices=1)
    check.same(kit.kvstore_of(trainer), store, "the store of the trainer")
    check.equal(stores.names(store), ["broadcast", "pushpull"], "calls of the store")
    check.equal(kit.values(x), [-1.0], "weight after the step")


@case("KVDECIDE-ARG-004", samples={name: {"name": name} for name in ("device", "local", "nccl", "teststore")})
def no_store_on_one_device(mx, check, name):
    x, trainer = stores.stepped(mx, name, devices=1)
    check.equal(kit.values(x), [-1.0], "weight after the step")
    check.equal(kit.kvstore_of(trainer), None, "the store")
    check.equal(kit.update_on_kvstore(trainer), None, "update_on_kvstore")


@case("KVDECIDE-ARG-004")
def named_custom_store_is_not_made_for_one_device(mx, check):
    kind = stores.recording_class(mx, name=stores.fresh_name("OneDeviceStore"))
    mx.kvstore.KVStoreBase.register(kind)
    x, _ = stores.stepped(mx, kind.__name__.lower(), devices=1)
    check.equal(kit.values(x), [-1.0], "weight after the step")
    check.equal(kind.made, 0, "stores made for one device")
    stores.stepped(mx, kind.__name__.lower(), devices=2)
    check.equal(kind.made, 1, "stores made for two devices")


@case("KVDECIDE-ARG-005", samples={"foo": {"name": "foo"}, "empty": {"name": ""}})
def any_string_on_one_device(mx, check, name):
    x, trainer = stores.stepped(mx, name, devices=1)
    check.equal(kit.values(x), [-1.0], "weight after the step")
    check.equal(kit.kvstore_of(trainer), None, "the store")


@case("KVDECIDE-ARG-006")
def string_is_handed_to_create(mx, check):
    kind = stores.recording_class(mx, name=stores.fresh_name("HandedStore"))
    mx.kvstore.KVStoreBase.register(kind)
    x, trainer = stores.stepped(mx, kind.__name__.lower())
    check.isinstance(kit.kvstore_of(trainer), kind, "the store")
    check.equal(kind.made, 1, "stores made")
    check.equal(kit.values(x), [-3.0, -3.0], "weights after the step")


@case("KVDECIDE-ARG-006", samples={"LOCAL": {"name": "LOCAL"}, "Device": {"name": "Device"},
                                   "TestStore": {"name": "TestStore"}})
def name_in_any_case(mx, check, name):
    x, trainer = stores.stepped(mx, name)
    check.equal(kit.kvstore_of(trainer).type.lower(), name.lower(), "type of the store")
    check.equal(kit.values(x), [-3.0, -3.0], "weights after the step")


@case("KVDECIDE-ARG-007")
def unknown_name_on_two_devices(mx, check):
    x, trainer = stores.stepped(mx, "foo")
    check.equal(kit.values(x), [-3.0, -3.0], "weights after the step")
    check.equal(kit.kvstore_of(trainer).type, "foo", "type of the store")
    check.equal(kit.update_on_kvstore(trainer), True, "update_on_kvstore")


@case("KVDECIDE-ARG-008")
def none_updates_each_replica_by_itself(mx, check):
    x, trainer = stores.stepped(mx, None)
    check.equal(kit.values(x), [-1.0, -2.0], "weights after the step")
    check.equal(kit.kvstore_of(trainer), None, "the store")
    check.equal(kit.update_on_kvstore(trainer), None, "update_on_kvstore")


@case("KVDECIDE-ARG-009", samples={
    "%s_on_%d" % (name, devices): {"given": given, "devices": devices}
    for name, given in (("number", 1), ("list", ["device"]), ("class", dict)) for devices in (1, 2)})
def other_types_are_refused(mx, check, given, devices):
    x = kit.parameter(mx, value=5.0, ctx=kit.devices(mx, devices))
    trainer = kit.trainer(mx, [x], kvstore=given)
    kit.backward(mx, (x, 1.0))
    check.raises(TypeError, "kvstore must be KVStore, str or None", trainer.step, 1)
    check.equal(kit.values(x), [5.0] * devices, "weights after the error")


@case("KVDECIDE-ARG-010", samples={"number": {"given": 1}, "none": {"given": None}})
def create_refuses_what_is_no_string(mx, check, given):
    check.equal(mx.kvstore.create("device").type, "device", "type of a store made from a string")
    check.raises(TypeError, "name must be a string", mx.kvstore.create, given)


@case("KVDECIDE-ARG-010")
def create_without_a_name(mx, check):
    check.equal(mx.kvstore.create().type, "local", "type of the store made without a name")


@case("KVDECIDE-ARG-011", samples={"horovod": {"name": "horovod"}, "byteps": {"name": "byteps"}})
def outside_stores_are_chosen_by_name(mx, check, name):
    try:
        __import__(name)
    except ImportError:
        check.raises(ImportError, name, mx.kvstore.create, name)
    else:
        check.equal(mx.kvstore.create(name).type, name, "type of the store")


@case("KVDECIDE-ARG-012", samples={
    "%s_%s" % (store, place): {"store": store, "on_store": on_store}
    for store in ("local", "device") for place, on_store in (("on_store", True), ("locally", False))})
def adam_gives_the_same_everywhere(mx, check, store, on_store):
    x = kit.parameter(mx, value=1.0, ctx=kit.devices(mx, 2))
    trainer = kit.trainer(mx, [x], "adam", {"learning_rate": 0.1, "wd": 0.01}, kvstore=store,
                          update_on_kvstore=on_store)
    for _ in range(3):
        kit.backward(mx, (x, [1.0, 0.5]))
        trainer.step(2)
    check.close(kit.values(x), [0.700011, 0.700011], "weights after three steps", rtol=2e-6)
    check.equal(kit.kvstore_of(trainer).type, store, "type of the store")
    check.equal(kit.update_on_kvstore(trainer), on_store, "update_on_kvstore")
