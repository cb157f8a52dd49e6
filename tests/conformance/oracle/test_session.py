"""Two miniature engines against each other: every way of being wrong is found, shrunk and judged."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.engine import Engine, Timeouts
from conformance.errors import UsageFault
from conformance.oracle import generate, known, names, report
from conformance.oracle.known import Known
from conformance.oracle.program import operations
from conformance.oracle.script import script
from conformance.oracle.session import Outcome, Plan, Session

HERE = Path(__file__).parent / "engines"
GLOBS = ("nd.square", "nd.sum", "nd.broadcast_add")


class Silent:
    """A watcher that keeps what it hears."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)

    def progress(self, programs: int, findings: int, known: int) -> None:
        """Nothing."""

    def found(self, finding: object) -> None:
        """Nothing."""


def engine(fault: str) -> Engine:
    return Engine(name=f"small_{fault}", module=f"small_{fault}", path=(str(HERE),), timeouts=Timeouts(120.0, 60.0))


def held(
    fault: str, programs: int = 60, entries: tuple[Known, ...] = (), limit: float = 60.0, tries: int = 60,
    globs: tuple[str, ...] = GLOBS,
) -> Outcome:
    """The sound engine against a broken one.

    Counts bound the work: how fast the machine is, and what else it does, changes nothing about what is found.
    """
    plan = Plan(seconds=None, programs=programs, globs=globs, known=entries, limit=limit, shrink_seconds=600.0,
                shrink_tries=tries)
    return Session((engine("sound"), engine(fault)), plan, Silent()).run()


def test_an_engine_does_not_differ_from_itself() -> None:
    outcome = held("sound", 60)
    assert outcome.programs == 60
    assert outcome.findings == []


EXPECTED = {
    "value": ("nd.square", "value", "small_value"), "dtype": ("nd.sum", "dtype", "small_dtype"),
    "gradient": ("nd.square", "gradient", "small_gradient"), "error": ("nd.broadcast_add", "error", None),
    "state": ("nd.broadcast_add", "state", None), "crash": ("nd.square", "crash", "small_crash"),
    "hang": ("nd.sum", "hang", "small_hang"),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", EXPECTED)
def test_each_fault_is_found_shrunk_and_judged(fault: str) -> None:
    operation, kind, wrong = EXPECTED[fault]
    # A hang shows as no answer within the limit, which a sound answer never needs even on a busy machine.
    few = {"hang": 1, "error": 70, "state": 70}.get(fault, 16)
    tries = {"hang": 2, "gradient": 400}.get(fault, 60)
    outcome = held(fault, few, limit=1.5 if fault == "hang" else 60.0, tries=tries, globs=(operation,))
    found = [f for f in outcome.findings if f.signature[:2] == (operation, kind)]
    assert found, [f.signature for f in outcome.findings]
    assert len(found[0].program.lines) <= 5
    if wrong is not None:
        assert found[0].verdict.wrong == wrong
    else:
        assert found[0].verdict.wrong in (None, f"small_{fault}")
    assert {f.signature[0] for f in outcome.findings} == {operation}


def status_of(text: str, name: str) -> int:
    """How a script ends on a miniature engine."""
    return subprocess.run([sys.executable, "-c", text, f"small_{name}"], capture_output=True, check=False,
                          timeout=60).returncode


@pytest.mark.parametrize("fault", ["dtype", "gradient", "error", "state", "crash"])
def test_a_script_ends_with_1_where_the_difference_is_there(fault: str) -> None:
    operation, kind, _ = EXPECTED[fault]
    outcome = held(fault, 70 if fault in ("error", "state") else 16, tries=60, globs=(operation,))
    finding = next(f for f in outcome.findings if f.difference.kind == kind)
    text = script(replace(finding, verdict=replace(finding.verdict, wrong=f"small_{fault}")),
                  (engine("sound"), engine(fault)))
    assert status_of(text, "sound") == 0, text
    assert status_of(text, fault) == (-6 if fault == "crash" else 1), text


def test_the_script_shows_the_difference_on_either_engine() -> None:
    outcome = held("value", 60)
    finding = next(f for f in outcome.findings if f.difference.kind == "value")
    text = script(finding, (engine("sound"), engine("value")))
    assert [status_of(text, name) for name in ("sound", "value")] == [0, 1]
    assert len(text.splitlines()) < 70
    for form in report.FORMATS:
        assert "nd.square" in report.render(outcome, form)


def entry(**changed: object) -> Known:
    values = {"id": "square-of-three", "engines": ("small_value", "small_sound"), "kinds": ("value",),
              "operators": ("nd.square",), "reason": "for the test: the engine adds one to the square of three",
              "example": ("a = mx.nd.array([3.0], dtype='float32')", "y = mx.nd.square(a)")}
    return Known(**{**values, **changed})  # type: ignore[arg-type]


def test_a_known_difference_is_no_finding() -> None:
    outcome = held("value", 60, (entry(),))
    assert [f for f in outcome.findings if f.difference.kind == "value"] == []
    assert outcome.known["square-of-three"] > 0
    assert outcome.stale == []


def test_a_known_difference_that_is_gone_is_reported() -> None:
    outcome = held("sound", 5, (entry(engines=("small_sound", "small_sound")),))
    assert [gone.id for gone in outcome.stale] == ["square-of-three"]
    assert "does not occur any more" in report.terminal(outcome)


def test_what_ends_an_engine_in_a_known_way_is_not_run() -> None:
    avoided = entry(kinds=("crash",), where="-", avoid=True, example=(
        "a = mx.nd.array([-1.0], dtype='float32')", "y = mx.nd.square(a)"))
    outcome = held("crash", 60, (avoided,))
    assert outcome.findings == []
    assert outcome.avoided > 0
    assert outcome.stale == []


def test_the_file_of_known_differences_is_well_formed(tmp_path: Path) -> None:
    assert len(known.between(known.load(), ("refengine", "mxnet-1.9.1"))) >= 3
    faulty = tmp_path / "known.yaml"
    faulty.write_text("- id: x\n  kinds: [value]\n")
    with pytest.raises(UsageFault, match="required property"):
        known.load(faulty)
    long = "a text that goes on and on " * 50
    for text, got in ((long, "got a str: 'a text"), ("a: 1", "got a dict: {'a': 1}"), ("- 5", "a int: 5 as entry 1"),
                      ("'", "got what is no YAML"), ("0", "got a int: 0"), ("\0", "got what is no YAML")):
        faulty.write_text(text)
        with pytest.raises(UsageFault, match="is no list of known differences: expected a YAML list") as told:
            known.load(faulty)
        assert got in told.value.message
        assert len(told.value.message) < 450
    faulty.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageFault, match="is no list of known differences"):
        known.load(faulty)
    faulty.write_text("")
    assert known.load(faulty) == []
    with pytest.raises(UsageFault, match="cannot be read: No such file"):
        known.load(tmp_path / "missing.yaml")


def test_an_engine_that_hangs_everywhere_does_not_hold_the_session_up() -> None:
    plan = Plan(seconds=3.0, globs=("nd.sum",), limit=1.0)
    began = time.monotonic()
    outcome = Session((engine("sound"), engine("hang")), plan, Silent()).run()
    assert time.monotonic() - began < 60, "a batch of 300 programs, each a hang, takes ten minutes"
    (finding,) = [f for f in outcome.findings if f.difference.kind == "hang"]
    assert finding.verdict.wrong == "small_hang"
    if not finding.whole:
        assert report.NOT_WHOLE in report.terminal(outcome)
        assert report.NOT_WHOLE in report.markdown(outcome)
    assert report.as_dict(outcome)["differences"][0]["shrunk"] is finding.whole


def test_a_pattern_for_nothing_is_wrong_use() -> None:
    for glob in ("nope*", "nd.squarr", "NDArray.nope"):
        with pytest.raises(UsageFault, match=re.escape(repr(glob))):
            held("sound", globs=("nd.square", glob))


def test_every_operation_of_the_families_is_known_by_name() -> None:
    """A pattern that the programs of a batch can match is never refused."""
    made = generate.batch([], 3, count=300)
    met = {name for program in made for line in program.lines for name in operations(line)}
    names.check(sorted(name for name in met if not name.endswith("?")), ())


def test_what_depends_on_memory_need_not_show() -> None:
    outcome = held("sound", 1, (entry(engines=("small_sound", "small_sound"), unsteady=True),))
    assert outcome.stale == []
