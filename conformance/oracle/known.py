"""Known differences: one data file, each entry with a reason and a program that shows it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from conformance.errors import UsageFault
from conformance.oracle.answers import Difference
from conformance.oracle.program import Program, matches, operations, subject

FILE = Path(__file__).with_name("known.yaml")

_TEXT = {"type": "string", "minLength": 1}
_TEXTS = {"type": "array", "items": _TEXT, "minItems": 1}

SCHEMA: dict[str, Any] = {
    "type": "array",
    "items": {
        "type": "object",
        "additionalProperties": False,
        "required": ["id", "engines", "kinds", "operators", "reason", "example"],
        "properties": {
            "id": {"type": "string", "pattern": "^[a-z0-9]+(-[a-z0-9.]+)*$"},
            "engines": {"type": "array", "items": _TEXT, "minItems": 2, "maxItems": 2},
            "kinds": _TEXTS,
            "operators": _TEXTS,
            "where": _TEXT,
            "variable": _TEXT,
            "near": {"type": "number", "exclusiveMinimum": 1},
            "shows": {"type": "object", "additionalProperties": _TEXT},
            "reason": {"type": "string", "minLength": 20},
            "rules": _TEXTS,
            "avoid": {"enum": [True, False, "changed"]},
            "unsteady": {"type": "boolean"},
            "np_shape": {"type": "boolean"},
            "example": _TEXTS,
        },
    },
}


@dataclass(frozen=True)
class Known:
    """One difference that is known and justified.

    kinds, operators: what kind of difference it is, and globs of the operations that it is about;  where: a regular
    expression that the program must contain;  variable: one for the name of the variable that differs;  near: so many
    tolerances apart at most;  shows: engine -> a regular expression for what it does;  avoid: programs that contain
    such an operation are not run, because they end an engine or damage it ("changed": but for the samples of the
    operators, which do neither);  example: the program that shows it, run at the start of every session;  unsteady: it
    need not show there, since it depends on what the memory holds.
    """

    id: str
    engines: tuple[str, str]
    kinds: tuple[str, ...]
    operators: tuple[str, ...]
    reason: str
    example: tuple[str, ...]
    where: str = ""
    variable: str = ""
    near: float | None = None
    shows: Mapping[str, str] | None = None
    rules: tuple[str, ...] = ()
    avoid: bool | str = False
    unsteady: bool = False
    np_shape: bool = False

    @property
    def program(self) -> Program:
        """The example as a program."""
        return Program(self.example, np_shape=self.np_shape, origin=f"known:{self.id}")

    @cached_property
    def _where(self) -> re.Pattern[str]:
        return re.compile(self.where, re.DOTALL)

    def _mentioned(self, program: Program) -> bool:
        """True if the program contains what *where* asks for; a constant in quotes is that constant."""
        return bool(self._where.search(program.text) or (
            program.unquoted != program.text and self._where.search(program.unquoted)))

    def _concerns(self, names: Sequence[str], program: Program) -> bool:
        """A method is the function of its name: what is known of one is known of the other."""
        functions = [f"nd.{name.removeprefix('NDArray.')}" for name in names if name.startswith("NDArray.")]
        return (program.np_shape or not self.np_shape) and matches([*names, *functions], self.operators)

    def explains(self, difference: Difference, program: Program, engines: Sequence[str]) -> bool:
        """True if this is what differs here; *engines* are the names of the first and the second."""
        if difference.kind not in self.kinds or not self._concerns(subject(program, difference.step), program):
            return False
        if not self._mentioned(program) or (self.variable and not re.search(self.variable, difference.name)):
            return False
        if self.near is not None and (difference.close is None or difference.close > self.near):
            return False
        sides = dict(zip(engines, (difference.first, difference.second)))
        return all(re.search(pattern, sides.get(name, ""), re.DOTALL) for name, pattern in (self.shows or {}).items())

    def forbids(self, program: Program) -> bool:
        """True if the program would end an engine in the way that is known."""
        if not self.avoid or (self.avoid == "changed" and program.origin.startswith("sample:")):
            return False
        return self._mentioned(program) and any(
            self._concerns([name], program) for line in program.lines for name in operations(line))


def load(path: Path = FILE) -> list[Known]:
    """All entries of the file; UsageFault that names what is wrong with it."""
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageFault(f"{path} cannot be read: {error.strerror or error}") from None
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise _no_list(path, f"what is no YAML ({' '.join(str(error).split())[:200]})") from None
    document = [] if document is None else document
    if not isinstance(document, list):
        raise _no_list(path, _shown(document))
    for number, entry in enumerate(document, 1):
        if not isinstance(entry, dict):
            raise _no_list(path, f"{_shown(entry)} as entry {number}")
    try:
        jsonschema.validate(document, SCHEMA)
    except jsonschema.ValidationError as error:
        place = "/".join(map(str, error.absolute_path))
        raise UsageFault(f"{path}: entry {place}: {error.message}") from None
    found = [_entry(entry, path) for entry in document]
    repeated = {entry.id for entry in found if sum(other.id == entry.id for other in found) > 1}
    if repeated:
        raise UsageFault(f"{path}: the same id twice: {', '.join(sorted(repeated))}")
    return found


def _no_list(path: Path, got: str) -> UsageFault:
    return UsageFault(f"{path} is no list of known differences: expected a YAML list of entries with "
                      f"{', '.join(SCHEMA['items']['required'])}, got {got}",
                      "conformance/oracle/known.yaml shows how they look.")


def _shown(value: Any) -> str:
    text = " ".join(repr(value).split())
    return f"a {type(value).__name__}: {text if len(text) <= 60 else text[:60] + '...'}"


def _entry(given: Mapping[str, Any], path: Path) -> Known:
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in given.items()}
    for pattern in (values.get("where", ""), values.get("variable", ""), *(values.get("shows") or {}).values()):
        try:
            re.compile(pattern)
        except re.error as error:
            raise UsageFault(f"{path}: {values['id']}: not a regular expression: {pattern}: {error}") from None
    return Known(**values)


def between(entries: Iterable[Known], engines: Sequence[str]) -> list[Known]:
    """The entries about these two engines, in either order."""
    return [entry for entry in entries if set(entry.engines) == set(engines)]
