"""TRAINER-LR: learning rates seen and set through the Trainer."""

from typing import Tuple

from conformance.case import case
from conformance.suite import kit
from conformance.suite.trainer import _tools

MODES = _tools.MODES


def _step(mx, x, trainer, batch_size=1):
    kit.backward(mx, (x, 1.0))
    trainer.step(batch_size)
    return kit.value(x)


@case("TRAINER-LR-001")
def reading_the_rate(mx, check):
    x = kit.parameter(mx)
    trainer = kit.trainer(mx, [x], options={"learning_rate": 0.3})
    check.equal(trainer.learning_rate, 0.3, "learning rate")
    check.close(_step(mx, x, trainer), -0.3, "weight", **_tools.NEAR)
    trainer.optimizer.lr = 0.125
    check.equal(trainer.learning_rate, 0.125, "learning rate after the optimizer's was changed")


@case("TRAINER-LR-001")
def setting_the_rate(mx, check):
    x = kit.parameter(mx)
    trainer = kit.trainer(mx, [x], options={"learning_rate": 0.3})
    check.equal(trainer.set_learning_rate(0.01), None, "value returned")
    check.equal(trainer.learning_rate, 0.01, "learning rate")
    check.close(_step(mx, x, trainer), -0.01, "weight", **_tools.NEAR)


@case("TRAINER-LR-002", samples=MODES)
def rate_changed_between_steps(mx, check, count, options):
    x = kit.parameter(mx, ctx=kit.devices(mx, count))
    trainer = kit.trainer(mx, [x], **options)
    _step(mx, x, trainer, count)
    trainer.set_learning_rate(0.5)
    check.equal(trainer.optimizer.learning_rate, 0.5, "learning rate of the optimizer")
    _step(mx, x, trainer, count)
    check.equal(kit.values(x), [-1.5] * count, "weights")


@case("TRAINER-LR-002")
def setting_forwards_to_the_optimizer(mx, check):
    class Listening(mx.optimizer.SGD):
        """SGD that notes the rates it is given."""

        heard: Tuple[float, ...] = ()

        def set_learning_rate(self, lr):
            self.heard += (lr,)
            super(Listening, self).set_learning_rate(lr)

    optimizer = Listening(learning_rate=1.0)
    trainer = mx.gluon.Trainer([kit.parameter(mx)], optimizer)
    trainer.set_learning_rate(0.25)
    check.equal(optimizer.heard, (0.25,), "rates given to optimizer.set_learning_rate")
    check.equal(trainer.learning_rate, 0.25, "learning rate")


@case("TRAINER-LR-003", samples={
    "learning_rate": {"use": lambda trainer: trainer.learning_rate,
                      "fragment": "Optimizer has to be defined before its learning rate can be accessed."},
    "optimizer": {"use": lambda trainer: trainer.optimizer, "fragment": "Optimizer has not been initialized yet"},
    "set_learning_rate": {"use": lambda trainer: trainer.set_learning_rate(0.5),
                          "fragment": "before its learning rate is mutated."}})
def no_optimizer(mx, check, use, fragment):
    x = kit.parameter(mx)
    trainer = kit.trainer(mx, [x], options={"learning_rate": 0.25})
    kept, trainer._optimizer = trainer._optimizer, None
    with check.no_warning(UserWarning):
        check.raises(UserWarning, fragment, use, trainer)
    trainer._optimizer = kept
    check.equal(trainer.learning_rate, 0.25, "learning rate with the optimizer back in place")


@case("TRAINER-LR-004")
def setting_beside_a_scheduler(mx, check):
    x = kit.parameter(mx)
    scheduler = mx.lr_scheduler.FactorScheduler(step=1, factor=0.5, base_lr=1.0)
    trainer = kit.trainer(mx, [x], options={"learning_rate": 1.0, "lr_scheduler": scheduler})
    with check.no_warning(UserWarning):
        check.raises(UserWarning, "LRScheduler of the optimizer has already been defined",
                     trainer.set_learning_rate, 0.125)
    check.equal(trainer.learning_rate, 1.0, "learning rate afterwards")
    check.equal([_step(mx, x, trainer) for _ in range(2)], [-1.0, -1.5], "weight after each of two steps")


@case("TRAINER-LR-005", samples={
    "learning_rate": {"name": "learning_rate", "value": 1.0}, "optimizer": {"name": "optimizer", "value": None}})
def assignment(mx, check, name, value):
    x = kit.parameter(mx)
    trainer = kit.trainer(mx, [x], options={"learning_rate": 0.25})
    check.raises(AttributeError, setattr, trainer, name, value)
    check.equal(trainer.learning_rate, 0.25, "learning rate afterwards")
    check.equal(_step(mx, x, trainer), -0.25, "weight after a step")


@case("TRAINER-LR-006", samples=MODES)
def rate_of_a_scheduler(mx, check, count, options):
    x = kit.parameter(mx, ctx=kit.devices(mx, count))
    scheduler = mx.lr_scheduler.FactorScheduler(step=2, factor=0.1, base_lr=1.0)
    trainer = kit.trainer(mx, [x], options={"learning_rate": 1.0, "lr_scheduler": scheduler}, **options)
    rates, weights = [trainer.learning_rate], []
    for _ in range(7):
        weights.append(_step(mx, x, trainer, count))
        rates.append(trainer.learning_rate)
    check.close(rates, [1.0, 1.0, 1.0, 0.1, 0.1, 0.01, 0.01, 0.001], "rate before the first and after each step",
                **_tools.NEAR)
    check.close(weights, [-1.0, -2.0, -2.1, -2.2, -2.21, -2.22, -2.221], "weight after each step", **_tools.NEAR)


@case("TRAINER-LR-007", samples={"zero": {"rate": 0.0, "expected": 2.0}, "negative": {"rate": -1.0, "expected": 3.0}})
def rate_that_is_not_positive(mx, check, rate, expected):
    x = kit.parameter(mx, value=3.0)
    trainer = kit.trainer(mx, [x])
    check.equal(_step(mx, x, trainer), 2.0, "weight after a step with rate 1")
    trainer.set_learning_rate(rate)
    check.equal(trainer.learning_rate, rate, "learning rate")
    check.equal(_step(mx, x, trainer), expected, "weight after the next step")


@case("TRAINER-LR-008", samples=MODES)
def momentum_keeps_its_size(mx, check, count, options):
    x = kit.parameter(mx, ctx=kit.devices(mx, count))
    trainer = kit.trainer(mx, [x], options={"learning_rate": 1.0, "momentum": 0.5}, **options)
    check.equal(_step(mx, x, trainer, count), -1.0, "weight after a step with rate 1")
    trainer.set_learning_rate(0.125)
    check.equal(_step(mx, x, trainer, count), -1.625, "weight after a step with rate 0.125: the velocity is -0.625")
    check.equal(_step(mx, x, trainer, count), -2.0625, "weight after one more: the velocity is -0.4375")
