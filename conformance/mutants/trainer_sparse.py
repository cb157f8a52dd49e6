"""Mutants of TRAINER-SPARSE."""

import os

from conformance.mutants import mutant, wrap
from conformance.mutants import trainer_kit as tools


def _sparse_gradient_before(mx, change):
    """Call ``change(arguments, devices)`` where a dense weight has a sparse gradient."""

    def before(arguments):
        given = tools.listed(arguments["params"])
        if any(map(tools.has_sparse_gradient, given)):
            change(arguments, tools.device_count(given[0]))

    tools.constructor(mx, before)


def _has_sparse_weight(arguments):
    return any(map(tools.is_sparse, tools.listed(arguments["params"])))


@mutant("TRAINER-SPARSE-001")
def explicit_choice_is_refused(mx):
    """update_on_kvstore=True is refused for sparse weights on a local store, since it goes without saying."""

    def before(arguments):
        asked = arguments.get("update_on_kvstore") and arguments.get("kvstore", "device") == "local"
        if asked and _has_sparse_weight(arguments):
            raise ValueError("update_on_kvstore must not be given")

    tools.constructor(mx, before)


@mutant("TRAINER-SPARSE-002")
def store_without_optimizer_is_another_error(mx):
    """A store without an optimizer raises ValueError for sparse weights."""
    tools.other_error(mx.gluon.Parameter, "row_sparse_data", AssertionError, "requires optimizer support", ValueError)


@mutant("TRAINER-SPARSE-003")
def local_updates_are_overruled(mx):
    """update_on_kvstore=False is taken for True if a weight is sparse."""

    def before(arguments):
        if _has_sparse_weight(arguments) and arguments.get("update_on_kvstore") is False:
            arguments["update_on_kvstore"] = True

    tools.constructor(mx, before)


@mutant("TRAINER-SPARSE-004")
def default_store_replaces_none(mx):
    """kvstore=None is taken for the default if a weight is sparse."""

    def before(arguments):
        if _has_sparse_weight(arguments) and arguments.get("kvstore", "device") is None:
            arguments["kvstore"] = "device"

    tools.constructor(mx, before)


@mutant("TRAINER-SPARSE-005")
def every_row_is_fetched(mx):
    """row_sparse_data fetches all rows, whichever were asked for."""

    def make(original):
        def broken(self, row_id):
            return original(self, mx.nd.array(list(range(self.shape[0]))))
        return broken

    wrap(mx.gluon.Parameter, "row_sparse_data", make)


@mutant("TRAINER-SPARSE-007")
def dense_access_is_another_error(mx):
    """data() and list_data() of a sparse weight raise ValueError."""
    for name in ("data", "list_data"):
        tools.other_error(mx.gluon.Parameter, name, RuntimeError, "storage type is row_sparse", ValueError)


@mutant("TRAINER-SPARSE-008")
def rows_without_a_trainer_are_another_error(mx):
    """Rows of a parameter without a trainer raise ValueError."""
    for name in ("row_sparse_data", "list_row_sparse_data"):
        tools.other_error(mx.gluon.Parameter, name, RuntimeError, "when no Trainer is created", ValueError)


def _step_of_sparse_weights(mx, change):
    """Change the batch size of trainers whose first weight is sparse: ``change(batch_size, devices)``."""

    def body(original, trainer, batch_size, ignore_stale_grad):
        first = tools.parameters(trainer)[0]
        if tools.is_sparse(first):
            batch_size = change(batch_size, tools.device_count(first))
        original(trainer, batch_size, ignore_stale_grad)

    tools.step(mx, body)


@mutant("TRAINER-SPARSE-009")
def sparse_gradients_are_averaged(mx):
    """Gradients of sparse weights are averaged over the devices."""
    _step_of_sparse_weights(mx, lambda batch_size, count: batch_size * count)


@mutant("TRAINER-SPARSE-010")
def dense_weights_beside_sparse_ones_rest(mx):
    """Dense weights are not updated if the first weight is sparse."""

    def body(original, trainer, batch_size, ignore_stale_grad):
        mixed = tools.is_sparse(tools.parameters(trainer)[0])
        dense = [p for p in tools.parameters(trainer) if not tools.is_sparse(p)] if mixed else []
        kept = [[replica.asnumpy().copy() for replica in p.list_data()] for p in dense]
        original(trainer, batch_size, ignore_stale_grad)
        for parameter, before in zip(dense, kept):
            for replica, values in zip(parameter.list_data(), before):
                tools.write(replica, values)

    tools.step(mx, body)


@mutant("TRAINER-SPARSE-011")
def environment_decides(mx):
    """MXNET_UPDATE_ON_KVSTORE=1 puts the updates of sparse gradients on the store."""

    def change(arguments, count):
        if arguments.get("update_on_kvstore") is None and os.environ.get("MXNET_UPDATE_ON_KVSTORE") == "1":
            arguments["update_on_kvstore"] = True

    _sparse_gradient_before(mx, change)


@mutant("TRAINER-SPARSE-012")
def explicit_choice_is_ignored(mx):
    """update_on_kvstore=True is taken for False if a gradient is sparse."""

    def change(arguments, count):
        if arguments.get("update_on_kvstore") and count > 1:
            arguments["update_on_kvstore"] = False

    _sparse_gradient_before(mx, change)


@mutant("TRAINER-SPARSE-013")
def one_device_cannot_update_on_a_store(mx):
    """update_on_kvstore=True on one device is refused if a gradient is sparse."""

    def change(arguments, count):
        if arguments.get("update_on_kvstore") and count == 1:
            raise ValueError("Cannot set update_on_kvstore=True when there is no store")

    _sparse_gradient_before(mx, change)


@mutant("TRAINER-SPARSE-016")
def custom_stores_are_another_error(mx):
    """A custom store with sparse gradients raises TypeError."""
    tools.other_error(mx.gluon.Trainer, "step", ValueError, "with sparse gradients", TypeError)


@mutant("TRAINER-SPARSE-019")
def sparse_embeddings_are_accepted(mx):
    """sparse_grad=True of an Embedding is ignored in numpy array mode."""

    def make(original):
        def broken(self, *args, **kwargs):
            kwargs.pop("sparse_grad", None)
            original(self, *args, **kwargs)
        return broken

    wrap(mx.gluon.nn.Embedding, "__init__", make)
