"""Mutants of AdaGrad, RMSProp and AdaDelta."""

from conformance.mutants import mutant
from conformance.mutants.optimizer_kit import options_during_update


@mutant("OPT-ADAGRAD-001")
def adagrad_forgets_the_decay(mx):
    options_during_update(mx, "AdaGrad", lambda self: {"wd": 0.0})


@mutant("OPT-RMSPROP-001")
def rmsprop_forgets_the_decay(mx):
    options_during_update(mx, "RMSProp", lambda self: {"wd": 0.0}, lambda self: not self.centered)


@mutant("OPT-RMSPROP-002")
def centered_rmsprop_forgets_the_decay(mx):
    options_during_update(mx, "RMSProp", lambda self: {"wd": 0.0}, lambda self: self.centered)


@mutant("OPT-RMSPROP-003")
def rmsprop_forgets_to_clip_weights(mx):
    options_during_update(mx, "RMSProp", lambda self: {"clip_weights": None})


@mutant("OPT-ADADELTA-001")
def adadelta_ignores_the_learning_rate(mx):
    options_during_update(mx, "AdaDelta", lambda self: {"lr": 1.0})
