"""Mutants of the optimizers with running moments: Adam, AdamW, Adamax, Nadam, AdaBelief."""

from conformance.mutants import mutant
from conformance.mutants.optimizer_kit import break_update, changed, options_during_update


@mutant("OPT-ADAM-001")
def adam_forgets_the_bias_correction(mx):
    """The rate is the learning rate itself from the first update on."""
    counts = {}

    def make(update):
        def broken(self, index, weight, grad, state):
            key = (id(self), str(index))
            t = counts[key] = counts.get(key, 0) + 1
            undone = (1 - self.beta1 ** t) / (1 - self.beta2 ** t) ** 0.5
            with changed(self, {"lr": self.lr * undone}):
                return update(self, index, weight, grad, state)
        return broken

    break_update(mx, "Adam", make)


@mutant("OPT-ADAM-001")
def adam_ignores_epsilon(mx):
    options_during_update(mx, "Adam", lambda self: {"epsilon": 1e-8})


@mutant("OPT-ADAMW-001")
def adamw_forgets_the_decay(mx):
    options_during_update(mx, "AdamW", lambda self: {"wd": 0.0}, lambda self: self.correct_bias and self.use_fused_step)


@mutant("OPT-ADAMW-002")
def adamw_always_corrects_the_bias(mx):
    options_during_update(mx, "AdamW", lambda self: {"correct_bias": True})


@mutant("OPT-ADAMAX-001")
def adamax_forgets_faster(mx):
    options_during_update(mx, "Adamax", lambda self: {"beta2": self.beta2 * 0.5})


@mutant("OPT-NADAM-001")
def nadam_has_no_momentum_schedule(mx):
    options_during_update(mx, "Nadam", lambda self: {"schedule_decay": 0.0})


@mutant("OPT-ADABELIEF-001")
def adabelief_forgets_to_clip(mx):
    options_during_update(mx, "AdaBelief", lambda self: {"clip_gradient": None})
