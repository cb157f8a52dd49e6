"""What a run means: waivers applied, results held against the inventory, the verdict and the exit code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from conformance.engine import Engine
from conformance.exit_codes import ExitCode
from conformance.outcome import FAILING, CaseResult, Outcome
from conformance.rule import Rule
from conformance.waivers import Waiver


@dataclass(frozen=True)
class Surprise:
    """The engine and what the inventory records of it disagree about a rule."""

    rule: str
    expected: str
    observed: str
    detail: str

    def as_record(self) -> dict[str, str]:
        """Plain values for the result file."""
        return {"rule": self.rule, "expected": self.expected, "observed": self.observed, "detail": self.detail}


@dataclass(frozen=True)
class Judgement:
    """Results with waivers applied, surprises, stale waivers, and what it all comes to."""

    results: tuple[CaseResult, ...]
    surprises: tuple[Surprise, ...]
    stale: tuple[str, ...]
    verdict: str
    exit_code: ExitCode


def explained(
    engine: Engine, rules: Mapping[str, Rule], waivers: Sequence[Waiver]
) -> Callable[[CaseResult], bool]:
    """A function that tells whether a failure is known already, so that it blocks nothing."""

    def known(result: CaseResult) -> bool:
        if any(waiver.covers(result.rule, result.id) for waiver in waivers):
            return True
        return engine.inventory is not None and rules[result.rule].status(engine.inventory) in ("differs", "absent")

    return known


def judge(
    engine: Engine, rules: Mapping[str, Rule], results: Sequence[CaseResult], waivers: Sequence[Waiver] = (),
    strict: bool = False, broken: bool = False, interrupted: bool = False,
) -> Judgement:
    """Come to a verdict.

    broken: the engine could not be kept running;  strict: a waiver for something that passes now makes the run fail.
    """
    waived, stale = _apply_waivers(results, waivers)
    surprises = tuple(_surprises(engine, rules, waived))
    ran = [result for result in waived if result.outcome not in (Outcome.UNSUPPORTED, Outcome.NOT_RUN)]
    held = engine.inventory is not None
    if held:
        verdict = "surprise" if surprises else "no-surprise"
        bad = bool(surprises)
    else:
        bad = any(result.outcome in FAILING or result.outcome is Outcome.BLOCKED for result in waived)
        verdict = "does-not-conform" if bad else "conforms"
    if strict and stale:
        bad = True
        verdict = "surprise" if held else "does-not-conform"
    incomplete = any(result.outcome is Outcome.NOT_RUN for result in waived)
    if interrupted:
        code = ExitCode.INTERRUPTED
    elif broken or incomplete:
        code = ExitCode.ENGINE
    elif not ran and not surprises:
        code, verdict = ExitCode.NOTHING, "nothing-run"
    else:
        code = ExitCode.DIFFERS if bad else ExitCode.OK
    if code in (ExitCode.INTERRUPTED, ExitCode.ENGINE) and not bad:
        verdict = "incomplete" if ran else "nothing-run"
    return Judgement(tuple(waived), surprises, tuple(stale), verdict, code)


def _apply_waivers(
    results: Sequence[CaseResult], waivers: Sequence[Waiver]
) -> tuple[list[CaseResult], list[str]]:
    """Failures that a waiver names become waived; a waiver none of whose cases fails any more is stale."""
    final = {result.id: result for result in results}
    stale: list[str] = []
    for waiver in waivers:
        covered = [result for result in results if waiver.covers(result.rule, result.id)]
        failing = [result for result in covered if result.outcome in FAILING]
        passing = [result for result in covered if result.outcome is Outcome.PASS]
        for result in failing:
            final[result.id] = replace(result, outcome=Outcome.WAIVED, waiver=waiver.as_record())
        if passing and not failing and len(passing) == len(covered):
            stale.append(f"{waiver.where}: error: {waiver.id} passes now; remove this waiver")
            for result in passing:
                final[result.id] = replace(result, outcome=Outcome.UNEXPECTED_PASS, waiver=waiver.as_record(),
                                           message=stale[-1])
    return [final[result.id] for result in results], stale


def _surprises(
    engine: Engine, rules: Mapping[str, Rule], results: Iterable[CaseResult]
) -> Iterable[Surprise]:
    if engine.inventory is None:
        return
    by_rule: dict[str, list[CaseResult]] = {}
    for result in results:
        by_rule.setdefault(result.rule, []).append(result)
    for rule, found in by_rule.items():
        surprise = _surprise(engine, rules[rule].status(engine.inventory), rule, found)
        if surprise is not None:
            yield surprise


def _surprise(engine: Engine, status: str, rule: str, results: Sequence[CaseResult]) -> Surprise | None:
    if any(result.outcome is Outcome.NOT_RUN for result in results):
        return None
    passing = (Outcome.PASS, Outcome.UNEXPECTED_PASS)
    if status in ("differs", "absent"):
        if all(result.outcome in passing for result in results):
            return Surprise(rule, status, "pass", f"all {len(results)} cases pass" if len(results) > 1 else "it passes")
        return None
    if status != "holds":
        return None
    others = [result for result in results if result.outcome not in passing and not _on_purpose(engine, result)]
    if not others:
        return None
    first = others[0]
    return Surprise(rule, status, str(first.outcome), "; ".join(f"{r.id}: {r.message or r.outcome}" for r in others))


def _on_purpose(engine: Engine, result: CaseResult) -> bool:
    """Not observed, for a reason recorded elsewhere: a capability known to be missing, a waiver, another rule."""
    if result.outcome is Outcome.UNSUPPORTED:
        return bool(result.missing) and set(result.missing) <= set(engine.missing)
    return result.outcome in (Outcome.BLOCKED, Outcome.WAIVED)


