"""Ctrl-C: every command ends with the status that `conform --help` promises, and shows what it has."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from commands import ROOT

from conformance.cli import main
from conformance.cli import perf as perf_command
from conformance.exit_codes import ExitCode
from perfsuite.compare import Comparison


def test_a_command_that_knows_nothing_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("conformance.cli.engines.command", click.Command("engines", callback=interrupted))
    result = CliRunner().invoke(main, ["engines"], prog_name="conform")
    assert result.exit_code == int(ExitCode.INTERRUPTED)
    assert result.output == "Interrupted.\n"


def test_the_real_signal_at_any_time(tmp_path: Path) -> None:
    """The mutants of the whole suite take minutes; the signal comes while the engine starts or is broken."""
    process = subprocess.Popen([sys.executable, "-m", "conformance", "mutants", "--jobs", "1"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, start_new_session=True, cwd=ROOT)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(4)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == ExitCode.INTERRUPTED, errors
    assert "Aborted" not in errors
    assert "interrupted after " in output or "Interrupted." in errors


def test_a_comparison_shows_what_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    class Worker:
        def __init__(self, name: str) -> None:
            self.name, self.facts = name, {"version": "1", "python": "3", "numpy": "2", "records": []}

        def __enter__(self) -> Worker:
            return self

        def __exit__(self, *exception: object) -> None:
            pass

    measured = []

    def compare(workers: list[Worker], record: object, size: str, *rest: object) -> Comparison:
        if measured:
            raise KeyboardInterrupt
        measured.append(record)
        return Comparison("first_record", "family", size, "call", 1, ())

    monkeypatch.setattr(perf_command, "_worker", lambda engine, threads: Worker(engine.name))
    monkeypatch.setattr(perf_command, "compare_workload", compare)
    result = CliRunner().invoke(main, ["perf", "compare", "--engines", "refengine,mxnet-1.9.1", "--format", "json"],
                                prog_name="conform")
    assert result.exit_code == int(ExitCode.INTERRUPTED), result.output
    assert "first_record" in result.stdout
    assert "Interrupted after 1 of " in result.stderr
