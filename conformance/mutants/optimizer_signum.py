"""Mutants of Signum and SGLD."""

from conformance.mutants import mutant
from conformance.mutants.optimizer_kit import options_during_update, weights_after_update


@mutant("OPT-SIGNUM-001")
def signum_forgets_the_decay(mx):
    options_during_update(mx, "Signum", lambda self: {"wd": 0.0}, lambda self: self.momentum)


@mutant("OPT-SIGNUM-002")
def signum_forgets_the_decoupled_decay(mx):
    options_during_update(mx, "Signum", lambda self: {"wd_lh": 0.0}, lambda self: self.momentum)


@mutant("OPT-SIGNUM-003")
def sign_sgd_forgets_the_decay(mx):
    options_during_update(mx, "Signum", lambda self: {"wd": 0.0}, lambda self: not self.momentum)


@mutant("OPT-SGLD-001")
def sgld_forgets_to_clip(mx):
    options_during_update(mx, "SGLD", lambda self: {"clip_gradient": None})


@mutant("OPT-SGLD-001")
def sgld_halves_the_noise(mx):
    """Every weight moves half way to the mean of the weights."""
    weights_after_update(mx, "SGLD", lambda self, before, after: (after + after.mean()) / 2)
