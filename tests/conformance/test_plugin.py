"""The suite under pytest."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path

import pytest
from commands import ROOT


def run_pytest(folder: Path, *arguments: str, plugin: bool = True) -> subprocess.CompletedProcess[str]:
    known = importlib.metadata.entry_points(group="pytest11")
    installed = any(entry.value == "conformance.plugin" for entry in known)
    given = ["-p", "conformance.plugin"] if plugin and not installed else []
    path = os.pathsep.join([str(ROOT), str(folder), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-m", "pytest", *given, "-p", "no:cacheprovider", "--rootdir", str(folder), *arguments],
        cwd=folder, env={**os.environ, "PYTHONPATH": path, "COLUMNS": "140"}, capture_output=True, text=True,
        check=False,
    )


def test_each_case_is_an_item(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, "--pyargs", "conformance", "--engine", "refengine", "-k", "TRAINER-CORE", "-v")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "trainer/core.py::TRAINER-CORE-001/one_iteration PASSED" in done.stdout
    assert "conformance engine: refengine" in done.stdout


def test_without_an_engine_nothing_is_collected(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, "--pyargs", "conformance", "--collect-only", "-q")
    assert done.returncode == 5
    assert "no tests" in done.stdout


def broken(folder: Path) -> None:
    (folder / "bad_engine.py").write_text(
        "import os\nfrom refengine import *\nimport refengine\n__version__ = '0'\n"
        "gluon, init, optimizer = refengine.gluon, refengine.init, refengine.optimizer\n"
        "before, create = gluon.Trainer.step, optimizer.create\n"
        "gluon.Trainer.step = lambda self, *a, **k: before(self, *a, **k) or 7\n"
        "def dies(*a, **k):\n    os._exit(3)\n\n\ngluon.Trainer.set_learning_rate = dies\n")


def test_failure_shows_rule_both_sides_and_replay(tmp_path: Path) -> None:
    broken(tmp_path)
    done = run_pytest(tmp_path, "--pyargs", "conformance", "--engine", "bad_engine", "-k",
                      "TRAINER-CORE-001 or TRAINER-LR-001")
    assert done.returncode == 1
    assert "TRAINER-CORE-001: " in done.stdout
    assert "expected: None" in done.stdout
    assert "got: 7" in done.stdout
    assert "replay: conform run --engine bad_engine --rule 'TRAINER-CORE-001/one_iteration'" in done.stdout
    assert "the process ended with exit status 3" in done.stdout


def test_engine_that_does_not_start_is_told(tmp_path: Path) -> None:
    (tmp_path / "no_engine.py").write_text("raise ImportError('no library')\n")
    done = run_pytest(tmp_path, "--pyargs", "conformance", "--engine", "no_engine")
    assert done.returncode == 4
    assert "stops at stage import: ImportError: no library" in done.stdout + done.stderr


@pytest.mark.needs_mxnet
@pytest.mark.slow
def test_recorded_difference_of_a_release_is_an_expected_failure(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, "--pyargs", "conformance", "--engine", "mxnet-1.9.1", "-k", "TRAINER-STEP-007", "-rx")
    assert done.returncode == 0, done.stdout
    assert "xfailed" in done.stdout
    assert "recorded in the inventory" in done.stdout
