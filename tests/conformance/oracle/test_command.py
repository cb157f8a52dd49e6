"""``conform oracle`` as a person runs it: exit codes, the report, the scripts that reproduce."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from commands import conform

from conformance.exit_codes import ExitCode

HERE = Path(__file__).parent / "engines"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Engines: two that are sound and one that squares 3 to 10."""
    written = tmp_path / "engines.toml"
    written.write_text("\n".join(
        f'[engines.{name}]\nmodule = "{module}"\npath = ["{HERE}"]\ntimeouts = {{start = 120, case = 60}}\n'
        for name, module in (("first", "small_sound"), ("second", "small_sound"), ("wrong", "small_value"))))
    return written


def oracle(table: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    nothing_known = table.with_name("known.yaml")
    if not nothing_known.exists():
        nothing_known.write_text("[]\n")
    return conform("oracle", *arguments, "--engines-file", table, "--known", nothing_known, "--operators", "nd.square",
                   "--timeout", "60")


def test_engines_that_agree(table: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    done = oracle(table, "first", "second", "--programs", "20", "--output", folder)
    assert done.returncode == ExitCode.OK, done.stderr
    assert "20 programs" in done.stdout
    assert "no new differences" in done.stdout
    assert [path.name for path in folder.iterdir()] == ["oracle.json"]
    told = json.loads((folder / "oracle.json").read_text())
    assert told["programs"] == 20
    assert told["differences"] == []
    assert [side["name"] for side in told["engines"]] == ["first", "second"]


def test_engines_that_differ(table: Path, tmp_path: Path) -> None:
    """The difference is found, shrunk, judged, written, and the script shows it on either engine."""
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "001-left-by-an-earlier-session.py").write_text("raise SystemExit(1)\n")
    done = oracle(table, "first", "wrong", "--programs", "16", "--format", "json", "--output", folder)
    assert done.returncode == ExitCode.DIFFERS, done.stderr
    told = json.loads(done.stdout)
    assert told == json.loads((folder / "oracle.json").read_text())
    (difference,) = [found for found in told["differences"] if found["kind"] == "value"]
    assert difference["operation"] == "nd.square"
    assert difference["wrong"] == "wrong"
    assert difference["verdict"] == "wrong wrong"
    assert len(difference["program"]) == 2
    assert "3" in difference["program"][0]
    scripts = sorted(folder.glob("*.py"))
    assert len(scripts) == len(told["differences"])
    (script,) = [path for path in scripts if path.name.endswith("nd-square-value.py")]
    assert len(script.read_text().splitlines()) < 70
    for module, status in (("small_sound", 0), ("small_value", 1)):
        run = subprocess.run([sys.executable, script, module], capture_output=True, text=True, check=False,
                             timeout=120, cwd=HERE, env={"PYTHONPATH": str(HERE)})
        assert run.returncode == status, run.stdout + run.stderr
        assert [line.split(":")[0] for line in run.stdout.splitlines()] == ["found", "expected"]


def test_a_known_difference_is_quiet_until_it_is_gone(table: Path, tmp_path: Path) -> None:
    table.with_name("known.yaml").write_text("""
- id: square-of-three
  engines: [first, wrong]
  kinds: [value]
  operators: [nd.square]
  reason: "for the test: the engine adds one to the square of three"
  example: ["a = mx.nd.array([3.0], dtype='float32')", "y = mx.nd.square(a)"]
- id: square-of-two
  engines: [first, second]
  kinds: [value]
  operators: [nd.square]
  reason: "for the test: a difference that both engines have lost"
  example: ["a = mx.nd.array([2.0], dtype='float32')", "y = mx.nd.square(a)"]
""")
    quiet = oracle(table, "first", "wrong", "--programs", "16")
    assert quiet.returncode == ExitCode.OK, quiet.stdout + quiet.stderr
    assert "showed 1 known ones" in quiet.stdout
    gone = oracle(table, "first", "second", "--programs", "1")
    assert gone.returncode == ExitCode.DIFFERS, gone.stdout
    assert "square-of-two does not occur any more" in gone.stdout


def test_wrong_use(table: Path) -> None:
    assert oracle(table, "first", "first").returncode == ExitCode.USAGE
