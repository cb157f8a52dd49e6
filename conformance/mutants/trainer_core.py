"""Mutants of TRAINER-CORE."""

from conformance.mutants import mutant, wrap


@mutant("TRAINER-CORE-001")
def step_returns_itself(mx):
    """Trainer.step returns the trainer instead of None."""

    def make(step):
        def broken(self, *args, **kwargs):
            step(self, *args, **kwargs)
            return self
        return broken

    wrap(mx.gluon.Trainer, "step", make)
