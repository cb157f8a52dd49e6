"""Mutants of TRAINER-CORE."""

from conformance.mutants import mutant, wrap
from conformance.mutants import trainer_kit as tools


@mutant("TRAINER-CORE-001")
def step_returns_itself(mx):
    """Trainer.step returns the trainer instead of None."""

    def make(step):
        def broken(self, *args, **kwargs):
            step(self, *args, **kwargs)
            return self
        return broken

    wrap(mx.gluon.Trainer, "step", make)


@mutant("TRAINER-CORE-002")
def one_more_public_name(mx):
    """Trainer has a method that is not documented."""
    mx.gluon.Trainer.zero_grad = lambda self: None


@mutant("TRAINER-CORE-003")
def parameters_forget_their_trainer(mx):
    """A trainer of several parameters records itself on none of them."""

    def after(trainer, arguments):
        given = tools.listed(arguments["params"])
        if len(given) > 1:
            for parameter in given:
                parameter._set_trainer(None)

    tools.constructor(mx, after=after)


@mutant("TRAINER-CORE-004")
def registry_is_not_asked(mx):
    """An optimizer that the user registered is silently replaced by SGD."""
    own = mx.__name__.split(".")[0]

    def before(arguments):
        name = arguments["optimizer"]
        if isinstance(name, str):
            try:
                found = type(mx.optimizer.create(name))
            except ValueError:
                return
            if found.__module__.split(".")[0] != own:
                arguments["optimizer"] = "sgd"

    tools.constructor(mx, before)
