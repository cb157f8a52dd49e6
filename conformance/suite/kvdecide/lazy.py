"""KVDECIDE-LAZY, KVDECIDE-ENV: when the store is made, and the environment variable that is read then."""

from conformance.case import case
from conformance.suite import kit
from conformance.suite.kvdecide import stores


def counting(mx):
    """Register a new store class; return it and its name. Its ``made`` counts the stores that were made."""
    kind = stores.recording_class(mx, name=stores.fresh_name("CountedStore"))
    mx.kvstore.KVStoreBase.register(kind)
    return kind, kind.__name__.lower()


@case("KVDECIDE-LAZY-001")
def store_is_made_at_the_first_step(mx, check):
    kind, name = counting(mx)
    x = stores.two_replicas(mx)
    trainer = kit.trainer(mx, [x], kvstore=name)
    kit.backward(mx, (x, 1.0))
    check.equal(kind.made, 0, "stores made by the constructor")
    check.equal(kit.kvstore_of(trainer), None, "the store before the first step")
    trainer.step(1)
    check.equal(kind.made, 1, "stores made after the first step")
    kit.backward(mx, (x, 1.0))
    trainer.step(1)
    check.equal(kind.made, 1, "stores made after the second step")
    check.equal(kit.values(x), [-4.0, -4.0], "weights after two steps")


@case("KVDECIDE-LAZY-001")
def parameters_are_handed_over_at_the_first_step(mx, check):
    store = stores.recording_class(mx)()
    x, y = stores.two_replicas(mx, name="x"), stores.two_replicas(mx, name="y")
    trainer = kit.trainer(mx, [x, y], kvstore=store)
    kit.backward(mx, (x, 1.0), (y, 1.0))
    check.equal(stores.names(store), [], "calls of the store before the first step")
    trainer.step(1)
    check.equal(stores.names(store).count("broadcast"), 2, "broadcasts after the first step")
    kit.backward(mx, (x, 1.0), (y, 1.0))
    trainer.step(1)
    check.equal(stores.names(store).count("broadcast"), 2, "broadcasts after the second step")


@case("KVDECIDE-LAZY-002")
def step_makes_the_store(mx, check):
    kind, name = counting(mx)
    x = stores.two_replicas(mx)
    trainer = kit.trainer(mx, [x], kvstore=name)
    kit.backward(mx, (x, 1.0))
    check.equal(kind.made, 0, "stores made before")
    trainer.step(1)
    check.equal(kind.made, 1, "stores made after step")


@case("KVDECIDE-LAZY-002")
def save_states_makes_the_store(mx, check):
    kind, name = counting(mx)
    trainer = kit.trainer(mx, [stores.two_replicas(mx)], kvstore=name)
    check.equal(kind.made, 0, "stores made before")
    trainer.save_states(check.path("states"))
    check.equal(kind.made, 1, "stores made after save_states")


def load(mx, check, trainer):
    saving = kit.trainer(mx, [stores.two_replicas(mx)])
    saving.save_states(check.path("states"))
    trainer.load_states(check.path("states"))


@case("KVDECIDE-LAZY-003", samples={
    "load_states": {"act": load},
    "allreduce_grads": {"act": lambda mx, check, trainer: trainer.allreduce_grads()},
    "update": {"act": lambda mx, check, trainer: trainer.update(1)}})
def call_makes_the_store(mx, check, act):
    kind, name = counting(mx)
    x = stores.two_replicas(mx)
    trainer = kit.trainer(mx, [x], kvstore=name, update_on_kvstore=False)
    kit.backward(mx, (x, 1.0))
    check.equal(kind.made, 0, "stores made before")
    act(mx, check, trainer)
    check.equal(kind.made, 1, "stores made after the call")


@case("KVDECIDE-LAZY-003", needs=("sparse",))
def row_sparse_data_makes_the_store(mx, check):
    with kit.legacy_mode(mx):
        x = stores.sparse_parameter(mx)
        trainer = kit.trainer(mx, [x])
        check.equal(kit.kvstore_of(trainer), None, "the store before")
        rows = x.row_sparse_data(mx.nd.array([0, 2]))
        check.equal(rows.indices, [0, 2], "rows that came")
        check.isinstance(kit.kvstore_of(trainer), mx.kvstore.KVStore, "the store afterwards")


@case("KVDECIDE-LAZY-003")
def learning_rate_does_not_make_the_store(mx, check):
    kind, name = counting(mx)
    x = stores.two_replicas(mx)
    trainer = kit.trainer(mx, [x], kvstore=name)
    check.equal(trainer.learning_rate, 1.0, "the learning rate")
    trainer.set_learning_rate(0.5)
    check.equal(trainer.learning_rate, 0.5, "the learning rate that was set")
    check.equal(kind.made, 0, "stores made by reading and setting the learning rate")
    kit.backward(mx, (x, 1.0))
    trainer.step(1)
    check.equal(kind.made, 1, "stores made by the step that follows")


@case("KVDECIDE-LAZY-004")
def variable_is_read_when_the_store_is_made(mx, check):
    x = stores.two_replicas(mx)
    with check.environment(MXNET_UPDATE_ON_KVSTORE="1"):
        trainer = kit.trainer(mx, [x])
    with check.environment(MXNET_UPDATE_ON_KVSTORE="0"):
        kit.backward(mx, (x, [1.0, 2.0]))
        trainer.step(1)
    check.equal(kit.update_on_kvstore(trainer), False, "update_on_kvstore")
    check.equal([float(kit.gradient(x, i)[0]) for i in range(2)], [3.0, 3.0], "gradients after the step")
    with check.environment(MXNET_UPDATE_ON_KVSTORE="1"):
        kit.backward(mx, (x, [1.0, 2.0]))
        trainer.step(1)
    check.equal(kit.update_on_kvstore(trainer), False, "update_on_kvstore once the store is there")


@case("KVDECIDE-ENV-001", samples={
    "unset": {"text": None, "wanted": True}, "0": {"text": "0", "wanted": False},
    "1": {"text": "1", "wanted": True}, "2": {"text": "2", "wanted": True}, "-1": {"text": "-1", "wanted": True}})
def variable_decides(mx, check, text, wanted):
    with check.environment(MXNET_UPDATE_ON_KVSTORE=text):
        stores.check_decision(mx, check, wanted)


@case("KVDECIDE-ENV-002", samples={"0_true": {"text": "0", "given": True}, "1_false": {"text": "1", "given": False}})
def argument_overrides_the_variable(mx, check, text, given):
    with check.environment(MXNET_UPDATE_ON_KVSTORE=text):
        stores.check_decision(mx, check, given, update_on_kvstore=given)


@case("KVDECIDE-ENV-003", samples={
    "%s_%s" % (name, where): {"text": text, "devices": devices, "options": options}
    for name, text in (("abc", "abc"), ("empty", ""))
    for where, devices, options in (("undecided", 2, {}), ("explicit", 2, {"update_on_kvstore": True}),
                                    ("one_device", 1, {}))})
def no_integer_fails(mx, check, text, devices, options):
    x = kit.parameter(mx, value=5.0, ctx=kit.devices(mx, devices))
    trainer = kit.trainer(mx, [x], **options)
    kit.backward(mx, (x, 1.0))
    with check.environment(MXNET_UPDATE_ON_KVSTORE=text):
        check.raises(ValueError, "invalid literal for int()", trainer.step, 1)
    check.equal(kit.values(x), [5.0] * devices, "weights after the error")


@case("KVDECIDE-ENV-004", samples={
    "dist_sync": {"kind": "dist_sync", "wanted": False}, "dist_async": {"kind": "dist_async", "wanted": True}})
def variable_and_a_store_that_calls_itself_distributed(mx, check, kind, wanted):
    store = stores.recording_class(mx, kind, optimizer=True)()
    with check.environment(MXNET_UPDATE_ON_KVSTORE="0"):
        stores.check_decision(mx, check, wanted, kvstore=store)


@case("KVDECIDE-ENV-004", needs=("sparse",))
def variable_is_ignored_for_sparse_weights(mx, check):
    with kit.legacy_mode(mx), check.environment(MXNET_UPDATE_ON_KVSTORE="0"):
        x = stores.sparse_parameter(mx)
        trainer = kit.trainer(mx, [x])
        stores.sparse_backward(mx, x, 1)
        trainer.step(1)
        check.equal(kit.update_on_kvstore(trainer), True, "update_on_kvstore")
        rows = x.row_sparse_data(mx.nd.array([0, 1, 2])).asnumpy()
        check.equal(rows, [[1.0], [-1.0], [1.0]], "weight after the step")


@case("KVDECIDE-ENV-004", needs=("sparse",), samples={
    "unset_none": {"text": None, "given": None, "wanted": False},
    "0_none": {"text": "0", "given": None, "wanted": False},
    "1_none": {"text": "1", "given": None, "wanted": False},
    "0_true": {"text": "0", "given": True, "wanted": True}})
def variable_is_ignored_for_sparse_gradients(mx, check, text, given, wanted):
    with kit.legacy_mode(mx), check.environment(MXNET_UPDATE_ON_KVSTORE=text):
        x = stores.sparse_parameter(mx, weight="default")
        trainer = kit.trainer(mx, [x], update_on_kvstore=given)
        stores.sparse_backward(mx, x, 1)
        trainer.step(1)
        check.equal(kit.update_on_kvstore(trainer), wanted, "update_on_kvstore")
        for device in x.list_ctx():
            check.equal(x.data(device).asnumpy(), [[1.0], [-1.0], [1.0]], "weight after the step")
