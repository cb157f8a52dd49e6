"""TRAINER-REDUCE: how gradients travel through the store."""

from conformance.case import case
from conformance.suite import kit
from conformance.suite.trainer import _tools


def _logged_trainer(mx, parameters, names=_tools.STORE_CALLS, **keywords):
    """A trainer on a device store that logs the calls made on it, and the log."""
    store = mx.kv.create("device")
    log = _tools.logged(store, names)
    return kit.trainer(mx, parameters, kvstore=store, **keywords), log


def _reductions(log):
    return [entry for entry in log if entry[0] in ("push", "pull", "pushpull", "row_sparse_pull")]


def _key(call):
    return int(_tools.argument(call, 0, "key"))


def _dense_step(mx, on_kvstore):
    """One step on a device store with gradients 1 and 2: parameter, trainer, calls of that step that move data."""
    x = kit.parameter(mx, ctx=kit.devices(mx, 2))
    trainer, log = _logged_trainer(mx, [x], update_on_kvstore=on_kvstore)
    kit.backward(mx, (x, [1.0, 2.0]))
    trainer.step(1)
    return x, trainer, _reductions(log)


@case("TRAINER-REDUCE-001")
def dense_gradient_on_the_store(mx, check):
    x, _, calls = _dense_step(mx, True)
    check.equal([name for name, _, _ in calls], ["pushpull"], "calls")
    check.equal(_key(calls[0]), 0, "key")
    check.that(_tools.is_same_list(_tools.argument(calls[0], 1, "value"), x.list_grad()), "list_grad() is pushed")
    check.that(_tools.is_same_list(_tools.argument(calls[0], 2, "out"), x.list_data()),
               "the result goes into list_data()")
    check.equal(kit.values(x), [-3.0, -3.0], "weights")


@case("TRAINER-REDUCE-002")
def dense_gradient_locally(mx, check):
    x, _, calls = _dense_step(mx, False)
    check.equal([name for name, _, _ in calls], ["pushpull"], "calls")
    check.equal(_key(calls[0]), 0, "key")
    check.that(_tools.is_same_list(_tools.argument(calls[0], 1, "value"), x.list_grad()), "list_grad() is pushed")
    check.same(_tools.argument(calls[0], 2, "out"), None, "out")
    check.equal([kit.gradient(x, 0), kit.gradient(x, 1)], [[3.0], [3.0]], "reduced gradients")
    check.equal(kit.values(x), [-3.0, -3.0], "weights")


def _sparse_step(mx, stype, on_kvstore):
    """One step with gradient 1 on every row of each of two devices, logged."""
    x = _tools.sparse_parameter(mx, ctx=kit.devices(mx, 2), stype=stype)
    trainer, log = _logged_trainer(mx, [x], update_on_kvstore=on_kvstore)
    rows = mx.nd.array([0, 1, 2, 3])
    replicas = x.list_data() if stype == "default" else x.list_row_sparse_data(rows)
    with mx.autograd.record():
        losses = [replica.sum() for replica in replicas]
    mx.autograd.backward(losses)
    del log[:]
    trainer.step(1)
    return x, trainer, _reductions(log)


@case("TRAINER-REDUCE-003", needs=("sparse",))
def sparse_gradient_locally(mx, check):
    with _tools.sparse_world(mx):
        x, _, calls = _sparse_step(mx, "default", False)
        check.equal([name for name, _, _ in calls], ["push", "pull"], "calls")
        check.equal([_key(call) for call in calls], [0, 0], "keys")
        check.that(_tools.argument(calls[0], 1, "value")[0] is x.list_grad()[0], "list_grad() is pushed")
        check.that(_tools.argument(calls[1], 1, "out")[1] is x.list_grad()[1], "the sum goes into list_grad()")
        check.equal(_tools.argument(calls[1], 3, "ignore_sparse", True), False, "ignore_sparse")
        check.equal([gradient.asnumpy() for gradient in x.list_grad()], [[[2.0]] * 4] * 2, "reduced gradients")
        check.equal(kit.values(x), [-2.0, -2.0], "weights")


@case("TRAINER-REDUCE-004", needs=("sparse",))
def sparse_gradient_on_the_store(mx, check):
    with _tools.sparse_world(mx):
        x, _, calls = _sparse_step(mx, "default", True)
        check.equal([name for name, _, _ in calls], ["push", "pull"], "calls")
        check.equal([_key(call) for call in calls], [0, 0], "keys")
        check.that(_tools.argument(calls[0], 1, "value")[0] is x.list_grad()[0], "list_grad() is pushed")
        check.that(_tools.is_same_list(_tools.argument(calls[1], 1, "out"), x.list_data()),
                   "the weight goes into list_data()")
        check.equal(_tools.argument(calls[1], 3, "ignore_sparse", True), False, "ignore_sparse")
        check.equal(kit.values(x), [-2.0, -2.0], "weights")


@case("TRAINER-REDUCE-005", needs=("sparse",))
def sparse_weight_is_pushed_only(mx, check):
    with _tools.sparse_world(mx):
        x, _, calls = _sparse_step(mx, "row_sparse", True)
        check.equal([name for name, _, _ in calls], ["push"], "calls")
        check.that(_tools.argument(calls[0], 1, "value")[0] is x.list_grad()[0], "list_grad() is pushed")
        rows = x.list_row_sparse_data(mx.nd.array([1, 3]))
        check.equal([row.asnumpy() for row in rows], [[[0.0], [-2.0], [0.0], [-2.0]]] * 2, "rows fetched afterwards")


@case("TRAINER-REDUCE-006", samples={"on_kvstore": {"on_kvstore": True}, "local": {"on_kvstore": False}})
def key_and_priority(mx, check, on_kvstore):
    parameters = [kit.parameter(mx, name, ctx=kit.devices(mx, 2)) for name in "cab"]
    trainer, log = _logged_trainer(mx, parameters, update_on_kvstore=on_kvstore)
    kit.backward(mx, *[(p, float(i)) for i, p in enumerate(parameters)])
    trainer.step(1)
    calls = _reductions(log)
    check.equal([_key(call) for call in calls], [0, 1, 2], "keys")
    check.equal([_tools.argument(call, 3, "priority") for call in calls], [0, -1, -2], "priorities")
    check.equal([kit.value(p) for p in parameters], [0.0, -2.0, -4.0], "weights")


@case("TRAINER-REDUCE-007", samples={"on_kvstore": {"on_kvstore": True}, "local": {"on_kvstore": False}})
def parameter_without_gradient(mx, check, on_kvstore):
    devices = kit.devices(mx, 2)
    parameters = [kit.parameter(mx, "a", ctx=devices), kit.parameter(mx, "b", ctx=devices),
                  kit.parameter(mx, "c", value=1.0, ctx=devices, grad_req="null")]
    trainer, log = _logged_trainer(mx, parameters, update_on_kvstore=on_kvstore)
    kit.backward(mx, (parameters[0], 1.0), (parameters[1], 1.0))
    trainer.step(2)
    check.equal([_key(call) for call in log if call[0] == "broadcast"], [0, 1, 2], "keys of broadcast")
    check.equal([_key(call) for call in log if call[0] == "pushpull"], [0, 1], "keys of pushpull")
    check.equal([kit.value(p) for p in parameters], [-1.0, -1.0, 1.0], "weights")


STORES = {name: {"name": name} for name in ("local", "device", "teststore")}


def _two(mx, first, second):
    return [kit.array(mx, [value], device) for value, device in zip((first, second), kit.devices(mx, 2))]


@case("TRAINER-REDUCE-008", samples=STORES)
def pushpull_into_out(mx, check, name):
    store = mx.kv.create(name)
    store.broadcast("3", kit.array(mx, [0.0]), _two(mx, 0.0, 0.0))
    values, out = _two(mx, 1.0, 2.0), _two(mx, 9.0, 9.0)
    store.pushpull("3", values, out=out)
    check.equal(out, [[3.0], [3.0]], "out")
    check.equal(values, [[1.0], [2.0]], "values pushed")


@case("TRAINER-REDUCE-008", samples=STORES)
def pushpull_without_out(mx, check, name):
    store = mx.kv.create(name)
    store.broadcast("3", kit.array(mx, [0.0]), _two(mx, 0.0, 0.0))
    values = _two(mx, 1.0, 2.0)
    store.pushpull("3", values)
    check.equal(values, [[3.0], [3.0]], "values pushed")


@case("TRAINER-REDUCE-009", samples={name: {"name": name} for name in ("local", "device")})
def pushpull_with_an_optimizer(mx, check, name):
    store = mx.kv.create(name)
    store.set_optimizer(mx.optimizer.SGD(learning_rate=1.0))
    weights = _two(mx, 0.0, 0.0)
    store.broadcast("3", kit.array(mx, [10.0]), weights)
    check.equal(weights, [[10.0], [10.0]], "weights broadcast")
    values, out = _two(mx, 1.0, 1.0), _two(mx, 0.0, 0.0)
    store.pushpull("3", values, out=out)
    check.equal(out, [[8.0], [8.0]], "out")
    check.equal(values, [[1.0], [1.0]], "values pushed")


@case("TRAINER-REDUCE-011", samples={
    "on_kvstore": {"options": {"update_on_kvstore": True}}, "local": {"options": {"update_on_kvstore": False}},
    "default": {"options": {}}})
def replicas_start_from_the_first_device(mx, check, options):
    x = kit.parameter(mx, value=1.0, ctx=kit.devices(mx, 2))
    trainer = kit.trainer(mx, [x], **options)
    x.list_data()[1][:] = 7.0
    check.equal(kit.values(x), [1.0, 7.0], "weights before the step")
    kit.backward(mx, (x, 0.0))
    trainer.step(1)
    check.equal(kit.values(x), [1.0, 1.0], "weights after the step")


@case("TRAINER-REDUCE-011")
def replicas_without_a_store(mx, check):
    x = kit.parameter(mx, value=1.0, ctx=kit.devices(mx, 2))
    trainer = kit.trainer(mx, [x], kvstore=None)
    x.list_data()[1][:] = 7.0
    kit.backward(mx, (x, [1.0, 2.0]))
    trainer.step(1)
    check.equal(kit.values(x), [0.0, 5.0], "weights")


@case("TRAINER-REDUCE-012", needs=("sparse",))
def sparse_weight_is_put_on_the_store(mx, check):
    begun = []

    def note(name, args, kwargs):
        value = _tools.argument((name, args, kwargs), 1, "value")
        value = value[0] if isinstance(value, (list, tuple)) else value
        begun.append((name, _key((name, args, kwargs)), value.asnumpy().ravel().tolist()))

    with _tools.sparse_world(mx):
        x = _tools.sparse_parameter(mx, value=2.0, ctx=kit.devices(mx, 2))
        y = kit.parameter(mx, "y", ctx=kit.devices(mx, 2))
        store = mx.kv.create("device")
        _tools.logged(store, ("init", "broadcast"), note)
        trainer = kit.trainer(mx, [y, x], kvstore=store)
        rows = x.list_row_sparse_data(mx.nd.array([1]))
        check.equal(begun, [("broadcast", 0, [0.0]), ("init", 1, [2.0] * 4)], "calls that give the store its values")
        check.equal(rows[1].asnumpy(), [[0.0], [2.0], [0.0], [0.0]], "row fetched on the second device")
        check.equal(kit.update_on_kvstore(trainer), True, "update_on_kvstore")


@case("TRAINER-REDUCE-013", samples={
    "on_kvstore": {"on_kvstore": True, "expected": -4.0}, "local": {"on_kvstore": False, "expected": 98.0}})
def weights_written_behind_the_stores_back(mx, check, on_kvstore, expected):
    x = kit.parameter(mx, ctx=kit.devices(mx, 2))
    trainer = kit.trainer(mx, [x], update_on_kvstore=on_kvstore)
    kit.backward(mx, (x, 1.0))
    trainer.step(1)
    for replica in x.list_data():
        replica[:] = 100.0
    check.equal(kit.values(x), [100.0, 100.0], "weights written")
    kit.backward(mx, (x, 1.0))
    trainer.step(1)
    check.equal(kit.values(x), [expected] * 2, "weights after the step")
