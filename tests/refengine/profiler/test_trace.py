"""The trace is what chrome://tracing and Perfetto read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import refengine as mx
from refengine.profiler.session import session

#: The Trace Event Format, as far as the kinds of events go that the profiler writes: what both viewers insist on.
_NUMBER = {"type": "number", "minimum": 0}
_COMMON = {"name": {"type": "string"}, "cat": {"type": "string"}, "ts": _NUMBER, "pid": {"type": "integer"},
           "tid": {"type": "integer"}}  # fmt: skip


def _kind(letters: list[str], required: list[str], **more: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {**_COMMON, "ph": {"enum": letters}, **more},
        "required": ["name", "ph", "pid", "tid", *required],
        "additionalProperties": False,
    }


SCHEMA = {
    "type": "object",
    "required": ["traceEvents", "displayTimeUnit"],
    "additionalProperties": False,
    "properties": {
        "displayTimeUnit": {"enum": ["ms", "ns"]},
        "traceEvents": {
            "type": "array",
            "items": {
                "oneOf": [
                    _kind(["B", "E", "(", ")"], ["cat", "ts"]),
                    _kind(["b", "e"], ["cat", "ts", "id"], id={"type": ["string", "integer"]}),
                    _kind(["n"], ["cat", "ts", "id", "s"], id={"type": ["string", "integer"]}, s={"enum": list("gpt")}),
                    _kind(["C"], ["cat", "ts", "args"], args={
                        "type": "object", "minProperties": 1, "additionalProperties": {"type": "number"}}),
                    _kind(["M"], ["args"], args={
                        "type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}),
                ]
            },
        },
    },
}  # fmt: skip


def program() -> None:
    """Some of everything, on two threads and two devices."""
    a = mx.nd.ones((50, 50))
    a.attach_grad()
    with mx.autograd.record():
        loss = (mx.nd.dot(a, a) + 1).sum()
    loss.backward()
    thread = threading.Thread(target=lambda: mx.nd.exp(mx.nd.ones((4,), ctx=mx.cpu(1))).asnumpy())
    thread.start()
    thread.join()
    domain = mx.profiler.Domain("own")
    for thing in (domain.new_task("t"), domain.new_frame("f"), mx.profiler.Event("e")):
        thing.start()
        thing.stop()
    domain.new_counter("c", -3)
    domain.new_marker("m").mark("thread")
    net = mx.gluon.nn.Dense(3, in_units=4)
    net.initialize()
    net.hybridize()
    net(mx.nd.ones((2, 4))).wait_to_read()
    mx.nd.waitall()


def traced(profiler: Any, **settings: Any) -> dict[str, Any]:
    profiler.set_config(filename="trace.json", **settings)
    profiler.set_state("run")
    program()
    profiler.set_state("stop")
    profiler.dump()
    return json.loads(Path("trace.json").read_text())


def test_the_trace_is_in_the_trace_event_format(profiler: Any) -> None:
    document = traced(profiler)
    jsonschema.validate(document, SCHEMA)
    assert {event["ph"] for event in document["traceEvents"]} >= set("BEbeCMn()")


def test_begins_and_ends_nest_on_every_thread(profiler: Any) -> None:
    """Viewers pair B with the E that follows on the same thread of the same process."""
    stacks: dict[Any, list[str]] = defaultdict(list)
    found = [event for event in traced(profiler)["traceEvents"] if event["ph"] in "BE"]
    assert found
    for event in sorted(found, key=lambda e: e["ts"]):      # at one time the order in the file counts, as in viewers
        stack = stacks[event["pid"], event["tid"]]
        if event["ph"] == "B":
            stack.append(event["name"])
        else:
            assert stack.pop() == event["name"]
    assert not any(stacks.values())


def test_what_begins_at_one_time_is_nested_by_its_place() -> None:
    """A stamp is a double: moments that lie closer than it can tell are still in order."""
    at = 10**15
    given = (("nothing", 3, 3), ("inner", 2, 5), ("outer", 1, 7), ("next", 7, 9), ("all", 1, 9))
    spans = [("BE", name, "operator", at + start, at + end, 0, 1, None) for name, start, end in given]
    found = [(e["ph"], e["name"]) for e in session._expand(spans)]
    assert found == [("B", "all"), ("B", "outer"), ("B", "inner"), ("B", "nothing"), ("E", "nothing"), ("E", "inner"),
                     ("E", "outer"), ("B", "next"), ("E", "next"), ("E", "all")]


def test_every_process_is_named_once(profiler: Any) -> None:
    document = traced(profiler)
    named = [event["pid"] for event in document["traceEvents"] if event["ph"] == "M"]
    assert len(named) == len(set(named))
    assert {event["pid"] for event in document["traceEvents"]} <= set(named)


def test_operators_stand_under_the_device_that_ran_them(profiler: Any) -> None:
    document = traced(profiler)
    names = {event["pid"]: event["args"]["name"] for event in document["traceEvents"] if event["ph"] == "M"}
    where = {(event["name"], names[event["pid"]]) for event in document["traceEvents"] if event["ph"] == "B"}
    assert {("dot", "cpu/0"), ("exp", "cpu/1"), ("_ones", "cpu/1")} <= where


def test_gradients_and_the_call_for_them_are_in_the_trace(profiler: Any) -> None:
    document = traced(profiler)
    count = Counter(event["name"] for event in document["traceEvents"] if event["ph"] == "B")
    found = {name: count[name] for name in ("dot", "_backward_dot", "_copy", "_backward_sum")}
    assert found == {"dot": 1, "_backward_dot": 1, "_copy": 1, "_backward_sum": 1}
    spans = {event["ph"]: event["ts"] for event in document["traceEvents"] if event["name"] == "MXAutogradBackwardEx"}
    inside = [event["ts"] for event in document["traceEvents"] if event["name"] == "_backward_dot"]
    assert spans["b"] <= min(inside) <= max(inside) <= spans["e"]


def record(profiler: Any, name: str) -> None:
    profiler.set_state("run")
    getattr(mx.nd, name)(mx.nd.ones(3))
    profiler.set_state("stop")


def operators(path: str = "trace.json") -> list[str]:
    document = json.loads(Path(path).read_text())
    jsonschema.validate(document, SCHEMA)
    pids = [event["pid"] for event in document["traceEvents"] if event["ph"] == "M"]
    assert len(pids) == len(set(pids)), "every process is named once"
    found = [event["name"] for event in document["traceEvents"] if event["ph"] == "B"]
    return [name for name in found if name != "_ones"]


@pytest.mark.parametrize("continuous", [True, False])
def test_a_second_dump_continues_the_trace(profiler: Any, continuous: bool) -> None:
    """1.9.1 appends behind the end of the document, or without continuous_dump replaces it; neither is JSON then."""
    Path("trace.json").write_text("of another program")
    profiler.set_config(filename="trace.json", continuous_dump=continuous)
    expected: list[str] = []
    for name in ("exp", "log", "sin"):
        record(profiler, name)
        profiler.dump()
        expected.append(name)
        assert operators() == expected
    record(profiler, "cos")
    profiler.dump(False)
    record(profiler, "tanh")
    profiler.dump()
    assert operators() == [*expected, "cos", "tanh"]


def test_every_file_is_continued_by_itself(profiler: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, file in (("exp", "a.json"), ("log", "b.json"), ("sin", "a.json")):
        profiler.set_config(filename=file)
        record(profiler, name)
        profiler.dump()
    assert (operators("a.json"), operators("b.json")) == (["exp", "sin"], ["log"])
    Path("elsewhere").mkdir()
    record(profiler, "cos")
    profiler.dump(False)
    monkeypatch.chdir("elsewhere")
    record(profiler, "tan")
    profiler.dump()
    assert operators("../a.json") == ["exp", "sin", "cos", "tan"], "where the program stands does not matter"


def test_a_trace_that_was_moved_away_is_left_alone(profiler: Any) -> None:
    profiler.set_config(filename="trace.json")
    record(profiler, "exp")
    profiler.dump()
    Path("trace.json").rename("first.json")
    record(profiler, "log")
    profiler.dump()
    assert (operators("first.json"), operators()) == (["exp"], ["log"])
    Path("trace.json").write_text("of another program, which does not wait")
    record(profiler, "sin")
    profiler.dump()
    assert operators() == ["sin"]


def test_what_cannot_be_written_is_not_lost(profiler: Any) -> None:
    profiler.set_config(filename="missing/trace.json")
    record(profiler, "exp")
    with pytest.raises(mx.MXNetError, match="cannot write"):
        profiler.dump()
    profiler.set_config(filename="trace.json")
    record(profiler, "log")
    profiler.dump()
    assert operators() == ["exp", "log"]


@pytest.mark.skipif(sys.platform == "win32", reason="limits of processes are of POSIX")
def test_a_full_disk_leaves_a_whole_trace(profiler: Any) -> None:
    import resource

    profiler.set_config(filename="trace.json", continuous_dump=False)
    record(profiler, "exp")
    profiler.dump()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (Path("trace.json").stat().st_size + 200, before[1]))
    try:
        record(profiler, "log")
        with pytest.raises(mx.MXNetError, match="cannot write the trace file 'trace.json'"):
            profiler.dump()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert operators() == ["exp"], "what was written before is still a document"
    record(profiler, "sin")
    profiler.dump()
    assert operators() == ["exp", "log", "sin"]


def test_a_child_leaves_the_trace_to_its_parent(profiler: Any) -> None:
    code = (
        "import os, refengine as mx\n"
        "mx.profiler.set_config(filename='trace.json')\n"
        "mx.profiler.set_state('run')\n"
        "mx.nd.exp(mx.nd.ones(3)); mx.profiler.dump(False)\n"
        "child = os.fork()\n"
        "if child: os.waitpid(child, 0)\n"
        "else: mx.nd.log(mx.nd.ones(3)); raise SystemExit\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60,
                   env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)})  # fmt: skip
    document = json.loads(Path("trace.json").read_text())
    names = {event["name"] for event in document["traceEvents"]}
    assert "exp" in names
    assert "log" not in names


def test_the_environment_starts_a_profile(profiler: Any) -> None:
    subprocess.run([sys.executable, "-c", "import refengine as mx; mx.nd.exp(mx.nd.ones(3))"], check=True, timeout=60,
                   env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
                        "MXNET_PROFILER_AUTOSTART": "1"})  # fmt: skip
    document = json.loads(Path("profile.json").read_text())
    jsonschema.validate(document, SCHEMA)
    assert any(event["name"] == "exp" for event in document["traceEvents"])
