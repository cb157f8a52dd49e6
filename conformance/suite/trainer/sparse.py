"""TRAINER-SPARSE: row-sparse weights and gradients on one machine."""

from conformance.case import case
from conformance.suite import kit
from conformance.suite.trainer import _tools

SPARSE = ("sparse",)


def _all_rows(mx):
    return mx.nd.array([0, 1, 2, 3])


def _backward(mx, replicas, gradient=1.0):
    with mx.autograd.record():
        losses = [(replica * gradient).sum() for replica in replicas]
    mx.autograd.backward(losses)


def _dense(array):
    return array.asnumpy().ravel().tolist()


def _weights(mx, x):
    """The whole weight on every device, fetched from the store of the trainer, which must still be alive."""
    return [_dense(replica) for replica in x.list_row_sparse_data(_all_rows(mx))]


@case("TRAINER-SPARSE-001", needs=SPARSE, samples={
    "%d_%s_%s" % (count, kvstore, asked): {"count": count, "kvstore": kvstore, "asked": asked}
    for count in (1, 2) for kvstore in ("device", "local") for asked in (None, True)})
def sparse_weight_lives_on_the_store(mx, check, count, kvstore, asked):
    with _tools.sparse_world(mx):
        x = _tools.sparse_parameter(mx, ctx=kit.devices(mx, count))
        trainer = kit.trainer(mx, [x], kvstore=kvstore, update_on_kvstore=asked)
        _backward(mx, x.list_row_sparse_data(_all_rows(mx)))
        trainer.step(count)
        check.that(kit.kvstore_of(trainer) is not None, "there is a store")
        check.equal(kit.update_on_kvstore(trainer), True, "update_on_kvstore")
        check.equal(_weights(mx, x), [[-1.0] * 4] * count, "weights")


@case("TRAINER-SPARSE-002", needs=SPARSE)
def store_without_optimizer(mx, check):
    with _tools.sparse_world(mx):
        x = _tools.sparse_parameter(mx, value=2.0)
        trainer = kit.trainer(mx, [x], kvstore="teststore")
        check.raises(AssertionError, "KVStore with sparse weight requires optimizer support",
                     x.row_sparse_data, _all_rows(mx))
        x._set_trainer(None)
        trainer = kit.trainer(mx, [x], kvstore="local")
        check.equal(_weights(mx, x), [[2.0] * 4], "weights on a proper store")
        check.that(kit.kvstore_of(trainer) is not None, "the second trainer has a store")


@case("TRAINER-SPARSE-003", needs=SPARSE, samples={
    "rows": {"use": lambda trainer, x, rows: x.row_sparse_data(rows)},
    "save_states": {"use": lambda trainer, x, rows: trainer.save_states("no-such-folder/states")},
    "step": {"use": lambda trainer, x, rows: trainer.step(1)}})
def local_updates_of_a_sparse_weight(mx, check, use):
    with _tools.sparse_world(mx):
        x = _tools.sparse_parameter(mx, value=2.0)
        trainer = kit.trainer(mx, [x], update_on_kvstore=False)
        check.raises(ValueError, "Cannot set update_on_kvstore=False when sparse weights are present.",
                     use, trainer, x, _all_rows(mx))
        x._set_trainer(None)
        trainer = kit.trainer(mx, [x], update_on_kvstore=True)
        check.equal(_weights(mx, x), [[2.0] * 4], "weights when updates are on the store")


@case("TRAINER-SPARSE-004", needs=SPARSE, samples={
    "none": {"make": lambda mx: None}, "number": {"make": lambda mx: 5},
    "base_store": {"make": lambda mx: mx.kv.create("teststore")}})
def store_of_another_kind(mx, check, make):
    with _tools.sparse_world(mx):
        x = _tools.sparse_parameter(mx, value=2.0)
        trainer = kit.trainer(mx, [x], kvstore=make(mx))
        check.raises(TypeError, "Cannot create", "KVStore with row_sparse parameters. The type must be KVStore or str.",
                     x.row_sparse_data, _all_rows(mx))
        x._set_trainer(None)
        trainer = kit.trainer(mx, [x], kvstore=mx.kv.create("local"))
        check.equal(_weights(mx, x), [[2.0] * 4], "weights on a proper store")
        check.that(kit.kvstore_of(trainer) is not None, "the second trainer has a store")


@case("TRAINER-SPARSE-005", needs=SPARSE)
def rows_are_fetched_through_the_trainer(mx, check):
    with _tools.sparse_world(mx):
        x = _tools.sparse_parameter(mx, value=1.0)
        trainer = kit.trainer(mx, [x])
        check.same(kit.kvstore_of(trainer), None, "store before")
        rows = x.row_sparse_data(mx.nd.array([1, 3]))
        check.that(kit.kvstore_of(trainer) is not None, "there is a store afterwards")
        check.equal(rows.stype, "row_sparse", "storage type")
        check.equal(rows.indices.asnumpy(), [1, 3], "indices")
        check.equal(_dense(rows), [0.0, 1.0, 0.0, 1.0], "value")


@case("TRAINER-SPARSE-005", needs=SPARSE)
def rows_are_fetched_with_row_sparse_pull(mx, check):
    with _tools.sparse_world(mx):
        x = _tools.sparse_parameter(mx, value=1.0)
        store = mx.kv.create("device")
        log = _tools.logged(store, ("row_sparse_pull",))
        trainer = kit.trainer(mx, [x], kvstore=store)
        check.equal(_dense(x.row_sparse_data(mx.nd.array([2]))), [0.0, 0.0, 1.0, 0.0], "rows")
        check.equal(len(log), 1, "calls of row_sparse_pull")
        check.same(kit.kvstore_of(trainer), store, "store of the trainer")
        check.equal(int(_tools.argument(log[0], 0, "key")), 0, "key")


@case("TRAINER-SPARSE-006", needs=SPARSE)
def calls_of_one_iteration(mx, check):
    with _tools.sparse_world(mx):
        x = _tools.sparse_parameter(mx, ctx=kit.devices(mx, 2))
        store = mx.kv.create("device")
        trainer = kit.trainer(mx, [x], kvstore=store)
        x.list_row_sparse_data(_all_rows(mx))
        log = _tools.logged(store)
        _backward(mx, x.list_row_sparse_data(mx.nd.array([1, 3])))
        trainer.step(2)
        check.equal([name for name, _, _ in log], ["row_sparse_pull", "push"], "calls")
        check.equal(_weights(mx, x)[0], [-1.0, -1.0, -1.0, -1.0], "weights fetched afterwards")


@case("TRAINER-SPARSE-007", needs=SPARSE, samples={name: {"name": name} for name in ("data", "list_data")})
def dense_access_is_refused(mx, check, name):
    with _tools.sparse_world(mx):
        x = _tools.sparse_parameter(mx, value=1.0)
        trainer = kit.trainer(mx, [x])
        check.raises(RuntimeError, "Parameter", "because its storage type is row_sparse. Please use",
                     "row_sparse_data", getattr(x, name))
        check.equal(_weights(mx, x), [[1.0] * 4], "weights by list_row_sparse_data")
        check.equal(_dense(x.row_sparse_data(_all_rows(mx))), [1.0] * 4, "weight by row_sparse_data")
        check.equal(kit.update_on_kvstore(trainer), True, "update_on_kvstore")


@case("TRAINER-SPARSE-008", needs=SPARSE, samples={
    name: {"name": name} for name in ("row_sparse_data", "list_row_sparse_data")})
def rows_without_a_trainer(mx, check, name):
    with _tools.sparse_world(mx):
        x = _tools.sparse_parameter(mx, value=1.0)
        check.raises(RuntimeError, "Cannot get row_sparse data for Parameter", "when no Trainer is created with it",
                     getattr(x, name), _all_rows(mx))
        trainer = kit.trainer(mx, [x])
        check.equal(_weights(mx, x), [[1.0] * 4], "weights with a trainer")
        check.that(kit.kvstore_of(trainer) is not None, "there is a store")


@case("TRAINER-SPARSE-009", needs=SPARSE, samples={"one_device": {"count": 1}, "two_devices": {"count": 2}})
def same_numbers_as_dense(mx, check, count):
    with _tools.sparse_world(mx):
        x = _tools.sparse_parameter(mx, ctx=kit.devices(mx, count))
        trainer = kit.trainer(mx, [x], options={"learning_rate": 0.1})
        _backward(mx, x.list_row_sparse_data(_all_rows(mx)))
        trainer.step(1)
        check.close(_weights(mx, x), [[-0.1 * count] * 4] * count, "weights", **_tools.NEAR)


@case("TRAINER-SPARSE-009", needs=SPARSE)
def rows_not_touched_stay(mx, check):
    """Only rows with a gradient are updated, so an embedding moves the rows it looked up."""
    with _tools.sparse_world(mx):
        x = _tools.sparse_parameter(mx, value=1.0, shape=(4, 2))
        trainer = kit.trainer(mx, [x], options={"learning_rate": 1.0})
        looked_up = mx.nd.array([1, 3, 3])
        weight = x.row_sparse_data(looked_up)
        with mx.autograd.record():
            loss = mx.nd.Embedding(looked_up, weight, input_dim=4, output_dim=2, sparse_grad=True).sum()
        loss.backward()
        trainer.step(1)
        check.equal(x.row_sparse_data(_all_rows(mx)).asnumpy(),
                    [[1.0, 1.0], [0.0, 0.0], [1.0, 1.0], [-1.0, -1.0]], "weight")


@case("TRAINER-SPARSE-010", needs=SPARSE)
def dense_weight_beside_a_sparse_one(mx, check):
    with _tools.sparse_world(mx):
        x, y = _tools.sparse_parameter(mx), kit.parameter(mx, "y")
        trainer = kit.trainer(mx, [x, y])
        _backward(mx, x.list_row_sparse_data(_all_rows(mx)))
        kit.backward(mx, (y, 1.0))
        trainer.step(1)
        check.equal(kit.update_on_kvstore(trainer), True, "update_on_kvstore")
        check.equal(kit.value(y), -1.0, "dense weight")
        check.equal(_weights(mx, x), [[-1.0] * 4], "sparse weight")


@case("TRAINER-SPARSE-011", needs=SPARSE, samples={
    "%s_%s" % (kvstore, setting): {"kvstore": kvstore, "setting": setting}
    for kvstore in ("device", "local") for setting in (None, "0", "1")})
def default_for_a_sparse_gradient(mx, check, kvstore, setting):
    with _tools.sparse_world(mx), check.environment(MXNET_UPDATE_ON_KVSTORE=setting):
        x = _tools.sparse_parameter(mx, ctx=kit.devices(mx, 2), stype="default")
        trainer = kit.trainer(mx, [x], kvstore=kvstore)
        _backward(mx, x.list_data())
        trainer.step(2)
        check.equal(kit.update_on_kvstore(trainer), False, "update_on_kvstore")
        check.that(kit.kvstore_of(trainer) is not None, "there is a store")
        check.equal(kit.values(x), [-1.0, -1.0], "weights")


@case("TRAINER-SPARSE-012", needs=SPARSE, samples={
    "one_device": {"count": 1, "asked": None}, "on_kvstore": {"count": 2, "asked": True},
    "local": {"count": 2, "asked": False}})
def explicit_choice_for_a_sparse_gradient(mx, check, count, asked):
    with _tools.sparse_world(mx):
        x = _tools.sparse_parameter(mx, ctx=kit.devices(mx, count), stype="default")
        trainer = kit.trainer(mx, [x], options={"learning_rate": 0.1, "momentum": 0.5}, update_on_kvstore=asked)
        for _ in range(2):
            _backward(mx, x.list_data())
            trainer.step(1)
        check.equal(kit.update_on_kvstore(trainer), asked, "update_on_kvstore")
        check.close(kit.values(x), [-0.25 * count] * count, "weights", **_tools.NEAR)


@case("TRAINER-SPARSE-013", needs=SPARSE, samples={
    "default": {"asked": None}, "local": {"asked": False}, "on_kvstore": {"asked": True}})
def sparse_gradient_on_one_device(mx, check, asked):
    with _tools.sparse_world(mx):
        x = _tools.sparse_parameter(mx, stype="default")
        trainer = kit.trainer(mx, [x], options={"learning_rate": 1.0, "momentum": 0.5}, update_on_kvstore=asked)
        _backward(mx, x.list_data())
        trainer.step(1)
        check.same(kit.kvstore_of(trainer), None, "store")
        check.same(kit.update_on_kvstore(trainer), None, "update_on_kvstore")
        check.equal(kit.value(x), -1.0, "weight")


@case("TRAINER-SPARSE-016", needs=SPARSE, samples={
    "object_1": {"count": 1, "text": False}, "object_2": {"count": 2, "text": False},
    "name_2": {"count": 2, "text": True}})
def custom_store_with_a_sparse_gradient(mx, check, count, text):
    with _tools.sparse_world(mx):
        x = _tools.sparse_parameter(mx, ctx=kit.devices(mx, count), stype="default")
        store = mx.kv.create("teststore")
        trainer = kit.trainer(mx, [x], kvstore="teststore" if text else store)
        _backward(mx, x.list_data())
        check.raises(ValueError, "Cannot use %s for multi-device training with sparse gradients" % type(store),
                     trainer.step, count)
        check.equal(kit.values(x), [0.0] * count, "weights afterwards")
        proper = kit.trainer(mx, [x])
        proper.step(count)
        check.equal(kit.values(x), [-1.0] * count, "weights after a step with the default store")


@case("TRAINER-SPARSE-016", needs=SPARSE)
def name_of_a_custom_store_on_one_device(mx, check):
    with _tools.sparse_world(mx):
        x = _tools.sparse_parameter(mx, stype="default")
        trainer = kit.trainer(mx, [x], kvstore="teststore")
        _backward(mx, x.list_data())
        trainer.step(1)
        check.same(kit.kvstore_of(trainer), None, "store")
        check.equal(kit.value(x), -1.0, "weight")


@case("TRAINER-SPARSE-018", needs=SPARSE)
def first_step_makes_the_store(mx, check):
    with _tools.sparse_world(mx):
        x = _tools.sparse_parameter(mx, ctx=kit.devices(mx, 2), stype="default")
        trainer = kit.trainer(mx, [x])
        _backward(mx, x.list_data())
        check.same(kit.kvstore_of(trainer), None, "store before the first step")
        trainer.step(2)
        check.that(kit.kvstore_of(trainer) is not None, "there is a store after it")
        check.equal(kit.values(x), [-1.0, -1.0], "weights")


@case("TRAINER-SPARSE-019", samples={
    "weight": {"stype": "row_sparse", "grad_stype": "default"},
    "gradient": {"stype": "default", "grad_stype": "row_sparse"}})
def sparse_parameter_in_numpy_mode(mx, check, stype, grad_stype):
    with _tools.numpy_world(mx):
        x = _tools.sparse_parameter(mx, stype=stype, grad_stype=grad_stype, initialize=False)
        check.raises(ValueError, "Currently stype", "is not supported in NumPy interface and Gluon2.0",
                     x.initialize, mx.init.Constant(0.0))
        dense = kit.parameter(mx, value=1.0)
        check.equal(kit.value(dense), 1.0, "a dense parameter")


@case("TRAINER-SPARSE-019")
def sparse_embedding_in_numpy_mode(mx, check):
    with _tools.numpy_world(mx):
        check.raises(AssertionError, "sparse feature is not supported in Gluon2.0", mx.gluon.nn.Embedding, 4, 2,
                     sparse_grad=True)
        layer = mx.gluon.nn.Embedding(4, 2)
        layer.initialize(mx.init.Constant(3.0))
        check.equal(layer(kit.array(mx, [1], dtype="int32")), [[3.0, 3.0]], "a dense embedding")
