"""Mutants of KVDECIDE-ARG: the argument kvstore."""

from conformance.mutants import mutant, wrap
from conformance.mutants.kvdecide_kit import change_arguments


@mutant("KVDECIDE-ARG-001")
def default_store_is_local(mx):
    def make(init):
        def broken(self, *args, **kwargs):
            if len(args) < 4:
                kwargs.setdefault("kvstore", "local")
            return init(self, *args, **kwargs)
        return broken

    wrap(mx.gluon.Trainer, "__init__", make)


@mutant("KVDECIDE-ARG-002")
def local_store_calls_itself_device(mx):
    def make(kind):
        return lambda self: "device" if kind(self) == "local" else kind(self)

    wrap(mx.kvstore.KVStore, "type", make)


@mutant("KVDECIDE-ARG-003")
def store_object_is_dropped_on_one_device(mx):
    def change(given):
        if given.devices == 1 and isinstance(given.kvstore, mx.kvstore.KVStoreBase):
            given.kvstore = None

    change_arguments(mx, change)


@mutant("KVDECIDE-ARG-004")
def one_device_gets_a_store(mx):
    def change(given):
        if given.devices == 1 and given.kvstore in ("device", "local", "teststore"):
            given.kvstore = mx.kvstore.create(given.kvstore)

    change_arguments(mx, change)


@mutant("KVDECIDE-ARG-005")
def string_is_checked_on_one_device(mx):
    def change(given):
        if given.devices == 1 and given.kvstore in ("foo", ""):
            raise ValueError("unknown kvstore %r" % given.kvstore)

    change_arguments(mx, change)


@mutant("KVDECIDE-ARG-006")
def names_must_be_in_lower_case(mx):
    def change(given):
        if isinstance(given.kvstore, str) and given.kvstore != given.kvstore.lower():
            raise ValueError("unknown kvstore %r" % given.kvstore)

    change_arguments(mx, change)


@mutant("KVDECIDE-ARG-008")
def none_means_device(mx):
    def change(given):
        if given.kvstore is None:
            given.kvstore = "device"

    change_arguments(mx, change)


@mutant("KVDECIDE-ARG-009")
def any_object_means_device(mx):
    def change(given):
        if given.kvstore is not None and not isinstance(given.kvstore, (str, mx.kvstore.KVStoreBase)):
            given.kvstore = "device"

    change_arguments(mx, change)


@mutant("KVDECIDE-ARG-010")
def create_takes_anything_for_local(mx):
    def make(create):
        def broken(name="local"):
            return create(name if isinstance(name, str) else "local")
        return broken

    wrap(mx.kvstore, "create", make)


@mutant("KVDECIDE-ARG-012")
def adam_has_another_epsilon_on_local(mx):
    def change(given):
        if given.kvstore == "local" and given.optimizer == "adam":
            given.options = dict(given.options or {}, epsilon=1e-3)

    change_arguments(mx, change)
