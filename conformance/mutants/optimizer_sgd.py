"""Mutants of the optimizers of gradient descent: SGD, NAG, DCASGD."""

from conformance.mutants import mutant
from conformance.mutants.optimizer_kit import gradients_before_update, options_during_update


def without_momentum(self):
    return not self.momentum


def with_momentum(self):
    return bool(self.momentum)


@mutant("OPT-SGD-001")
def sgd_forgets_to_clip(mx):
    options_during_update(mx, "SGD", lambda self: {"clip_gradient": None}, without_momentum)


@mutant("OPT-SGD-001")
def sgd_forgets_the_decay(mx):
    options_during_update(mx, "SGD", lambda self: {"wd": 0.0}, without_momentum)


@mutant("OPT-SGD-001")
def sgd_forgets_to_rescale(mx):
    options_during_update(mx, "SGD", lambda self: {"rescale_grad": 1.0}, without_momentum)


@mutant("OPT-SGD-001")
def sgd_clips_before_it_rescales(mx):
    """The gradient is limited to [-c, c] before it is multiplied by rescale_grad."""

    def clipped(self, weight, gradient):
        del weight
        return gradient if self.clip_gradient is None else gradient.clip(-self.clip_gradient, self.clip_gradient)

    gradients_before_update(mx, "SGD", clipped, without_momentum)


@mutant("OPT-SGD-001")
def sgd_adds_the_decay_before_it_clips(mx):
    """The gradient that is clipped contains the weight decay."""

    def decayed(self, weight, gradient):
        return gradient + weight * (self.wd / self.rescale_grad)

    gradients_before_update(mx, "SGD", decayed, without_momentum)
    options_during_update(mx, "SGD", lambda self: {"wd": 0.0}, without_momentum)


@mutant("OPT-SGD-002")
def sgd_halves_the_momentum(mx):
    options_during_update(mx, "SGD", lambda self: {"momentum": self.momentum / 2}, with_momentum)


@mutant("OPT-NAG-001")
def nag_weakens_the_momentum(mx):
    options_during_update(mx, "NAG", lambda self: {"momentum": self.momentum * 0.9}, with_momentum)


@mutant("OPT-DCASGD-001")
def dcasgd_does_not_compensate(mx):
    options_during_update(mx, "DCASGD", lambda self: {"lamda": 0.0}, without_momentum)


@mutant("OPT-DCASGD-002")
def dcasgd_does_not_compensate_with_momentum(mx):
    options_during_update(mx, "DCASGD", lambda self: {"lamda": 0.0}, with_momentum)
