"""Mutants of MEMPLAN-REUSE, MEMPLAN-FREE, MEMPLAN-DOC and MEMPLAN-CASE: more memory or time than promised."""

import os

import numpy as np

from conformance.mutants import mutant, wrap
from conformance.mutants.ndarray_kit import is_array, method


@mutant("MEMPLAN-REUSE-001", "MEMPLAN-REUSE-002", "MEMPLAN-REUSE-005")
def graphs_share_no_memory(mx):
    os.environ["NNVM_EXEC_MATCH_RANGE"] = "0"


@mutant("MEMPLAN-REUSE-003")
def recorded_calls_have_a_ballast(mx):
    """A recorded call of a container fills 96 MiB, whatever the batch."""
    def call(original):
        def changed(self, *inputs, **options):
            ballast = np.ones(96 << 20, "uint8") if mx.autograd.is_recording() else None
            result = original(self, *inputs, **options)
            del ballast
            return result
        return changed

    wrap(mx.gluon.nn.HybridSequential, "__call__", call)


@mutant("MEMPLAN-REUSE-006")
def eager_layers_keep_their_last_results(mx):
    kept = []

    def call(original):
        def changed(self, *inputs, **options):
            result = original(self, *inputs, **options)
            if is_array(result) and result.size >= 1 << 20:
                kept.append(result)
                del kept[:-12]
            return result
        return changed

    wrap(mx.gluon.nn.Dense, "__call__", call)


@mutant("MEMPLAN-FREE-004")
def detached_results_hold_their_graph(mx):
    kept = []

    def body(original, self, *args, **options):
        kept.append(self)
        return original(self, *args, **options)

    method(mx, "detach", body)


@mutant("MEMPLAN-DOC-002")
def gradients_of_the_last_batch_alone(mx):
    """The gradients of layers of 16 units are never added up."""
    original = mx.gluon.Parameter.grad_req

    def request(self, req):
        original.fset(self, "write" if req == "add" and tuple(self.shape or ()) in ((16, 16), (16,)) else req)

    mx.gluon.Parameter.grad_req = property(original.fget, request, None, original.__doc__)


@mutant("MEMPLAN-CASE-003")
def loader_makes_nothing_ahead(mx):
    def make(original):
        def changed(self, *args, **options):
            if options.get("thread_pool"):
                options.update(num_workers=0, thread_pool=False)
            return original(self, *args, **options)
        return changed

    wrap(mx.gluon.data.DataLoader, "__init__", make)
