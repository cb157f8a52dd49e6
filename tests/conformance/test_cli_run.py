"""``conform run`` in real processes, on the real suite."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from commands import ROOT, conform
from miniature import HERE

from conformance.cli import main
from conformance.exit_codes import ExitCode
from reports import model

FEW = ("--rule", "TRAINER-CORE-*", "--rule", "TRAINER-LR-00[1-5]")
LR = ("--rule", "TRAINER-LR-*")
VICTIM = "TRAINER-LR-007/rate_that_is_not_positive[negative]"

BROKEN = ("real_segfaults", "real_exits", "real_hangs", "real_quits", "empty", "fails_at_import")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An engines file with the broken engines."""
    path = tmp_path_factory.mktemp("table") / "engines.toml"
    entry = "[engines.{0}]\nmodule = '{0}'\npath = ['{1}', '{2}']\ntimeouts = {{start = 30, case = 2}}\n"
    path.write_text("\n".join(entry.format(name, HERE / "engines", ROOT) for name in BROKEN))
    return path


def waiver(folder: Path, identifier: str, days: int = 30) -> Path:
    today = datetime.date.today()
    path = folder / "waivers.toml"
    path.write_text(f'[[waiver]]\nid = "{identifier}"\nreason = "known since the last release"\n'
                    f"since = {today - datetime.timedelta(60)}\nexpires = {today + datetime.timedelta(days)}\n")
    return path


def test_reference_engine_conforms(tmp_path: Path) -> None:
    done = conform("run", "--engine", "refengine", *FEW, "--output", tmp_path)
    assert done.returncode == ExitCode.OK, done.stderr
    assert "conforms" in done.stdout
    assert "refengine: " in done.stderr
    assert f"report: {tmp_path / 'report.html'}" in done.stderr
    found = model.load(tmp_path / "refengine.jsonl")
    assert set(found.counts) <= {"pass", "unsupported"}
    assert "<html" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(("name", "outcome"), [
    ("real_segfaults", "crash"), ("real_exits", "crash"), ("real_hangs", "timeout"), ("real_quits", "error"),
])
def test_broken_engine_loses_its_one_case(name: str, outcome: str, table: Path, tmp_path: Path) -> None:
    done = conform("run", "--engine", name, "--engines-file", table, *LR, "--output", tmp_path)
    assert done.returncode == ExitCode.DIFFERS, done.stderr
    found = model.load(tmp_path / f"{name}.jsonl")
    assert {case.id: case.outcome for case in found.cases if case.outcome not in ("pass", "unsupported")} == {
        VICTIM: outcome}
    assert f"{name}: {outcome} {VICTIM}: " in done.stderr
    again = next(case.replay for case in found.cases if case.id == VICTIM)
    assert again == f"conform run --engine {name} --engines-file {table} --rule '{VICTIM}'"


def test_engine_that_does_not_start_keeps_no_other_from_running(table: Path, tmp_path: Path) -> None:
    done = conform("run", "--engine", "empty", "--engine", "fails_at_import", "--engine", "refengine",
                   "--engines-file", table, *FEW, "--output", tmp_path, "--jobs", "2")
    assert done.returncode == ExitCode.ENGINE
    assert "smoke: engine empty stops at stage version" in done.stderr
    assert "engine fails_at_import stops at stage import: ImportError: a library is missing" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["refengine.jsonl", "report.html"]


def test_waived_failure_conforms(table: Path, tmp_path: Path) -> None:
    arguments = ("run", "--engine", "real_quits", "--engines-file", table, *LR, "--output", tmp_path, "--strict")
    assert conform(*arguments, "--waivers", waiver(tmp_path, VICTIM)).returncode == ExitCode.OK
    assert model.load(tmp_path / "real_quits.jsonl").counts["waived"] == 1
    expired = conform(*arguments, "--waivers", waiver(tmp_path, VICTIM, days=-1))
    assert expired.returncode == ExitCode.USAGE
    assert f"waivers.toml:5: {VICTIM}: expired on" in expired.stderr
    unknown = conform(*arguments, "--waivers", waiver(tmp_path, "TRAINER-LR-077"))
    assert unknown.returncode == ExitCode.USAGE
    assert "waivers.toml:2: TRAINER-LR-077 does not exist; did you mean TRAINER-LR-007?" in unknown.stderr


def test_stale_waiver_fails_a_strict_run_only(tmp_path: Path) -> None:
    arguments = ("run", "--engine", "refengine", *FEW, "--output", tmp_path, "--waivers",
                 waiver(tmp_path, "TRAINER-CORE-001"))
    lenient = conform(*arguments)
    assert lenient.returncode == ExitCode.OK
    assert "waivers.toml:2: error: TRAINER-CORE-001 passes now; remove this waiver" in lenient.stderr
    assert conform(*arguments, "--strict").returncode == ExitCode.DIFFERS


def test_last_failed_runs_only_that(table: Path, tmp_path: Path) -> None:
    arguments = ("run", "--engine", "real_quits", "--engines-file", table, "--output", tmp_path)
    assert conform(*arguments, "--last-failed").returncode == ExitCode.USAGE
    conform(*arguments, *LR)
    done = conform(*arguments, "--last-failed", "--list")
    assert (done.returncode, done.stdout.split()) == (ExitCode.OK, [VICTIM])
    assert conform(*arguments, "--last-failed").returncode == ExitCode.DIFFERS
    assert [case.id for case in model.load(tmp_path / "real_quits.jsonl").cases] == [VICTIM]


def test_list_and_shards_are_a_partition() -> None:
    arguments = ("run", "--engine", "refengine", "--list", "--rule", "TRAINER-*")
    everything = conform(*arguments).stdout.split("\n")
    parts = [conform(*arguments, "--shard", f"{number}/3").stdout.split("\n") for number in (1, 2, 3)]
    assert sorted(filter(None, everything)) == sorted(line for part in parts for line in part if line)
    assert all(len(part) > 2 for part in parts)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--engine", "refengin"), "Did you mean 'refengine'?"),
        (("--engine", "refengine", "--rule", "TRAINER-COER-001"), "no rule and no case matches 'TRAINER-COER-001'"),
        (("--engine", "refengine", "--shard", "4/3"), "expected i/n with 1 <= i <= n, such as 1/4; got '4/3'"),
        (("--engine", "refengine", "--area", "trianer"), "Invalid value for '--area'"),
        (("--engine", "refengine", "--timeout", "0"), "Invalid value for '--timeout'"),
        (("--engine", "refengine", "--engine", "mxnet-1.9.1", "--isolation", "none"), "runs one engine"),
        (("--engine", "refengine", "--waivers", "none.toml"), "waiver file cannot be read"),
        (("--engine", "refengine", "--engines-file", "none.toml"), "engines file not found"),
        ((), "Missing option '--engine'"),
    ],
)
def test_wrong_use_is_told(arguments: tuple[str, ...], told: str, tmp_path: Path) -> None:
    done = conform("run", *arguments, "--output", tmp_path / "results", cwd=tmp_path)
    assert done.returncode == ExitCode.USAGE
    assert told in done.stderr
    assert done.stdout == ""
    assert not (tmp_path / "results").exists()


def test_an_output_folder_that_cannot_be_written_is_told_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    output = tmp_path / "file" / "results"
    done = conform("run", "--engine", "refengine", *LR, "--output", output)
    assert (done.returncode, done.stdout) == (ExitCode.USAGE, "")
    assert done.stderr.startswith(f"Error: {output} cannot be written: Not a directory")


def test_nothing_selected_is_no_success(tmp_path: Path) -> None:
    done = conform("run", "--engine", "refengine", "--rule", "AMP-INIT-*", "--output", tmp_path)
    assert done.returncode == ExitCode.NOTHING
    assert conform("run", "--engine", "refengine", "--rule", "AMP-INIT-*", "--list").returncode == ExitCode.NOTHING


def test_unknown_mutant_and_mutant(tmp_path: Path) -> None:
    arguments = ("run", "--engine", "refengine", "--rule", "TRAINER-CORE-001", "--output", tmp_path)
    done = conform(*arguments, "--mutant", "trainer_core.step_returns_itself")
    assert done.returncode == ExitCode.DIFFERS
    assert "was broken on purpose, by the mutant trainer_core.step_returns_itself" in done.stdout
    unknown = conform(*arguments, "--mutant", "trainer_core.step_returns_itsel")
    assert unknown.returncode == ExitCode.USAGE
    assert "Near: trainer_core.step_returns_itself" in unknown.stderr


def test_without_isolation(tmp_path: Path) -> None:
    done = conform("run", "--engine", "refengine", *FEW, "--isolation", "none", "--output", tmp_path)
    assert done.returncode == ExitCode.OK, done.stderr
    assert model.load(tmp_path / "refengine.jsonl").options["isolation"] == "none"


@pytest.mark.parametrize("form", ["markdown", "json", "junit", "ctrf"])
def test_formats_on_stdout(form: str, tmp_path: Path) -> None:
    done = conform("run", "--engine", "refengine", "--rule", "TRAINER-CORE-001", "--format", form, "--output", tmp_path)
    assert done.returncode == ExitCode.OK, done.stderr
    check: dict[str, Any] = {
        "markdown": lambda text: text.startswith("## "), "junit": lambda text: "<testsuites" in text,
        "json": lambda text: json.loads(text)[0][0]["record"] == "header",
        "ctrf": lambda text: json.loads(text)["results"],
    }
    assert check[form](done.stdout)


def test_unforeseen_error_is_a_fault_of_the_harness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def surprise(*arguments: object) -> None:
        raise ZeroDivisionError("nobody thought of this")

    monkeypatch.setattr("conformance.campaign.conduct", surprise)
    done = CliRunner().invoke(main, ["run", "--engine", "refengine", "--output", str(tmp_path)])
    assert done.exit_code == ExitCode.HARNESS
    assert "nobody thought of this" in done.stderr
    assert "a fault of the harness (ZeroDivisionError); please report it" in done.stderr


def test_help_fits_a_screen_and_ends_with_two_examples() -> None:
    for command in ("run", "smoke", "engines", "exec", "reproduce"):
        done = conform(command, "--help", COLUMNS="80")
        lines = done.stdout.rstrip().splitlines()
        assert len(lines) <= 40, command
        assert [line.split()[0] for line in lines[-2:]] == ["conform", "conform"], command


@pytest.mark.needs_mxnet
@pytest.mark.slow
def test_releases_are_held_against_the_inventory(tmp_path: Path) -> None:
    done = conform("run", "--engine", "mxnet-1.9.1", "--engine", "mxnet-2.0.0b1", *FEW, "--rule", "TRAINER-STEP-007",
                   "--output", tmp_path)
    assert done.returncode == ExitCode.OK, done.stdout
    for name in ("mxnet-1.9.1", "mxnet-2.0.0b1"):
        found = model.load(tmp_path / f"{name}.jsonl")
        assert found.verdict == "no-surprise"
        assert found.inventory == name
        assert found.counts["fail"] > 0  # TRAINER-STEP-007 differs in both, and that is recorded


def test_smoke_command(table: Path) -> None:
    done = conform("smoke", "--engine", "refengine", "--engine", "empty", "--engines-file", table)
    assert done.returncode == ExitCode.ENGINE
    assert "refengine: 5 stages work" in done.stdout
    assert "What to do: Set `__version__`" in done.stderr


def test_engines_command(table: Path) -> None:
    entries = json.loads(conform("engines", "--format", "json", "--engines-file", table).stdout)
    by_name = {entry["name"]: entry for entry in entries}
    assert by_name["mxnet-1.9.1"]["requirements"] == ["mxnet==1.9.1", "numpy==1.23.5"]
    assert by_name["empty"]["origin"] == str(table)
    assert "held against" in conform("engines", "mxnet-1.9.1").stdout
    assert "sparse" in conform("engines", "--capabilities").stdout
    assert conform("engines", "--install").returncode == ExitCode.USAGE
