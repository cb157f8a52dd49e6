"""OPT-COMMON-022, -023: the argument use_fused_step."""

from typing import Any, Dict

from conformance.case import case
from conformance.suite import kit
from conformance.suite.optimizer import adam, adaptive, drive, layerwise, leader, names, sgd, signum

GRADIENTS = drive.GRADIENTS + ((1.5, -0.75, 0.25),)

FUSED: Dict[str, Any] = {
    "sgd": (sgd.sgd, {}), "nag": (sgd.nag, {}), "adam": (adam.adam, {}), "rmsprop": (adaptive.rmsprop, {}),
    "centered_rmsprop": (adaptive.centered_rmsprop, {"centered": True}), "ftrl": (leader.ftrl, {}),
    "ftml": (leader.ftml, {}), "signum": (signum.signum, {}), "adagrad": (adaptive.adagrad, {}),
    "lamb": (layerwise.lamb, {}), "lars": (layerwise.lars, {"momentum": 0.9})}


@case("OPT-COMMON-022", samples={
    "%s_%s" % (name, where): {"name": name.split("_")[-1], "formula": formula, "options": dict(base, **options)}
    for name, (formula, options) in FUSED.items() for where, base in (("plain", drive.PLAIN), ("full", drive.FULL))})
def both_ways_give_the_same(mx, check, name, formula, options):
    fused = drive.weights(mx, name, dict(options, use_fused_step=True), gradients=GRADIENTS)
    stepwise = drive.weights(mx, name, dict(options, use_fused_step=False), gradients=GRADIENTS)
    wanted = drive.expected_weights(formula, options, gradients=GRADIENTS)
    for index in range(3):
        check.close(fused[index], wanted[index], "weight after update %d, fused, by the formula" % (index + 1))
        check.close(stepwise[index], fused[index], "weight after update %d, not fused" % (index + 1), rtol=5e-6)


@case("OPT-COMMON-023", samples=names.each(names=("adadelta", "adamax", "dcasgd", "nadam", "sgld", "test")))
def no_fused_step(mx, check, name):
    update = drive.updater(mx, name, {"learning_rate": 0.1, "use_fused_step": True})
    weight = kit.array(mx, [1.0, 2.0])
    check.raises(NotImplementedError, update, 0, kit.array(mx, [1.0, 1.0]), weight)
    check.equal(weight, [1.0, 2.0], "weight after the error")
