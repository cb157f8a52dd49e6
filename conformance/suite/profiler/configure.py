"""PROF-CONFIG and PROF-ENV: settings of the profiler."""

import json
import os

from conformance.case import case
from conformance.suite.profiler._tools import events, refused, told

REFUSED = """
say("dumps before", profiler.dumps())
say("dump before", error(profiler.dump))
say("unknown", error(profiler.set_config, foo=True))
say("positional", error(profiler.set_config, True))
say("boolean", error(profiler.set_config, profile_all="banana"))
say("state", error(profiler.set_state, "foo"))
say("server", error(profiler.set_state, "run", profile_process="server"))
say("process", error(profiler.set_state, "run", profile_process="foo"))
say("process setting", error(profiler.set_config, profile_process="foo"))
say("no table", profiler.dumps())
profiler.set_config(filename="trace.json", aggregate_stats=True)
say("configured", profiler.dumps())
for name, options in [("format", {"format": "xml"}), ("sort_by", {"sort_by": "foo"}), ("ascending", {"ascending": 3}),
                      ("reset", {"reset": 3})]:
    say(name, error(profiler.dumps, **options))
say("again", error(lambda: [profiler.set_state(s) for s in ("stop", "run", "run", "stop", "stop")]))
"""

DEFAULTS = """
profiler.set_config(aggregate_stats=True)
run()
work("exp")
kept = mx.nd.ones((10, 10))
kept.wait_to_read()
stop()
found = statistics()
say("operators", list(found["Time"].get("operator", {})))
say("memory", found["Memory"])
profiler.dump()
say("file", trace("profile.json"))
"""

SPELLED = """
profiler.set_config(profile_all=False, profile_symbolic=True, profile_imperative=True, profile_memory=True,
                    profile_api=True, filename="profile.json", continuous_dump=True, dump_period=1.0,
                    aggregate_stats=False, profile_process="worker")
run()
work("exp")
stop()
say("table", profiler.dumps())
profiler.set_config(profile_imperative=True)
say("table of the defaults", profiler.dumps())
"""

KINDS = """
def kinds(**settings):
    profiler.set_config(filename="trace.json", aggregate_stats=True, continuous_dump=False, **settings)
    statistics(reset=True)
    run()
    work("exp")
    kept = mx.nd.ones((10, 10))
    kept.wait_to_read()
    stop()
    found = statistics()
    return [sorted(category for category, rows in found["Time"].items() if category != "operator" and rows),
            "exp" in found["Time"].get("operator", {}), bool(found["Memory"])]

off = dict(profile_symbolic=False, profile_memory=False, profile_api=False)
say("operators only", kinds(**off))
say("nothing", kinds(profile_imperative=False, **off))
say("memory only", kinds(profile_symbolic=False, profile_imperative=False, profile_api=False))
say("all in spite", kinds(profile_imperative=False, profile_all=True, **off))
"""


@case("PROF-CONFIG-001")
def unknown_settings_are_refused(mx, check):
    said = told(check, REFUSED)
    refused(check, said["unknown"], "MXNetError", "foo", "profile_all", "profile_memory", "filename", "dump_period")
    refused(check, said["positional"], "TypeError", "positional")


@case("PROF-CONFIG-001")
def value_of_another_kind_is_refused(mx, check):
    refused(check, told(check, REFUSED)["boolean"], "MXNetError",
            "Invalid Parameter format for profile_all expect boolean")


@case("PROF-CONFIG-002")
def operators_and_memory_are_profiled_by_default(mx, check):
    said = told(check, DEFAULTS)
    check.that("exp" in said["operators"], "exp is among the operators", got=said["operators"])
    check.that(any("cpu/0" in name for rows in said["memory"].values() for name in rows),
               "memory of cpu/0 is recorded", got=said["memory"])
    check.that(said["file"] is not None, "the trace is written to profile.json")


@case("PROF-CONFIG-002")
def every_default_may_be_spelled_out(mx, check):
    said = told(check, SPELLED)
    check.equal(said["table"], "", "dumps() with aggregate_stats=False")
    check.equal(said["table of the defaults"], "", "dumps() after set_config(profile_imperative=True)")


@case("PROF-CONFIG-003")
def kinds_are_switched_off(mx, check):
    said = told(check, KINDS)
    check.equal(said["operators only"], [[], True, False], "other categories, operators, memory with only operators")
    check.equal(said["nothing"], [[], False, False], "with all kinds off")
    check.equal(said["memory only"], [[], False, True], "with only memory")


@case("PROF-CONFIG-003")
def profiling_all_overrides_them(mx, check):
    _, operators, memory = told(check, KINDS)["all in spite"]
    check.that(operators, "operators are recorded")
    check.that(memory, "memory is recorded")


@case("PROF-CONFIG-004")
def settings_after_the_trace_was_written(mx, check):
    said = told(check, """
profiler.set_config(filename="first.json", aggregate_stats=True)
run()
work("exp")
stop()
profiler.dump()
say("error", error(profiler.set_config, filename="second.json", aggregate_stats=True))
run()
work("log")
stop()
profiler.dump()
for name in ("first", "second"):
    found = trace(name + ".json")
    say(name, None if found is None else sorted({e["name"] for e in found["traceEvents"] if e["name"] in
                                                 ("exp", "log")}))
""")
    check.equal(said["error"], None, "error of set_config")
    check.equal((said["first"], said["second"]), (["exp"], ["log"]), "operators in the two traces")


@case("PROF-CONFIG-005")
def another_file_while_running(mx, check):
    said = told(check, """
profiler.set_config(filename="first.json")
run()
work("exp")
mx.nd.waitall()
profiler.dump(False)
profiler.set_config(filename="second.json")
work("log")
stop()
profiler.dump()
for name in ("first", "second"):
    found = trace(name + ".json")
    say(name, None if found is None else sorted({e["name"] for e in found["traceEvents"] if e["name"] in
                                                 ("exp", "log")}))
""")
    check.equal((said["first"], said["second"]), (["exp"], ["log"]), "operators in the two traces")


@case("PROF-CONFIG-006")
def file_that_cannot_be_written(mx, check):
    said = told(check, """
profiler.set_config(filename=os.path.join(folder, "missing", "trace.json"), continuous_dump=False)
run()
work("exp")
stop()
say("error", error(profiler.dump))
""")
    check.that(said["error"] is not None, "dump() raises an error", got="no error")
    check.contains(said["error"][1], "trace.json", doing="message")


@case("PROF-ENV-001")
def profile_of_a_program_that_knows_nothing_of_it(mx, check):
    folder = os.path.dirname(check.path("profile.json"))
    status, _, errors = check.python("import os; os.chdir(%r); mx.nd.exp(mx.nd.ones((3,))).wait_to_read()\n" % folder,
                                     environment={"MXNET_PROFILER_AUTOSTART": "1"})
    check.equal(status, 0, "exit status of the process, which wrote %s" % errors[-600:])
    with open(check.path("profile.json")) as file:
        document = json.load(file)
    check.that(bool(events(document, name="exp")), "the operator is in profile.json")
