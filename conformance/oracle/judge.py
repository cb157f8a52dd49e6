"""Who is wrong: decided by an independent evaluation where the program has one, else left open."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.oracle.answers import Answer, Difference
from conformance.oracle.program import Program


@dataclass(frozen=True)
class Verdict:
    """wrong: the name of an engine, "both", or None where the rule is doubtful;  why: in one sentence;  rules: ids."""

    wrong: str | None
    why: str
    rules: tuple[str, ...] = ()


class Judge:
    """Gives verdicts for two engines."""

    def __init__(self, names: tuple[str, str]) -> None:
        self.names = names

    def verdict(self, program: Program, difference: Difference, answers: tuple[Answer, Answer]) -> Verdict:
        return Verdict(None, "no independent evaluation")
