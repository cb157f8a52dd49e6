"""PROF-OBJ: what a program puts into a profile itself."""

import json

from conformance.case import case
from conformance.suite import kit
from conformance.suite.profiler._tools import events, refused, told
from conformance.suite.profiler.statistics import WORK
from conformance.suite.profiler.trace import TRACED


@case("PROF-OBJ-001")
def domain_makes_objects(mx, check):
    check.equal(told(check, TRACED)["texts"], ["shop", "bake", "round", "ring", "stock"],
                "texts of domain, task, frame, event, counter")


@case("PROF-OBJ-001")
def category_is_the_domain(mx, check):
    document = told(check, TRACED)["trace"]
    for name, category in (("bake", "shop"), ("stock", "shop")):
        check.equal({event["cat"] for event in events(document, name=name)}, {category}, "category of %s" % name)
    for name in ("round", "bell"):
        check.that(all(event["cat"].startswith("shop") for event in events(document, name=name)) and
                   bool(events(document, name=name)), "category of %s begins with the domain" % name)


@case("PROF-OBJ-002", samples={"task": {"name": "bake", "category": "shop", "letters": "be"},
                               "frame": {"name": "round", "category": "shop,frame", "letters": "()"},
                               "event": {"name": "ring", "category": "event", "letters": "BE"}})
def object_has_a_start_and_an_end(mx, check, name, category, letters):
    found = events(told(check, TRACED)["trace"], name=name)
    check.equal([event["ph"] for event in found], list(letters), "events")
    check.equal({event["cat"] for event in found}, {category}, "category")
    check.that(found[1]["ts"] - found[0]["ts"] >= 10000, "microseconds between them, 10 ms apart", ">= 10000",
               found[1]["ts"] - found[0]["ts"])


@case("PROF-OBJ-002")
def task_is_used_twice(mx, check):
    row = json.loads(told(check, WORK)["json"])["Time"]["shop"]["bake"]
    check.equal(row["Count"], 2, "count")
    check.that(20 <= row["Total"] < 5000, "milliseconds of twice 10 ms", "20 or a little more", row["Total"])


@case("PROF-OBJ-003")
def counter_counts(mx, check):
    said = told(check, TRACED)
    found = events(said["trace"], name="stock", ph="C")
    check.equal([event["args"] for event in found], [{"stock": n} for n in (5, 8, 7, 17, 13, 14, 13, 2)], "values")
    check.equal(said["same counter"], True, "whether += gives the counter itself")
    refused(check, said["no number"], "ValueError")


@case("PROF-OBJ-004")
def negative_counter(mx, check):
    said = told(check, """
profiler.set_config(filename="trace.json", continuous_dump=False)
run()
counter = profiler.Domain("shop").new_counter("debt")
say("refused", error(counter.set_value, -1))
stop()
profiler.dump()
say("trace", trace())
""")
    if said["refused"] is None:
        found = [event["args"]["debt"] for event in events(said["trace"], name="debt", ph="C")]
        check.equal(found[-1:], [-1], "last value in the trace")
    else:
        refused(check, said["refused"], "Exception", "-1")


@case("PROF-OBJ-005")
def counter_is_no_time(mx, check):
    found = json.loads(told(check, WORK)["json"])
    check.that("stock" not in found["Time"].get("shop", {}), "a counter is not among the times",
               got=found["Time"].get("shop"))


@case("PROF-OBJ-006")
def marker_is_an_instant(mx, check):
    said = told(check, TRACED)
    found = events(said["trace"], name="bell")
    check.equal([event["ph"] for event in found], ["n"] * 6, "kinds of the events")
    check.equal([event["s"] for event in found], ["p", "g", "t", "p", "p", "p"],
                "scopes of process, global, thread, task, marker and the default")
    refused(check, said["scope"], "MXNetError", "'global', 'marker', 'process', 'task', 'thread'")


@case("PROF-OBJ-007")
def end_without_a_start(mx, check):
    said = told(check, """
profiler.set_config(filename="trace.json", aggregate_stats=True, continuous_dump=False)
run()
say("refused", error(lambda: profiler.Domain("shop").new_task("lost").stop()))
stop()
say("table error", error(profiler.dumps))
say("table", None if error(profiler.dumps) else json.loads(profiler.dumps(format="json"))["Time"].get("shop", {}))
""")
    if said["refused"] is not None:
        refused(check, said["refused"], "Exception", "start")
    check.equal(said["table error"], None, "error of dumps()")
    check.equal(said["table"], {}, "what is recorded of it")


@case("PROF-OBJ-008")
def scopes_join(mx, check):
    # 2.0.0b1 stays in the scope of an update that failed, so the outer one must not build on what is there.
    with kit.legacy_mode(mx), mx.profiler.scope("a", append_mode=False) as outer:
        with mx.profiler.scope("b:") as inner, mx.profiler.scope("c", append_mode=False) as alone:
            check.equal((outer, inner, alone), ("a:", "a:b:", "c:"), "names of the scopes")
        with mx.profiler.scope("d") as later:
            check.equal(later, "a:d:", "a scope after others")
