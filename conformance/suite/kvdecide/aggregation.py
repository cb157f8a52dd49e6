"""KVDECIDE-AGG: aggregated updates cannot run on the store."""

import numpy as np

from conformance.case import case
from conformance.suite import kit
from conformance.suite.kvdecide import stores

ADAPTIVE = ("lamb", "lans", "adamw", "adabelief")
MESSAGE = "Cannot set update_on_kvstore=True when optimizer.aggregate_num > 1."


@case("KVDECIDE-AGG-001", samples={
    "sgd_4": {"optimizer": "sgd", "options": {"aggregate_num": 4}},
    "sgd_inf": {"optimizer": "sgd", "options": {"aggregate_num": np.inf}},
    "adam_3": {"optimizer": "adam", "options": {"aggregate_num": 3}},
    "lamb": {"optimizer": "lamb", "options": {}}, "lans": {"optimizer": "lans", "options": {}},
    "adamw": {"optimizer": "adamw", "options": {}}, "adabelief": {"optimizer": "adabelief", "options": {}}})
def aggregation_updates_locally(mx, check, optimizer, options):
    x, trainer = stores.stepped(mx, optimizer=optimizer, options=dict({"learning_rate": 0.1}, **options))
    check.equal(kit.update_on_kvstore(trainer), False, "update_on_kvstore")
    check.that(kit.value(x, 0) < 0 and kit.value(x, 1) < 0, "the weights moved", got=kit.values(x))
    check.equal([float(kit.gradient(x, i)[0]) for i in range(2)], [3.0, 3.0], "gradients after the step")


def refused(mx, check, optimizer, options, devices):
    x = kit.parameter(mx, ctx=kit.devices(mx, devices))
    check.raises(ValueError, MESSAGE, kit.trainer, mx, [x], optimizer, options, update_on_kvstore=True)
    kit.backward(mx, (x, 1.0))
    kit.trainer(mx, [x], optimizer, options).step(1)
    check.that(all(value < 0 for value in kit.values(x)), "a trainer that leaves the decision open works",
               got=kit.values(x))


@case("KVDECIDE-AGG-002", samples={
    "%s_on_%d" % (name, devices): {"optimizer": name, "number": number, "devices": devices}
    for name, number in (("sgd", 4), ("adam", 2)) for devices in (1, 2)})
def constructor_refuses_true(mx, check, optimizer, number, devices):
    refused(mx, check, optimizer, {"learning_rate": 0.1, "aggregate_num": number}, devices)


@case("KVDECIDE-AGG-003", samples={name: {"optimizer": name} for name in ADAPTIVE})
def default_aggregation_refuses_true(mx, check, optimizer):
    refused(mx, check, optimizer, {"learning_rate": 0.1}, 2)


@case("KVDECIDE-AGG-004")
def aggregation_is_refused_on_an_async_store(mx, check):
    x = stores.two_replicas(mx, value=5.0)
    store = stores.recording_class(mx, "dist_async", optimizer=True)()
    trainer = kit.trainer(mx, [x], "sgd", {"learning_rate": 1.0, "aggregate_num": 4}, kvstore=store)
    kit.backward(mx, (x, 1.0))
    check.raises(ValueError, "Please set update_on_kvstore=True when training in async mode.", trainer.step, 1)
    check.equal(kit.values(x), [5.0, 5.0], "weights after the error")


@case("KVDECIDE-AGG-004")
def aggregation_on_a_synchronous_distributed_store(mx, check):
    store = stores.recording_class(mx, "dist_sync", optimizer=True)()
    stores.check_decision(mx, check, False, store, options={"learning_rate": 1.0, "aggregate_num": 4})


@case("KVDECIDE-AGG-005", samples={
    "none": {"given": None, "wanted": True}, "true": {"given": True, "wanted": True},
    "false": {"given": False, "wanted": False}})
def aggregation_of_one_leaves_the_decision_alone(mx, check, given, wanted):
    stores.check_decision(mx, check, wanted, options={"learning_rate": 1.0, "aggregate_num": 1},
                          update_on_kvstore=given)
