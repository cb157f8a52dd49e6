"""Mutants of updates with gradients that hold some rows only."""

from conformance.mutants import mutant
from conformance.mutants.optimizer_kit import options_during_update, weights_after_update


@mutant("OPT-SGD-003")
def sgd_is_never_lazy(mx):
    options_during_update(mx, "SGD", lambda self: {"lazy_update": False})


@mutant("OPT-ADAM-002")
def adam_is_never_lazy(mx):
    options_during_update(mx, "Adam", lambda self: {"lazy_update": False})


@mutant("OPT-ADAGRAD-002")
def adagrad_decays_all_rows(mx):
    weights_after_update(mx, "AdaGrad", lambda self, before, after: after * 0.99,
                         lambda self: getattr(self, "epsilon", 0) == 0.25)
