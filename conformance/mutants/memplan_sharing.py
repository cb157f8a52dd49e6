"""Mutants of MEMPLAN: sharing, freeing, and what programs can rely on."""

from conformance.mutants import mutant, wrap
from conformance.mutants.ndarray_kit import function


@mutant("MEMPLAN-REUSE-004")
def planned_result_is_overwritten_by_the_next(mx):
    """A hybridized block with more than four children puts its result where the one before was."""
    kept = {}

    def hybridize(original):
        def changed(self, active=True, **flags):
            if active and len(self._children) > 4:
                kept[id(self)] = (self, [])
            return original(self, active, **flags)
        return changed

    def call(original):
        def changed(self, *inputs, **options):
            result = original(self, *inputs, **options)
            if id(self) in kept and not mx.autograd.is_recording():
                before = kept[id(self)][1]
                if before and before[0].shape == result.shape:
                    return before[0]
                before[:] = [result]
            return result
        return changed

    wrap(mx.gluon.HybridBlock, "hybridize", hybridize)
    wrap(mx.gluon.HybridBlock, "__call__", call)


@mutant("MEMPLAN-FREE-001", "MEMPLAN-FREE-002")
def large_arrays_are_never_freed(mx):
    kept = []

    def body(original, *args, **options):
        made = original(*args, **options)
        if made.size >= 4096 * 1024:
            kept.append(made)
        return made

    function(mx.nd, "ones", body)


@mutant("MEMPLAN-FREE-003")
def waiting_swallows_errors(mx):
    def body(original):
        try:
            return original()
        except mx.base.MXNetError:
            return None

    function(mx.nd, "waitall", body)


@mutant("MEMPLAN-DOC-001")
def loader_hands_out_the_first_batch_only(mx):
    """A loader without workers gives its first batch again and again."""
    def iterate(original):
        def changed(self):
            first = None
            for batch in original(self):
                first = batch if first is None else first
                yield first
        return changed

    wrap(mx.gluon.data.DataLoader, "__iter__", iterate)


@mutant("MEMPLAN-HW-005")
def arrays_go_to_the_second_device(mx):
    def body(original, source_array, ctx=None, *args, **options):
        if ctx is None and isinstance(source_array, list) and source_array == [1.0]:
            ctx = mx.cpu(1)
        return original(source_array, ctx, *args, **options)

    function(mx.nd, "array", body)
