"""One engine of a session: damage, hangs, and what is left when the harness goes away."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conformance import process
from conformance.engine import Engine, Timeouts
from conformance.errors import EngineFault
from conformance.oracle.program import Program
from conformance.oracle.side import Side
from conformance.process import Ended

HERE = Path(__file__).parent / "engines"
ROOT = Path(__file__).parents[3]
FINE = Program(("a = mx.nd.array([1.0], dtype='float32')", "y = mx.nd.square(a)"))


def engine(name: str) -> Engine:
    return Engine(name=name, module=name, path=(str(HERE),), timeouts=Timeouts(120.0, 60.0))


@pytest.fixture
def sides():
    made: list[Side] = []

    def make(name: str, seconds: float = 60.0) -> Side:
        made.append(Side(engine(name), notes.append, seconds))
        return made[-1]

    notes: list[str] = []
    make.notes = notes  # type: ignore[attr-defined]
    yield make
    for side in made:
        side.close()


def test_a_program_that_ends_the_engine_takes_no_other_with_it(sides) -> None:
    bad = Program(("a = mx.nd.array([-1.0], dtype='float32')", "y = mx.nd.square(a)"))
    answers = sides("small_crash").run([FINE, bad, FINE])
    assert [answer.end for answer in answers] == [None, "crash", None]


def test_damage_by_an_earlier_program_is_not_held_against_a_later_one(sides) -> None:
    """The first program lets the process end at the next one, whatever that is; alone the next one runs well."""
    mine = Program(("mx.nd.square = lambda data: __import__('os').abort()",))
    side = sides("small_sound")
    assert [answer.end for answer in side.run([mine])] == [None]
    assert [answer.end for answer in side.run([FINE])] == [None]
    assert any("an earlier one may have damaged it" in note for note in sides.notes)


def test_what_is_not_answered_in_time_is_not_waited_for(sides) -> None:
    """The rest of the programs is dropped, and the engine answers the next ones."""
    slow = Program(("a = mx.nd.array([[1.0]], dtype='float32')", "y = mx.nd.sum(a, axis=1)"))
    side = sides("small_hang", 0.5)
    answers = side.run([FINE, slow, FINE, slow, slow, slow, slow, slow], until=time.monotonic() + 1)
    assert 1 <= len(answers) < 8
    assert {answer.end for answer in answers} <= {None, "hang"}
    assert [answer.end for answer in side.run([FINE, FINE])] == [None, None]
    assert side.run([FINE], until=time.monotonic() - 1) == []


def test_an_engine_without_the_basics_is_told_at_once(tmp_path: Path) -> None:
    """As `conform run` tells it: at which stage it stops, and what to do."""
    for name, text, stage in (("bare", "", "version"), ("flat", "__version__ = '1'", "array"),
                              ("dying", "import os\nclass nd:\n    array = lambda *a, **k: os._exit(3)\n"
                               "__version__ = '1'", "array")):
        (tmp_path / f"{name}_engine.py").write_text(text)
        side = Side(Engine(name=name, module=f"{name}_engine", path=(str(tmp_path),)), lambda text: None)
        with pytest.raises(EngineFault, match=f"engine {name} stops at stage {stage}: ") as told:
            side.start()
        assert told.value.hint.startswith(("Set `__version__`", "Provide `mx.nd.array`"))
        side.close()


def test_a_renewed_engine_has_run_nothing(sides) -> None:
    side = sides("small_sound")
    side.run([Program(("mx.nd.square = lambda data: 7",))])
    side.renew()
    (answer,) = side.run([FINE])
    assert answer.steps[-1]["v"]["y"][0] == "a"


def test_a_closed_side_starts_no_further_engine(sides) -> None:
    side = sides("small_sound")
    side.run([FINE])
    side.close()
    with pytest.raises(EngineFault, match="the session has ended"):
        side.run([FINE])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="programs run in the worker itself")
def test_no_engine_outlives_a_harness_that_is_killed() -> None:
    """A program that never ends, in a child of the worker, when the harness goes without a word."""
    source = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from conformance.engine import Engine, Timeouts\n"
        "from conformance.oracle.program import Program\n"
        "from conformance.oracle.side import Side\n"
        f"engine = Engine(name='small_sound', module='small_sound', path=({str(HERE)!r},), "
        "                timeouts=Timeouts(120.0, 60.0))\n"
        "side = Side(engine, print, 600.0)\n"
        "side.start()\n"
        "print(side._worker._process.pid, side._child, flush=True)\n"
        "side.run([Program(('__import__(\"time\").sleep(500)',))])\n")
    harness = subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE, text=True)
    try:
        assert harness.stdout is not None
        worker, child = map(int, harness.stdout.readline().split())
        assert alive(worker)
        assert alive(child)
        harness.kill()
        harness.wait(60)
        deadline = time.monotonic() + 60
        while (alive(worker) or alive(child)) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not alive(worker)
        assert not alive(child)
    finally:
        harness.kill()
        harness.wait(60)
        if harness.stdout is not None:
            harness.stdout.close()


def alive(number: int) -> bool:
    """Whether a process runs; one that only waits for its parent to take note does not."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_a_worker_that_reads_nothing_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_SEND_SECONDS", 0.5)
    config = {"module": "small_sound", "describe": False}
    worker, _ = process.start_worker(engine("small_sound"), sys.executable, config)
    try:
        os.kill(worker._process.pid, signal.SIGSTOP)
        worker.send({"oracle": "which", "paths": ["x" * 1000] * 1000})
        assert worker.receive(time.monotonic() + 60) == Ended(-signal.SIGKILL)
    finally:
        worker.close()


def test_an_engine_that_ends_between_two_batches_answers_each_program_once(sides) -> None:
    """The next child finds the batch that was meant for the one before it; its answers are not taken for others."""
    side = sides("small_sound")
    side.run([FINE])
    os.kill(side._child, signal.SIGKILL)
    asked = [Program((f"a = mx.nd.array([{number}.0], dtype='float32')", "y = mx.nd.square(a)", f"b = {number}"))
             for number in range(4)]
    for _ in range(2):
        told = side.run(asked)
        assert [answer.steps[-1]["v"]["b"][2] for answer in told] == ["0", "1", "2", "3"]
    side.renew()
    assert side.run(asked[3:])[0].steps[-1]["v"]["b"][2] == "3"
