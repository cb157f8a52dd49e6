"""However the harness ends, no engine process stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ENGINE = """
import os, time
__version__ = "1"
open(os.environ["PIDS"], "a").write("%d\\n" % os.getpid())
os.register_at_fork(after_in_child=lambda: open(os.environ["PIDS"], "a").write("%d\\n" % os.getpid()))
def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    while True:
        time.sleep(0.01)
"""


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0]


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks at processes in /proc")
@pytest.mark.parametrize(("command", "end"), [
    (["run", "--isolation", "process", "--rule", "TRAINER-CORE-001", "--timeout", "300"], signal.SIGTERM),
    (["run", "--isolation", "process", "--rule", "TRAINER-CORE-001", "--timeout", "300"], signal.SIGINT),
    (["mutants", "--rule", "TRAINER-CORE-001"], signal.SIGTERM),
])
def test_a_hanging_engine_ends_with_the_command(tmp_path: Path, command: list[str], end: signal.Signals) -> None:
    (tmp_path / "hangs_for_good.py").write_text(ENGINE)
    pids = tmp_path / "pids"
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
                   "PIDS": str(pids)}
    process = subprocess.Popen(
        [sys.executable, "-m", "conformance", command[0], "--engine", "hangs_for_good", *command[1:]],
        cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not (pids.exists() and pids.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1)
    process.send_signal(end)
    process.wait(timeout=60)
    started = [int(pid) for pid in pids.read_text().split()]
    assert started
    while any(alive(pid) for pid in started) and time.monotonic() < deadline + 30:
        time.sleep(0.05)
    assert not [pid for pid in started if alive(pid)]
