"""TRAINER-INIT: what the constructor takes and refuses."""

import collections
import gc
import inspect

from conformance.case import case
from conformance.suite import kit
from conformance.suite.trainer import _tools


def _works(mx, check, *parameters):
    """The parameters are as before and a proper trainer trains them."""
    check.equal([kit.value(p) for p in parameters], [0.0] * len(parameters), "weights after the refusal")
    trainer = kit.trainer(mx, list(parameters))
    kit.backward(mx, *[(p, 1.0) for p in parameters])
    trainer.step(1)
    check.equal([kit.value(p) for p in parameters], [-1.0] * len(parameters), "weights after a proper step")


@case("TRAINER-INIT-001")
def constructor_signature(mx, check):
    parameters = list(inspect.signature(mx.gluon.Trainer).parameters.values())
    check.equal([p.name for p in parameters], ["params", "optimizer", "optimizer_params", "kvstore",
                                               "compression_params", "update_on_kvstore"], "names")
    empty = inspect.Parameter.empty
    check.equal([p.default for p in parameters], [empty, empty, None, "device", None, None], "defaults")


@case("TRAINER-INIT-001")
def all_arguments_by_position(mx, check):
    x = kit.parameter(mx, ctx=kit.devices(mx, 2))
    trainer = mx.gluon.Trainer([x], "sgd", {"learning_rate": 0.5}, "local", None, False)
    kit.backward(mx, (x, 1.0))
    trainer.step(2)
    check.equal(kit.values(x), [-0.5, -0.5], "weights")
    check.equal(kit.kvstore_of(trainer).type, "local", "type of the store")
    check.equal(kit.update_on_kvstore(trainer), False, "update_on_kvstore")


@case("TRAINER-INIT-002", samples={"list": {"kind": list}, "tuple": {"kind": tuple}})
def order_of_a_sequence(mx, check, kind):
    a, b, c = (kit.parameter(mx, name) for name in "abc")
    order = _tools.optimizer_order(kit.trainer(mx, kind([c, a, b])))
    check.equal([p.name for p in order], ["c", "a", "b"], "order of the parameters")
    check.that(order[0] is c and order[1] is a and order[2] is b, "the very parameters are kept")


@case("TRAINER-INIT-003", samples={
    "ordered_dict": {"keys": ["z", "m"], "kind": collections.OrderedDict},
    "dict": {"keys": ["b", "a"], "kind": dict},
    "integer_keys": {"keys": [10, 9], "kind": dict}})
def order_of_a_dict(mx, check, keys, kind):
    a, b = kit.parameter(mx, "a"), kit.parameter(mx, "b")
    order = _tools.optimizer_order(kit.trainer(mx, kind([(keys[0], a), (keys[1], b)])))
    check.equal(len(order), 2, "number of parameters")
    check.same(order[0], b, "parameter of the smaller key %r" % keys[1])
    check.same(order[1], a, "parameter of the greater key %r" % keys[0])


@case("TRAINER-INIT-004")
def order_of_collect_params(mx, check):
    net = mx.gluon.nn.Sequential()
    for _ in range(12):
        net.add(mx.gluon.nn.Dense(1, in_units=1, use_bias=False))
    net.initialize()
    named = net.collect_params()
    order = _tools.optimizer_order(kit.trainer(mx, named))
    check.equal(len(order), 12, "number of parameters")
    for index, name in enumerate(sorted(named.keys())):
        check.same(order[index], named[name], "parameter of index %d" % index)


@case("TRAINER-INIT-004")
def numbered_names_are_sorted_as_text(mx, check):
    named = {"layer%d" % i: kit.parameter(mx, "layer%d" % i) for i in range(12)}
    order = _tools.optimizer_order(kit.trainer(mx, named))
    check.equal([p.name for p in order], ["layer%d" % i for i in (0, 1, 10, 11, 2, 3, 4, 5, 6, 7, 8, 9)], "order")


@case("TRAINER-INIT-005")
def keys_that_cannot_be_sorted(mx, check):
    a, b = kit.parameter(mx, "a"), kit.parameter(mx, "b")
    check.raises(TypeError, "'<' not supported", kit.trainer, mx, {"a": a, 1: b})
    _works(mx, check, a, b)


@case("TRAINER-INIT-006", "TRAINER-ERR-001", samples={
    "set": {"make": lambda a: {a}}, "generator": {"make": lambda a: (p for p in [a])},
    "dict_values": {"make": lambda a: {"a": a}.values()}, "parameter": {"make": lambda a: a},
    "none": {"make": lambda a: None}, "text": {"make": lambda a: "ab"}})
def other_container(mx, check, make):
    a = kit.parameter(mx, "a")
    made = make(a)
    check.raises(ValueError, "First argument must be a list or dict of Parameters, got", str(type(made)),
                 kit.trainer, mx, made)
    _works(mx, check, a)


@case("TRAINER-INIT-007", "TRAINER-ERR-001", samples={
    "array": {"make": lambda mx, a: [a, kit.array(mx, [0.0, 0.0])]}, "text": {"make": lambda mx, a: ["a"]},
    "pair": {"make": lambda mx, a: [("a", a)]}, "nested_list": {"make": lambda mx, a: [[a]]},
    "dict_value": {"make": lambda mx, a: {"a": 1}}})
def element_that_is_no_parameter(mx, check, make):
    a = kit.parameter(mx, "a")
    made = make(mx, a)
    element = list(made.values())[-1] if isinstance(made, dict) else made[-1]
    check.raises(ValueError, "First argument must be a list or dict of Parameters, got list of", str(type(element)),
                 kit.trainer, mx, made)
    _works(mx, check, a)


@case("TRAINER-INIT-008", samples={"list": {"empty": []}, "dict": {"empty": {}}})
def nothing_to_train(mx, check, empty):
    check.raises((TypeError, ValueError), kit.trainer, mx, empty)
    _works(mx, check, kit.parameter(mx))


@case("TRAINER-INIT-009")
def repeated_parameter_is_updated_once(mx, check):
    a, b = kit.parameter(mx, "a"), kit.parameter(mx, "b")
    trainer = kit.trainer(mx, [a, a, b])
    kit.backward(mx, (a, 1.0), (b, 1.0))
    trainer.step(1)
    check.equal([kit.value(a), kit.value(b)], [-1.0, -1.0], "weights")
    check.equal(sorted(trainer.optimizer.param_dict), [0, 1], "indices")


@case("TRAINER-INIT-009")
def repeated_parameter_on_two_devices(mx, check):
    a, b = (kit.parameter(mx, name, ctx=kit.devices(mx, 2)) for name in "ab")
    trainer = kit.trainer(mx, [a, b, a])
    kit.backward(mx, (a, 1.0), (b, 1.0))
    trainer.step(1)
    check.equal(kit.values(a) + kit.values(b), [-2.0] * 4, "weights")


@case("TRAINER-INIT-009")
def equal_names_stay_two_parameters(mx, check):
    a, b = kit.parameter(mx, "same"), kit.parameter(mx, "same", value=1.0)
    trainer = kit.trainer(mx, [a, b])
    check.equal(sorted(trainer.optimizer.param_dict), [0, 1], "indices")
    kit.backward(mx, (a, 1.0), (b, 2.0))
    trainer.step(1)
    check.equal([kit.value(a), kit.value(b)], [-1.0, -1.0], "weights")


@case("TRAINER-INIT-010")
def layers_that_share_a_weight(mx, check):
    first = _tools.dense(mx, 1, in_units=1, use_bias=False)
    second = _tools.dense(mx, 1, shared=first, in_units=1, use_bias=False)
    net = mx.gluon.nn.Sequential()
    net.add(first, second)
    net.initialize(mx.init.Constant(2.0))
    check.same(first.weight, second.weight, "the shared parameter")
    trainer = kit.trainer(mx, net.collect_params())
    check.equal(sorted(trainer.optimizer.param_dict), [0], "indices")
    with mx.autograd.record():
        loss = net(kit.array(mx, [[1.0]]))
    loss.backward()
    trainer.step(4)
    check.equal(kit.value(first.weight), 1.0, "weight: 2 - 2w / 4")


@case("TRAINER-INIT-011", samples={"on_kvstore": {"update_on_kvstore": True}, "local": {"update_on_kvstore": False}})
def multipliers_behind_a_repeated_parameter(mx, check, update_on_kvstore):
    a, b = (kit.parameter(mx, name, ctx=kit.devices(mx, 2)) for name in "ab")
    b.lr_mult = 0.0
    trainer = kit.trainer(mx, [a, a, b], update_on_kvstore=update_on_kvstore)
    kit.backward(mx, (a, 1.0), (b, 1.0))
    trainer.step(1)
    check.equal(kit.values(b), [0.0, 0.0], "weights of the parameter with lr_mult 0")
    check.equal(kit.values(a), [-2.0, -2.0], "weights of the other")


@case("TRAINER-INIT-012", needs=("sparse",), samples={
    "dense": {"stype": "default", "grad_stype": "default", "one": None, "two": True},
    "gradient": {"stype": "default", "grad_stype": "row_sparse", "one": None, "two": False},
    "weight_and_gradient": {"stype": "row_sparse", "grad_stype": "row_sparse", "one": True, "two": True}})
def storage_types_choose_the_path(mx, check, stype, grad_stype, one, two):
    """A sparse weight needs a store even on one device; a sparse gradient alone defaults to local updates."""
    with _tools.sparse_world(mx):
        for count, decision in ((1, one), (2, two)):
            x = _tools.sparse_parameter(mx, ctx=kit.devices(mx, count), stype=stype, grad_stype=grad_stype)
            y = kit.parameter(mx, "y", ctx=kit.devices(mx, count))
            trainer = kit.trainer(mx, [y, x])
            kit.backward(mx, (y, 1.0))
            replicas = _replicas(mx, x, stype)
            with mx.autograd.record():
                losses = [replica.sum() for replica in replicas]
            mx.autograd.backward(losses)
            trainer.step(count)
            check.equal(kit.values(y), [-1.0] * count, "dense weights on %d devices" % count)
            check.equal(kit.update_on_kvstore(trainer), decision, "update_on_kvstore on %d devices" % count)


def _replicas(mx, x, stype):
    if stype == "default":
        return x.list_data()
    return _tools.rows_of(x, mx.nd.array([0, 1, 2, 3]))


@case("TRAINER-INIT-013", needs=("sparse",))
def sparse_weight_of_two_trainers(mx, check):
    with _tools.sparse_world(mx):
        x = _tools.sparse_parameter(mx)
        first = kit.trainer(mx, [x])
        check.raises(RuntimeError, "Failed to set the trainer for Parameter",
                     "More than one trainers for a row_sparse Parameter is not supported", kit.trainer, mx, [x])
        check.equal(x.row_sparse_data(mx.nd.array([0, 1])).asnumpy(), [[0.0]] * 4, "rows by the first trainer")
        check.that(kit.kvstore_of(first) is not None, "the first trainer still serves the parameter")


@case("TRAINER-INIT-013", needs=("sparse",))
def sparse_weight_after_release(mx, check):
    with _tools.sparse_world(mx):
        x = _tools.sparse_parameter(mx, value=2.0)
        kit.trainer(mx, [x])
        x._set_trainer(None)
        second = kit.trainer(mx, [x])
        check.equal(x.row_sparse_data(mx.nd.array([1])).asnumpy(), [[0.0], [2.0], [0.0], [0.0]], "rows")
        check.that(kit.kvstore_of(second) is not None, "the second trainer serves the parameter")


@case("TRAINER-INIT-014")
def dense_weight_of_two_trainers(mx, check):
    """set_data drops the store of the trainer that the parameter refers to, and of no other."""
    x = kit.parameter(mx, ctx=kit.devices(mx, 2))
    first, second = (kit.trainer(mx, [x], update_on_kvstore=True) for _ in range(2))
    for trainer in (first, second):
        kit.backward(mx, (x, 1.0))
        trainer.step(1)
    check.equal(kit.values(x), [-4.0, -4.0], "weights after a step of each")
    x.set_data(kit.array(mx, [10.0]))
    check.that(kit.kvstore_of(first) is not None, "the first trainer keeps its store")
    kit.backward(mx, (x, 1.0))
    second.step(1)
    check.equal(kit.values(x), [8.0, 8.0], "weights after a step of the second")


@case("TRAINER-INIT-015", needs=("sparse",))
def sparse_weight_of_a_lost_trainer(mx, check):
    with _tools.sparse_world(mx):
        x = _tools.sparse_parameter(mx)
        trainer = kit.trainer(mx, [x])
        check.equal(x.row_sparse_data(mx.nd.array([0])).asnumpy(), [[0.0]] * 4, "rows while the trainer lives")
        del trainer
        gc.collect()
        check.raises(RuntimeError, "Failed to set the trainer", kit.trainer, mx, [x])


@case("TRAINER-INIT-016", samples={
    "other_device": {"first": [0], "second": [1]}, "other_order": {"first": [0, 1], "second": [1, 0]},
    "fewer": {"first": [0, 1], "second": [0]}})
def different_devices(mx, check, first, second):
    a = kit.parameter(mx, "a", ctx=[mx.cpu(i) for i in first])
    b = kit.parameter(mx, "b", ctx=[mx.cpu(i) for i in second])
    check.raises(AssertionError, "All Parameters must be initialized on the same set of", kit.trainer, mx, [a, b])
    c = kit.parameter(mx, "c", ctx=[mx.cpu(i) for i in first])
    trainer = kit.trainer(mx, [a, c])
    kit.backward(mx, (a, 1.0), (c, 1.0))
    trainer.step(len(first))
    check.equal(kit.values(c), [-1.0] * len(first), "weights where the devices agree")


@case("TRAINER-INIT-017")
def parameter_not_initialised(mx, check):
    x = mx.gluon.Parameter("x", shape=(2,))
    error = check.raises(RuntimeError, "Parameter", "x", "has not been initialized", kit.trainer, mx, [x])
    check.that(not isinstance(error, mx.gluon.parameter.DeferredInitializationError), "it is not a deferred one")
    x.initialize(mx.init.Constant(0.0), ctx=mx.cpu(0))
    trainer = kit.trainer(mx, [x])
    kit.backward(mx, (x, 1.0))
    trainer.step(1)
    check.equal(kit.value(x), -1.0, "weight once it is initialised")


@case("TRAINER-INIT-018", samples={"one_device": {"count": 1}, "two_devices": {"count": 2}})
def shape_not_known_yet(mx, check, count):
    net = mx.gluon.nn.Dense(1, use_bias=False)
    net.initialize(mx.init.Constant(1.0), ctx=kit.devices(mx, count))
    trainer = kit.trainer(mx, net.collect_params())
    check.raises(mx.gluon.parameter.DeferredInitializationError, "initialization was deferred", trainer.step, 1)
    check.same(kit.kvstore_of(trainer), None, "store after the refused step")
    with mx.autograd.record():
        losses = [net(kit.array(mx, [[2.0]], device)) for device in kit.devices(mx, count)]
    mx.autograd.backward(losses)
    trainer.step(count)
    check.equal(kit.values(net.weight), [-1.0] * count, "weight after a forward and a proper step")


@case("TRAINER-INIT-018")
def saving_states_of_unknown_shapes(mx, check):
    net = mx.gluon.nn.Dense(1)
    net.initialize(ctx=kit.devices(mx, 2))
    trainer = kit.trainer(mx, net.collect_params())
    check.raises(mx.gluon.parameter.DeferredInitializationError, "initialization was deferred",
                 trainer.save_states, check.path("states"))
    for device in kit.devices(mx, 2):
        net(kit.array(mx, [[2.0]], device))
    trainer.save_states(check.path("states"))
    check.that(kit.kvstore_of(trainer) is not None, "after a forward the states can be saved")


@case("TRAINER-INIT-019")
def order_of_calls_at_store_creation(mx, check):
    x = kit.parameter(mx, ctx=kit.devices(mx, 2))
    store = mx.kv.create("device")
    log = _tools.logged(store)
    trainer = kit.trainer(mx, [x], kvstore=store, compression_params={"type": "2bit", "threshold": 0.5},
                          update_on_kvstore=True)
    check.equal(log, [], "calls before the first use")
    kit.backward(mx, (x, 1.0))
    trainer.step(1)
    check.equal([name for name, _, _ in log], ["set_gradient_compression", "set_optimizer", "broadcast", "pushpull"],
                "calls of the first step")
