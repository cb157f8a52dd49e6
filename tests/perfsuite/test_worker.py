"""The measuring worker and its process, with tiny engines that are right, wrong, or gone."""

import sys
import textwrap

import pytest

from perfsuite import compare as comparing
from perfsuite.process import MeasuringWorker, WorkerFailed
from perfsuite.record import load_records
from perfsuite.worker import serve

RIGHT = """
import os, sys, numpy
__version__ = "1.0"
print("an engine may print what it likes")
class Array:
    def __init__(self, values): self.values = numpy.array(values, "float32")
    def __add__(self, other): return Array(self.values + other.values)
    def asnumpy(self): return self.values.copy()
    def wait_to_read(self): pass
class nd:
    array = staticmethod(lambda values, dtype=None, ctx=None: Array(values))
cpu = lambda i=0: i
"""
WRONG = RIGHT.replace("self.values + other.values", "self.values - other.values")
DRIFTS = RIGHT.replace("return Array(self.values + other.values)", """
        Array.calls = getattr(Array, "calls", 0) + 1
        return Array(self.values + other.values + (Array.calls > 5000))""")
HANGS = RIGHT.replace("return Array(self.values + other.values)", "import time; time.sleep(1000)")
DIES = RIGHT.replace("return Array(self.values + other.values)", "os._exit(3)")


@pytest.fixture
def engine(tmp_path, monkeypatch):
    """Write an engine module and return a started worker for it; all are closed in the end."""
    started = []

    def start(name, source):
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(source))
        worker = MeasuringWorker(name, sys.executable, name, environment={"PYTHONPATH": str(tmp_path)})
        started.append(worker)
        return worker

    yield start
    for worker in started:
        worker.close()


def test_two_engines_side_by_side_are_measured_and_verified(engine):
    result = comparing.compare([engine("right", RIGHT), engine("right_too", RIGHT)],
                               load_records()["small_add"], "8", 3, "cpu")
    assert [len(m.seconds) for m in result.measured] == [3, 3]
    ratio = result.ratio("right_too")
    assert ratio is not None
    assert 0.2 < ratio.value < 5
    assert result.as_json()["ratios"]["right_too"]["verdict"] in ("same", "faster", "slower", "too noisy")


def test_a_wrong_result_leaves_no_number_and_does_not_stop_the_others(engine):
    result = comparing.compare([engine("right", RIGHT), engine("wrong", WRONG)],
                               load_records()["small_add"], "8", 2, "cpu")
    right, wrong = result.measured
    assert right.median is not None
    assert wrong.median is None
    assert "WrongResult" in wrong.void
    assert result.ratio("wrong") is None


def test_a_result_that_turns_wrong_during_the_timing_is_void(engine):
    (drifts,) = comparing.compare([engine("drifts", DRIFTS)], load_records()["small_add"], "8", 30, "cpu").measured
    assert drifts.void is not None
    assert "WrongResult" in drifts.void


def test_an_engine_that_dies_is_void_with_its_status(engine):
    result = comparing.compare([engine("right", RIGHT), engine("dies", DIES)],
                               load_records()["small_add"], "8", 1, "cpu")
    assert "ended with status 3" in result.measured[1].void
    assert result.measured[0].median is not None


def test_an_engine_that_cannot_be_imported_says_so(engine):
    with pytest.raises(WorkerFailed, match="there_is_no_such_engine"):
        MeasuringWorker("gone", sys.executable, "there_is_no_such_engine")


def test_a_record_that_a_library_has_no_builder_for_is_void(engine):
    worker = engine("right", RIGHT)
    worker.facts["records"].remove("small_add")
    (measured,) = comparing.compare([worker], load_records()["small_add"], "8", 1, "cpu").measured
    assert measured.void == "not built for this library"


def test_serve_answers_a_failure_and_goes_on():
    answers = []
    serve(['{"load": {"module": "no_such_module_here"}}', '{"finish": {"unknown": 1}}', '{"quit": {}}', "not reached"],
          answers.append)
    assert [a["error"] for a in answers] == ["ModuleNotFoundError", "TypeError"]


def test_selection_by_family_record_and_size():
    records = load_records()
    assert {r.name for r, _ in comparing.select(records, ["bandwidth"], quick=True)} == {
        "copyto", "copy", "asnumpy", "array_from_numpy", "array_from_list"}
    assert [(r.name, s) for r, s in comparing.select(records, ["copyto/64*"], quick=False)] == [
        ("copyto", "64KB"), ("copyto", "64MB")]


def test_an_engine_that_never_answers_costs_a_limited_time(engine, monkeypatch):
    worker = engine("hangs", HANGS)
    monkeypatch.setattr("perfsuite.process.ANSWER_SECONDS", 0.5)
    result = comparing.compare([worker], load_records()["small_add"], "8", 1, "cpu")
    assert "no answer within 0.5 s" in result.measured[0].void
