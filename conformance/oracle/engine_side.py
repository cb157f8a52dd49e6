"""Running small programs inside an engine and telling what every line did: values, errors, and what else changed.

A program is a list of statements. After each of them all its variables are looked at, and what changed is told as plain
data, so that two engines can be compared line by line:

========================================  ==============================================================
``["a", dtype, shape, base64, ...]``      an NDArray; a storage type other than default follows
``["n", dtype, shape, base64]``           a numpy array or scalar
``["f", text]`` ``["p", type, text]``     a float; any other plain value
``["l", type, [...]]``                    a list or tuple
``["x", [class names], message]``         a variable that raises when it is looked at
``["o", type]``                           anything else
========================================  ==============================================================

A statement that fails leaves its target unset; what needed it later fails with NameError in both engines alike.

Runs in the engine's interpreter: Python 3.8, standard library and numpy >= 1.17 only.
"""

from __future__ import annotations

import base64
import contextlib
import importlib
import os
import random
import re
import signal
import time
import warnings
from typing import Any, Callable, Dict, List, Optional

import numpy as np

#: More elements than this are not sent; their number still is.
ELEMENTS = 4096

#: How often the guard looks after its child, and how long one without a harness may go on.
LOOK_SECONDS = 0.05
ORPHAN_SECONDS = 2.0

_TARGET = re.compile(r"(?:with [\w.]+\([^)]*\): )?(\w+) = ")


def _classes(error: BaseException) -> List[str]:
    return [kind.__name__ for kind in type(error).__mro__ if kind not in (object, BaseException, Exception)]


def _message(error: BaseException) -> str:
    try:
        return str(error)[:600]
    except BaseException:  # noqa: BLE001 - an engine's exception whose str() raises is still an answer
        return "<%s whose str() raises>" % type(error).__name__


class Interpreter(object):
    """Runs programs on one engine."""

    def __init__(self, mx: Any) -> None:
        self.mx = mx
        self.array = mx.nd.NDArray
        self._np_shape = self._switch()

    def _switch(self) -> Optional[Callable[[bool], Any]]:
        """The context manager of numpy shape semantics, if the engine has it; 2.x is put into legacy mode first."""
        util, npx = getattr(self.mx, "util", None), getattr(self.mx, "npx", None)
        is_array = getattr(util, "is_np_array", None)
        if callable(is_array) and is_array() and npx is not None:
            npx.reset_np()
        return getattr(util, "np_shape", None)

    def run(self, program: Dict[str, Any]) -> Dict[str, Any]:
        """Run one program; never raises."""
        if program.get("seed") is not None:
            random.seed(program["seed"])
            np.random.seed(program["seed"])
            with contextlib.suppress(Exception):  # an engine without a seed is not to be held against random values
                self.mx.random.seed(program["seed"])
        shape = contextlib.nullcontext() if not program.get("np_shape") or self._np_shape is None \
            else self._np_shape(True)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with shape:
                    steps = self._steps(program["code"])
        finally:
            self._settle()
        return {"id": program["id"], "steps": steps}

    def _settle(self) -> None:
        """Let no pending error and no switch reach the next program."""
        for _ in range(3):
            try:
                self.mx.nd.waitall()
                break
            except Exception:  # noqa: BLE001 - it belongs to the program that has been looked at already
                continue
        if any(self._flags()):
            with contextlib.suppress(Exception):  # an engine that cannot be told to stop shows it in the next program
                self.mx.autograd.set_recording(False)
                self.mx.autograd.set_training(False)

    def _steps(self, code: List[str]) -> List[Dict[str, Any]]:
        scope: Dict[str, Any] = {"mx": self.mx, "np": np, "nan": float("nan"), "inf": float("inf")}
        hidden = set(scope) | {"__builtins__"}
        seen: Dict[str, Any] = {}
        steps = []
        gradients = False
        for line in code:
            gradients = gradients or "grad" in line
            step: Dict[str, Any] = {}
            found = _TARGET.match(line)
            target = found.group(1) if found else None
            before = scope.get(target) if target is not None else None
            try:
                exec(line, scope)
                if target is not None:
                    self._wait(scope[target])
            except BaseException as error:  # noqa: BLE001 - an engine may raise anything; it is what is compared
                step["e"], step["m"] = _classes(error), _message(error)
                if target is not None and scope.get(target) is not before:
                    del scope[target]  # the failed result of an asynchronous engine
            changed = {}
            for name in sorted(set(scope) - hidden):
                value = self._look(scope[name], gradients)
                if seen.get(name) != value:
                    seen[name] = changed[name] = value
            if changed:
                step["v"] = changed
            flags = self._flags()
            if any(flags):
                step["flags"] = flags
            steps.append(step)
        return steps

    def _flags(self) -> List[Any]:
        """Whether autograd records and trains; what it raises where it cannot tell."""
        try:
            return [bool(self.mx.autograd.is_recording()), bool(self.mx.autograd.is_training())]
        except BaseException as error:  # noqa: BLE001 - see above
            return ["%s: %s" % (type(error).__name__, _message(error))]

    def _wait(self, value: Any) -> None:
        if isinstance(value, self.array):
            value.wait_to_read()
        elif isinstance(value, (list, tuple)):
            for item in value:
                self._wait(item)

    def _look(self, value: Any, gradients: bool) -> Any:
        try:
            return self._encode(value, gradients)
        except BaseException as error:  # noqa: BLE001 - see above
            return ["x", _classes(error), _message(error)]

    def _encode(self, value: Any, gradients: bool) -> Any:
        if isinstance(value, self.array):
            told = ["a"] + _raw(value.asnumpy())
            stype = getattr(value, "stype", "default")
            if stype != "default":
                told.append(stype)
            if gradients:
                gradient = value.grad
                if gradient is not None:
                    return ["g", told, ["a"] + _raw(gradient.asnumpy())]
            return told
        if isinstance(value, (np.ndarray, np.generic)):
            return ["n"] + _raw(np.asarray(value))
        if type(value) is float:
            return ["f", repr(value)]
        if isinstance(value, (list, tuple)):
            return ["l", "list" if isinstance(value, list) else "tuple",
                    [self._encode(item, gradients) for item in value]]
        if value is None or isinstance(value, (bool, int, str, bytes, type, slice)):
            return ["p", type(value).__name__, repr(value)]
        return ["o", type(value).__name__]


def _raw(array: np.ndarray) -> List[Any]:
    shape = [int(n) for n in array.shape]
    if array.size > ELEMENTS:
        array = array.reshape(-1)[:ELEMENTS]
    if array.dtype.kind not in "fiub":
        return [array.dtype.name, shape, repr(array.tolist())]
    return [array.dtype.name, shape, base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")]


def _resolve(mx: Any, path: str) -> bool:
    found = mx
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except Exception:  # noqa: BLE001 - a module that builds its functions on demand may raise anything
            return False
    return callable(found)


def _watched(child: int, channel: Any) -> int:
    """How the child ended; one that still runs a while after the harness has gone is ended."""
    patience = 0.0
    while True:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return status
        if patience >= ORPHAN_SECONDS:
            os.kill(child, signal.SIGKILL)
            return os.waitpid(child, 0)[1]
        if channel.hung_up(LOOK_SECONDS):
            time.sleep(LOOK_SECONDS)
            patience += LOOK_SECONDS


def guard(channel: Any) -> None:
    """Return in a child that goes on serving; when it ends, say so and make the next one, which is ready at once."""
    while hasattr(os, "fork"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an engine may have threads; a child that needs them shows it
            child = os.fork()
        if child == 0:
            channel.adopt()
            channel.send({"child": os.getpid()})
            return
        status = _watched(child, channel)
        if channel.hung_up():
            os._exit(0)
        channel.take_over()
        channel.send({"died": os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)})
    channel.send({"child": os.getpid()})


def serve(command: Dict[str, Any], channel: Any, runner: Any) -> None:
    """Answer one command: ``oracle: describe``, ``oracle: which`` (of these paths exist), ``oracle: run``.

    ``oracle: guard`` makes this process the guard of children that answer in its place from then on.
    """
    what = command["oracle"]
    if what == "guard":
        guard(channel)
    elif what == "describe":
        declared = getattr(runner.mx, "__conformance__", None) or {}
        place = declared.get("operators")
        found = None
        if place:
            module, _, name = place.partition(":")
            found = getattr(importlib.import_module(module), name)()
        channel.send({"operators": found})
    elif what == "which":
        channel.send({"which": [path for path in command["paths"] if _resolve(runner.mx, path)]})
    else:
        interpreter = getattr(runner, "interpreter", None)
        if interpreter is None:
            interpreter = runner.interpreter = Interpreter(runner.mx)
        for program in command["programs"]:
            answer = interpreter.run(program)
            channel.flush()
            channel.take_over()
            channel.send(answer)
