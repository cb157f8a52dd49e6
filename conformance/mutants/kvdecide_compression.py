"""Mutants of KVDECIDE-COMP: compression_params of a Trainer."""

from conformance.mutants import mutant
from conformance.mutants.kvdecide_kit import change_arguments


@mutant("KVDECIDE-COMP-001")
def compression_is_forgotten(mx):
    def change(given):
        if given.devices > 1 and given.kvstore == "device" and (given.compression or {}).get("threshold") == 0.5:
            given.compression = None

    change_arguments(mx, change)


@mutant("KVDECIDE-COMP-003")
def local_store_ignores_compression(mx):
    def change(given):
        if given.kvstore == "local":
            given.compression = None

    change_arguments(mx, change)


@mutant("KVDECIDE-COMP-004")
def compression_needs_a_store(mx):
    def change(given):
        if given.compression and (given.devices == 1 or given.kvstore is None):
            raise ValueError("compression_params needs a kvstore")

    change_arguments(mx, change)


@mutant("KVDECIDE-COMP-005")
def threshold_is_one_by_default(mx):
    def change(given):
        if (given.compression or {}).get("type") == "2bit":
            given.compression = dict({"threshold": 1.0}, **given.compression)

    change_arguments(mx, change)


@mutant("KVDECIDE-COMP-007")
def custom_store_ignores_compression(mx):
    def change(given):
        named = given.kvstore == "teststore"
        if named or (given.kind and not hasattr(given.kvstore, "set_gradient_compression")):
            given.compression = None

    change_arguments(mx, change)
