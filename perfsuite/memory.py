"""Memory of networks on engines: what the planner says, and what a fresh process really takes; a record per model."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from perfsuite.memory_models import MODELS
from perfsuite.memory_plan import MEGA
from perfsuite.process import measuring_environment

MODES = ("inference", "training")
#: What a process is asked for, one each: see :mod:`perfsuite.memory_worker`.
ASKED = ("plan", "peak", "traced")
#: By these an engine keeps no freed memory for reuse: what tracemalloc sees is then what lives.
KEEP_NOTHING = {"REFENGINE_POOL_LIMIT_MB": "0"}
#: The part of the memory without reuse that a plan is to save at least.
GOALS = {"inference": 0.85, "training": 0.40}


@dataclass(frozen=True)
class Subject:
    """An engine to measure: its name, its Python, and what is loaded there with which environment."""

    name: str
    interpreter: str
    module: str
    setup: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class MemoryRecord:
    """One model in one mode on one engine; sizes are in bytes, None where ``reasons`` says why there is none.

    no_reuse, in_place_only, planned: of the intermediate values, see :mod:`perfsuite.memory_plan`;  planned_by: where
    these come from;  peak, later: the most resident memory in all steps and in a later one, above that before the
    first;  traced, traced_later: the same as tracemalloc sees it, of what lives;  reasons: "plan", "peak", "traced" ->
    reason.
    """

    engine: str
    model: str
    mode: str
    batch: int
    no_reuse: int | None = None
    in_place_only: int | None = None
    planned: int | None = None
    planned_by: str = ""
    peak: int | None = None
    later: int | None = None
    traced: int | None = None
    traced_later: int | None = None
    reasons: dict[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The model's name for people."""
        return str(MODELS[self.model].title)

    @property
    def saving(self) -> float | None:
        """The part of the memory without reuse that the plan saves; None without a plan, or one of less than 1 MiB
        by an engine that counts whole MiB."""
        if not self.no_reuse or not self.planned:
            return None
        return 1 - self.planned / self.no_reuse

    @property
    def meets_goal(self) -> bool | None:
        """Whether the saving reaches the goal of the mode; None without one."""
        return None if self.saving is None else self.saving >= GOALS[self.mode]


@dataclass(frozen=True)
class MemoryRun:
    """All records of a run, the engines (``name``, ``version``, ``python``, ``numpy``), and the kind of machine."""

    records: tuple[MemoryRecord, ...]
    engines: tuple[dict[str, str], ...]
    machine: str = f"{platform.system()} on {platform.machine()}"

    def as_json(self) -> str:
        """The run as JSON text."""
        return json.dumps(asdict(self), indent=1) + "\n"


class NoMemoryRun(ValueError):
    """A text is not what :meth:`MemoryRun.as_json` writes."""


def read_run(text: str) -> MemoryRun:
    """The run of a JSON text; NoMemoryRun says what is wrong with it."""
    try:
        parsed = json.loads(text)
        records = tuple(MemoryRecord(**entry) for entry in parsed["records"])
        engines = tuple({key: str(entry[key]) for key in ("name", "version", "python", "numpy")}
                        for entry in parsed["engines"])
        machine = str(parsed["machine"])
    except (ValueError, KeyError, TypeError) as error:
        raise NoMemoryRun(f"expected the JSON of `conform perf memory`: {type(error).__name__}: {error}") from error
    sizes = {f.name for f in fields(MemoryRecord) if f.type == "int | None"}
    known = {entry["name"] for entry in engines}
    for record in records:
        wrong = [name for name in sizes if not isinstance(getattr(record, name), int | None)]
        if record.model not in MODELS or record.mode not in MODES or record.engine not in known or wrong:
            raise NoMemoryRun(f"expected a known engine, model and mode, and sizes in bytes, got {record}")
    return MemoryRun(records, engines, machine)


def joined(runs: Sequence[MemoryRun]) -> MemoryRun:
    """Several runs on one kind of machine as one, model by model; of two records of the same, the later counts.

    NoMemoryRun for runs on different kinds of machines.
    """
    machines = {run.machine for run in runs}
    if len(machines) != 1:
        raise NoMemoryRun(f"expected runs on one kind of machine, got {', '.join(sorted(machines))}")
    engines = {entry["name"]: entry for run in runs for entry in run.engines}
    records = {(r.model, r.mode, r.engine): r for run in runs for r in run.records}
    models, names = list(MODELS), list(engines)
    order = sorted(records, key=lambda key: (models.index(key[0]), MODES.index(key[1]), names.index(key[2])))
    return MemoryRun(tuple(records[key] for key in order), tuple(engines.values()), machines.pop())


def choose(patterns: Sequence[str], quick: bool, batch: int | None) -> dict[str, int]:
    """Model -> batch, for the models whose names match a pattern (all without one); ``quick`` leaves the small ones."""
    from fnmatch import fnmatchcase

    chosen = {}
    for name, model in MODELS.items():
        if (not patterns or any(fnmatchcase(name, p.lower()) for p in patterns)) and (
                not quick or model.quick_batch is not None):
            chosen[name] = batch or (model.quick_batch if quick else model.batch)
    return chosen


def measure(subject: Subject, model: str, mode: str, batch: int, seconds: float,
            done: Callable[[], None] = lambda: None) -> tuple[MemoryRecord, dict[str, str]]:
    """The record of one model, from one fresh process for each number, and what is known of the engine.

    seconds: how long each process may take;  done: called after each of them.
    """
    found: dict[str, Any] = {}
    about: dict[str, str] = {}
    reasons: dict[str, str] = {}
    for what in ASKED:
        answer = ask(subject, {"model": model, "mode": mode, "batch": batch, "what": what}, seconds)
        done()
        about.update({key: answer.pop(key) for key in ("version", "python", "numpy") if key in answer})
        if "error" in answer:
            stated = answer["error"] == "not observable"
            reasons[what] = answer["message"] if stated else f"{answer['error']}: {answer['message']}"
            continue
        if what == "traced":
            answer = {"traced": answer["peak"], "traced_later": answer["later"]}
            if answer["traced"] is None:
                reasons[what] = "its arrays are not in memory that Python sees"
        found.update(answer)
    return MemoryRecord(subject.name, model, mode, batch, reasons=reasons, **found), about


def ask(subject: Subject, request: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    """What a fresh process answers; ``{"error", "message"}`` also for one that ends, or takes too long."""
    kept = KEEP_NOTHING if request["what"] == "traced" else {}
    variables = measuring_environment(1, {**subject.environment, **kept})
    root = str(Path(__file__).resolve().parent.parent)
    variables["PYTHONPATH"] = os.pathsep.join(filter(None, [root, variables.get("PYTHONPATH", "")]))
    asked = json.dumps({"module": subject.module, "setup": subject.setup, **request})
    with tempfile.TemporaryFile() as errors:
        try:
            done = subprocess.run([subject.interpreter, "-m", "perfsuite.memory_worker", asked], env=variables,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, timeout=seconds)
        except subprocess.TimeoutExpired:
            return {"error": "timeout", "message": f"no result within {seconds:g} s"}
        try:
            answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        except (IndexError, ValueError):
            errors.seek(0)
            last = errors.read()[-500:].decode(errors="replace").strip() or "(it said nothing)"
            return {"error": f"ended with status {done.returncode}", "message": last}
    return answer


def mebibytes(size: int | None) -> str:
    """A size in MiB; whole ones without a fraction, a dash for none.

    >>> mebibytes(3 << 20), mebibytes(1700000), mebibytes(None)
    ('3', '1.6', '—')
    """
    if size is None:
        return "—"
    return str(size // MEGA) if size % MEGA == 0 else f"{size / MEGA:.1f}"
