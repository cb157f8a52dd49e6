"""TRAINER-ERR: the error table of the document."""

from conformance.case import case
from conformance.suite import kit
from conformance.suite.trainer import _tools


@case("TRAINER-ERR-003")
def scheduler_does_not_force_the_store(mx, check):
    x = kit.parameter(mx, ctx=kit.devices(mx, 2))
    scheduler = mx.lr_scheduler.FactorScheduler(step=1, factor=0.5, base_lr=1.0)
    trainer = kit.trainer(mx, [x], options={"learning_rate": 1.0, "lr_scheduler": scheduler}, update_on_kvstore=False)
    for _ in range(2):
        kit.backward(mx, (x, 1.0))
        trainer.step(2)
    check.equal(kit.update_on_kvstore(trainer), False, "update_on_kvstore")
    check.equal(kit.values(x), [-1.5, -1.5], "weights")


@case("TRAINER-ERR-003", needs=("sparse",))
def sparse_weight_forces_the_store(mx, check):
    with _tools.sparse_world(mx):
        x = _tools.sparse_parameter(mx, value=2.0)
        trainer = kit.trainer(mx, [x], update_on_kvstore=False)
        check.raises(ValueError, "Cannot set update_on_kvstore=False when sparse weights are present.",
                     x.row_sparse_data, mx.nd.array([0]))
        x._set_trainer(None)
        check.same(kit.kvstore_of(trainer), None, "store afterwards")
        proper = kit.trainer(mx, [x], update_on_kvstore=True)
        check.equal(x.row_sparse_data(mx.nd.array([0])).asnumpy(), [[2.0], [0.0], [0.0], [0.0]], "rows")
        check.equal(kit.update_on_kvstore(proper), True, "update_on_kvstore of the second trainer")


@case("TRAINER-ERR-003", needs=("sparse",))
def sparse_gradient_does_not_force_the_store(mx, check):
    with _tools.sparse_world(mx):
        x = _tools.sparse_parameter(mx, ctx=kit.devices(mx, 2), stype="default")
        trainer = kit.trainer(mx, [x], update_on_kvstore=False)
        _backward_rows(mx, x)
        trainer.step(1)
        check.equal(kit.update_on_kvstore(trainer), False, "update_on_kvstore")
        check.equal(kit.values(x), [-2.0, -2.0], "weights")


def _backward_rows(mx, x):
    with mx.autograd.record():
        losses = [replica.sum() for replica in x.list_data()]
    mx.autograd.backward(losses)


@case("TRAINER-ERR-005")
def updates_on_a_store_without_optimizer(mx, check):
    x = kit.parameter(mx, ctx=kit.devices(mx, 2))
    store = mx.kv.create("teststore")
    trainer = kit.trainer(mx, [x], kvstore=store, update_on_kvstore=True)
    kit.backward(mx, (x, 1.0))
    check.raises(ValueError, "Please set update_on_kvstore=False when training with", str(type(store)),
                 trainer.step, 2)
    check.equal(kit.values(x), [0.0, 0.0], "weights afterwards")


@case("TRAINER-ERR-005", samples={"by_itself": {"options": {}}, "asked": {"options": {"update_on_kvstore": False}}})
def local_updates_beside_a_store_without_optimizer(mx, check, options):
    x = kit.parameter(mx, ctx=kit.devices(mx, 2))
    trainer = kit.trainer(mx, [x], kvstore="teststore", **options)
    kit.backward(mx, (x, [1.0, 2.0]))
    with check.no_warning(UserWarning):
        trainer.step(2)
    check.equal(kit.values(x), [-1.5, -1.5], "weights")
    check.equal(kit.update_on_kvstore(trainer), False, "update_on_kvstore")


@case("TRAINER-ERR-008", samples={
    "store_without_optimizer": {"kvstore": "teststore", "kind": ValueError},
    "not_a_store": {"kvstore": 5, "kind": TypeError}})
def creation_fails_at_first_use(mx, check, kvstore, kind):
    x = kit.parameter(mx, ctx=kit.devices(mx, 2))
    trainer = kit.trainer(mx, [x], kvstore=kvstore, update_on_kvstore=True)
    kit.backward(mx, (x, 1.0))
    messages = [str(check.raises(kind, trainer.step, 2)) for _ in range(2)]
    check.equal(messages[1], messages[0], "message of the second try")
    check.equal(kit.values(x), [0.0, 0.0], "weights")
    proper = kit.trainer(mx, [x], update_on_kvstore=True)
    proper.step(2)
    check.equal(kit.values(x), [-1.0, -1.0], "weights after a step with a proper store")


@case("TRAINER-ERR-009")
def parameters_before_the_store(mx, check):
    x = kit.parameter(mx, ctx=kit.devices(mx, 2))
    trainer = kit.trainer(mx, [x])
    check.raises(AssertionError, "Cannot initialize parameters in KVStore when KVStore is not initialized.",
                 trainer._init_params)
    kit.backward(mx, (x, 1.0))
    trainer.step(2)
    check.equal(kit.values(x), [-1.0, -1.0], "weights after a step")


@case("TRAINER-ERR-010", samples={
    "one_device": {"count": 1, "options": {}}, "on_kvstore": {"count": 2, "options": {"update_on_kvstore": True}},
    "local": {"count": 2, "options": {"update_on_kvstore": False}}})
def integers_beside_floats(mx, check, count, options):
    devices = kit.devices(mx, count)
    x = kit.parameter(mx, "x", ctx=devices)
    n = mx.gluon.Parameter("n", shape=(2,), dtype="int32", differentiable=False)
    n.initialize(mx.init.Constant(3), ctx=devices)
    trainer = kit.trainer(mx, [n, x], options={"learning_rate": 1.0, "wd": 0.5}, **options)
    kit.backward(mx, (x, 1.0))
    trainer.step(count)
    check.equal(kit.values(x), [-1.0] * count, "float weights")
    for replica in n.list_data():
        check.equal(replica, [3, 3], "integer weights")
        check.dtype(replica, "int32", "dtype of the integer weights")
