"""The worker: runs cases inside the engine's own interpreter and tells the harness what came of each.

The harness starts it with a private pair of pipes (see ``process.py``). It reads one JSON line of configuration, then
JSON lines with commands, and answers in JSON lines:

========================================  ==============================================================
configuration ``{"module": ..., ...}``    ``{"ready": true, "version", "python", "numpy", "cases": [...]}``
                                          or ``{"fault": stage, "message", "traceback"}``
``{"run": [case id, ...]}``               per case ``{"start": id}`` and ``{"end": id, "outcome": ..., ...}``
``{"mutant": id, "cases": [...]}``        the same from a child that is broken by a mutant; see ``forked.py``
``{"smoke": [stage, ...]}``               per stage ``{"stage": name}``, then ``{"smoke": null or failure}``
``{"oracle": what, ...}``                 what two engines are compared by; see ``oracle/engine_side.py``
``{"linger": seconds}``                   after that time ``{"lingered": true}``
end of file                               ends
========================================  ==============================================================

A case is announced before it starts, so that a crash or a hang is charged to the right one. Whatever the engine prints
goes to a second pipe, where a marker says at which case it belongs.

Runs in the engine's interpreter: Python 3.8, standard library and numpy >= 1.17 only.
"""

from __future__ import annotations

import contextlib
import copy
import ctypes
import faulthandler
import importlib
import json
import os
import platform
import random
import select
import signal
import sys
import threading
import time
import traceback
import warnings
import zlib
from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy as np

from conformance import check as checking
from conformance.case import Case, load_suite

TRACEBACK_LIMIT = 12000

#: Taken before the engine is imported: what it puts in their place later must not reach what the worker says.
_clock, _sleep, _encode, _decode = time.perf_counter, time.sleep, json.JSONEncoder().encode, json.JSONDecoder().decode

#: Written before what belongs to a case; the nonce is the session's own, so no engine prints it by accident.
MARKER = "\n\x00conform:%s:%d\x00\n"

#: Starts the interpreter's share of this package without putting its folder, and all that lies beside it, on the path:
#: an engine must see its own numpy, not the harness's.
BOOT = """\
import sys, importlib.util
if sys.path and sys.path[0] == "":
    del sys.path[0]
def _package(folder):
    spec = importlib.util.spec_from_file_location("conformance", folder + "/__init__.py",
                                                  submodule_search_locations=[folder])
    sys.modules["conformance"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["conformance"])
"""


class Fault(Exception):
    """The engine or the suite could not be loaded; ``stage`` is import, setup, mutant or suite."""

    def __init__(self, stage: str, message: str, details: str) -> None:
        super(Fault, self).__init__(message)
        self.stage, self.message, self.details = stage, message, details


class EngineHandle(object):
    """What a checker needs to start a fresh interpreter with this engine in it."""

    def __init__(self, config: Dict[str, Any]) -> None:
        self.config = config

    def prelude(self) -> str:
        """Code that binds ``mx`` as it is bound in this worker: path, set-up and mutant included."""
        folder = os.path.dirname(os.path.abspath(__file__))
        lines = [BOOT + "_package(%r)" % folder]
        lines.append("sys.path.extend(p for p in %r if p not in sys.path)" % (self.config.get("path", []),))
        lines.append("import importlib; mx = importlib.import_module(%r)" % self.config["module"])
        if self.config.get("setup"):
            lines.append(self.config["setup"])
        if self.config.get("mutant"):
            package = self.config.get("mutants", "conformance.mutants")
            lines.append("from conformance.mutants import load_mutants as _load")
            lines.append("_load(%r)[%r].function(mx)" % (package, self.config["mutant"]))
        return "\n".join(lines)


class Runner(object):
    """Loads the engine and the suite, and runs one case at a time; independent of pipes and processes."""

    def __init__(self, config: Dict[str, Any]) -> None:
        self.config = config
        self.mx: Any = None
        self.cases: Dict[str, Case] = {}
        self.handle = EngineHandle(config)
        self._home = os.getcwd()
        self._restorers: List[Tuple[str, Callable[[], Any], Callable[[Any], Any]]] = []

    # -- loading --------------------------------------------------------------------------------------------

    def load(self) -> Dict[str, Any]:
        """Import the engine, set it up, break it if a mutant is asked for, load the cases; describe all that."""
        config = self.config
        sys.path.extend(entry for entry in config.get("path", []) if entry not in sys.path)
        self.mx = _guarded("import", importlib.import_module, config["module"])
        if config.get("setup"):
            code = compile(config["setup"], "<setup of the engine>", "exec")
            _guarded("setup", exec, code, {"mx": self.mx, "np": np, "os": os})
        if config.get("mutant"):
            _guarded("mutant", self._mutate, config["mutant"])
        if config.get("suite"):
            self.cases = _guarded("suite", load_suite, config["suite"])
        _freeze_arrays({case.module for case in self.cases.values()})
        self._home = os.getcwd()
        self._restorers = _restorers(self.mx)
        declared = getattr(self.mx, "__conformance__", None)
        return {
            "ready": True,
            "version": str(getattr(self.mx, "__version__", "unknown")),
            "python": platform.python_version(),
            "numpy": np.__version__,
            "platform": platform.platform(),
            "declared": declared if isinstance(declared, dict) else {},
            "detected": {name: self._detect(code) for name, code in config.get("detect", {}).items()},
            "cases": [case.describe() for case in self.cases.values()] if config.get("describe", True) else None,
        }

    def _mutate(self, identifier: str) -> None:
        from conformance.mutants import load_mutants

        mutants = load_mutants(self.config.get("mutants", "conformance.mutants"))
        if identifier not in mutants:
            raise LookupError("no mutant %r (there are %d)" % (identifier, len(mutants)))
        mutants[identifier].function(self.mx)

    def _detect(self, code: str) -> bool:
        try:
            return bool(eval(code, {"mx": self.mx, "np": np, "os": os}))
        except Exception:  # noqa: BLE001 - an engine that cannot even answer the question does not have the ability
            return False

    # -- running --------------------------------------------------------------------------------------------

    def run(self, identifier: str) -> Dict[str, Any]:
        """Run one case and say what came of it; never raises, whatever the engine does in Python."""
        case = self.cases.get(identifier)
        if case is None:
            return _ended(identifier, "error", 0.0, kind="UnknownCase", doing="looking the case up",
                          expected="a case of this id in the suite", got="none")
        before = self._snapshot()
        self._seed(zlib.crc32(identifier.encode()) & 0x7FFFFFFF)
        check = checking.Check(identifier, self.handle)
        del checking.RAISED[:]
        threads = _thread_count()
        started = _clock()
        try:
            case.function(self.mx, check, **copy.deepcopy(case.values))
            answer = self._passed(identifier, check, _clock() - started)
        except checking.CheckFailed as failure:
            answer = _failed(identifier, _clock() - started, failure)
        except BaseException as error:  # noqa: BLE001 - an engine may raise SystemExit or a class of its own
            answer = _raised(identifier, _clock() - started, error, case)
        answer["checks"] = check.count
        try:
            self._settle()
            check.close_down()
            self._restore(before)
        except BaseException as error:  # noqa: BLE001 - see above; the harness starts a fresh worker then
            answer["tainted"] = "%s: %s" % (type(error).__name__, _safe_str(error))
        left = _thread_count() - threads
        if left > 0:
            answer["threads"] = left
        return answer

    @staticmethod
    def _passed(identifier: str, check: checking.Check, seconds: float) -> Dict[str, Any]:
        if checking.RAISED:
            answer = _failed(identifier, seconds, checking.RAISED[0])
            answer["message"] += " [the engine swallowed this failure: it happened inside a callback]"
            return answer
        if check.count == 0:
            return _ended(identifier, "error", seconds, kind="NoCheck", doing="counting the checks that were made",
                          expected="at least one", got="0: the case observed nothing")
        return _ended(identifier, "pass", seconds)

    def _seed(self, seed: int) -> None:
        random.seed(seed)
        np.random.seed(seed)
        with contextlib.suppress(Exception):  # an engine without mx.random.seed is still held against other rules
            self.mx.random.seed(seed)

    def _settle(self) -> None:
        """Wait for work that the engine still does behind the case, so that it cannot disturb the next one."""
        with contextlib.suppress(Exception):  # a pending error belongs to this case, which has been judged already
            self.mx.nd.waitall()

    # -- surroundings ---------------------------------------------------------------------------------------

    def _snapshot(self) -> Dict[str, Any]:
        found: Dict[str, Any] = {
            "environment": dict(os.environ), "path": list(sys.path), "filters": list(warnings.filters),
            "errors": np.geterr(),
        }
        for name, get, _ in self._restorers:
            found[name] = get()
        return found

    def _restore(self, before: Dict[str, Any]) -> None:
        if os.environ != before["environment"]:
            os.environ.clear()
            os.environ.update(before["environment"])
        try:
            moved = os.getcwd() != self._home
        except OSError:
            moved = True
        if moved:
            os.chdir(self._home)
        if sys.path != before["path"]:
            sys.path[:] = before["path"]
        if warnings.filters != before["filters"]:
            warnings.filters[:] = before["filters"]  # type: ignore[index]  # the stub calls it a Sequence
        np.seterr(**before["errors"])
        for name, get, put in self._restorers:
            if get() != before[name]:
                put(before[name])


def _restorers(mx: Any) -> List[Tuple[str, Callable[[], Any], Callable[[Any], Any]]]:
    """The engine's own switches, as far as it has them: (name, read, write)."""
    found: List[Tuple[str, Callable[[], Any], Callable[[Any], Any]]] = []
    autograd = getattr(mx, "autograd", None)
    for flag in ("recording", "training"):
        get, put = getattr(autograd, "is_" + flag, None), getattr(autograd, "set_" + flag, None)
        if callable(get) and callable(put) and _works(get):
            found.append((flag, get, put))
    util, npx = getattr(mx, "util", None), getattr(mx, "npx", None)
    readers = [getattr(util, name, None) for name in ("is_np_shape", "is_np_array", "is_np_default_dtype")]
    setter, resetter = getattr(npx, "set_np", None), getattr(npx, "reset_np", None)
    present = [reader for reader in readers if callable(reader) and _works(reader)]
    if len(present) >= 2 and callable(setter) and callable(resetter):

        def put_mode(state: Any) -> None:
            resetter()
            if any(state):
                setter(*state)

        found.append(("mode", lambda: tuple(bool(reader()) for reader in present), put_mode))
    return found


def _works(function: Callable[[], Any]) -> bool:
    try:
        function()
    except Exception:  # noqa: BLE001 - a switch that cannot be read cannot be restored either
        return False
    return True


def _guarded(stage: str, function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except BaseException as error:  # noqa: BLE001 - an engine may call sys.exit while it is imported
        kind = type(error).__name__
        raise Fault(stage, "%s: %s" % (kind, _safe_str(error)), _traceback(error)) from None


def _freeze_arrays(modules: Any) -> None:
    """Make the arrays that cases share read-only, so that an engine which changes its inputs is caught in the act."""
    for name in modules:
        for value in vars(sys.modules[name]).values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)


def _thread_count() -> int:
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return threading.active_count()


# -- answers ----------------------------------------------------------------------------------------------------


def _ended(identifier: str, outcome: str, seconds: float, **failure: str) -> Dict[str, Any]:
    answer: Dict[str, Any] = {"end": identifier, "outcome": outcome, "seconds": round(seconds, 7)}
    if failure:
        answer["failure"] = failure
        answer["message"] = "%s: expected %s, got %s" % (failure["doing"], failure["expected"], failure["got"])
    return answer


def _failed(identifier: str, seconds: float, failure: checking.CheckFailed) -> Dict[str, Any]:
    answer = _ended(identifier, "fail", seconds, kind="CheckFailed", doing=_text(failure.doing),
                    expected=_text(failure.expected), got=_text(failure.got), tolerance=_text(failure.tolerance),
                    traceback=_traceback(failure))
    answer["message"] = _safe_str(failure)
    return answer


def _raised(identifier: str, seconds: float, error: BaseException, case: Case) -> Dict[str, Any]:
    kind = type(error).__name__
    answer = _ended(identifier, "error", seconds, kind=kind, doing="running the case", expected="no exception",
                    got="%s: %s" % (kind, _safe_str(error)), traceback=_traceback(error))
    answer["message"] = "%s: %s" % (kind, _safe_str(error))
    if isinstance(error, (AttributeError, ImportError, NotImplementedError)):
        frames = traceback.extract_tb(error.__traceback__)
        # Raised by the case's own line: the engine does not have the thing at all.
        answer["absent"] = bool(frames) and os.path.dirname(frames[-1].filename).startswith(
            os.path.dirname(case.function.__code__.co_filename))
    return answer


def _text(value: Any) -> str:
    return value if isinstance(value, str) else checking.text_of(value)


def _safe_str(error: BaseException) -> str:
    try:
        return str(error)[:4000]
    except BaseException:  # noqa: BLE001 - an engine's exception whose str() raises must still be reported
        return "<%s whose str() raises>" % type(error).__name__


def _traceback(error: BaseException) -> str:
    """The traceback as text, without this file's own frames, shortened in the middle."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    try:
        text = "".join(traceback.format_exception(type(error), error, trace, limit=-40))
    except BaseException:  # noqa: BLE001 - see _safe_str
        text = "".join(traceback.format_tb(trace)) + _safe_str(error)
    if len(text) > TRACEBACK_LIMIT:
        half = TRACEBACK_LIMIT // 2
        text = "%s\n[... %d characters ...]\n%s" % (text[:half], len(text) - 2 * half, text[-half:])
    return text


# -- pipes ------------------------------------------------------------------------------------------------------


class Channel(object):
    """The worker's side of the pipes: commands in, answers out, and the engine's own output kept apart from both."""

    def __init__(self) -> None:
        self._commands = os.fdopen(os.dup(0), "r", encoding="utf-8", newline="\n")
        self._answers = os.dup(1)
        self._output = os.dup(2)
        self._stdout, self._stderr = sys.stdout, sys.stderr
        self._null = os.open(os.devnull, os.O_RDONLY)
        self._nonce, self._sequence = "", 0
        self._process = os.getpid()
        try:
            self._libc: Optional[Any] = ctypes.CDLL(None)
        except (OSError, TypeError):
            self._libc = None
        self.take_over()
        faulthandler.enable(self._output)
        faulthandler.register(signal.SIGUSR1, self._output, all_threads=True)

    def take_over(self) -> None:
        """Point the standard streams at the output pipe (again), whatever the engine did with them."""
        os.dup2(self._null, 0)
        os.dup2(self._output, 1)
        os.dup2(self._output, 2)
        sys.stdout, sys.stderr = self._stdout, self._stderr

    def adopt(self) -> None:
        """Let this process, a child of the worker, be the one that speaks."""
        self._process = os.getpid()

    def read(self) -> Optional[Dict[str, Any]]:
        """The next line from the harness, or None at the end."""
        line = self._commands.readline()
        if not line:
            return None
        message = _decode(line)
        self._nonce = message.get("nonce", self._nonce)
        assert isinstance(message, dict)
        return message

    def hung_up(self, seconds: float = 0.0) -> bool:
        """True if the harness has closed its end within that time, so that nothing more will come."""
        poll = select.poll()
        poll.register(self._commands.fileno(), 0)
        return any(event & select.POLLHUP for _, event in poll.poll(int(seconds * 1000)))

    def send(self, message: Dict[str, Any]) -> None:
        if os.getpid() != self._process:
            os._exit(0)  # the engine forked and its child came back here; only the parent speaks
        data = (_encode(message) + "\n").encode("ascii")
        while data:
            data = data[os.write(self._answers, data):]

    def mark(self) -> int:
        """Write a marker into the output pipe; what follows it belongs to its number."""
        self._sequence += 1
        data = (MARKER % (self._nonce, self._sequence)).encode("ascii")
        while data:
            data = data[os.write(self._output, data):]
        return self._sequence

    def flush(self) -> None:
        """Bring everything that was printed onto the pipe."""
        for stream in (sys.stdout, sys.stderr, self._stdout, self._stderr):
            with contextlib.suppress(Exception):  # the engine may have closed or replaced it
                stream.flush()
        if self._libc is not None:
            self._libc.fflush(None)


def main() -> None:
    """Serve one harness until it closes the pipe."""
    channel = Channel()
    config = channel.read()
    if config is None:
        return
    runner = Runner(config)
    try:
        ready = runner.load()
    except Fault as fault:
        channel.flush()
        channel.take_over()
        channel.mark()
        channel.send({"fault": fault.stage, "message": fault.message, "traceback": fault.details})
        return
    channel.take_over()
    channel.send(ready)
    while True:
        command = channel.read()
        if command is None:
            break
        _serve(command, channel, runner)
    # Threads and exit handlers that the engine left behind may never end; every answer has been sent.
    os._exit(0)


def _serve(command: Dict[str, Any], channel: Channel, runner: Runner) -> None:
    if "run" in command:
        for identifier in command["run"]:
            channel.send({"start": identifier, "mark": channel.mark()})
            answer = runner.run(identifier)
            channel.flush()
            channel.take_over()
            if answer["outcome"] != "pass":
                answer["until"] = channel.mark()
            channel.send(answer)
            if "tainted" in answer:
                os._exit(0)  # nothing more runs here; the harness starts a fresh worker
    elif "mutant" in command:
        from conformance import forked

        forked.serve(command, channel, runner, _serve)
    elif "smoke" in command:
        from conformance import smoke

        channel.mark()
        failure = smoke.run(runner.mx, lambda stage: channel.send({"stage": stage}), command["smoke"])
        channel.flush()
        channel.take_over()
        channel.send({"smoke": failure, "until": channel.mark()})
    elif "oracle" in command:
        from conformance.oracle import engine_side

        engine_side.serve(command, channel, runner)
    elif "linger" in command:
        _sleep(command["linger"])
        channel.send({"lingered": True})


if __name__ == "__main__":
    main()
