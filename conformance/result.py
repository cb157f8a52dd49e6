"""The result file: what a run found, as JSON lines with a header, rules, cases and a counted footer.

It is written whole at the end, to a temporary file that is then moved into place, so a file with a footer is complete.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from conformance import __version__
from conformance.errors import UsageFault
from conformance.judge import Judgement
from conformance.outcome import FAILING, CaseResult, counts
from conformance.rule import Rule
from conformance.session import Run

FORMAT = "gluon-conformance-result"
VERSION = 1

#: What ``--last-failed`` runs again.
AGAIN = frozenset(str(outcome) for outcome in FAILING) | {"blocked", "not-run", "unexpected-pass"}


def records(
    run: Run, judgement: Judgement, rules: Mapping[str, Rule], mutants: Mapping[str, list[str]],
    pending: Mapping[str, str], options: Mapping[str, Any],
) -> Iterator[dict[str, Any]]:
    """The lines of the file. mutants: rule -> ids;  pending: rules whose cases are still to come."""
    engine, ready = run.engine, run.ready
    yield {
        "record": "header", "format": FORMAT, "version": VERSION,
        "engine": {
            "name": engine.name, "version": ready["version"], "module": engine.module, "interpreter": run.interpreter,
            "python": ready["python"], "numpy": ready["numpy"], "platform": ready["platform"],
            "capabilities": sorted(run.capabilities), "inventory": engine.inventory,
        },
        "suite": {"version": __version__, "rules": len(rules), "cases": len(run.cases)},
        "started": run.started.isoformat(), "options": dict(options),
    }
    by_rule: dict[str, list[CaseResult]] = {}
    for result in judgement.results:
        by_rule.setdefault(result.rule, []).append(result)
    for identifier in run.rules:
        rule = rules[identifier]
        yield {
            "record": "rule", **rule.as_record(), "pending": identifier in pending,
            "cases": [result.id for result in by_rule.get(identifier, ())], "mutants": mutants.get(identifier, []),
        }
    for identifier in run.rules:
        for result in by_rule.get(identifier, ()):
            rule = rules[result.rule]
            yield {
                "record": "case", **result.as_record(), "area": rule.area, "level": rule.level,
                "replay": replay(engine.name, result.id, engine.engines_file),
            }
    yield {
        "record": "footer", "counts": counts(judgement.results), "total": len(judgement.results),
        "rules": len(run.rules), "seconds": round(run.seconds, 3),
        "surprises": [surprise.as_record() for surprise in judgement.surprises],
        "verdict": judgement.verdict, "exit_code": int(judgement.exit_code),
    }


def replay(engine: str, case: str, engines_file: Path | None = None) -> str:
    """The command that runs this case again.

    >>> replay("refengine", "TRAINER-CORE-001/one_iteration")
    "conform run --engine refengine --rule 'TRAINER-CORE-001/one_iteration'"
    >>> replay("ours", "TRAINER-CORE-001/one_iteration", Path("our engines.toml"))
    "conform run --engine ours --engines-file 'our engines.toml' --rule 'TRAINER-CORE-001/one_iteration'"
    """
    table = f" --engines-file {shlex.quote(str(engines_file))}" if engines_file is not None else ""
    return f"conform run --engine {shlex.quote(engine)}{table} --rule '{case}'"


def write(path: Path, lines: Iterator[dict[str, Any]]) -> None:
    """Write the records to *path*, all or nothing; its folder is made."""
    from reports.files import write_atomically

    path.parent.mkdir(parents=True, exist_ok=True)
    # ASCII: an engine's text may hold unpaired surrogates, which UTF-8 cannot, and separators that str.splitlines
    # takes for the end of a line. Numbers that JSON does not know would make a file that nobody reads.
    write_atomically(path, "".join(json.dumps(line, allow_nan=False) + "\n" for line in lines))


def last_failed(path: Path) -> frozenset[str]:
    """Ids of the cases that did not pass in an earlier result; UsageFault if there is none that can be read."""
    try:
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    except FileNotFoundError:
        raise UsageFault(f"--last-failed: no earlier result at {path}",
                         "Run once without --last-failed, with the same --output.") from None
    except (OSError, ValueError) as error:
        raise UsageFault(f"--last-failed: {path} is not a result file: {error}") from None
    if not lines or lines[-1].get("record") != "footer":
        raise UsageFault(f"--last-failed: {path} is cut off: it has no footer", "Run once without --last-failed.")
    return frozenset(line["id"] for line in lines if line.get("record") == "case" and line["outcome"] in AGAIN)
