"""KVDECIDE-DENSE, KVDECIDE-BIG: where the updates of dense parameters run."""

from conformance.case import case
from conformance.suite import kit
from conformance.suite.kvdecide import stores

ASYNC = "Please set update_on_kvstore=True when training in async mode."


@case("KVDECIDE-DENSE-001", samples={name: {"store": name} for name in ("local", "device")})
def undecided_means_on_the_store(mx, check, store):
    stores.check_decision(mx, check, True, store)


@case("KVDECIDE-DENSE-002", samples={
    "%s_%s" % (store, given): {"store": store, "given": given}
    for store in ("local", "device") for given in (True, False)})
def explicit_decision_is_obeyed(mx, check, store, given):
    stores.check_decision(mx, check, given, store, update_on_kvstore=given)


@case("KVDECIDE-DENSE-002", samples={"true": {"given": True}, "false": {"given": False}})
def explicit_decision_is_obeyed_on_a_store_of_type_dist_sync(mx, check, given):
    store = stores.recording_class(mx, "dist_sync", optimizer=True)()
    stores.check_decision(mx, check, given, store, update_on_kvstore=given)


@case("KVDECIDE-DENSE-003")
def async_store_updates_on_the_store(mx, check):
    store = stores.recording_class(mx, "dist_async", optimizer=True)()
    with check.environment(MXNET_UPDATE_ON_KVSTORE="0"):
        stores.check_decision(mx, check, True, store)


@case("KVDECIDE-DENSE-004")
def async_store_refuses_local_updates(mx, check):
    store = stores.recording_class(mx, "dist_async", optimizer=True)()
    x = stores.two_replicas(mx, value=5.0)
    trainer = kit.trainer(mx, [x], kvstore=store, update_on_kvstore=False)
    kit.backward(mx, (x, 1.0))
    check.raises(ValueError, ASYNC, trainer.step, 1)
    check.equal(kit.values(x), [5.0, 5.0], "weights after the error")
    check.that("pushpull" not in stores.names(store), "the store received no gradient", got=stores.names(store))


@case("KVDECIDE-DENSE-005", samples={"name": {"by_name": True}, "object": {"by_name": False}})
def store_without_optimizer_falls_back(mx, check, by_name):
    x = stores.two_replicas(mx)
    store = "teststore" if by_name else mx.kvstore.create("teststore")
    trainer = kit.trainer(mx, [x], "sgd", {"learning_rate": 1.0, "momentum": 0.5}, kvstore=store)
    kit.backward(mx, (x, 1.0))
    with check.no_warning(UserWarning):
        trainer.step(1)
    check.equal(kit.update_on_kvstore(trainer), False, "update_on_kvstore")
    check.equal(kit.values(x), [-2.0, -2.0], "weights after the step")
    check.equal([float(kit.gradient(x, i)[0]) for i in range(2)], [2.0, 2.0], "gradients after the step")
    kit.backward(mx, (x, 1.0))
    trainer.step(1)
    check.equal(kit.values(x), [-5.0, -5.0], "weights after the second step, with momentum .5")


@case("KVDECIDE-DENSE-006", samples={"name": {"by_name": True}, "object": {"by_name": False}})
def store_without_optimizer_refuses_true(mx, check, by_name):
    x = stores.two_replicas(mx, value=5.0)
    store = "teststore" if by_name else mx.kvstore.create("teststore")
    trainer = kit.trainer(mx, [x], kvstore=store, update_on_kvstore=True)
    kit.backward(mx, (x, 1.0))
    check.raises(ValueError, "Please set update_on_kvstore=False when training with", "TestStore", trainer.step, 1)
    check.equal(kit.values(x), [5.0, 5.0], "weights after the error")


@case("KVDECIDE-DENSE-007", samples={"none": {"given": None, "wanted": True},
                                     "false": {"given": False, "wanted": False}})
def synchronous_distributed_store(mx, check, given, wanted):
    store = stores.recording_class(mx, "dist_sync", optimizer=True)()
    stores.check_decision(mx, check, wanted, store, update_on_kvstore=given)


@case("KVDECIDE-DENSE-008", samples={
    "one_device": {"devices": 1, "store": "device"}, "no_store": {"devices": 2, "store": None}})
def true_without_a_store(mx, check, devices, store):
    x = kit.parameter(mx, value=5.0, ctx=kit.devices(mx, devices))
    try:
        trainer = kit.trainer(mx, [x], kvstore=store, update_on_kvstore=True)
        kit.backward(mx, (x, 1.0))
        trainer.step(1)
    except ValueError as error:
        check.contains(str(error), "update_on_kvstore", doing="message of the refusal")
        check.equal(kit.values(x), [5.0] * devices, "weights after the refusal")
    except Exception as error:  # noqa: BLE001 - any other type is what the rule forbids
        check.that(False, "updates fall back or are refused with a ValueError", "either", repr(error))
    else:
        check.equal(kit.values(x), [4.0] * devices, "weights after local updates")


@case("KVDECIDE-DENSE-009", samples={"none": {"given": None}, "false": {"given": False}})
def flag_without_a_store(mx, check, given):
    x, trainer = stores.stepped(mx, devices=1, update_on_kvstore=given)
    check.equal(kit.values(x), [-1.0], "weight after the step")
    check.equal(kit.update_on_kvstore(trainer), None, "update_on_kvstore")


@case("KVDECIDE-DENSE-010", samples={"1": {"given": 1, "wanted": True}, "0": {"given": 0, "wanted": False},
                                     "yes": {"given": "yes", "wanted": True}})
def truth_value_counts(mx, check, given, wanted):
    stores.check_decision(mx, check, wanted, update_on_kvstore=given)


@case("KVDECIDE-DENSE-011", samples={
    "none": {"given": None, "wanted": True}, "true": {"given": True, "wanted": True},
    "false": {"given": False, "wanted": False}})
def scheduler_leaves_the_decision_alone(mx, check, given, wanted):
    x = stores.two_replicas(mx)
    scheduler = mx.lr_scheduler.FactorScheduler(1, 0.5, base_lr=1.0)
    trainer = kit.trainer(mx, [x], "sgd", {"learning_rate": 1.0, "lr_scheduler": scheduler}, update_on_kvstore=given)
    seen = []
    for _ in range(3):
        kit.backward(mx, (x, 1.0))
        trainer.step(2)
        seen.append(kit.value(x))
    check.equal(kit.update_on_kvstore(trainer), wanted, "update_on_kvstore")
    check.equal(seen, [-1.0, -1.5, -1.75], "weight after each step, with rates 1, .5, .25")


@case("KVDECIDE-DENSE-011", needs=("sparse",), samples={"true": {"given": True}, "false": {"given": False}})
def scheduler_with_sparse_gradients(mx, check, given):
    with kit.legacy_mode(mx):
        x = stores.sparse_parameter(mx, weight="default", value=0.0)
        scheduler = mx.lr_scheduler.FactorScheduler(1, 0.5, base_lr=1.0)
        trainer = kit.trainer(mx, [x], "sgd", {"learning_rate": 1.0, "lr_scheduler": scheduler},
                              update_on_kvstore=given)
        for _ in range(2):
            stores.sparse_backward(mx, x, 1)
            trainer.step(2)
        check.equal(kit.update_on_kvstore(trainer), given, "update_on_kvstore")
        check.equal(x.data(mx.cpu(0)).asnumpy(), [[0.0], [-1.5], [0.0]], "weight after two steps")


@case("KVDECIDE-DENSE-012")
def async_store_forces_and_refuses(mx, check):
    kind = stores.recording_class(mx, "dist_async", optimizer=True)
    stores.check_decision(mx, check, True, kind())
    x = stores.two_replicas(mx, value=5.0)
    trainer = kit.trainer(mx, [x], kvstore=kind(), update_on_kvstore=False)
    kit.backward(mx, (x, 1.0))
    check.raises(ValueError, "update_on_kvstore", trainer.step, 1)
    check.equal(kit.values(x), [5.0, 5.0], "weights after the error")


@case("KVDECIDE-DENSE-012", needs=("sparse",))
def sparse_weights_force_and_refuse_on_one_machine(mx, check):
    with kit.legacy_mode(mx):
        x = stores.sparse_parameter(mx)
        trainer = kit.trainer(mx, [x])
        stores.sparse_backward(mx, x, 1)
        trainer.step(1)
        check.equal(kit.update_on_kvstore(trainer), True, "update_on_kvstore")
        y = stores.sparse_parameter(mx)
        refusing = kit.trainer(mx, [y], update_on_kvstore=False)
        check.raises(ValueError, "Cannot set update_on_kvstore=False when sparse weights are present", refusing.step, 1)


LIMIT = 16 * 1024 * 1024


def decided(mx, check, wanted, store, sizes, **keywords):
    """Two devices, byte parameters of these sizes that take no gradient, and a small one that is trained."""
    small = stores.two_replicas(mx, name="small")
    large = [stores.two_replicas(mx, name="large%d" % i, shape=shape, dtype="int8", grad_req="null")
             for i, shape in enumerate(sizes)]
    trainer = kit.trainer(mx, large + [small], kvstore=store, **keywords)
    kit.backward(mx, (small, [1.0, 2.0]))
    trainer.step(1)
    check.equal(kit.update_on_kvstore(trainer), wanted, "update_on_kvstore")
    check.equal(kit.values(small), [-3.0, -3.0], "weights of the small parameter after the step")
    gradients = [float(kit.gradient(small, i)[0]) for i in range(2)]
    check.equal(gradients, [1.0, 2.0] if wanted else [3.0, 3.0], "gradients of the small parameter after the step")


@case("KVDECIDE-BIG-001", samples={"at_the_limit": {"size": LIMIT, "wanted": True},
                                   "above_it": {"size": LIMIT + 1, "wanted": False}})
def number_of_elements_decides(mx, check, size, wanted):
    decided(mx, check, wanted, "local", [(size,)])


@case("KVDECIDE-BIG-002", samples={name: {"store": name} for name in ("device", "LOCAL", "local_allreduce_cpu")})
def other_names_have_no_limit(mx, check, store):
    decided(mx, check, True, store, [(LIMIT + 1,)])


@case("KVDECIDE-BIG-002")
def local_store_object_has_no_limit(mx, check):
    decided(mx, check, True, mx.kvstore.create("local"), [(LIMIT + 1,)])


@case("KVDECIDE-BIG-002")
def store_of_type_dist_sync_has_no_limit(mx, check):
    decided(mx, check, True, stores.recording_class(mx, "dist_sync", optimizer=True)(), [(LIMIT + 1,)])


@case("KVDECIDE-BIG-003")
def sum_of_the_sizes_does_not_count(mx, check):
    decided(mx, check, True, "local", [(4096, 2049), (4096, 2049)])


@case("KVDECIDE-BIG-003")
def largest_parameter_counts_wherever_it_stands(mx, check):
    decided(mx, check, False, "local", [(3,), (4096, 4097), (2,)])


@case("KVDECIDE-BIG-004")
def explicit_true_overrides_the_limit(mx, check):
    decided(mx, check, True, "local", [(LIMIT + 1,)], update_on_kvstore=True)
