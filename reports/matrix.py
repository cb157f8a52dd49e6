"""Several engines side by side: one row per rule, one cell per engine."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from reports.model import Case, Result, Rule, Surprise
from reports.outcomes import LEVELS, OUTCOMES, worst


@dataclass(frozen=True)
class Engine:
    """A column: one result under a label that is unique in the report."""

    label: str
    result: Result


@dataclass(frozen=True)
class Cell:
    """What one engine's run says about one rule.

    state: the worst outcome of its cases, ``no-case`` or ``not-selected``;  known: the engine's inventory says that
    this rule does not hold there, and the run agrees;  surprise: the run contradicts the inventory.
    """

    state: str
    cases: tuple[Case, ...] = ()
    surprise: Surprise | None = None
    known: bool = False

    @property
    def surprise_detail(self) -> str:
        """What to say about the surprise beyond both words: nothing where a failure below says it better."""
        if self.surprise is None or any(case.failure is not None for case in self.cases):
            return ""
        return self.surprise.detail

    @property
    def needs_attention(self) -> bool:
        """Whether a cell is news: a surprise, or a failure or stale waiver that no inventory explains."""
        if self.surprise is not None:
            return True
        return not self.known and (OUTCOMES[self.state].group == "failed" or self.state == "unexpected-pass")


@dataclass(frozen=True)
class Row:
    """A rule and its cells, in the order of the engines."""

    rule: Rule
    cells: tuple[Cell, ...]

    @cached_property
    def differs(self) -> bool:
        """Whether two engines that both judged the rule, or said that they lack it, came to different states."""
        return len({cell.state for cell in self.cells} - {"no-case", "not-selected", "not-run"}) > 1

    @cached_property
    def surprising(self) -> bool:
        """Whether some engine's result contradicts its inventory."""
        return any(cell.surprise for cell in self.cells)


@dataclass(frozen=True)
class Report:
    """Engines and rows; ``remarks`` says what a reader must know when the files do not fit together exactly."""

    engines: tuple[Engine, ...]
    rows: tuple[Row, ...]
    remarks: tuple[str, ...]

    @cached_property
    def areas(self) -> tuple[str, ...]:
        """Areas in the order of the rows."""
        return tuple(dict.fromkeys(row.rule.area for row in self.rows))

    @cached_property
    def bare_areas(self) -> tuple[str, ...]:
        """The areas in which no engine ran a case."""
        live = {row.rule.area for row in self.rows if any(cell.cases for cell in row.cells)}
        return tuple(area for area in self.areas if area not in live)

    def attention(self, engine: int) -> list[Row]:
        """The rows that somebody should look at for the engine of this index, MUST rules first."""
        found = [row for row in self.rows if row.cells[engine].needs_attention]
        return sorted(found, key=lambda row: LEVELS.index(row.rule.level))

    def states(self, engine: int, area: str | None = None, level: str | None = None) -> list[str]:
        """The states of the rules of an area and a level (None: of all) for the engine of this index."""
        return [
            row.cells[engine].state
            for row in self.rows
            if area in (None, row.rule.area) and level in (None, row.rule.level)
        ]


def merge(results: Sequence[Result]) -> Report:
    """Lay results side by side, in the given order; raises ``ValueError`` when there is none.

    Rows go by area and id; rules without a case come last in their area, areas without any come last of all. Two
    results of engines with the same name are told apart by a number.
    """
    if not results:
        raise ValueError("expected at least one result, got none")
    rules = _rules(results)
    columns = [_cells(result, rules) for result in results]
    live = {case.area for result in results for case in result.cases}
    rows = tuple(
        Row(rule, tuple(column[rule.id] for column in columns))
        for rule in sorted(rules.values(), key=lambda rule: (rule.area not in live, rule.area, not rule.cases, rule.id))
    )
    engines = tuple(Engine(label, result) for label, result in zip(_labels(results), results))
    return Report(engines, rows, tuple(_remarks(engines)))


def _labels(results: Iterable[Result]) -> list[str]:
    seen: dict[str, int] = defaultdict(int)
    labels = []
    for result in results:
        seen[result.name] += 1
        labels.append(result.name if seen[result.name] == 1 else f"{result.name} ({seen[result.name]})")
    return labels


def _rules(results: Iterable[Result]) -> dict[str, Rule]:
    """The union of the rules by id; where files disagree, the one that has a case tells more."""
    rules: dict[str, Rule] = {}
    for result in results:
        for rule in result.rules:
            before = rules.get(rule.id)
            if before is None or len(rule.cases) > len(before.cases):
                rules[rule.id] = rule
    return rules


def _cells(result: Result, rules: Mapping[str, Rule]) -> dict[str, Cell]:
    cases: dict[str, list[Case]] = defaultdict(list)
    for case in result.cases:
        cases[case.rule].append(case)
    own = {rule.id: rule for rule in result.rules}
    surprises = {surprise.rule: surprise for surprise in result.surprises}
    # such a run leaves out cases of rules that it selected, and its rule records list only what was run
    partial = bool(result.options.get("shard") or result.options.get("last_failed"))
    cells = {}
    for identifier in rules:
        rule = own.get(identifier)
        surprise = surprises.get(identifier)
        if cases[identifier]:
            state = worst(case.outcome for case in cases[identifier])
        elif rule is None or rule.cases or (partial and not rule.pending):
            state = "not-selected"
        else:
            state = "no-case"
        known = surprise is None and _known_to_differ(rule, result.inventory) and OUTCOMES[state].group == "failed"
        cells[identifier] = Cell(state, tuple(cases[identifier]), surprise, known)
    return cells


def _known_to_differ(rule: Rule | None, inventory: str | None) -> bool:
    release = rule.releases.get(inventory) if rule is not None and inventory else None
    return release is not None and release.status in ("differs", "absent")


def _remarks(engines: Sequence[Engine]) -> Iterable[str]:
    versions = {engine.result.suite_version for engine in engines}
    if len(versions) > 1:
        shown = ", ".join(f"{engine.label}: {engine.result.suite_version}" for engine in engines)
        yield f"The files come from different versions of the suite ({shown})."
    sizes = {frozenset(rule.id for rule in engine.result.rules) for engine in engines}
    if len(sizes) > 1:
        shown = ", ".join(f"{engine.label}: {len(engine.result.rules):,}" for engine in engines)
        yield f"The runs did not select the same rules ({shown}); a rule that a run left out is shown as not selected."
    for engine in engines:
        left = engine.result.counts.get("not-run", 0)
        if left:
            yield f"{engine.label}: the run ended early, {left:,} of {len(engine.result.cases):,} cases were not run."
        if engine.result.options.get("mutant"):
            yield f"{engine.label}: was broken on purpose, by the mutant {engine.result.options['mutant']}."
        if engine.result.options.get("last_failed"):
            yield f"{engine.label}: only cases that had failed in an earlier run were run."
        if engine.result.options.get("shard"):
            yield f"{engine.label}: this is part {engine.result.options['shard']} of a run, not the whole of it."
