"""Table, page and drawing of a run show the same, and gaps with their reasons."""

from __future__ import annotations

import io
import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from conformance.cli import main
from perfsuite.memory import MemoryRecord, MemoryRun, Subject, read_run
from perfsuite.memory_models import MODELS
from perfsuite.memory_page import faults, goal_lines, markdown, peak_lines, print_tables, reason_lines
from perfsuite.memory_picture import svg
from perfsuite.memory_plan import MEGA

DOCS = Path(__file__).parents[2] / "docs"
PYTHON_SEES_NOT = "its arrays are not in memory that Python sees"
RUN = MemoryRun(
    (
        MemoryRecord("ours", "mlp", "inference", 8, 40 * MEGA, 20 * MEGA, 4 * MEGA, "p", 9 * MEGA, 8 * MEGA, 7 * MEGA,
                     6 * MEGA),
        MemoryRecord("theirs", "mlp", "inference", 8, 40 * MEGA, 20 * MEGA, 10 * MEGA, "p", 19 * MEGA, 18 * MEGA,
                     reasons={"traced": PYTHON_SEES_NOT}),
        MemoryRecord("ours", "mlp", "training", 8, 80 * MEGA, 60 * MEGA, 30 * MEGA, "p", 39 * MEGA, 38 * MEGA,
                     37 * MEGA, 36 * MEGA),
        MemoryRecord("theirs", "mlp", "training", 8, reasons={
            "plan": "timeout: no result within 2 s", "peak": "MXNetError: <b>|[red]", "traced": PYTHON_SEES_NOT}),
    ),
    tuple({"name": name, "version": "1", "python": "3", "numpy": "2"} for name in ("ours", "theirs")),
    "Linux on x86_64",
)


def test_the_page_has_a_row_per_record() -> None:
    text = markdown(RUN, "bars.svg")
    assert "| MLP | 8 | ours | 40 | 20 | 4 | 90.0 % | 9 | 8 | 7 | 6 |" in text
    assert "| MLP | 8 | theirs | 40 | 20 | 10 | 75.0 % | 19 | 18 | — | — |" in text
    assert "| MLP | 8 | theirs | — | — | — | — | — | — | — | — |" in text
    assert "](bars.svg)" in text
    widths = {line.count("|") for line in text.splitlines() if line.startswith("|")}
    assert len(widths) == 1
    assert r"MXNetError: \<b>\|\[red\]" in text


def test_goals_and_gaps_are_named() -> None:
    assert goal_lines(RUN) == [
        "ours, inference: at least 85 % saved for MLP", "ours, training: at least 40 % saved for MLP",
        "theirs, inference: at least 85 % saved for no model; less for MLP (75 %)"]
    assert f"no traced bytes of theirs: {PYTHON_SEES_NOT}" in reason_lines(RUN)
    assert "no planned bytes of theirs for MLP training: timeout: no result within 2 s" in reason_lines(RUN)


def test_a_peak_above_no_reuse_is_said() -> None:
    assert peak_lines(RUN) == []
    high = replace(RUN, records=(replace(RUN.records[0], peak=41 * MEGA), *RUN.records[1:]))
    assert peak_lines(high) == ["ours, inference: the measured peak is above no reuse for MLP"]
    assert "the measured peak is above no reuse for MLP" in markdown(high)


def test_only_failures_are_faults() -> None:
    assert [what for _, what, _ in faults(RUN)] == ["plan", "peak"]


def test_the_table_fits_a_terminal_and_shows_texts_as_they_are() -> None:
    console = Console(file=io.StringIO(), width=80)
    print_tables(console, RUN)
    shown = console.file.getvalue()
    assert "90.0 %" in shown
    assert "<b>|[red]" in shown
    assert "…" not in shown


def test_the_drawing_is_well_formed_and_has_a_bar_for_every_number() -> None:
    root = ElementTree.fromstring(svg(RUN))
    space = "{http://www.w3.org/2000/svg}"
    titles = [title.text for rect in root.iter(f"{space}rect") for title in rect.iter(f"{space}title")]
    assert len(titles) == 9
    assert "MLP on ours, planned: 4 MiB" in titles
    assert "prefers-color-scheme: dark" in svg(RUN)


def test_a_name_cannot_break_the_drawing() -> None:
    record = MemoryRecord("<&\"'", "mlp", "training", 8, 80, 60, 30, "p", 39)
    run = MemoryRun((record,), ({"name": "<&\"'", "version": "<", "python": "3", "numpy": "2"},))
    assert ElementTree.fromstring(svg(run)) is not None


def test_the_command_shows_earlier_results(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(RUN.as_json())
    (tmp_path / "page").mkdir()
    done = CliRunner().invoke(main, [
        "perf", "memory", "--from", str(tmp_path / "run.json"), "--format", "markdown", "--output",
        str(tmp_path / "page" / "memory.md"), "--picture", str(tmp_path / "bars.svg")])
    assert done.exit_code == 1, done.output     # a measurement failed
    assert (tmp_path / "page" / "memory.md").read_text() == markdown(RUN, "../bars.svg")
    assert (tmp_path / "bars.svg").read_text() == svg(RUN)
    done = CliRunner().invoke(main, ["perf", "memory", "--from", str(tmp_path / "run.json"), "--format", "json"])
    assert json.loads(done.output) == json.loads(RUN.as_json())


@pytest.mark.parametrize("arguments", [["--models", "nothing"], ["--engines", "no-such-engine", "--quick"],
                                       ["--engines", "refengine,refengine"]])
def test_wrong_use_is_said(arguments: list[str]) -> None:
    done = CliRunner().invoke(main, ["perf", "memory", *arguments])
    assert done.exit_code == 2, done.output


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{}")
    done = CliRunner().invoke(main, ["perf", "memory", "--from", str(tmp_path / "run.json")])
    assert done.exit_code == 2
    assert "expected the JSON of" in done.output


def test_a_failing_engine_ends_with_rows_and_status_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "engine_that_fails.py").write_text("if __name__ != '__main__':\n    raise RuntimeError('gone')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(str(tmp_path))
    done = CliRunner().invoke(main, ["perf", "memory", "--engines", "engine_that_fails", "--models", "mlp",
                                     "--batch", "1"])
    assert done.exit_code == 1, done.output
    assert "RuntimeError: gone" in done.output


def test_an_interrupted_run_shows_what_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    def measure(subject: Subject, model: str, mode: str, *rest: object) -> tuple[MemoryRecord, dict[str, str]]:
        calls.append(mode)
        if len(calls) > 1:
            raise KeyboardInterrupt
        return MemoryRecord(subject.name, model, mode, 1, 100, 50, 25, "p", 10, 10, 10, 10), {"version": "7"}

    monkeypatch.setattr("conformance.cli.perf_memory.measure", measure)
    done = CliRunner().invoke(main, ["perf", "memory", "--engines", "refengine", "--quick", "--format", "json"])
    assert done.exit_code == 130, done.output
    assert [record.mode for record in read_run(done.output).records] == ["inference"]


def test_the_committed_page_and_drawing_are_those_of_the_committed_results() -> None:
    run = read_run((DOCS / "memory.json").read_text(encoding="utf-8"))
    again = ("run `conform perf memory --from docs/memory.json --format markdown --output docs/memory.md --picture "
             "docs/memory.svg`")
    assert (DOCS / "memory.md").read_text(encoding="utf-8") == markdown(run, "memory.svg"), again
    assert (DOCS / "memory.svg").read_text(encoding="utf-8") == svg(run), again
    assert faults(run) == []
    assert {(r.engine, r.model) for r in run.records} == {
        (engine, model) for engine in ("refengine", "mxnet-1.9.1") for model in MODELS}
