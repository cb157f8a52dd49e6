"""Running miniature engines against the miniature suite."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from conformance.engine import Engine, Timeouts
from conformance.outcome import CaseResult
from conformance.rule import Release, Rule
from conformance.session import Options, Run, Session

HERE = Path(__file__).parent

RULE_IDS = (
    "MINI-ADD-001", "MINI-ADD-002", "MINI-DOUBLE-001", "MINI-ERROR-001", "MINI-HALF-001", "MINI-QUARTER-001",
    "MINI-SPECIAL-001", "MINI-TRIVIAL-001", "MINI-WAIT-001", "MINI-ZERO-001", "MINI-NOCASE-001",
)


def rule(identifier: str, **fields: Any) -> Rule:
    """A rule of the miniature inventory."""
    given: dict[str, Any] = {
        "id": identifier, "area": "trainer", "level": "MUST", "statement": f"Statement of {identifier}.",
        "source": "nowhere", "verdict": "spec", "api": (), "needs": (), "releases": {}, "notes": "", "check": "",
        "document_says": "", "file": "rules-mini.yaml", "line": 1,
    }
    return Rule(**{**given, **fields})


def mini_rules(**changed: Mapping[str, Any]) -> dict[str, Rule]:
    """The miniature inventory; ``MINI_ADD_001={"level": "MAY"}`` changes a rule."""
    return {name: rule(name, **changed.get(name.replace("-", "_"), {})) for name in RULE_IDS}


def statuses(release: str, **status: str) -> dict[str, Rule]:
    """The miniature inventory where a release is known to do something: ``statuses("old", MINI_ADD_001="differs")``."""
    return mini_rules(**{name: {"releases": {release: Release(value, "observed")}} for name, value in status.items()})


def mini_engine(module: str, **fields: Any) -> Engine:
    """The miniature engine of that name."""
    given: dict[str, Any] = {
        "name": module, "module": module, "path": (str(HERE / "engines"),), "capabilities": frozenset(),
        "timeouts": Timeouts(20.0, 1.5),
    }
    return Engine(**{**given, **fields})


def mini_options(**fields: Any) -> Options:
    """Options for the miniature suite; it has no smoke."""
    return Options(**{"suite": "minisuite", "path": (str(HERE),), "smoke": False, **fields})


class Recorder:
    """An observer that keeps what it hears."""

    def __init__(self) -> None:
        self.total = 0
        self.heard: list[CaseResult] = []
        self.known: dict[str, bool] = {}
        self.notes: list[str] = []

    def started(self, engine: str, total: int) -> None:
        self.total = total

    def settled(self, engine: str, result: CaseResult, known: bool) -> None:
        self.heard.append(result)
        self.known[result.id] = known

    def note(self, engine: str, text: str) -> None:
        self.notes.append(text)


def run_mini(
    name: str, rules: Mapping[str, Rule] | None = None, observer: Any = None, engine: Engine | None = None,
    **options: Any,
) -> Run:
    """Hold the miniature engine against the miniature suite."""
    watcher = observer or Recorder()
    chosen = engine or mini_engine(name)
    return Session(chosen, rules or mini_rules(), mini_options(**options), watcher).run()


def outcomes(results: Iterable[CaseResult]) -> dict[str, str]:
    """Case id -> outcome, without the cases that pass on a sound engine."""
    usual = {"MINI-SPECIAL-001/needs_what_few_have": "unsupported"}
    found = {result.id: str(result.outcome) for result in results}
    return {case: outcome for case, outcome in found.items() if outcome != usual.get(case, "pass")}
