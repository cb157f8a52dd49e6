"""The result file: complete, counted, and as the readers expect it."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from miniature import mini_engine, run_mini, statuses

import reports
from conformance import result
from conformance.errors import UsageFault
from conformance.judge import judge
from reports import model

SCHEMA = json.loads((Path(reports.__file__).parent / "schema" / "result.schema.json").read_text())


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rules = statuses("old", MINI_ZERO_001="differs", MINI_DOUBLE_001="holds")
    engine = mini_engine("segfaults", inventory="old")
    run = run_mini("segfaults", rules, engine=engine)
    path = tmp_path_factory.mktemp("results") / "mini.jsonl"
    lines = result.records(run, judge(engine, rules, run.results), rules, {"MINI-ADD-001": ["m.x"]},
                           {"MINI-NOCASE-001": "later"}, {"rule": ["MINI-*"]})
    result.write(path, lines)
    return path


def test_every_line_fits_the_schema(written: Path) -> None:
    lines = [json.loads(line) for line in written.read_text().splitlines()]
    for line in lines:
        jsonschema.validate(line, SCHEMA)
    assert [lines[0]["record"], lines[-1]["record"]] == ["header", "footer"]


def test_reader_accepts_it(written: Path) -> None:
    found = model.load(written)
    assert found.counts == {"pass": 6, "crash": 1, "unsupported": 1, "blocked": 2}
    assert (found.verdict, found.exit_code) == ("surprise", 1)
    assert {item.rule: (item.expected, item.observed) for item in found.surprises} == {
        "MINI-DOUBLE-001": ("holds", "crash"), "MINI-ZERO-001": ("differs", "pass")}
    by_id = {rule.id: rule for rule in found.rules}
    assert by_id["MINI-NOCASE-001"].pending
    assert by_id["MINI-ADD-001"].mutants == ("m.x",)
    assert len(by_id["MINI-ADD-001"].cases) == 2
    crash = next(case for case in found.cases if case.outcome == "crash")
    assert crash.replay == "conform run --engine segfaults --rule 'MINI-DOUBLE-001/doubles'"


def test_every_line_states_its_keys(written: Path) -> None:
    lines = [json.loads(line) for line in written.read_text().splitlines()]
    case = next(line for line in lines if line["record"] == "case")
    assert set(case) == {"record", "id", "rule", "area", "level", "outcome", "seconds", "message", "failure",
                         "blocked_by", "waiver", "replay"}
    assert set(lines[0]["engine"]) == {"name", "version", "module", "interpreter", "python", "numpy", "platform",
                                       "capabilities", "inventory"}


def test_what_failed_last_is_read_back(written: Path) -> None:
    assert result.last_failed(written) == {
        "MINI-DOUBLE-001/doubles", "MINI-HALF-001/halves_what_was_doubled", "MINI-QUARTER-001/quarters"}


def test_cut_off_or_missing_file_is_refused(written: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.jsonl"
    cut.write_text("\n".join(written.read_text().splitlines()[:-1]))
    with pytest.raises(UsageFault, match="cut off"):
        result.last_failed(cut)
    with pytest.raises(UsageFault, match="no earlier result"):
        result.last_failed(tmp_path / "none.jsonl")
    cut.write_text("{half")
    with pytest.raises(UsageFault, match="not a result file"):
        result.last_failed(cut)


def test_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("old")

    def breaks() -> object:
        yield {"record": "header"}
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        result.write(path, breaks())  # type: ignore[arg-type]
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
