"""Mutants of Ftrl and FTML."""

from conformance.mutants import mutant
from conformance.mutants.optimizer_kit import options_during_update


@mutant("OPT-FTRL-001")
def ftrl_has_no_threshold(mx):
    options_during_update(mx, "Ftrl", lambda self: {"lamda1": 0.0})


@mutant("OPT-FTML-001")
def ftml_weakens_beta1(mx):
    options_during_update(mx, "FTML", lambda self: {"beta1": self.beta1 * 0.9})
