"""Mutants of TRAINER-STALE."""

import numpy as np

from conformance.mutants import mutant
from conformance.mutants import trainer_kit as tools


@mutant("TRAINER-STALE-001", "TRAINER-ERR-002")
def error_gives_no_advice(mx):
    """The stale-gradient error does not mention ignore_stale_grad."""

    def body(original, trainer, batch_size, ignore_stale_grad):
        try:
            return original(trainer, batch_size, ignore_stale_grad)
        except UserWarning as error:
            raise UserWarning(str(error).replace("ignore_stale_grad", "something")) from error

    tools.step(mx, body)


@mutant("TRAINER-STALE-002")
def first_device_decides(mx):
    """A stale gradient on another device than the first is overlooked."""

    def body(original, trainer, batch_size, ignore_stale_grad):
        try:
            return original(trainer, batch_size, ignore_stale_grad)
        except UserWarning as error:
            if "cpu(1)" not in str(error):
                raise
            return original(trainer, batch_size, True)

    tools.step(mx, body)


@mutant("TRAINER-STALE-003")
def stale_parameters_decay(mx):
    """Weight decay is applied to the parameters that ignore_stale_grad=True skips."""

    def body(original, trainer, batch_size, ignore_stale_grad):
        before = tools.snapshot(trainer) if ignore_stale_grad else []
        original(trainer, batch_size, ignore_stale_grad)
        for parameter, kept in zip(tools.parameters(trainer), before):
            for replica, old in zip(parameter.list_data(), kept):
                if np.array_equal(replica.asnumpy(), old):
                    tools.write(replica, old * (1.0 - trainer.learning_rate * trainer.optimizer.wd))

    tools.step(mx, body)


@mutant("TRAINER-STALE-005")
def old_gradient_is_accepted(mx):
    """After a first step, a stale gradient is skipped silently."""
    stepped = set()

    def body(original, trainer, batch_size, ignore_stale_grad):
        original(trainer, batch_size, ignore_stale_grad or trainer in stepped)
        stepped.add(trainer)

    tools.step(mx, body)


@mutant("TRAINER-STALE-009")
def one_stale_replica_skips_all(mx):
    """With ignore_stale_grad=True a parameter that is stale on one device is skipped on all."""

    def body(original, trainer, batch_size, ignore_stale_grad):
        before = tools.snapshot(trainer) if ignore_stale_grad else []
        original(trainer, batch_size, ignore_stale_grad)
        for parameter, kept in zip(tools.parameters(trainer), before):
            changed = [not np.array_equal(replica.asnumpy(), old) for replica, old in zip(parameter.list_data(), kept)]
            if any(changed) and not all(changed):
                for replica, old in zip(parameter.list_data(), kept):
                    tools.write(replica, old)

    tools.step(mx, body)


def _refresh(trainer, wanted):
    for parameter in tools.parameters(trainer):
        if parameter.grad_req != "null" and not tools.is_sparse(parameter):
            for replica, gradient in zip(parameter.list_data(), parameter.list_grad()):
                if wanted(gradient):
                    replica._fresh_grad = True


@mutant("TRAINER-STALE-010")
def gradient_that_is_not_zero_is_fresh(mx):
    """A gradient counts as fresh if it is not zero, whoever wrote it."""

    def body(original, trainer, batch_size, ignore_stale_grad):
        _refresh(trainer, lambda gradient: bool((gradient.asnumpy() != 0).any()))
        original(trainer, batch_size, ignore_stale_grad)

    tools.step(mx, body)


@mutant("TRAINER-STALE-011")
def unused_layers_are_skipped(mx):
    """Parameters given as a dictionary, as a network does, are skipped silently if they are stale."""
    networks = set()
    tools.constructor(mx, after=lambda trainer, arguments: networks.add(trainer)
                      if hasattr(arguments["params"], "values") else None)
    tools.step(mx, lambda original, trainer, batch_size, stale:
               original(trainer, batch_size, stale or trainer in networks))


@mutant("TRAINER-STALE-012")
def loading_refreshes(mx):
    """load_states makes every gradient fresh."""

    def body(original, trainer, *args, **kwargs):
        original(trainer, *args, **kwargs)
        _refresh(trainer, lambda gradient: True)

    tools.method(mx, "load_states", body)
