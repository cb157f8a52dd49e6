"""Mutants of TRAINER-REDUCE."""

from conformance.mutants import mutant, wrap
from conformance.mutants import trainer_kit as tools
from conformance.suite import kit


def _push_then_pull(store, kept, wanted):
    def pushpull(key, value, out=None, priority=0):
        if not wanted(out):
            return kept(key, value, out=out, priority=priority)
        store.push(key, value, priority=priority)
        return store.pull(key, out=value if out is None else out, priority=priority)
    return pushpull


@mutant("TRAINER-REDUCE-001")
def weights_are_pulled(mx):
    """Where updates are on the store a step pushes and pulls instead of calling pushpull."""
    tools.on_store(mx, "pushpull", lambda store, kept: _push_then_pull(store, kept, lambda out: out is not None))


@mutant("TRAINER-REDUCE-002")
def gradients_are_pulled(mx):
    """Where updates are local a step pushes and pulls instead of calling pushpull."""
    tools.on_store(mx, "pushpull", lambda store, kept: _push_then_pull(store, kept, lambda out: out is None))


def _pull_without_sparse(wanted):
    def make(store, kept):
        def pull(key, out=None, priority=0, ignore_sparse=True):
            first = out[0] if isinstance(out, (list, tuple)) else out
            return kept(key, out=out, priority=priority, ignore_sparse=ignore_sparse or first.stype == wanted)
        return pull
    return make


@mutant("TRAINER-REDUCE-003")
def sparse_gradients_are_not_pulled(mx):
    """The pull of a sparse gradient ignores sparse arrays."""
    tools.on_store(mx, "pull", _pull_without_sparse("row_sparse"))


@mutant("TRAINER-REDUCE-004")
def dense_weights_are_pulled_otherwise(mx):
    """The pull of a dense weight with a sparse gradient asks to ignore sparse arrays."""
    tools.on_store(mx, "pull", _pull_without_sparse("default"))


@mutant("TRAINER-REDUCE-005", "TRAINER-SPARSE-006")
def sparse_weights_are_pulled(mx):
    """A step pulls sparse weights after it pushed their gradients."""

    def body(original, trainer, batch_size, ignore_stale_grad):
        original(trainer, batch_size, ignore_stale_grad)
        for index, parameter in enumerate(tools.parameters(trainer)):
            if tools.is_sparse(parameter):
                out = mx.nd.sparse.zeros("row_sparse", parameter.shape)
                kit.kvstore_of(trainer).pull(index, out=out, ignore_sparse=True)

    tools.step(mx, body)


@mutant("TRAINER-REDUCE-006")
def no_priorities(mx):
    """Every gradient is reduced with the priority 0."""

    def make(store, kept):
        def pushpull(key, value, out=None, priority=0):
            return kept(key, value, out=out, priority=0)
        return pushpull

    tools.on_store(mx, "pushpull", make)


@mutant("TRAINER-REDUCE-007")
def weights_without_gradients_are_pushed(mx):
    """Parameters with grad_req null take part in the reduction with a zero gradient."""

    def body(original, trainer, batch_size, ignore_stale_grad):
        original(trainer, batch_size, ignore_stale_grad)
        store = kit.kvstore_of(trainer)
        for index, parameter in enumerate(tools.parameters(trainer)):
            if store is not None and parameter.grad_req == "null" and parameter.shape == (1,):
                zeros = [replica * 0 for replica in parameter.list_data()]
                store.pushpull(index, zeros, priority=-index)

    tools.step(mx, body)


def _store_class(mx):
    return type(mx.kv.create("local"))


@mutant("TRAINER-REDUCE-008")
def sum_stays_on_the_store(mx):
    """pushpull without out leaves the pushed values of a text key as they were."""

    def make(original):
        def broken(self, key, value, out=None, priority=0):
            if out is None and isinstance(key, str):
                out = [item.copy() for item in value]
            return original(self, key, value, out=out, priority=priority)
        return broken

    wrap(_store_class(mx), "pushpull", make)


@mutant("TRAINER-REDUCE-009")
def sum_in_place_of_the_weight(mx):
    """pushpull on a text key returns the sum although the store has an optimizer."""

    def make(original):
        def broken(self, key, value, out=None, priority=0):
            original(self, key, value, out=out, priority=priority)
            if out is not None and isinstance(key, str):
                total = sum(item.asnumpy() for item in value)
                for item in out:
                    tools.write(item, total)
        return broken

    wrap(_store_class(mx), "pushpull", make)


@mutant("TRAINER-REDUCE-011")
def replicas_are_not_broadcast(mx):
    """Only the first device gets the value that is broadcast."""

    def make(original):
        def broken(self, key, value, out, priority=0):
            kept = [item.asnumpy().copy() for item in out] if isinstance(out, (list, tuple)) else []
            original(self, key, value, out, priority)
            for item, before in list(zip(out, kept))[1:]:
                tools.write(item, before)
        return broken

    wrap(_store_class(mx), "broadcast", make)


@mutant("TRAINER-REDUCE-012")
def sparse_weights_start_from_zero(mx):
    """The store is given zeros in place of a sparse weight."""

    def make(original):
        def broken(self, key, value):
            if getattr(value, "stype", "default") != "default":
                value = mx.nd.sparse.zeros(value.stype, value.shape)
            original(self, key, value)
        return broken

    wrap(_store_class(mx), "init", make)


@mutant("TRAINER-REDUCE-013")
def weights_written_by_hand_are_noticed(mx):
    """Where updates are on the store, a weight written into list_data() replaces the store's copy."""
    known = {}

    def body(original, trainer, batch_size, ignore_stale_grad):
        dense = [p for p in tools.parameters(trainer) if not tools.is_sparse(p)]
        if kit.update_on_kvstore(trainer) and trainer in known:
            for parameter, before in zip(dense, known[trainer]):
                now = parameter.list_data()[0]
                if (now.asnumpy() != before).any():
                    parameter.set_data(now.copy())
        original(trainer, batch_size, ignore_stale_grad)
        known[trainer] = [parameter.list_data()[0].asnumpy().copy() for parameter in dense]

    tools.step(mx, body)
