"""KVDECIDE-CAP: what a store can do, and stores of one's own."""

from conformance.case import case
from conformance.suite import kit
from conformance.suite.kvdecide import stores


@case("KVDECIDE-CAP-001", samples={"local": {"name": "local", "wanted": True},
                                   "device": {"name": "device", "wanted": True},
                                   "teststore": {"name": "teststore", "wanted": False}})
def optimizer_capability(mx, check, name, wanted):
    check.equal(mx.kvstore.create(name).is_capable("optimizer"), wanted, "is_capable('optimizer') of %s" % name)
    stores.check_decision(mx, check, wanted, name)


@case("KVDECIDE-CAP-002", samples={"local": {"name": "local", "wanted": True},
                                   "teststore": {"name": "teststore", "wanted": False}})
def capability_in_any_case(mx, check, name, wanted):
    check.equal(mx.kvstore.KVStoreBase.OPTIMIZER, "optimizer", "name of the capability")
    for spelling in ("OPTIMIZER", "Optimizer"):
        check.equal(mx.kvstore.create(name).is_capable(spelling), wanted, "is_capable(%r)" % spelling)


@case("KVDECIDE-CAP-002", samples={name: {"name": name} for name in ("local", "device", "teststore")})
def unknown_capability(mx, check, name):
    store = mx.kvstore.create(name)
    check.equal(store.type, name, "type of the store")
    check.raises(ValueError, "Unknown capability: foo", store.is_capable, "foo")


@case("KVDECIDE-CAP-003", samples={"none": {"given": None}, "true": {"given": True}})
def p3_store_has_no_optimizer(mx, check, given):
    x = stores.two_replicas(mx, value=5.0)
    trainer = kit.trainer(mx, [x], update_on_kvstore=given)
    kit.backward(mx, (x, [1.0, 2.0]))
    with check.environment(DMLC_PS_VAN_TYPE="p3"):
        if given:
            check.raises(ValueError, "Please set update_on_kvstore=False when training with", trainer.step, 1)
            check.equal(kit.values(x), [5.0, 5.0], "weights after the error")
        else:
            trainer.step(1)
            check.equal(kit.update_on_kvstore(trainer), False, "update_on_kvstore")
            check.equal(kit.values(x), [2.0, 2.0], "weights after the step")


@case("KVDECIDE-CAP-003", needs=("sparse",))
def p3_store_and_sparse_weights(mx, check):
    with kit.legacy_mode(mx), check.environment(DMLC_PS_VAN_TYPE="p3"):
        trainer = kit.trainer(mx, [stores.sparse_parameter(mx)])
        check.raises(AssertionError, trainer.step, 1)


ARGUMENTS = {
    "broadcast": ("0", None, None), "pushpull": ("0", None), "set_optimizer": (None,), "is_capable": ("optimizer",),
    "save_optimizer_states": ("file",), "load_optimizer_states": ("file",)}


@case("KVDECIDE-CAP-004", samples={name: {"name": name, "arguments": given} for name, given in ARGUMENTS.items()})
def abstract_method(mx, check, name, arguments):
    class Empty(mx.kvstore.KVStoreBase):
        pass

    class Filled(mx.kvstore.KVStoreBase):
        pass

    setattr(Filled, name, lambda self, *args: ("filled", len(args)))
    check.equal(getattr(Filled(), name)(*arguments), ("filled", len(arguments)), "%s that is overridden" % name)
    check.raises(NotImplementedError, getattr(Empty(), name), *arguments)


@case("KVDECIDE-CAP-004", samples={name: {"name": name} for name in ("type", "rank", "num_workers")})
def abstract_property(mx, check, name):
    class Empty(mx.kvstore.KVStoreBase):
        pass

    class Filled(mx.kvstore.KVStoreBase):
        pass

    setattr(Filled, name, property(lambda self: "filled"))
    check.equal(getattr(Filled(), name), "filled", "%s that is overridden" % name)
    check.raises(NotImplementedError, getattr, Empty(), name)


@case("KVDECIDE-CAP-005", samples={"lower": {"lower": True}, "as_written": {"lower": False}})
def registered_store_is_created_by_name(mx, check, lower):
    name = stores.fresh_name("OwnStore")
    kind = stores.recording_class(mx, name=name)
    returned = mx.kvstore.KVStoreBase.register(kind)
    check.same(returned, kind, "the class that register returns")
    check.isinstance(mx.kvstore.create(name.lower() if lower else name), kind, "the store that was created")


@case("KVDECIDE-CAP-005")
def registering_a_name_again_warns(mx, check):
    name = stores.fresh_name("TwiceStore")
    first, second = stores.recording_class(mx, name=name), stores.recording_class(mx, name=name)
    with check.no_warning(UserWarning):
        mx.kvstore.KVStoreBase.register(first)
    with check.warns(UserWarning, "New kvstore", "is overriding existing kvstore"):
        mx.kvstore.KVStoreBase.register(second)
    made = mx.kvstore.create(name)
    check.isinstance(made, second, "the store that was created")


@case("KVDECIDE-CAP-006")
def dense_training_calls_broadcast_and_pushpull(mx, check):
    asked = []
    kind = stores.recording_class(mx)
    capable = kind.is_capable

    def listening(capability):
        asked.append(capability)
        return capable(capability)

    kind.is_capable = staticmethod(listening)
    store = kind()
    x, y = stores.two_replicas(mx, name="x"), stores.two_replicas(mx, name="y")
    trainer = kit.trainer(mx, [x, y], kvstore=store)
    kit.backward(mx, (x, 1.0), (y, 2.0))
    trainer.step(2)
    check.equal(asked, ["optimizer"], "capabilities that were asked for")
    check.equal(stores.names(store), ["broadcast"] * 2 + ["pushpull"] * 2, "calls of the store")
    check.equal([call[1] for call in store.calls], [0, 1, 0, 1], "their keys")
    check.equal([call[4] for call in store.calls], [0, 0, 0, -1], "their priorities")
    check.equal([len(call[3]) for call in store.calls[:2]], [2, 2], "number of replicas in each broadcast")
    check.equal([len(call[2]) for call in store.calls[2:]], [2, 2], "number of gradients in each pushpull")
    check.equal([call[3] for call in store.calls[2:]], [None, None], "out of each pushpull")
    check.equal(kit.values(x), [-1.0, -1.0], "weights of the first parameter")
    check.equal(kit.values(y), [-2.0, -2.0], "weights of the second parameter")
    check.equal(kit.update_on_kvstore(trainer), False, "update_on_kvstore")


@case("KVDECIDE-CAP-006")
def pushpull_receives_the_gradients_themselves(mx, check):
    store = stores.recording_class(mx)()
    x, _ = stores.stepped(mx, store)
    given = next(call for call in store.calls if call[0] == "pushpull")[2]
    check.equal([float(array.asnumpy()[0]) for array in given], [3.0, 3.0], "what the store wrote in place")
    check.equal([float(kit.gradient(x, i)[0]) for i in range(2)], [3.0, 3.0], "gradients of the parameter")


@case("KVDECIDE-CAP-007")
def capable_store_receives_the_optimizer_once(mx, check):
    store = stores.recording_class(mx, optimizer=True)()
    x = stores.two_replicas(mx)
    trainer = kit.trainer(mx, [x], kvstore=store)
    seen = []
    for _ in range(2):
        kit.backward(mx, (x, 1.0))
        trainer.step(2)
        seen.append(kit.values(x))
    check.equal(seen, [[-1.0, -1.0], [-2.0, -2.0]], "weights after each step")
    check.equal(kit.update_on_kvstore(trainer), True, "update_on_kvstore")
    check.equal(stores.names(store).count("set_optimizer"), 1, "number of set_optimizer calls")
    given = next(call[1] for call in store.calls if call[0] == "set_optimizer")
    check.isinstance(given, mx.optimizer.SGD, "what set_optimizer received")


@case("KVDECIDE-CAP-007")
def capable_store_writes_the_weights(mx, check):
    store = stores.recording_class(mx, optimizer=True)()
    x, _ = stores.stepped(mx, store)
    out = next(call for call in store.calls if call[0] == "pushpull")[3]
    check.equal([float(array.asnumpy()[0]) for array in out], [-3.0, -3.0], "out of pushpull after the step")
    out[0][:] = 7.0
    check.equal(kit.value(x, 0), 7.0, "weight of the parameter after a write into out")


@case("KVDECIDE-CAP-007")
def save_states_asks_the_store(mx, check):
    asked = []
    kind = stores.recording_class(mx, optimizer=True)
    kind.save_optimizer_states = lambda self, fname, dump_optimizer=False: asked.append(fname)
    _, trainer = stores.stepped(mx, kind())
    trainer.save_states("somewhere")
    check.equal(asked, ["somewhere"], "file names that the store received")


@case("KVDECIDE-CAP-007")
def save_states_of_a_store_that_cannot(mx, check):
    x, trainer = stores.stepped(mx, stores.recording_class(mx, optimizer=True)())
    check.equal(kit.values(x), [-3.0, -3.0], "weights after the step")
    check.raises(NotImplementedError, trainer.save_states, check.path("states"))


@case("KVDECIDE-CAP-008", samples={
    "mydist": {"kind": "mydist", "given": False, "wanted": False},
    "distant": {"kind": "distant", "given": None, "wanted": True},
    "async_alone": {"kind": "my_async", "given": False, "wanted": False},
    "mydist_async": {"kind": "mydist_async", "given": None, "wanted": True}})
def type_of_a_capable_store(mx, check, kind, given, wanted):
    store = stores.recording_class(mx, kind, optimizer=True)()
    trainer = stores.check_decision(mx, check, wanted, store, update_on_kvstore=given)
    check.equal(bool(trainer._distributed), "dist" in kind, "the trainer counts as distributed")


@case("KVDECIDE-CAP-008")
def async_type_refuses_local_updates(mx, check):
    x = stores.two_replicas(mx, value=5.0)
    store = stores.recording_class(mx, "mydist_async")()
    trainer = kit.trainer(mx, [x], kvstore=store, update_on_kvstore=False)
    kit.backward(mx, (x, 1.0))
    check.raises(ValueError, "Please set update_on_kvstore=True when training in async mode.", trainer.step, 1)
    check.equal(kit.values(x), [5.0, 5.0], "weights after the error")


@case("KVDECIDE-CAP-008")
def async_type_without_the_capability(mx, check):
    stores.check_decision(mx, check, False, stores.recording_class(mx, "mydist_async")())
