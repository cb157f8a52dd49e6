"""Mutants of TRAINER-SPLIT."""

from conformance.mutants import mutant, wrap
from conformance.mutants import trainer_kit as tools


def _gradients(trainer):
    return [gradient for p in tools.parameters(trainer) if p.grad_req != "null" for gradient in p.list_grad()]


@mutant("TRAINER-SPLIT-001")
def last_device_is_not_reduced(mx):
    """allreduce_grads leaves the gradient of the last device as it was."""

    def body(original, trainer):
        last = [p.list_grad()[-1] for p in tools.parameters(trainer)]
        kept = [gradient.asnumpy().copy() for gradient in last]
        original(trainer)
        for gradient, before in zip(last, kept):
            tools.write(gradient, before)

    tools.method(mx, "allreduce_grads", body)


@mutant("TRAINER-SPLIT-002")
def transformed_gradients_are_lost(mx):
    """update works with what allreduce_grads left, not with what the user made of it."""
    reduced = {}

    def allreduce(original, trainer):
        original(trainer)
        reduced[trainer] = [gradient.asnumpy().copy() for gradient in _gradients(trainer)]

    def update(original, trainer, *args, **kwargs):
        for gradient, before in zip(_gradients(trainer), reduced.pop(trainer, [])):
            tools.write(gradient, before)
        original(trainer, *args, **kwargs)

    tools.method(mx, "allreduce_grads", allreduce)
    tools.method(mx, "update", update)


@mutant("TRAINER-SPLIT-004")
def reduction_on_the_store_is_ignored(mx):
    """allreduce_grads does nothing where updates are on the store."""
    tools.other_error(mx.gluon.Trainer, "allreduce_grads", AssertionError, "updated on kvstore")


@mutant("TRAINER-SPLIT-005")
def update_on_the_store_is_ignored(mx):
    """update does nothing where updates are on the store."""
    tools.other_error(mx.gluon.Trainer, "update", AssertionError, "updated on kvstore")


@mutant("TRAINER-SPLIT-006")
def defaults_are_not_refused(mx):
    """Both halves do nothing where the default chose updates on the store."""
    default = set()
    tools.constructor(mx, after=lambda trainer, arguments: default.add(trainer)
                      if arguments.get("update_on_kvstore") is None else None)

    def body(original, trainer, *args, **kwargs):
        try:
            return original(trainer, *args, **kwargs)
        except AssertionError:
            if trainer not in default:
                raise
            return None

    tools.method(mx, "allreduce_grads", body)
    tools.method(mx, "update", body)


@mutant("TRAINER-SPLIT-007")
def reduction_clears_one_device(mx):
    """allreduce_grads clears the gradients of a trainer on one device."""

    def body(original, trainer):
        original(trainer)
        if tools.devices(trainer) == 1:
            for gradient in _gradients(trainer):
                gradient[:] = 0.0

    tools.method(mx, "allreduce_grads", body)


@mutant("TRAINER-SPLIT-008")
def update_does_not_divide(mx):
    """update takes every batch size to be 1."""
    tools.method(mx, "update", lambda original, trainer, batch_size, *args, **kwargs:
                 original(trainer, 1, *args, **kwargs))


@mutant("TRAINER-SPLIT-009")
def second_reduction_is_skipped(mx):
    """allreduce_grads does nothing when it is called again before an update."""
    reduced = set()

    def allreduce(original, trainer):
        if trainer not in reduced:
            original(trainer)
            reduced.add(trainer)

    def update(original, trainer, *args, **kwargs):
        reduced.discard(trainer)
        original(trainer, *args, **kwargs)

    tools.method(mx, "allreduce_grads", allreduce)
    tools.method(mx, "update", update)


@mutant("TRAINER-SPLIT-010")
def update_reduces_by_itself(mx):
    """update sums the gradients of all devices if the user has not done so."""
    reduced = set()

    def allreduce(original, trainer):
        original(trainer)
        reduced.add(trainer)

    def update(original, trainer, *args, **kwargs):
        if trainer not in reduced and tools.devices(trainer) > 1:
            trainer.allreduce_grads()
        reduced.discard(trainer)
        original(trainer, *args, **kwargs)

    tools.method(mx, "allreduce_grads", allreduce)
    tools.method(mx, "update", update)


@mutant("TRAINER-SPLIT-011")
def update_ignores_stale_gradients(mx):
    """update never raises because of a stale gradient."""
    tools.method(mx, "update", lambda original, trainer, batch_size, ignore_stale_grad=False:
                 original(trainer, batch_size, True))


@mutant("TRAINER-SPLIT-012")
def norm_is_computed_only(mx):
    """clip_global_norm returns the norm but scales nothing."""

    def make(original):
        def broken(arrays, max_norm, *args, **kwargs):
            return original(arrays, 1e30, *args, **kwargs)
        return broken

    wrap(mx.gluon.utils, "clip_global_norm", make)
