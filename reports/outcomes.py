"""What the outcome of a case, and the state of a rule, is called and how it counts: one table for every renderer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    """One possible outcome of a case or state of a rule.

    group: how it counts: ``passed``; ``failed``, it speaks against the engine; ``held``, not passed and not a failure
    of its own; ``unsupported``, nothing was judged; ``open``, there was nothing to run.
    badness: the worst of a rule's cases gives the rule's state.
    """

    name: str
    label: str
    group: str
    badness: int
    glyph: str
    style: str
    doc: str


_TABLE = (
    # name, label, group, badness, glyph, terminal style, what it means
    ("crash", "crash", "failed", 13, "!", "bold red", "the engine's process died in the case"),
    ("timeout", "timeout", "failed", 12, "T", "bold red", "the case did not end in time"),
    ("error", "error", "failed", 11, "E", "bold red", "an exception that the case did not expect"),
    ("fail", "fail", "failed", 10, "x", "red", "an observation contradicts the rule"),
    ("unstable", "unstable", "failed", 9, "~", "magenta", "the same case gave different outcomes"),
    ("unexpected-pass", "unexpected pass", "held", 8, "?", "magenta", "waived, yet it passes: the waiver is stale"),
    ("blocked", "blocked", "held", 7, "b", "yellow", "a rule it stands on failed"),
    ("not-run", "not run", "held", 6, "-", "yellow", "selected, but the run ended before it"),
    ("waived", "waived", "held", 5, "w", "cyan", "fails, and a dated waiver allows it"),
    ("unsupported", "unsupported", "unsupported", 4, "u", "dim", "the engine lacks a capability that the rule needs"),
    ("pass", "pass", "passed", 3, ".", "green", "every observation agrees with the rule"),
    ("no-case", "no case yet", "open", 2, "o", "dim", "the rule is in the inventory, its case is still to come"),
    ("not-selected", "not selected", "open", 1, " ", "dim", "the rule or its cases were not part of this run"),
)

#: Every outcome and state by name, worst first.
OUTCOMES: dict[str, Outcome] = {row[0]: Outcome(*row) for row in _TABLE}

#: The outcomes a case in a result file may have; the other two are states of rules without a case line.
CASE_OUTCOMES = tuple(name for name in OUTCOMES if name not in ("no-case", "not-selected"))

#: The order of segments in a bar and of columns in a table: good to bad to unknown.
BAR_ORDER = (
    "pass", "fail", "error", "crash", "timeout", "unstable", "unexpected-pass", "blocked",
    "waived", "not-run", "unsupported", "no-case", "not-selected",
)  # fmt: skip

LEVELS = ("MUST", "SHOULD", "MAY")

VERDICTS = {
    "conforms": "conforms",
    "does-not-conform": "does not conform",
    "no-surprise": "no surprise",
    "surprise": "surprises",
    "nothing-run": "nothing was run",
    "incomplete": "ended early",
}


def worst(outcomes: Iterable[str]) -> str:
    """The state of a rule from the outcomes of its cases.

    >>> worst(["pass", "unsupported", "pass"])
    'unsupported'
    >>> worst(["pass", "fail", "crash"])
    'crash'
    """
    return max(outcomes, key=lambda name: OUTCOMES[name].badness)
