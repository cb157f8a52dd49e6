"""A process that observes or measures the memory of one model once, prints the result as JSON, and ends.

Started as ``interpreter -m perfsuite.memory_worker REQUEST``; the request is a JSON object with ``module``, ``setup``,
``model``, ``mode`` ("inference" or "training"), ``batch``, and ``what``:

``plan``   -> what the planner says, see :mod:`perfsuite.memory_plan`
``peak``   -> resident memory of the process: the most in all steps and in a later one, above that before the first
``traced`` -> the same of what tracemalloc sees; None for an engine whose arrays it does not see

With it come ``version``, ``python`` and ``numpy``; what fails is answered with ``error`` and ``message`` instead.

Runs in the engine's interpreter: Python 3.8, standard library and numpy >= 1.20 only.
"""

import contextlib
import ctypes
import gc
import importlib
import json
import os
import sys
import tracemalloc
from typing import Any, Dict

import numpy as np

from conformance.suite import kit
from perfsuite.memory_models import MODELS, initialized, with_loss
from perfsuite.memory_plan import NotObservable, observe

#: Steps before the one that counts as a later one: the first traces, and a compiled way may start with the third.
FIRST_STEPS = 3
LEARNING_RATE = 0.001


class Resident(object):
    """The most resident memory since :meth:`reset`, above that at the start: ``VmHWM`` and ``VmRSS`` of Linux.

    What an engine says it keeps free is no part of the start: the steps would run in it unseen.
    """

    def __init__(self, mx):
        free = mx.memory_pool_info("cpu")["cached"] if hasattr(mx, "memory_pool_info") else 0
        self.base = self.read()["VmRSS"] - free

    @staticmethod
    def read():
        with open("/proc/self/status") as file:
            fields = dict(line.split(":", 1) for line in file)
        return {name: int(fields[name].split()[0]) * 1024 for name in ("VmHWM", "VmRSS")}

    def reset(self):
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")  # forget the peak: proc(5)

    def peak(self):
        return self.read()["VmHWM"] - self.base


class Traced(object):
    """The most memory since :meth:`reset` that tracemalloc saw, above that at the start."""

    def __init__(self, mx):
        tracemalloc.start()
        self.base = tracemalloc.get_traced_memory()[0]

    @staticmethod
    def sees(mx):
        """Whether memory of the engine's arrays goes through numpy or Python, so that tracemalloc sees it."""
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        array = kit.array(mx, np.broadcast_to(np.float32(1), (1 << 20,)))
        array.wait_to_read()
        gc.collect()
        seen = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
        return seen >= array.size * 4

    def reset(self):
        # reset_peak came with Python 3.9
        if hasattr(tracemalloc, "reset_peak"):
            tracemalloc.reset_peak()

    def peak(self):
        return tracemalloc.get_traced_memory()[1] - self.base


def stepper(mx, net, model, train, batch):
    """A function that runs one step and waits for it: inference, or forward, backward and update.

    Nothing of the network has run before its first call; it returns the mean of the output or of the loss.
    """
    flags = {"static_alloc": True, "static_shape": True}
    data, label = model.arrays(mx, batch)
    if not train:
        net.hybridize(**flags)

        def infer():
            return net(data).mean().asnumpy().item()

        return infer, data
    block = with_loss(mx, net)
    block.hybridize(**flags)
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": LEARNING_RATE})

    def step():
        with mx.autograd.record():
            loss = block(data, label)
        loss.backward()
        trainer.step(batch)
        return loss.mean().asnumpy().item()

    return step, data


def settle(mx):
    """Give back what is free, so that the steps cannot hide in memory that is resident already."""
    gc.collect()
    mx.nd.waitall()
    with contextlib.suppress(AttributeError, mx.base.MXNetError):  # an engine may have no pool for this device
        mx.cpu().empty_cache()
    with contextlib.suppress(AttributeError, OSError):  # only glibc has it
        ctypes.CDLL(None).malloc_trim(0)


def verify(mx, net, data, result):
    """Raise unless the last result is finite and the network, hybridized, computes what it does step by step."""
    if not np.isfinite(result):
        raise AssertionError("expected a finite mean, got %r" % result)
    compiled = net(data).asnumpy()
    net.hybridize(False)
    plain = net(data).asnumpy()
    if not np.allclose(compiled, plain, rtol=1e-4, atol=1e-5):
        raise AssertionError("hybridized and plain results differ by %g" % np.abs(compiled - plain).max())


def measure(mx, model, train, batch, meter_class):
    """The two peaks, ``peak`` of all steps and ``later`` of one that others came before."""
    net = initialized(mx, model, batch)
    step, data = stepper(mx, net, model, train, batch)
    settle(mx)
    meter = meter_class(mx)
    meter.reset()
    for _ in range(FIRST_STEPS):
        result = step()
    first = meter.peak()
    meter.reset()
    result = step()
    later = meter.peak()
    verify(mx, net, data, result)
    return {"peak": max(first, later), "later": later}


def answer(request, found):
    """Do what the request asks for; *found* is filled, with what is known of the engine first."""
    mx = importlib.import_module(request["module"])
    if request.get("setup"):
        exec(request["setup"], {"mx": mx})  # the engine table's own text, as for the cases
    model, train, batch = MODELS[request["model"]], request["mode"] == "training", request["batch"]
    found.update({"version": str(getattr(mx, "__version__", "unknown")), "python": sys.version.split()[0],
                  "numpy": np.__version__})
    if request["what"] == "plan":
        net = model.build(mx)
        found.update(observe(mx, net, model.shapes(batch), train))
    elif request["what"] == "peak":
        found.update(measure(mx, model, train, batch, Resident))
    elif Traced.sees(mx):
        found.update(measure(mx, model, train, batch, Traced))
    else:
        found.update({"peak": None, "later": None})


def main():
    """Answer on a private copy of stdout; what the engine prints goes to stderr."""
    private = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    found: Dict[str, Any] = {}
    try:
        answer(json.loads(sys.argv[1]), found)
    except NotObservable as error:
        found.update({"error": "not observable", "message": str(error)})
    except Exception as error:  # noqa: BLE001 - whatever an engine raises is the reason why there is no number
        found.update({"error": type(error).__name__, "message": str(error).strip()[:2000]})
    private.write(json.dumps(found) + "\n")
    private.flush()


if __name__ == "__main__":
    main()
