"""PROF-STATE and PROF-OP: when the profiler records, and what of a model."""

from conformance.case import case
from conformance.suite.profiler._tools import refused, told
from conformance.suite.profiler.configure import REFUSED

PARTS = """
profiler.set_config(filename="trace.json", aggregate_stats=True, continuous_dump=False)
work("sin")
run()
work("dot", a, b)
profiler.pause()
work("exp")
profiler.resume()
work("log")
stop()
say("paused", counts())
work("sqrt")
mx.nd.waitall()
say("stopped", counts())
run()
run()
work("exp")
work("dot", a, b)
stop()
stop()
say("again", counts())
"""

MODEL = """
if before:
    mx.npx.set_np()
net = mx.gluon.nn.Dense(4, activation="relu", in_units=10)
net.initialize()
x = kit.array(mx, [[1.0] * 10])
profiler.set_config(filename="trace.json", aggregate_stats=True, continuous_dump=False)
for way, flags in [("eager", None), ("hybrid", {}), ("static memory", {"static_alloc": True}),
                   ("static", {"static_alloc": True, "static_shape": True})]:
    if flags is not None:
        net.hybridize(**flags)
    for _ in range(2):
        net(x).wait_to_read()
    mx.nd.waitall()
    statistics(reset=True)
    run()
    for _ in range(3):
        net(x).wait_to_read()
    stop()
    found = {name.replace("_", "").lower(): count for name, count in counts().items()}
    say(way, [sum(count for name, count in found.items() if part in name) for part in ("fullyconnected", "activation")])
"""

OLD = """
def warned(function, *args):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function(*args)
    return [str(item.message) for item in caught if issubclass(item.category, UserWarning)]

say("config", warned(profiler.profiler_set_config, "all", "old.json"))
say("run", warned(profiler.profiler_set_state, "run"))
work("exp")
mx.nd.waitall()
say("stop", warned(profiler.profiler_set_state, "stop"))
say("dump", warned(profiler.dump_profile))
found = trace("old.json")
say("file", found is not None and any(event["name"] == "exp" for event in found["traceEvents"]))
"""


@case("PROF-STATE-001")
def other_states_are_refused(mx, check):
    refused(check, told(check, REFUSED)["state"], "KeyError", "foo")


@case("PROF-STATE-001")
def state_may_be_repeated(mx, check):
    said = told(check, REFUSED)
    check.equal(said["again"], None, "error of stop, run, run, stop, stop")
    check.equal(told(check, PARTS)["again"].get("exp"), 1, "how often exp is counted after run, run, exp, stop, stop")


@case("PROF-STATE-002")
def nothing_is_recorded_before_and_after(mx, check):
    said = told(check, PARTS)
    check.equal(said["paused"].get("dot"), 1, "dot between run and stop")
    check.that("sin" not in said["paused"], "no operator from before run", got=said["paused"])
    check.equal(said["stopped"], said["paused"], "counts after more work in state stop")


@case("PROF-STATE-002")
def second_run_adds(mx, check):
    said = told(check, PARTS)["again"]
    check.equal((said.get("dot"), said.get("log"), said.get("exp")), (2, 1, 1), "dot, log and exp after a second run")


@case("PROF-STATE-003")
def part_is_excluded(mx, check):
    said = told(check, PARTS)["paused"]
    check.equal((said.get("dot"), said.get("exp"), said.get("log")), (1, None, 1),
                "dot, exp in the pause, log after it")


@case("PROF-STATE-004")
def servers_need_a_distributed_store(mx, check):
    said = told(check, REFUSED)
    refused(check, said["server"], "MXNetError", "Kvstore Handle passed to profiler is null")
    refused(check, said["process"], "KeyError", "foo")
    refused(check, said["process setting"], "MXNetError", "foo", "server", "worker")


@case("PROF-STATE-005")
def old_names_warn_and_work(mx, check):
    said = told(check, OLD)
    for step, old, new in (("config", "profiler_set_config", "set_config"), ("run", "profiler_set_state", "set_state"),
                           ("stop", "profiler_set_state", "set_state"), ("dump", "dump_profile", "dump")):
        check.that(any("profiler.%s() is deprecated" % old in text and "profiler.%s() instead" % new in text
                       for text in said[step]), "%s warns and names %s" % (old, new), got=said[step])
    check.equal(said["file"], True, "whether the trace has the operator")


@case("PROF-OP-001", samples={way.replace(" ", "_"): {"way": way} for way in
                              ("eager", "hybrid", "static memory", "static")})
def layer_is_profiled_operator_by_operator(mx, check, way):
    check.equal(told(check, MODEL)[way], [3, 3], "counts of the product and the activation in three calls")
