"""Trying many mutants in one worker: the loaded engine is forked, and each child breaks its own copy.

``{"mutant": id or null, "cases": [case id, ...]}`` is answered by the child: ``{"child": pid}``, ``{"broken": id}`` or
``{"broken": id, "error", "traceback"}``, then the usual ``start`` and ``end`` of each case; and, when the child has
ended, by the worker itself: ``{"ended": pid, "status": return code}``.

Runs in the engine's interpreter: Python 3.8, standard library and numpy >= 1.17 only.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
import traceback
import warnings
from typing import Any, Callable, Dict


def serve(command: Dict[str, Any], channel: Any, runner: Any, run: Callable[[Dict[str, Any], Any, Any], None]) -> None:
    """Fork, let the child do what the command says, and report how it ended."""
    mutant = None
    if command["mutant"] is not None:
        from conformance.mutants import load_mutants

        mutant = load_mutants(runner.config.get("mutants", "conformance.mutants")).get(command["mutant"])
    channel.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an engine may have threads; a child that cannot live without them shows it
        child = os.fork()
    if child == 0:
        try:
            _child(command, channel, runner, run, mutant)
        finally:
            os._exit(0)
    status = _wait(child)
    with contextlib.suppress(OSError):
        os.killpg(child, signal.SIGKILL)  # what the cases started and did not end
    channel.take_over()
    code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
    channel.send({"ended": child, "status": code})


def _wait(child: int) -> int:
    """The status that the child ends with. If the harness dies meanwhile, nobody would end a hanging child: both go."""
    parent, pause = os.getppid(), 0.0005
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status
        if os.getppid() != parent:
            with contextlib.suppress(OSError):
                os.killpg(child, signal.SIGKILL)
            os._exit(1)
        time.sleep(pause)
        pause = min(1.5 * pause, 0.05)


def _die_with_parent() -> None:
    """On Linux, end when the worker ends; elsewhere :func:`_wait` sees to it where it can."""
    if sys.platform.startswith("linux"):
        import ctypes

        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def _child(command: Dict[str, Any], channel: Any, runner: Any, run: Any, mutant: Any) -> None:
    os.setpgid(0, 0)
    _die_with_parent()
    channel.adopt()
    channel.send({"child": os.getpid()})
    identifier = command["mutant"]
    answer: Dict[str, Any] = {"broken": identifier}
    if identifier is not None:
        runner.config["mutant"] = identifier  # so that a fresh interpreter which a case starts is broken too
        try:
            if mutant is None:
                raise LookupError("no mutant %r" % (identifier,))
            mutant.function(runner.mx)
        except BaseException as error:  # noqa: BLE001 - a mutant for one engine may raise anything on another
            answer["error"] = "%s: %s" % (type(error).__name__, error)
            answer["traceback"] = "".join(traceback.format_exception(type(error), error, sys.exc_info()[2])[-4:])
    channel.send(answer)
    if "error" not in answer:
        run({"run": command["cases"]}, channel, runner)
