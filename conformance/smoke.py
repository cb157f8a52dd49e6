"""Smoke: the few things without which no case can say anything, tried one after the other.

Each stage is announced before it starts, so that an engine that dies tells where. The stages run in the engine's
interpreter: Python 3.8, standard library and numpy >= 1.17 only.
"""

from __future__ import annotations

import traceback
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np


class Stopped(Exception):
    """A stage did not give what it must."""


def _version(mx: Any) -> None:
    version = getattr(mx, "__version__", None)
    if not isinstance(version, str) or not version:
        raise Stopped("expected a version string in `mx.__version__`, got %r" % (version,))


def _array(mx: Any) -> None:
    given = np.array([[1.0, -2.0, 3.5], [0.0, 4.25, -1.0]], dtype="float32")
    back = mx.nd.array(given).asnumpy()
    if not isinstance(back, np.ndarray):
        raise Stopped("expected a numpy.ndarray from `asnumpy()`, got %s" % type(back).__name__)
    if back.shape != given.shape or str(back.dtype) != "float32" or not np.array_equal(back, given):
        raise Stopped("expected %s back, got %s %s" % (given.tolist(), back.dtype, back.tolist()))
    total = (mx.nd.array(given) * 2 + 1).asnumpy()
    if not np.array_equal(total, given * 2 + 1):
        raise Stopped("expected x * 2 + 1 = %s, got %s" % ((given * 2 + 1).tolist(), total.tolist()))


def _autograd(mx: Any) -> None:
    x = mx.nd.array(np.array([1.0, 2.0, 3.0], dtype="float32"))
    x.attach_grad()
    with mx.autograd.record():
        y = (x * x).sum()
    y.backward()
    gradient = x.grad.asnumpy()
    if not np.allclose(gradient, [2.0, 4.0, 6.0]):
        raise Stopped("expected the gradient [2, 4, 6] of sum(x * x) at [1, 2, 3], got %s" % gradient.tolist())


def _parameter_of(mx: Any) -> Any:
    parameter = mx.gluon.Parameter("smoke", shape=(2,))
    parameter.initialize(init=mx.init.Constant(1.5), ctx=mx.cpu(0))
    return parameter


def _parameter(mx: Any) -> None:
    found = _parameter_of(mx).data().asnumpy()
    if not np.array_equal(found, [1.5, 1.5]):
        raise Stopped("expected a parameter filled with 1.5, got %s" % found.tolist())


def _trainer(mx: Any) -> None:
    parameter = _parameter_of(mx)
    trainer = mx.gluon.Trainer([parameter], "sgd", {"learning_rate": 0.5})
    with mx.autograd.record():
        loss = (parameter.data() * 2).sum()
    loss.backward()
    trainer.step(1)
    found = parameter.data().asnumpy()
    if not np.allclose(found, [0.5, 0.5]):
        raise Stopped("expected 1.5 - 0.5 * 2 = 0.5 in each element after one step, got %s" % found.tolist())


#: (name, what it tries, what to do when it stops, body). Importing is the stage before all of these.
STAGES: List[Tuple[str, str, str, Callable[[Any], None]]] = [
    ("version", "`mx.__version__` is a version string",
     "Set `__version__` in the engine's top module; results carry it.", _version),
    ("array", "`mx.nd.array` takes a numpy array and `asnumpy` gives it back; `*` and `+` with a number work",
     "Provide `mx.nd.array` and NDArrays with `asnumpy`, `*` and `+`.", _array),
    ("autograd", "`attach_grad`, `autograd.record` and `backward` give the gradient of sum(x * x)",
     "Provide `mx.autograd.record`, `NDArray.attach_grad`, `sum`, `backward` and `grad`.", _autograd),
    ("parameter", "`gluon.Parameter` is initialised by `init.Constant`",
     "Provide `mx.gluon.Parameter` with `initialize` and `data`, `mx.init.Constant` and `mx.cpu`.", _parameter),
    ("trainer", "`gluon.Trainer` makes one step of plain SGD",
     "Provide `mx.gluon.Trainer` with the optimizer \"sgd\" and `step`.", _trainer),
]

#: What to do, by stage; those before the first of STAGES are the worker's own.
ADVICE: Dict[str, str] = {name: advice for name, _, advice, _ in STAGES}
ADVICE["import"] = "Import the engine in its own interpreter by hand and look at the traceback above."
ADVICE["setup"] = "Correct `setup` in the engine's table entry: Python code that runs with `mx` bound."


#: What every program of the differential mode stands on.
FOR_PROGRAMS = ("version", "array", "autograd")


def run(mx: Any, announce: Callable[[str], None], only: Sequence[str] = ()) -> Optional[Dict[str, str]]:
    """Try every stage, or only these; None, or stage, tries, message, advice and traceback of the first that stops."""
    for name, tries, advice, body in STAGES:
        if only and name not in only:
            continue
        announce(name)
        try:
            body(mx)
        except BaseException as error:  # noqa: BLE001 - an engine may raise anything, SystemExit included
            message = str(error) if isinstance(error, Stopped) else "%s: %s" % (type(error).__name__, error)
            trace = "" if isinstance(error, Stopped) else traceback.format_exc(limit=-8)
            return {"stage": name, "tries": tries, "message": message, "advice": advice, "traceback": trace}
    return None
