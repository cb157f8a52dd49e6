"""The table of functions: what MXNet 1.9.1 has, what is settled about it, and how an engine compares."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from conformance.errors import EngineFault, HarnessFault

if TYPE_CHECKING:
    from conformance.engine import Engine

HERE = Path(__file__).parent
FUNCTIONS = HERE / "functions-mxnet-1.9.1.json"
EXCEPTIONS = HERE / "exceptions.yaml"
STATUSES = ("done", "pending", "excluded")


OF_CLASSES = ("class method", "class property")
_LIBRARY = ("class", "class method", "library function")
"""Kinds that may take more than the release knows, with defaults: later releases do so too."""


@dataclass(frozen=True, slots=True)
class Function:
    """One public name.

    Arrays and graphs have an ``operator``, ``function``, ``method``, ``operator method`` or ``property``; packages a
    ``class``, ``class method``, ``class property`` or ``library function``.
    """

    name: str
    kind: str
    parameters: tuple[tuple[str, str], ...]

    @property
    def space(self) -> str:
        """The name space: ``nd``, ``nd.contrib``, ``NDArray`` …

        >>> Function("nd.contrib.fft", "operator", ()).space
        'nd.contrib'
        >>> Function("gluon.nn.Dense.forward", "class method", ()).space
        'gluon.nn'
        """
        space = self.name.rpartition(".")[0]
        return space.rpartition(".")[0] if self.kind in OF_CLASSES else space

    @property
    def signature(self) -> str:
        """The parameters as one reads them.

        >>> Function("nd.f", "operator", (("data", "array"), ("axis", "required"), ("p", "0.5"))).signature
        'data, axis, p=0.5'
        """
        return ", ".join(key if default in ("array", "required", "unstated") else f"{key}={default}"
                         for key, default in self.parameters)


@dataclass(frozen=True, slots=True)
class Exception_:
    """What keeps some names from being done: a glob over names, ``pending`` or ``excluded``, and the reason."""

    names: str
    status: str
    reason: str


def load_functions(path: Path = FUNCTIONS) -> dict[str, Function]:
    """The checked-in table by name."""
    return functions_from(json.loads(path.read_text(encoding="utf-8")))


def functions_from(entries: Iterable[Mapping[str, object]]) -> dict[str, Function]:
    """Functions by name from what ``introspect`` wrote."""
    found = {}
    for entry in entries:
        given = entry["parameters"] or []
        assert isinstance(given, list)
        parameters = tuple((str(key), str(default)) for key, default in given)
        function = Function(str(entry["name"]), str(entry["kind"]), parameters)
        found[function.name] = function
    return found


def text_of(functions: Mapping[str, Function]) -> str:
    """The file of a table: one function a line, so that a change is a line."""
    lines = [json.dumps({"name": f.name, "kind": f.kind, "parameters": f.parameters}) for _, f in
             sorted(functions.items())]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def load_exceptions(path: Path = EXCEPTIONS) -> list[Exception_]:
    """The list of what is not done, each with its reason; HarnessFault for a faulty entry."""
    found = []
    for entry in yaml.safe_load(path.read_text(encoding="utf-8")) or []:
        if set(entry) != {"names", "status", "reason"} or entry["status"] not in STATUSES[1:]:
            raise HarnessFault(f"{path.name}: expected names, status (pending or excluded) and reason, got {entry!r}")
        found += [Exception_(name, entry["status"], entry["reason"]) for name in entry["names"].split()]
    return found


def exception_for(name: str, exceptions: Iterable[Exception_]) -> Exception_ | None:
    """The first exception that covers a name."""
    return next((e for e in exceptions if fnmatchcase(name, e.names)), None)


def status_of(name: str, exceptions: Iterable[Exception_]) -> str:
    """``done``, or what the exceptions say."""
    exception = exception_for(name, exceptions)
    return exception.status if exception else "done"


def tally(
    names: Iterable[str], exceptions: Sequence[Exception_], found: Mapping[str, str] | None = None
) -> Counter[str]:
    """How many names are done, pending and excluded; what differs on an engine is ``different`` and not done.

    A pending name is not done where it is there either: it may do no more than to say that it cannot yet.

    >>> pending = [Exception_("nd.g*", "pending", "not yet")]
    >>> sorted(tally(["nd.f", "nd.g", "nd.h"], pending, {"nd.h": "missing"}).items())
    [('different', 1), ('done', 1), ('pending', 1)]
    """
    count = Counter[str]()
    for name in names:
        status = status_of(name, exceptions)
        count["different" if status == "done" and name in (found or ()) else status] += 1
    return count


# ---- an engine against the table -----------------------------------------------------------------------------------

def survey(engine: Engine) -> dict[str, Function]:
    """The functions that an engine has, asked in its own interpreter."""
    from conformance.cli.exec_ import environment
    from conformance.engines import interpreter_for
    from conformance.parity.introspect import NO_ARRAYS
    from conformance.smoke import ADVICE

    interpreter = interpreter_for(engine)
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "functions.json"
        command = [interpreter, str(HERE / "introspect.py"), engine.module, str(answer)]
        try:
            done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300, cwd=folder,
                                  env=environment(engine, interpreter))
        except (OSError, subprocess.TimeoutExpired) as error:
            raise EngineFault(f"engine {engine.name} cannot be asked for its functions: {error}") from None
        if done.returncode == NO_ARRAYS:
            raise EngineFault(f"engine {engine.name} stops at stage array: it has no class `nd.NDArray`",
                              ADVICE["array"])
        if done.returncode or not answer.exists():
            raise EngineFault(f"engine {engine.name} cannot be asked for its functions", details=done.stderr[-2000:])
        return functions_from(json.loads(answer.read_text(encoding="utf-8")))


def _bare(key: str) -> str:
    """A parameter's name; what collects any number of arguments may be called as one likes."""
    return "*" if key.startswith("*") else key


_ARRAY = {"array", "None", "required"}
_UNSET = {"required", "_Null"}


def _same_default(expected: str, given: str) -> bool:
    if expected in (given, "unstated") or (expected == "array" and given in _ARRAY) or {expected, given} <= _UNSET:
        return True
    # A context is chosen by a word in the release's operators; "" stands for the current one, as None does elsewhere.
    return {expected, given} == {"''", "None"}


def difference(expected: Function, given: Function | None) -> str:
    """What is different about a function; empty if nothing is.

    >>> one = Function("nd.f", "operator", (("data", "array"), ("p", "0.5")))
    >>> difference(one, Function("nd.f", "function", (("data", "None"), ("p", "0.4"))))
    'p: expected default 0.5, got 0.4'
    """
    if given is None:
        return "missing"
    if expected.kind.endswith("property") != given.kind.endswith("property"):
        return f"expected a {expected.kind}, got a {given.kind}"
    if expected.kind.endswith("property"):
        return ""
    if expected.kind == "class" and not expected.parameters:
        return ""           # made as its base class is made, or by the engine
    wanted = list(expected.parameters)
    known = {key for key, _ in wanted}
    found = [p for p in given.parameters if p[0] in known or p[0] not in ("out", "name", "attr")]
    library = expected.kind in _LIBRARY
    if library and all(default != "required" for _, default in found[len(wanted):]):
        found = found[:len(wanted)]
    if [_bare(key) for key, _ in wanted] != [_bare(key) for key, _ in found]:
        shown = Function("", given.kind, tuple(found)).signature
        return f"expected parameters ({expected.signature}), got ({shown})"
    return "; ".join(f"{key}: expected default {a}, got {b}" for (key, a), (_, b) in zip(wanted, found)
                     if not _same_default(a, b) and not (library and (a == "required" or {a, b} == {"{}", "None"})))


def differences(expected: Mapping[str, Function], given: Mapping[str, Function]) -> dict[str, str]:
    """Every name that is missing or has other parameters, with what is different."""
    found = {name: difference(function, given.get(name)) for name, function in expected.items()}
    return {name: text for name, text in found.items() if text}
