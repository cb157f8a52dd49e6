"""PROF-TRACE: the trace file."""

import collections
import json
import os

from conformance.case import case
from conformance.suite.profiler._tools import events, refused, told

TRACED = """
profiler.set_config(filename="trace.json")
run()
c = mx.nd.ones((100, 100))
c.wait_to_read()
for _ in range(3):
    work("dot", c, c)
work("exp", c)
domain = profiler.Domain("shop")
task, frame, event = domain.new_task("bake"), domain.new_frame("round"), profiler.Event("ring")
for thing in (task, frame, event):
    thing.start()
    time.sleep(0.01)
    thing.stop()
counter = domain.new_counter("stock", 5)
seen = [counter]
counter += 3
counter -= 1
counter.increment(10)
counter.decrement(4)
counter.increment()
counter.decrement()
counter.set_value(2.7)
say("same counter", counter is seen[0])
say("no number", error(counter.set_value, "x"))
marker = domain.new_marker("bell")
for scope in ("process", "global", "thread", "task", "marker"):
    marker.mark(scope)
marker.mark()
say("scope", error(marker.mark, "foo"))
say("texts", [str(domain), str(task), str(frame), str(event), str(counter)])
stop()
profiler.dump(False)
say("open", trace())
profiler.dump()
say("trace", trace())
say("second", error(profiler.dump))
"""


@case("PROF-TRACE-001")
def trace_is_in_the_format_of_chrome(mx, check):
    document = told(check, TRACED)["trace"]
    check.that(document is not None, "the file is valid JSON")
    check.isinstance(document["traceEvents"], list, "traceEvents")
    check.equal(document["displayTimeUnit"], "ms", "displayTimeUnit")
    check.that(bool(document["traceEvents"]), "there are events")
    for event in document["traceEvents"]:
        check.that("ph" in event and "name" in event and "pid" in event, "ph, name and pid of an event", got=event)


@case("PROF-TRACE-002")
def devices_and_categories_have_names(mx, check):
    document = told(check, TRACED)["trace"]
    named = events(document, ph="M", name="process_name")
    names = {event["args"]["name"]: event["pid"] for event in named}
    for name in ("cpu/0", "cpu/1", "cpu pinned/", "cpu shared/", "operator", "Device Storage"):
        check.that(name in names, "%s is named" % name, got=sorted(names))
    pids = {event["pid"] for event in named}
    for event in document["traceEvents"]:
        check.that(event["pid"] in pids, "the process of an event has a name", got=event)
    memory = events(document, cat="Device Storage")[0]
    check.equal(memory["pid"], names["Device Storage"], "process of a memory event")


@case("PROF-TRACE-003")
def operators_are_pairs(mx, check):
    document = told(check, TRACED)["trace"]
    device = next(event["pid"] for event in events(document, ph="M") if event["args"]["name"] == "cpu/0")
    starts = collections.defaultdict(list)
    for letter in "BE":
        for event in events(document, ph=letter, cat="operator"):
            starts[event["name"], event["pid"], event["tid"], letter].append(event["ts"])
    keys = {key[:3] for key in starts}
    for key in keys:
        begins, ends = sorted(starts[key + ("B",)]), sorted(starts[key + ("E",)])
        check.equal(len(begins), len(ends), "number of B and E events of %s" % (key,))
        check.that(all(b <= e for b, e in zip(begins, ends)), "E comes after B", got=(begins, ends))
    dots = [len(starts[key + ("B",)]) for key in keys if key[0] == "dot" and key[1] == device]
    check.equal(sum(dots), 3, "dots on the process of cpu/0")


@case("PROF-TRACE-003")
def times_are_microseconds(mx, check):
    document = told(check, TRACED)["trace"]
    start, end = (events(document, name="ring", ph=letter)[0]["ts"] for letter in "BE")
    check.that(10000 <= end - start < 5e6, "what took 10 ms took 10000 microseconds or more", ">= 10000", end - start)


@case("PROF-TRACE-004")
def memory_is_a_counter(mx, check):
    found = events(told(check, TRACED)["trace"], ph="C", cat="Device Storage")
    check.that(bool(found), "there are memory events")
    check.equal(found[0]["args"], {"Memory: cpu/0": 40000}, "first value, after 100 x 100 float32 values")


@case("PROF-TRACE-004")
def calls_are_pairs(mx, check):
    found = events(told(check, TRACED)["trace"], cat="MXNET_C_API")
    number = collections.Counter((event["name"], event["ph"]) for event in found if event["ph"] in "be")
    for (name, letter), count in number.items():
        check.equal(number[name, "e" if letter == "b" else "b"], count, "b and e events of %s" % name)
    check.that(all(event["ph"] in "beC" for event in found), "calls are b, e or C events", got={e["ph"] for e in found})


@case("PROF-TRACE-005")
def trace_is_finished_once(mx, check):
    said = told(check, TRACED)
    check.equal(said["open"], None, "JSON of the file after dump(False)")
    check.that(said["trace"] is not None, "the file is valid after dump()")
    refused(check, said["second"], "MXNetError", "Profiler hasn't been run")


@case("PROF-TRACE-006")
def file_grows_while_the_program_runs(mx, check):
    said = told(check, """
profiler.set_config(filename="trace.json", continuous_dump=True, dump_period=0.2)
run()
found = 0
for _ in range(50):
    work("exp")
    time.sleep(0.1)
    if os.path.exists("trace.json"):
        with open("trace.json") as file:
            found = file.read().count('"exp"')
    if found:
        break
say("found", found)
stop()
profiler.dump()
say("valid", trace() is not None)
""")
    check.that(said["found"] > 0, "the file has the operator before dump()", "events", said["found"])
    check.equal(said["valid"], True, "whether the file is valid after dump()")


@case("PROF-TRACE-007")
def program_ends_without_dump(mx, check):
    folder = os.path.dirname(check.path("trace.json"))
    told(check, """
profiler.set_config(filename="trace.json")
run()
work("exp")
stop()
say("done", True)
""", folder=folder)
    check.that(os.path.exists(check.path("trace.json")), "the file is there")
    with open(check.path("trace.json")) as file:
        text = file.read()
    try:
        document = json.loads(text)
    except ValueError:
        document = None
    check.that(document is not None, "the file is valid JSON", got=text[-200:])
    check.that(bool(events(document, name="exp")), "the operator is in it")
