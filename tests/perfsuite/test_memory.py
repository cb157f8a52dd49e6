"""Memory measured in fresh processes: small networks on the reference engine, and engines that fail."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import pytest

import refengine as mx
from perfsuite.memory import (
    MODES,
    MemoryRecord,
    MemoryRun,
    NoMemoryRun,
    Subject,
    ask,
    choose,
    joined,
    measure,
    mebibytes,
    read_run,
)  # fmt: skip
from perfsuite.memory_models import MODELS
from perfsuite.memory_plan import MEGA, OWN_PLANNER, observe

REFERENCE = Subject("refengine", sys.executable, "refengine")


@pytest.fixture(scope="module", params=[("mlp", "inference"), ("lenet", "training")], ids="-".join)
def record(request: pytest.FixtureRequest) -> MemoryRecord:
    name, mode = request.param
    made, about = measure(REFERENCE, name, mode, MODELS[name].quick_batch, 120)
    assert set(about) == {"version", "python", "numpy"}
    return made


def test_every_number_is_there(record: MemoryRecord) -> None:
    assert record.reasons == {}
    assert record.planned_by == OWN_PLANNER
    sizes = (record.planned, record.in_place_only, record.no_reuse, record.peak, record.later, record.traced)
    assert all(isinstance(size, int) and size > 0 for size in sizes), record


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["mlp", "lenet", "resnet18"])
def test_the_plan_saves_what_is_aimed_at(name: str, mode: str) -> None:
    model = MODELS[name]
    record = MemoryRecord("refengine", name, mode, model.batch, **observe(
        mx, model.build(mx), model.shapes(model.batch), mode == "training"))
    assert record.meets_goal, record


def test_the_peaks_agree_with_each_other(record: MemoryRecord) -> None:
    assert record.peak is not None
    assert record.traced is not None
    assert record.later is not None
    assert record.later <= record.peak
    # What lives is resident, but for pages that nothing was written to; freed memory and code come on top.
    assert 0.8 * record.traced <= record.peak + MEGA


def fake(folder: Path, source: str) -> Subject:
    (folder / "fake_engine.py").write_text(textwrap.dedent(source))
    return Subject("fake", sys.executable, "fake_engine", environment={"PYTHONPATH": str(folder)})


def test_a_process_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    subject = fake(tmp_path, "import time\ntime.sleep(60)")
    answer = ask(subject, {"model": "mlp", "mode": "inference", "batch": 1, "what": "peak"}, 1)
    assert answer == {"error": "timeout", "message": "no result within 1 s"}


def test_a_process_that_dies_is_a_reason_with_its_last_words(tmp_path: Path) -> None:
    subject = fake(tmp_path, "import os, sys\nprint('no more', file=sys.stderr, flush=True)\nos._exit(7)")
    answer = ask(subject, {"model": "mlp", "mode": "inference", "batch": 1, "what": "plan"}, 60)
    assert answer == {"error": "ended with status 7", "message": "no more"}


def test_a_failure_is_a_record_with_its_reasons(tmp_path: Path) -> None:
    subject = fake(tmp_path, "raise RuntimeError('no such thing')")
    steps: list[None] = []
    made, _ = measure(subject, "mlp", "training", 1, 60, lambda: steps.append(None))
    assert set(made.reasons) == {"plan", "peak", "traced"}
    assert made.reasons["peak"] == "RuntimeError: no such thing"
    assert (made.planned, made.peak, made.saving, made.meets_goal) == (None, None, None, None)
    assert len(steps) == 3


def test_models_are_chosen_by_name_and_batch() -> None:
    assert list(choose([], False, None)) == ["mlp", "lenet", "resnet18", "resnet50", "vgg11", "lstm"]
    assert choose(["ResNet*"], False, 2) == {"resnet18": 2, "resnet50": 2}
    assert set(choose([], True, None)) == {"mlp", "lenet"}
    assert choose(["nothing"], False, None) == {}


def test_a_run_is_read_back_as_it_was_written() -> None:
    run = MemoryRun((MemoryRecord("e", "mlp", "training", 4, 100, 80, 40, "x", reasons={"peak": "no"}),),
                    ({"name": "e", "version": "1", "python": "3", "numpy": "2"},))
    assert read_run(run.as_json()) == run


def test_runs_are_joined_by_model_and_the_later_counts() -> None:
    def run(engine: str, *records: MemoryRecord, machine: str = "Linux") -> MemoryRun:
        return MemoryRun(records, ({"name": engine, "version": "1", "python": "3", "numpy": "2"},), machine)

    a = run("a", MemoryRecord("a", "lenet", "training", 1, 5), MemoryRecord("a", "mlp", "training", 1, 6))
    b = run("b", MemoryRecord("b", "mlp", "training", 1, 7))
    again = run("a", MemoryRecord("a", "mlp", "training", 1, 8))
    both = joined([a, b, again])
    assert [(r.model, r.engine, r.no_reuse) for r in both.records] == [
        ("mlp", "a", 8), ("mlp", "b", 7), ("lenet", "a", 5)]
    assert [entry["name"] for entry in both.engines] == ["a", "b"]
    with pytest.raises(NoMemoryRun, match="one kind of machine"):
        joined([a, run("b", machine="Darwin")])


@pytest.mark.parametrize("text", [
    "", "[]", '{"records": [], "engines": []}', '{"records": [{"a": 1}], "engines": [], "machine": ""}',
    '{"records": [{"engine": "e", "model": "mlp", "mode": "training", "batch": 1}], "engines": [], "machine": ""}',
])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(NoMemoryRun, match="expected"):
        read_run(text)


def test_sizes_are_in_mebibytes() -> None:
    assert [mebibytes(size) for size in (None, 0, 5 * MEGA, 5 * MEGA + 600000)] == ["—", "0", "5", "5.6"]
