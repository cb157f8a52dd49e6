"""Sessions: selection, capabilities, limits, waivers, inventories, mutants, isolation, interruption, jobs."""

from __future__ import annotations

import datetime
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from miniature import HERE, Recorder, mini_engine, mini_options, mini_rules, outcomes, run_mini, statuses

from conformance.engine import Timeouts
from conformance.errors import EngineFault, HarnessFault, UsageFault
from conformance.outcome import Outcome, counts
from conformance.selection import Selection
from conformance.session import Session
from conformance.waivers import Waiver

VICTIM = "MINI-DOUBLE-001/doubles"
DAY = datetime.date(2025, 1, 1)


def waiver(identifier: str, version: str | None = None) -> Waiver:
    return Waiver(identifier, "a good reason", DAY, DAY, version, "waivers.toml:3")


def test_only_what_is_selected_is_run() -> None:
    watcher = Recorder()
    run = run_mini("sound", observer=watcher, selection=Selection(patterns=("MINI-ADD-*",)))
    assert watcher.total == len(run.results) == 3
    assert len(run.cases) == 10
    assert run.rules == ("MINI-ADD-001", "MINI-ADD-002")


def test_capability_lets_a_case_run() -> None:
    able = mini_engine("sound", capabilities=frozenset({"gpu"}), detect={})
    assert counts(run_mini("sound", engine=able).results) == {"pass": 10}


def test_unsupported_names_what_is_missing_and_why() -> None:
    engine = mini_engine("sound", missing={"gpu": "not built in"})
    run = run_mini("sound", mini_rules(MINI_SPECIAL_001={"needs": ("dist",)}), engine=engine)
    result = next(result for result in run.results if result.rule == "MINI-SPECIAL-001")
    assert result.message == "needs dist, gpu (not built in)"
    assert result.missing == ("dist", "gpu")


def test_limit_of_the_command_line_wins() -> None:
    run = run_mini("sound", timeout=0.05, selection=Selection(patterns=("MINI-WAIT-*",)))
    assert outcomes(run.results) == {"MINI-WAIT-001/waits": "timeout"}
    assert run.results[0].seconds == 0.05


def test_waived_failure_does_not_block() -> None:
    run = run_mini("wrong", waivers=(waiver("MINI-DOUBLE-001"),))
    assert outcomes(run.results) == {VICTIM: "fail"}  # the session reports it; judging turns it into "waived"


def test_recorded_failure_of_a_release_does_not_block() -> None:
    watcher = Recorder()
    run = run_mini("wrong", statuses("old", MINI_DOUBLE_001="differs"), observer=watcher,
                   engine=mini_engine("wrong", inventory="old"))
    assert outcomes(run.results) == {VICTIM: "fail"}
    assert watcher.known[VICTIM]


def test_waiver_of_what_does_not_exist_stops_the_run() -> None:
    with pytest.raises(UsageFault, match="MINI-NONE-001 does not exist"):
        run_mini("sound", waivers=(waiver("MINI-NONE-001"),))
    with pytest.raises(UsageFault, match=r"is waived for version 2.0 of the engine, and this is 1.0"):
        run_mini("sound", waivers=(waiver("MINI-DOUBLE-001", "2.0"),))


def test_case_without_a_rule_is_a_fault_of_the_suite() -> None:
    rules = mini_rules()
    del rules["MINI-ZERO-001"]
    with pytest.raises(HarnessFault, match="MINI-ZERO-001/is_zero"):
        run_mini("sound", rules)


def test_suite_that_does_not_load_is_a_fault_of_the_suite() -> None:
    with pytest.raises(HarnessFault, match=r"the suite cannot be loaded in the interpreter of sound: .*no_such_suite"):
        run_mini("sound", suite="no_such_suite")


def test_mutant_breaks_the_engine(tmp_path: Path) -> None:
    bugs = tmp_path / "minibugs"
    bugs.mkdir()
    (bugs / "__init__.py").write_text("")
    (bugs / "small.py").write_text(
        "from conformance.mutants import mutant\n\n\n@mutant('MINI-ZERO-001')\ndef one(mx):\n"
        "    before = mx.double\n    mx.double = lambda value: 1 if value == 0 else before(value)\n")
    run = run_mini("sound", mutant="small.one", mutants="minibugs", path=(str(HERE), str(tmp_path)))
    assert outcomes(run.results) == {"MINI-ZERO-001/is_zero": "fail"}


def test_unknown_mutant_is_told() -> None:
    with pytest.raises(HarnessFault, match=r"no mutant 'small\.none'"):
        run_mini("sound", mutant="small.none")


def test_engine_sees_its_variables_and_set_up(tmp_path: Path) -> None:
    (tmp_path / "asks.py").write_text(
        "import os\nfrom sound import *\n\ndef double(value):\n    return value + value if set_up and "
        "os.environ['ASKS'] == 'yes' else 0\n")
    engine = mini_engine("asks", path=(str(HERE / "engines"), str(tmp_path)), env={"ASKS": "yes"},
                         setup="mx.set_up = True")
    run = run_mini("asks", engine=engine, selection=Selection(patterns=("MINI-DOUBLE-*",)))
    assert outcomes(run.results) == {}


def test_interpreter_that_cannot_be_started(tmp_path: Path) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/nowhere\n")
    broken.chmod(0o755)
    with pytest.raises(EngineFault, match="cannot be started"):
        run_mini("sound", engine=mini_engine("sound", interpreter=str(broken)))


def test_worker_that_cannot_be_started_again_ends_the_run_with_what_is_known(tmp_path: Path) -> None:
    marker = tmp_path / "once"
    (tmp_path / "starts_once.py").write_text(
        f"import os\nif os.path.exists({str(marker)!r}):\n    os._exit(3)\nopen({str(marker)!r}, 'w').close()\n"
        "from segfaults import *\n")
    engine = mini_engine("starts_once", path=(str(HERE / "engines"), str(tmp_path)))
    run = run_mini("starts_once", engine=engine)
    assert isinstance(run.fault, EngineFault)
    assert len(run.results) == 10
    assert counts(run.results)["not-run"] > 0
    assert counts(run.results)["pass"] == 3


def test_in_this_process_without_isolation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path, str(HERE), str(HERE / "engines")])
    run = run_mini("wrong", isolation="none")
    assert outcomes(run.results) == {
        VICTIM: "fail", "MINI-HALF-001/halves_what_was_doubled": "blocked", "MINI-QUARTER-001/quarters": "blocked"}
    assert run.interpreter == sys.executable


def test_without_isolation_needs_this_interpreter() -> None:
    with pytest.raises(UsageFault, match="cannot run with --isolation none"):
        run_mini("sound", isolation="none", engine=mini_engine("sound", interpreter="python3"))


def test_engine_does_not_see_the_folders_of_the_harness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine in an interpreter of its own finds none of the packages that lie beside this project."""
    (tmp_path / "looks.py").write_text(
        "import importlib.util\nfrom sound import *\n\ndef double(value):\n"
        "    return 8 if importlib.util.find_spec('reports') is None else 'sees reports'\n")
    link = tmp_path / "python"
    link.symlink_to(sys.executable)  # another command than the harness's own
    engine = mini_engine("looks", interpreter=str(link), path=(str(HERE / "engines"), str(tmp_path)))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    run = run_mini("looks", engine=engine, selection=Selection(patterns=("MINI-DOUBLE-*",)))
    # The project itself may be installed in that very interpreter; then it is there by right.
    assert bool(outcomes(run.results)) == _installed(link)


def _installed(python: Path) -> bool:
    code = "import importlib.util, sys; sys.exit(importlib.util.find_spec('reports') is None)"
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run([python, "-c", code], cwd="/", env=variables, check=False).returncode == 0


def test_interrupt_keeps_what_is_known_and_adds_up(tmp_path: Path) -> None:
    """Ctrl-C in a process of its own: results so far, the rest not run, no worker left."""
    program = tmp_path / "interrupted.py"
    program.write_text(
        f"import sys\nsys.path[:0] = [{str(HERE)!r}, {str(HERE.parents[1])!r}]\n"
        "from miniature import run_mini, mini_engine\nfrom conformance.engine import Timeouts\n"
        "from conformance.outcome import counts\n"
        "run = run_mini('hangs', engine=mini_engine('hangs', timeouts=Timeouts(20, 60)))\n"
        "print(run.interrupted, counts(run.results))\n")
    process = subprocess.Popen([sys.executable, str(program)], stdout=subprocess.PIPE, text=True)
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=30)
    assert out.startswith("True ")
    assert "'not-run': 6" in out


def test_observer_hears_each_case_once_and_one_at_a_time() -> None:
    class Careful(Recorder):
        busy = threading.Lock()

        def settled(self, *arguments: object) -> None:
            assert self.busy.acquire(blocking=False)
            time.sleep(0.001)
            self.busy.release()
            super().settled(*arguments)  # type: ignore[arg-type]

    watcher = Careful()
    run = run_mini("sound", observer=watcher, jobs=3)
    assert sorted(result.id for result in watcher.heard) == [result.id for result in run.results]


def test_timeouts_of_the_table_are_the_default() -> None:
    session = Session(mini_engine("sound", timeouts=Timeouts(5, 7)), mini_rules(), mini_options())
    from conformance.selection import CaseInfo

    assert session.limit(CaseInfo("A-B-001/x", "A-B-001")) == 7
    assert session.limit(CaseInfo("A-B-001/x", "A-B-001", timeout=30)) == 30
    assert session.limit(CaseInfo("A-B-001/x", "A-B-001", timeout=3)) == 7


def test_error_in_a_may_rule_that_is_not_an_absence_stays() -> None:
    run = run_mini("quits", mini_rules(MINI_DOUBLE_001={"level": "MAY"}))
    result = next(result for result in run.results if result.id == VICTIM)
    assert result.outcome is Outcome.ERROR
