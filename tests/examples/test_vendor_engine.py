"""The vendor's way, as the README of ``examples/vendor_engine`` tells it: installed, found, run, explained."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from reports import model

ROOT = Path(__file__).parents[2]
VENDOR = ROOT / "examples" / "vendor_engine"

#: Its three mistakes, each seen by exactly one case.
MISTAKES = {
    "TRAINER-LR-001/reading_the_rate": "fail",
    "TRAINER-STEP-002/gradient_is_divided_by_the_batch_size[half]": "error",
    "TRAINER-STEP-008/step_before_backward": "fail",
}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package, installed into a folder of its own as pip does it."""
    folder = tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "pip", "install", "--no-input", "--disable-pip-version-check", "--no-deps"]
    if importlib.util.find_spec("hatchling") is not None:
        command.append("--no-build-isolation")
    subprocess.run([*command, "--target", str(folder), str(VENDOR)], check=True, capture_output=True, text=True)
    return folder


def conform(folder: Path, *arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(ROOT), str(folder), os.environ.get("PYTHONPATH", "")])
    return subprocess.run([sys.executable, "-m", "conformance", *map(str, arguments)], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": path}, cwd=cwd or folder, check=False)


def readme_rules() -> list[str]:
    """The ``--rule`` options of the README's own command."""
    page = (VENDOR / "README.md").read_text()
    found = re.search(r"\$ conform run --engine pebble (--rule .*?)\n\.\.\.", page, re.DOTALL)
    assert found is not None
    return re.findall(r"--rule '?([^'\s]+)'?", found.group(1))


def rule_options() -> list[str]:
    return [part for rule in readme_rules() for part in ("--rule", rule)]


def test_entry_point_is_found(installed: Path) -> None:
    done = conform(installed, "engines", "pebble")
    assert "pebble  (entry point of pebble-engine)" in done.stdout, done.stderr


def test_smoke_works(installed: Path) -> None:
    done = conform(installed, "smoke", "--engine", "pebble")
    assert done.returncode == 0, done.stderr
    assert "pebble: 5 stages work (version 0.3.0" in done.stdout


def test_exactly_three_failures(installed: Path, tmp_path: Path) -> None:
    done = conform(installed, "run", "--engine", "pebble", *rule_options(), "--output", tmp_path)
    assert done.returncode == 1, done.stderr
    found = model.load(tmp_path / "pebble.jsonl")
    others = {case.id: case.outcome for case in found.cases if case.outcome != "pass"}
    unsupported = {case for case, outcome in others.items() if outcome == "unsupported"}
    assert {case: outcome for case, outcome in others.items() if case not in unsupported} == MISTAKES
    assert {case.partition("/")[0] for case in unsupported} == {"OPT-SGD-003"}  # needs sparse storage
    assert found.counts["pass"] > 20
    assert found.capabilities == ()
    for case, outcome in MISTAKES.items():
        assert f"pebble: {outcome} {case}: " in done.stderr


def test_conforms_with_its_waivers(installed: Path, tmp_path: Path) -> None:
    arguments = ("run", "--engine", "pebble", *rule_options(), "--output", tmp_path, "--strict")
    done = conform(installed, *arguments, "--waivers", VENDOR / "waivers.toml")
    assert done.returncode == 0, done.stderr
    assert model.load(tmp_path / "pebble.jsonl").counts["waived"] == len(MISTAKES)


def test_as_a_module_from_the_current_folder(tmp_path: Path) -> None:
    """Not installed at all: the module is found in the folder where the command is given."""
    done = conform(tmp_path, "run", "--engine", "pebble", "--rule", "TRAINER-CORE-001", "--output", tmp_path,
                   cwd=VENDOR)
    assert done.returncode == 0, done.stderr


def test_from_a_table_of_its_own(tmp_path: Path) -> None:
    table = tmp_path / "engines.toml"
    table.write_text(f"[engines.pebble-nightly]\nmodule = 'pebble'\npath = ['{VENDOR}']\ncapabilities = []\n"
                     "setup = 'mx.gluon.Trainer.learning_rate = property(lambda self: self.optimizer.lr)'\n")
    done = conform(tmp_path, "run", "--engine", "pebble-nightly", "--engines-file", table, "--rule", "TRAINER-LR-001",
                   "--output", tmp_path)
    assert done.returncode == 0, done.stderr  # the set-up mends this mistake


def test_reproducer_of_the_readme(installed: Path, tmp_path: Path) -> None:
    conform(installed, "run", "--engine", "pebble", *rule_options(), "--output", tmp_path / "results")
    done = conform(installed, "reproduce", "TRAINER-LR-001", "--engine", "pebble", "--to", tmp_path / "show.py",
                   cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    shown = subprocess.run([sys.executable, str(tmp_path / "show.py")], capture_output=True, text=True, check=False,
                           env={**os.environ, "PYTHONPATH": str(installed)})
    assert shown.returncode == 1
    assert "FAIL: learning rate after the optimizer's was changed: expected 0.125, got 0.3" in shown.stdout
