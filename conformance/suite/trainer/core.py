"""TRAINER-CORE: what a Trainer is."""

from conformance.case import case
from conformance.suite import kit


@case("TRAINER-CORE-001")
def one_iteration(mx, check):
    x = kit.parameter(mx, shape=(3,))
    trainer = mx.gluon.Trainer([x], "sgd", {"learning_rate": 1.0})
    with mx.autograd.record():
        y = 4 * x.data()
    y.backward()
    check.equal(trainer.step(2), None, "value returned by step")
    check.equal(x.data(), [-2.0, -2.0, -2.0], "weight after the step")
