"""Mutants of TRAINER-LR."""

from conformance.mutants import mutant, wrap
from conformance.mutants import trainer_kit as tools
from conformance.suite import kit


@mutant("TRAINER-LR-001")
def rate_of_construction_is_shown(mx):
    """learning_rate goes on showing the rate that the optimizer was made with."""
    first = {}

    def after(trainer, arguments):
        if trainer.optimizer.lr_scheduler is None:
            first[trainer] = trainer.optimizer.learning_rate

    tools.constructor(mx, after=after)
    wrap(mx.gluon.Trainer, "learning_rate", lambda original: lambda self: first.get(self) or original(self))


@mutant("TRAINER-LR-002")
def rate_stays_on_the_store(mx):
    """set_learning_rate does nothing where updates are on the store."""

    def body(original, trainer, rate):
        if not kit.update_on_kvstore(trainer):
            original(trainer, rate)

    tools.method(mx, "set_learning_rate", body)


@mutant("TRAINER-LR-003")
def missing_optimizer_is_none(mx):
    """trainer.optimizer is None while there is no optimizer."""
    tools.other_error(mx.gluon.Trainer, "optimizer", UserWarning, "")


@mutant("TRAINER-LR-004")
def rate_beside_a_scheduler_is_ignored(mx):
    """set_learning_rate does nothing where the optimizer has a scheduler."""
    tools.other_error(mx.gluon.Trainer, "set_learning_rate", UserWarning, "LRScheduler")


@mutant("TRAINER-LR-005")
def rate_can_be_assigned(mx):
    """trainer.learning_rate can be assigned."""
    shown = mx.gluon.Trainer.__dict__["learning_rate"]
    mx.gluon.Trainer.learning_rate = property(shown.fget, lambda self, rate: self.set_learning_rate(rate))


@mutant("TRAINER-LR-006")
def scheduler_is_not_shown(mx):
    """learning_rate shows the optimizer's base rate although it has a scheduler."""
    wrap(mx.gluon.Trainer, "learning_rate", lambda original: lambda self: self.optimizer.lr
         if self.optimizer.lr_scheduler is not None else original(self))


@mutant("TRAINER-LR-007")
def rates_must_be_positive(mx):
    """set_learning_rate refuses zero and negative rates."""

    def body(original, trainer, rate):
        if rate <= 0:
            raise ValueError("the learning rate must be positive")
        original(trainer, rate)

    tools.method(mx, "set_learning_rate", body)


@mutant("TRAINER-LR-008")
def momentum_follows_the_rate(mx):
    """A change of the learning rate rescales what momentum has gathered."""

    def body(original, trainer, rate):
        before = trainer.learning_rate
        original(trainer, rate)
        if getattr(trainer.optimizer, "momentum", 0.0) and before:
            trainer.optimizer.momentum *= rate / before

    tools.method(mx, "set_learning_rate", body)
