"""A campaign: a run on one engine after the other, or several at once; a result file for each, and one report."""

from __future__ import annotations

import datetime
import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance import result
from conformance.catalogue import Catalogue, load_catalogue
from conformance.engine import Engine
from conformance.errors import ConformError, EngineFault, writing
from conformance.exit_codes import ExitCode, gravest
from conformance.judge import Judgement, judge
from conformance.output import try_folder, write_file
from conformance.session import Observer, Options, Run, Session

if TYPE_CHECKING:
    from reports.matrix import Report


@dataclass(frozen=True)
class Finished:
    """One engine's part: its file and judgement, or the fault that kept it from running."""

    engine: Engine
    path: Path | None = None
    run: Run | None = None
    judgement: Judgement | None = None
    fault: ConformError | None = None

    @property
    def exit_code(self) -> ExitCode:
        """How this part ends."""
        if self.judgement is None:
            return ExitCode(self.fault.exit_code) if self.fault is not None else ExitCode.NOTHING
        return self.judgement.exit_code


@dataclass(frozen=True)
class Plan:
    """engines in order;  options for each;  output: folder of the result files;  again: only what failed there last."""

    engines: tuple[Engine, ...]
    options: Options
    output: Path
    strict: bool = False
    again: bool = False

    def path(self, engine: Engine) -> Path:
        """The result file of an engine."""
        return self.output / f"{engine.file_name}.jsonl"


def conduct(plan: Plan, observer: Observer) -> list[Finished]:
    """Run every engine of the plan. A fault of one engine does not keep the others from running.

    Raises ConformError for what is wrong with the plan itself: a faulty suite, waivers, patterns, an output folder that
    cannot be written.
    """
    catalogue = load_catalogue()  # first, so that a faulty suite is told before anything has run
    try_folder(plan.output)
    jobs = max(1, plan.options.jobs)
    at_once = min(jobs, len(plan.engines))
    each = replace(plan.options, jobs=max(1, jobs // at_once))
    stop = threading.Event()

    def part(engine: Engine) -> Finished:
        if stop.is_set():
            return Finished(engine, fault=EngineFault(f"engine {engine.name} was not run: the run was interrupted"))
        options = each
        if plan.again:
            only = result.last_failed(plan.path(engine))
            options = replace(each, selection=replace(each.selection, only=only))
        try:
            run = Session(engine, catalogue.rules, options, observer).run()
        except EngineFault as fault:
            return Finished(engine, fault=fault)
        if run.interrupted:
            stop.set()
        return _kept(plan, engine, run, catalogue, options)

    if at_once == 1:
        return [part(engine) for engine in plan.engines]
    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(part, plan.engines))


def _kept(plan: Plan, engine: Engine, run: Run, catalogue: Catalogue, options: Options) -> Finished:
    rules = catalogue.rules
    judgement = judge(engine, rules, run.results, options.waivers, plan.strict, run.fault is not None, run.interrupted)
    mutants = {rule: [mutant.id for mutant in found] for rule, found in catalogue.mutants_of.items()}
    path = plan.path(engine)
    lines = result.records(run, judgement, rules, mutants, catalogue.pending, _stated(options, plan))
    with writing(path):
        result.write(path, lines)
    return Finished(engine, path, run, judgement, run.fault)


def _stated(options: Options, plan: Plan) -> dict[str, Any]:
    """The options that change what was selected or how it was judged; those at their default are left out."""
    selection = options.selection
    stated = {
        "rule": list(selection.patterns), "area": list(selection.areas), "level": list(selection.levels),
        "shard": "{}/{}".format(*selection.shard) if selection.shard else None, "last_failed": plan.again,
        "timeout": options.timeout, "strict": plan.strict, "mutant": options.mutant,
        "isolation": options.isolation if options.isolation != "process" else None,
        "waivers": [waiver.id for waiver in options.waivers],
    }
    return {name: value for name, value in stated.items() if value}


def exit_code(parts: Sequence[Finished]) -> ExitCode:
    """How the whole campaign ends."""
    return gravest([part.exit_code for part in parts])


def write_report(paths: Iterable[Path], output: Path) -> Path:
    """Write ``report.html`` beside the result files: the engines side by side."""
    from reports import html

    target = output / "report.html"
    write_file(target, html.render(side_by_side(paths)))
    return target


def side_by_side(paths: Iterable[Path]) -> Report:
    """The result files as one report."""
    from reports import matrix, model

    return matrix.merge([model.load(path) for path in paths])


def today() -> datetime.date:
    """The date that waivers are held against."""
    return datetime.date.today()
