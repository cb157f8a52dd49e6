"""What the page's template shows: engine cards and the table of areas, counted and worded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote

from reports.matrix import Engine, Report
from reports.outcomes import BAR_ORDER, LEVELS, OUTCOMES, VERDICTS, Outcome
from reports.summary import Tally, percent, tally
from reports.text import duration, plural

#: Month names of our own: those of strftime depend on the user's locale.
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True)
class Segment:
    """A stretch of a bar: a state, how many rules, and where a click leads."""

    state: str
    label: str
    number: int
    link: str


@dataclass(frozen=True)
class Bar:
    """A stacked bar and what it says to those who do not see it."""

    segments: tuple[Segment, ...]
    label: str


@dataclass(frozen=True)
class LevelLine:
    """Pass rate of one engine at one level; ``heat`` names the colour of a cell."""

    level: str
    rate: str
    number: str
    passed: int
    judged: int
    total: int
    heat: str
    link: str
    bar: Bar
    hint: str


@dataclass(frozen=True)
class Card:
    """An engine at the top of the page."""

    label: str
    version: str
    verdict: str
    verdict_label: str
    sentence: str
    facts: tuple[str, ...]
    capabilities: tuple[str, ...]
    bar: Bar
    levels: tuple[LevelLine, ...]
    surprises: int
    surprises_link: str
    has_inventory: bool


@dataclass(frozen=True)
class AreaLine:
    """A line of the table of areas: for each engine its bar and its levels."""

    name: str
    total: int
    link: str
    engines: tuple[tuple[Bar, tuple[LevelLine, ...]], ...]


@dataclass(frozen=True)
class Page:
    """All that the template needs."""

    subtitle: str
    remarks: tuple[str, ...]
    cards: tuple[Card, ...]
    areas: tuple[AreaLine, ...]
    bare_areas: tuple[AreaLine, ...]
    levels: tuple[str, ...]
    engine_labels: tuple[str, ...]
    legend: tuple[tuple[Outcome, int], ...]
    area_names: tuple[str, ...]
    total: int
    differing: int
    surprising: int
    suite: str


def page_view(report: Report) -> Page:
    """Count and word everything that the template shows."""
    lines = [_area_line(report, area) for area in report.areas]
    bare = report.bare_areas
    present = {cell.state for row in report.rows for cell in row.cells}
    first = report.engines[0].result
    cases = max(len(engine.result.cases) for engine in report.engines)
    parts = [
        plural(len(report.engines), "engine"),
        plural(len(report.rows), "rule"),
        plural(cases, "case"),
        f"suite {first.suite_version}",
        _when(first.started),
    ]
    return Page(
        subtitle=" · ".join(part for part in parts if part),
        remarks=report.remarks,
        cards=tuple(_card(report, index, engine) for index, engine in enumerate(report.engines)),
        areas=tuple(line for line in lines if line.name not in bare),
        bare_areas=tuple(line for line in lines if line.name in bare),
        levels=LEVELS,
        engine_labels=tuple(engine.label for engine in report.engines),
        legend=tuple(
            (OUTCOMES[state], sum(any(cell.state == state for cell in row.cells) for row in report.rows))
            for state in BAR_ORDER
            if state in present
        ),
        area_names=report.areas,
        total=len(report.rows),
        differing=sum(row.differs for row in report.rows),
        surprising=sum(row.surprising for row in report.rows),
        suite=first.suite_version,
    )


def _card(report: Report, index: int, engine: Engine) -> Card:
    result = engine.result
    facts = (
        f"Python {result.python}" if result.python else "",
        f"numpy {result.numpy}" if result.numpy else "",
        _system(result.platform),
        f"{plural(len(result.cases), 'case')} in {duration(result.seconds)}",
    )
    verdict_label = VERDICTS[result.verdict]
    if result.verdict == "surprise":
        verdict_label = plural(len(result.surprises), "surprise")
    return Card(
        label=engine.label,
        version=result.version,
        verdict=result.verdict,
        verdict_label=verdict_label,
        sentence=_sentence(report, index, engine),
        facts=tuple(fact for fact in facts if fact),
        capabilities=result.capabilities,
        bar=_bar(tally(report.states(index)), engine.label),
        levels=tuple(_level_line(report, index, engine.label, None, level) for level in LEVELS),
        surprises=len(result.surprises),
        surprises_link=_link(on=engine.label, surprises="1"),
        has_inventory=result.inventory is not None,
    )


def _sentence(report: Report, index: int, engine: Engine) -> str:
    """The verdict in words."""
    result = engine.result
    cells = [(row.rule, row.cells[index]) for row in report.rows]
    failing = [rule for rule, cell in cells if OUTCOMES[cell.state].group == "failed"]
    if result.verdict == "nothing-run":
        return "No case was run, so nothing is known about this engine."
    if result.verdict == "incomplete":
        return "The run ended early; what had been run until then says nothing about the rest."
    if result.inventory is not None:
        if result.surprises:
            number = plural(len(result.surprises), "rule")
            return f"Held against the inventory of {result.inventory}: {number} did not behave as recorded."
        known = plural(sum(cell.known for _, cell in cells), "known difference")
        return f"Every result is what the inventory of {result.inventory} records, {known} included."
    if not failing:
        return "Every rule that was judged holds." if result.verdict == "conforms" else "No rule failed."
    must = sum(rule.level == "MUST" for rule in failing)
    return f"{plural(len(failing), 'rule')} failed, {must:,} of them MUST."


def _area_line(report: Report, area: str) -> AreaLine:
    engines = tuple(
        (
            _bar(tally(report.states(index, area)), engine.label, area),
            tuple(_level_line(report, index, engine.label, area, level) for level in LEVELS),
        )
        for index, engine in enumerate(report.engines)
    )
    total = sum(row.rule.area == area for row in report.rows)
    return AreaLine(area, total, _link(area=area), engines)


def _level_line(report: Report, index: int, label: str, area: str | None, level: str) -> LevelLine:
    counted = tally(report.states(index, area, level))
    where = f"{label}, {area + ', ' if area else ''}{level}"
    return LevelLine(
        level=level,
        rate=percent(counted.rate),
        number="" if counted.rate is None else percent(counted.rate).removesuffix(" %"),
        passed=counted.passed,
        judged=counted.judged,
        total=counted.total,
        heat=_heat(counted),
        link=_link(area=area, level=level, on=label),
        bar=_bar(counted, label, area, level),
        hint=f"{where}: {_hint(counted)}",
    )


def _hint(counted: Tally) -> str:
    if not counted.total:
        return "no rules"
    spelled = ", ".join(f"{number:,} {OUTCOMES[state].label}" for state, number in counted.counts)
    return f"{counted.passed:,} of {counted.judged:,} judged rules pass ({spelled})"


def _heat(counted: Tally) -> str:
    if not counted.total:
        return "empty"
    if counted.rate is None:
        return "open" if counted.of("open") == counted.total else "unsupported"
    for least, heat in ((1.0, "full"), (0.95, "high"), (0.8, "mid"), (0.5, "low")):
        if counted.rate >= least:
            return heat
    return "bad"


def _bar(counted: Tally, label: str, area: str | None = None, level: str | None = None) -> Bar:
    segments = tuple(
        Segment(state, OUTCOMES[state].label, number, _link(area=area, level=level, outcome=state, on=label))
        for state, number in counted.counts
    )
    return Bar(segments, ", ".join(f"{segment.number:,} {segment.label}" for segment in segments) or "no rules")


def _link(**filters: str | None) -> str:
    """A link that sets exactly these filters of the page."""
    return "#" + "&".join(f"{key}={quote(value, safe='')}" for key, value in filters.items() if value)


def _system(platform: str) -> str:
    """Operating system and processor out of a platform string.

    >>> _system("Linux-6.1.0-18-amd64-x86_64-with-glibc2.36")
    'Linux x86_64'
    """
    known: Iterable[str] = ("x86_64", "AMD64", "aarch64", "arm64", "ppc64le", "riscv64")
    system = platform.split("-", 1)[0]
    machine = next((name for name in known if name in platform.split("-")), "")
    return f"{system} {machine}".strip()


def _when(started: str) -> str:
    try:
        moment = datetime.fromisoformat(started)
    except ValueError:
        return started
    zone = ""
    if moment.tzinfo is not None:
        moment, zone = moment.astimezone(UTC), " UTC"
    return f"{moment.day} {_MONTHS[moment.month - 1]} {moment.year}, {moment:%H:%M}{zone}"
