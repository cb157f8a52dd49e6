"""Mutants of LAMB, LANS and LARS."""

from conformance.mutants import mutant
from conformance.mutants.optimizer_kit import (
    gradients_before_update,
    options_during_update,
    weights_after_update,
)


def stuck_at_zero(self, before, after):
    """A weight of zero stays there."""
    del self
    return after if before.any() else before


@mutant("OPT-LAMB-001")
def lamb_forgets_the_decay(mx):
    options_during_update(mx, "LAMB", lambda self: {"wd": 0.0},
                          lambda self: self.bias_correction and not self.lower_bound and not self.upper_bound)


@mutant("OPT-LAMB-002")
def lamb_always_corrects_the_bias(mx):
    options_during_update(mx, "LAMB", lambda self: {"bias_correction": True})


@mutant("OPT-LAMB-003")
def lamb_ignores_the_lower_bound(mx):
    options_during_update(mx, "LAMB", lambda self: {"lower_bound": None})


@mutant("OPT-LAMB-004")
def lamb_ignores_the_upper_bound(mx):
    options_during_update(mx, "LAMB", lambda self: {"upper_bound": None})


@mutant("OPT-LAMB-006")
def lamb_never_moves_a_zero_weight(mx):
    weights_after_update(mx, "LAMB", stuck_at_zero)


@mutant("OPT-LANS-001")
def lans_forgets_the_decay(mx):
    options_during_update(mx, "LANS", lambda self: {"wd": 0.0})


@mutant("OPT-LARS-001")
def lars_takes_the_norm_after_clipping(mx):
    """The ratio is computed from the clipped gradient."""

    def clipped(self, weight, gradient):
        del weight
        if self.clip_gradient is None:
            return gradient
        limit = self.clip_gradient / self.rescale_grad
        return gradient.clip(-limit, limit)

    gradients_before_update(mx, "LARS", clipped)


@mutant("OPT-LARS-002")
def lars_never_moves_a_zero_weight(mx):
    weights_after_update(mx, "LARS", stuck_at_zero)
