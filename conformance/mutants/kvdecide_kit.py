"""Ways to break how a Trainer chooses its store, through its constructor and step; no mutants live here.

Runs in the engine's interpreter: Python 3.8, standard library and numpy >= 1.17 only.
"""

import contextlib
import os

from conformance.mutants import wrap

#: The arguments of a Trainer in their order, with their defaults.
ARGUMENTS = (("params", None), ("optimizer", None), ("optimizer_params", None), ("kvstore", "device"),
             ("compression_params", None), ("update_on_kvstore", None))


class Given(object):
    """The arguments of one Trainer, which a mutant may change."""

    def __init__(self, values):
        self.params, self.optimizer, self.options, self.kvstore, self.compression, self.on_store = values

    @property
    def parameters(self):
        """The parameters as a list."""
        return list(self.params.values()) if hasattr(self.params, "values") else list(self.params)

    @property
    def devices(self):
        """The number of devices of the first parameter; 0 if that cannot be told yet."""
        try:
            return len(self.parameters[0].list_ctx())
        except Exception:  # noqa: BLE001 - a wrong or uninitialised parameter is the engine's to report
            return 0

    @property
    def kind(self):
        """The type of a store that was given as an object, else an empty string."""
        return getattr(self.kvstore, "type", "")

    @property
    def aggregated(self):
        """The aggregate_num that was asked for, or None."""
        return (self.options or {}).get("aggregate_num")


def change_arguments(mx, change):
    """Let ``change(given)`` alter the arguments of every Trainer before it is made."""

    def make(init):
        def broken(self, *args, **kwargs):
            names = [name for name, _ in ARGUMENTS]
            bound = dict(ARGUMENTS)
            bound.update(zip(names, args))
            bound.update((name, kwargs.pop(name)) for name in names if name in kwargs)
            given = Given([bound[name] for name in names])
            change(given)
            return init(self, given.params, given.optimizer, given.options, kvstore=given.kvstore,
                        compression_params=given.compression, update_on_kvstore=given.on_store, **kwargs)
        return broken

    wrap(mx.gluon.Trainer, "__init__", make)


def around_step(mx, context):
    """Run every step inside ``context(trainer)``."""

    def make(step):
        def broken(self, *args, **kwargs):
            with context(self):
                return step(self, *args, **kwargs)
        return broken

    wrap(mx.gluon.Trainer, "step", make)


def rename_type(mx, given_stores, rename):
    """During a step, let custom stores among *given_stores* report ``rename(type)`` as their type."""

    @contextlib.contextmanager
    def renamed(trainer):
        store = given_stores.get(id(trainer))
        if store is None:
            yield
            return
        kind, original = type(store), type(store).type
        kind.type = property(lambda self: rename(original.fget(self)))
        try:
            yield
        finally:
            kind.type = original

    around_step(mx, renamed)


def remember_custom_stores(mx, when):
    """Return a dict id(trainer) -> custom store that fills as trainers are made, for those where ``when(given)``."""
    found = {}

    def make(init):
        def noting(self, *args, **kwargs):
            init(self, *args, **kwargs)
            given = Given([kwargs.get(name, default) for name, default in ARGUMENTS])
            store = given.kvstore
            native = isinstance(store, mx.kvstore.KVStore)
            if isinstance(store, mx.kvstore.KVStoreBase) and not native and when(given):
                found[id(self)] = store
        return noting

    wrap(mx.gluon.Trainer, "__init__", make)
    return found


@contextlib.contextmanager
def variable(name, value):
    """Set an environment variable for the block; None removes it."""
    before = os.environ.get(name)
    try:
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value
        yield
    finally:
        os.environ.pop(name, None)
        if before is not None:
            os.environ[name] = before
