"""asv accepts the benchmarks and runs each family at its quick size, for real."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from perfsuite.history import NoHistory, latest, load_history
from perfsuite.record import FAMILIES, load_records

ROOT = Path(__file__).parents[2]


def asv(*arguments, cwd=ROOT):
    """Run asv in this interpreter's environment."""
    return subprocess.run(
        [sys.executable, "-m", "asv", *arguments], cwd=cwd, capture_output=True, text=True, timeout=600,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})


def test_check_accepts_the_benchmarks():
    done = asv("check", "--python=same")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_quick_run_gives_a_number_for_every_record_and_the_history_turns_it_round(tmp_path):
    config = json.loads((ROOT / "asv.conf.json").read_text())
    config.update(repo=str(ROOT), benchmark_dir=str(ROOT / "perfsuite/benchmarks"), env_dir=str(tmp_path / "env"),
                  results_dir=str(tmp_path / "results"), html_dir=str(tmp_path / "html"), environment_type="existing")
    (tmp_path / "asv.conf.json").write_text(json.dumps(config))
    records = load_records()
    chosen = "|".join(rf"time_call\(.*'{r.name}/{r.quick}'" for r in records.values())
    machine = asv("--config", str(tmp_path / "asv.conf.json"), "machine", "--yes", "--machine", "here", cwd=tmp_path)
    assert machine.returncode == 0, machine.stderr
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)
    done = asv("--config", str(tmp_path / "asv.conf.json"), "run", "--quick", "--show-stderr", "--python=same",
               "--machine", "here", "--set-commit-hash", commit.stdout.strip(), "--bench", chosen, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "failed" not in done.stdout, done.stdout
    table = load_history(tmp_path / "results")
    assert set(table["record"]) == set(records)
    assert set(table["family"]) == set(FAMILIES)
    assert (table["per_second"] * table["seconds"] - [
        records[r].amount(s) for r, s in zip(table["record"], table["size"], strict=True)]).abs().max() < 1e-3
    assert len(latest(table)) == len(table)
    shutil.rmtree(tmp_path / "results")


def test_a_directory_without_results_is_named(tmp_path):
    with pytest.raises(NoHistory, match=str(tmp_path)):
        load_history(tmp_path)
