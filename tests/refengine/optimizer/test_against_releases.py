"""Optimizers side by side with the releases, for every option whose formula they share."""

from __future__ import annotations

import json

import numpy as np
import pytest

import refengine as mx
from tests.refengine import releases
from tests.refengine.optimizer import formulas

DRIVE = """
def drive(name, options, common, start, gradients):
    made = mx.optimizer.create(name, learning_rate=0.1, wd=common['wd'], rescale_grad=common['rescale'],
                               clip_gradient=common['clip'], **options)
    updater, weight, seen = mx.optimizer.get_updater(made), mx.nd.array(start), []
    for gradient in gradients:
        updater(0, mx.nd.array(gradient), weight)
        seen.append(weight.asnumpy().tolist())
    return seen
"""

SOURCE = np.random.default_rng(11)
START = SOURCE.normal(size=(3, 4)).round(3).tolist()
GRADIENTS = [SOURCE.normal(size=(3, 4)).round(3).tolist() for _ in range(4)]

OTHER_IN_1X = ("adagrad", "adadelta", "test", "groupadagrad")
CLIPPING_OTHER_IN_1X = ("adam", "adamax", "nadam", "rmsprop", "ftml", "dcasgd")
NAMES_IN_1X = {"rho": "gamma1", "momentum": "gamma2"}
DEFAULTS_IN_1X = {"nag": {"momentum": 0.9}}


def shared(engine):
    """What the release computes with the formula that the rules state (see the observations of the inventory)."""
    for name, options, label in formulas.cases():
        given = dict(options)
        if engine == "mxnet-1.9.1":
            if name in ("adamw", "adabelief", "lans", *OTHER_IN_1X):
                continue
            if name in CLIPPING_OTHER_IN_1X and formulas.COMMON[label]["clip"] is not None:
                continue
            if name == "nag" and formulas.COMMON[label]["wd"] and options.get("momentum") != 0.0:
                continue
            if name == "signum" and options.get("momentum") == 0.0 and options.get("wd_lh"):
                continue
            if name == "dcasgd" and (options.get("momentum") or formulas.COMMON[label]["wd"]):
                continue
            if name == "rmsprop":
                given = {NAMES_IN_1X.get(key, key): value for key, value in options.items()}
            given = {**DEFAULTS_IN_1X.get(name, {}), **given}
        elif name in ("ccsgd", "lbsgd"):
            continue
        yield name, dict(options), given, label


@pytest.mark.needs_mxnet
@pytest.mark.parametrize("engine", releases.RELEASES)
def test_the_same_numbers(engine, tmp_path):
    jobs = list(shared(engine))
    assert len(jobs) > 60
    (tmp_path / "jobs.json").write_text(json.dumps(
        [[name, given, formulas.COMMON[label], START, GRADIENTS] for name, _, given, label in jobs]))
    releases.run(engine, f"{DRIVE}\nimport json\njobs = json.load(open('jobs.json'))\n"
                         "json.dump([drive(*job) for job in jobs], open('seen.json', 'w'))\n", tmp_path)
    seen = json.loads((tmp_path / "seen.json").read_text())
    scope: dict[str, object] = {"mx": mx}
    exec(DRIVE, scope)
    for (name, options, _, label), wanted in zip(jobs, seen):
        got = scope["drive"](name, options, formulas.COMMON[label], START, GRADIENTS)
        # the kernel of adamw and adabelief rounds 1 - beta2 in another way than that of adam
        rounding = 5e-5 if name in ("adamw", "adabelief") else 5e-6
        np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=rounding, err_msg=f"{name} {options} {label}")
