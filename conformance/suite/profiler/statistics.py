"""PROF-DUMPS and PROF-METRIC: statistics as a table and as JSON."""

import json

from conformance.case import case
from conformance.suite.profiler._tools import HEAD, refused, sections, told
from conformance.suite.profiler.configure import REFUSED

WORK = """
profiler.set_config(filename="trace.json", aggregate_stats=True, continuous_dump=False)
run()
c = mx.nd.ones((100, 100))
c.wait_to_read()
say("first", 0)
d = mx.nd.ones((100, 100))
d.wait_to_read()
for _ in range(3):
    mx.nd.dot(c, d).wait_to_read()
for _ in range(2):
    mx.nd.exp(c).wait_to_read()
mx.nd.log(d).wait_to_read()
domain = profiler.Domain("shop")
task = domain.new_task("bake")
for _ in range(2):
    task.start()
    time.sleep(0.01)
    task.stop()
counter = domain.new_counter("stock", 5)
counter += 12
stop()
say("table", profiler.dumps())
say("json", profiler.dumps(format="json"))
for key in ("total", "avg", "min", "max", "count"):
    for ascending in (False, True):
        say("%s %s" % (key, ascending), list(statistics(sort_by=key, ascending=ascending)["Time"]["operator"]))
        say("table %s %s" % (key, ascending), profiler.dumps(False, "table", key, ascending))
say("resetting", profiler.dumps(reset=True))
say("after reset", profiler.dumps())
"""

SNIPPET = """
profiler.set_config(profile_all=True, filename="trace.json")
run()
work("exp")
stop()
say("table", profiler.dumps())
profiler.dump()
found = trace()
say("file", found is not None and any(event["name"] == "exp" for event in found["traceEvents"]))
"""

BOTH = """
profiler.set_config(profile_all=True, aggregate_stats=True, filename="trace.json")
run()
work("exp")
stop()
say("table", profiler.dumps())
"""

METRICS = """
size = 200
x = mx.nd.ones((size, size))
parts = [mx.nd.ones((size, size), ctx=mx.cpu(i)) for i in range(2)]
store = mx.kv.create("device")
store.init("w", mx.nd.zeros((size, size)))
mx.nd.waitall()
profiler.set_config(filename="trace.json", aggregate_stats=True, continuous_dump=False)
run()
for _ in range(5):
    mx.nd.dot(x, x).wait_to_read()
mx.nd.waitall()
stop()
say("compute", statistics()["Time"]["operator"])
run()
store.push("w", parts)
store.pull("w", parts)
stop()
say("both", statistics()["Time"]["operator"])
"""


@case("PROF-DUMPS-001")
def table_needs_aggregated_statistics(mx, check):
    said = told(check, SNIPPET)
    check.equal(said["table"], "", "dumps() with profile_all=True only")
    check.equal(said["file"], True, "whether the trace has the operator")
    check.contains(told(check, BOTH)["table"], "operator", "exp", doing="dumps() with aggregate_stats=True")


@case("PROF-DUMPS-002")
def table_has_a_section_per_category(mx, check):
    table = told(check, WORK)["table"]
    check.that(table.startswith(HEAD), "it begins with the title and the note", repr(HEAD), repr(table[:100]))
    rows, titles = sections(table)
    check.equal(titles["operator"], ["Name", "Total Count", "Time (ms)", "Min Time (ms)", "Max Time (ms)",
                                     "Avg Time (ms)"], "columns of the operators")
    for name, number in (("dot", 3), ("exp", 2), ("log", 1)):
        count, total, least, most, average = rows["operator"][name]
        check.equal(count, number, "count of %s" % name)
        check.that(total >= most >= average >= least >= 0 and total > 0, "total >= max >= avg >= min >= 0",
                   got=rows["operator"][name])
        check.close(average * count, total, "average times count of %s" % name, rtol=0.01, atol=0.001)


@case("PROF-DUMPS-003")
def table_has_memory_per_device(mx, check):
    rows, titles = sections(told(check, WORK)["table"])
    check.equal(titles["Device Storage"], ["Name", "Total Count", "Min Use  (kB)", "Max Use  (kB)", "Avg Use  (kB)"],
                "columns of the memory")
    check.that("Memory: cpu/0" in rows["Device Storage"], "a row for the device", got=list(rows["Device Storage"]))


@case("PROF-DUMPS-003")
def kilobytes_have_1000_bytes(mx, check):
    said = json.loads(told(check, WORK)["json"])["Memory"]["Device Storage"]["Memory: cpu/0"]
    # Two arrays live all the time, the third is a result; an engine may hold a result until the next is made.
    check.that(said["Max"] in (120.0, 160.0), "most memory of two arrays of 40000 bytes and their products",
               "120 or 160 kB", said)
    check.that(said["Count"] >= 3 and said["Min"] <= said["Avg"] <= said["Max"], "min <= avg <= max", got=said)


@case("PROF-DUMPS-004")
def other_arguments_are_refused(mx, check):
    said = told(check, REFUSED)
    refused(check, said["format"], "AssertionError", "Invalid value provided for format: xml", "'table', 'json'")
    refused(check, said["sort_by"], "AssertionError", "Invalid value provided for sort_by: foo",
            "'total', 'avg', 'min', 'max', 'count'")
    refused(check, said["ascending"], "AssertionError", "Invalid value provided for ascending: 3")
    refused(check, said["reset"], "AssertionError", "Invalid value provided for reset: 3")


@case("PROF-DUMPS-004")
def defaults_of_the_table(mx, check):
    said = told(check, WORK)
    check.equal(said["table"], said["table total False"], "dumps() and dumps(False, 'table', 'total', False)")


@case("PROF-DUMPS-005")
def statistics_as_json(mx, check):
    found = json.loads(told(check, WORK)["json"])
    check.equal(found["Unit"], {"Time": "ms", "Memory": "kB"}, "units")
    row = found["Time"]["operator"]["dot"]
    check.equal(sorted(row), ["Avg", "Count", "Max", "Min", "Total"], "fields of a row")
    check.equal(row["Count"], 3, "count of dot")
    check.close(row["Avg"] * 3, row["Total"], "average times count", rtol=0.01, atol=0.001)
    check.that("Device Storage" in found["Memory"], "memory is there", got=list(found["Memory"]))
    task = found["Time"]["shop"]["bake"]
    check.equal(task["Count"], 2, "count of a task")
    check.that(20 <= task["Total"] < 2000, "milliseconds of a task that took twice 10 ms", "20 ... 2000", task["Total"])


@case("PROF-DUMPS-006", samples={key: {"key": key} for key in ("total", "avg", "min", "max", "count")})
def rows_are_sorted(mx, check, key):
    said = told(check, WORK)
    rows = json.loads(said["json"])["Time"]["operator"]
    field = {"total": "Total", "avg": "Avg", "min": "Min", "max": "Max", "count": "Count"}[key]
    for ascending in (False, True):
        names = said["%s %s" % (key, ascending)]
        check.equal(sorted(names), sorted(rows), "names, ascending=%s" % ascending)
        values = [rows[name][field] for name in names]
        check.equal(values, sorted(values, reverse=not ascending), "%s in order, ascending=%s" % (field, ascending))
        column = {"count": 0, "total": 1, "min": 2, "max": 3, "avg": 4}[key]
        shown = [row[column] for row in sections(said["table %s %s" % (key, ascending)])[0]["operator"].values()]
        check.equal(shown, sorted(shown, reverse=not ascending), "column of the table, ascending=%s" % ascending)


@case("PROF-DUMPS-007")
def statistics_begin_anew(mx, check):
    said = told(check, WORK)
    check.contains(said["resetting"], "dot", doing="dumps(reset=True)")
    check.equal(said["after reset"].strip(), HEAD.strip(), "dumps() after it")


@case("PROF-DUMPS-008")
def nothing_was_profiled(mx, check):
    said = told(check, REFUSED)
    check.equal(said["dumps before"], "", "dumps() before any configuration")
    refused(check, said["dump before"], "MXNetError", "Profiler hasn't been run. Config and start profiler first")


@case("PROF-DUMPS-009")
def configured_and_not_run(mx, check):
    check.equal(told(check, REFUSED)["configured"].strip(), HEAD.strip(), "dumps() before run")


@case("PROF-METRIC-001")
def compute_density(mx, check):
    row = told(check, METRICS)["compute"]["dot"]
    check.equal(row["Count"], 5, "count of dot")
    rate = 5 * 2 * 200 ** 3 / (row["Total"] / 1000)
    check.that(1e6 < rate < 1e15, "floating point operations per second", "between 1e6 and 1e15", rate)


@case("PROF-METRIC-001")
def share_of_communication(mx, check):
    said = told(check, METRICS)
    total = sum(row["Total"] for row in said["both"].values())
    before = sum(row["Total"] for row in said["compute"].values())
    share = (total - before) / total
    check.that(0 < share < 1, "time of the store's operators over that of all", "between 0 and 1", share)
