"""PROF-BOARD: the program mxnet-board, which shows traces and scalar logs in a browser."""

import json
import os
import signal
import socket

from conformance.case import case
from conformance.suite.profiler._board import logs, operator, outcome, scalar, serving

FIRST = {"first/scalars.jsonl": [scalar("loss", 0, 1.0), scalar("loss", 1, 0.5)]}


@case("PROF-BOARD-001")
def address_is_printed_and_the_page_is_served(mx, check):
    with serving(check, "--logdir=%s" % logs(check, FIRST), "--port=0") as board:
        status, kind, body = board.ask("/")
        check.equal(status, 200, "status of the page")
        check.contains(kind, "text/html", doing="content type of the page")
        check.contains(body.lower(), "<html", doing="the page")
        check.that(0 < board.port <= 65535, "the port is the one that was taken", got=board.port)


@case("PROF-BOARD-001")
def folder_is_logs_by_default(mx, check):
    folder = logs(check, FIRST)
    with serving(check, "--port=0", folder=os.path.dirname(folder)) as board:
        check.equal(board.get("/api/runs"), ["first"], "runs of ./logs")


@case("PROF-BOARD-001")
def port_is_6006_by_default(mx, check):
    # Somebody else may have that port here, now or later: then it is bound by this case or told to be in use.
    taken = socket.socket()
    try:
        taken.bind(("127.0.0.1", 6006))
        taken.listen(1)
    except OSError:
        pass
    try:
        status, _, errors = outcome(check, ["--logdir=%s" % logs(check, FIRST)])
    finally:
        taken.close()
    check.equal(status, 1, "exit code where port 6006 is taken")
    check.contains(errors, "6006", "already in use", doing="stderr")


@case("PROF-BOARD-002")
def every_folder_is_a_run(mx, check):
    folder = logs(check, dict(FIRST, **{"second/trace.json": {"traceEvents": []}}))
    os.makedirs(os.path.join(folder, "third"))
    with serving(check, "--logdir=%s" % folder, "--port=0") as board:
        check.equal(sorted(board.get("/api/runs")), ["first", "second", "third"], "runs")


@case("PROF-BOARD-002")
def scalars_are_ordered_by_step(mx, check):
    lines = [scalar("loss", 20, 0.25, 1.5), scalar("other", 3, 7.0), scalar("loss", 3, 0.5, 2.5),
             scalar("loss", 100, -1, 3.5)]
    with serving(check, "--logdir=%s" % logs(check, {"a b/log.jsonl": lines}), "--port=0") as board:
        found = board.get("/api/scalars", run="a b", tag="loss")
        check.equal(found, [[2.5, 3, 0.5], [1.5, 20, 0.25], [3.5, 100, -1]], "[wall_time, step, value] of the tag")
        check.equal(board.get("/api/scalars", run="a b", tag="other"), [[1700000000.0, 3, 7.0]], "the other tag")


@case("PROF-BOARD-002")
def traces_are_summed_by_operator(mx, check):
    events = [{"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "cpu/0"}}]
    events += operator("dot", 1000, 3000) + operator("exp", 3000, 3500) + operator("dot", 4000, 5000)
    # Apache MXNet writes each operator a second time, as an asynchronous event of its category.
    events += [dict(event, ph=event["ph"].lower(), pid=99, id=1) for event in operator("dot", 1000, 3000)]
    document = {"traceEvents": events, "displayTimeUnit": "ms"}
    with serving(check, "--logdir=%s" % logs(check, {"run/profile.json": document}), "--port=0") as board:
        rows = {row["name"]: row for row in board.get("/api/trace", run="run")["operators"]}
        check.equal(sorted(rows), ["dot", "exp"], "operators")
        wanted = {"count": 2, "total": 3.0, "mean": 1.5, "min": 1.0, "max": 2.0}
        check.equal({name: rows["dot"].get(name) for name in wanted}, wanted, "dot, in milliseconds")
        check.equal(rows["exp"]["total"], 0.5, "total of exp, in milliseconds")


@case("PROF-BOARD-003")
def missing_folder_is_refused(mx, check):
    folder = check.path("nowhere")
    status, printed, errors = outcome(check, ["--logdir=%s" % folder, "--port=0"])
    check.equal(status, 2, "exit code")
    check.contains(errors, folder, doing="stderr")
    check.equal(printed, "", "stdout")


@case("PROF-BOARD-003", samples={"negative": {"port": "-1"}, "too large": {"port": "65536"}})
def impossible_port_is_refused(mx, check, port):
    status, printed, errors = outcome(check, ["--logdir=%s" % logs(check, FIRST), "--port=%s" % port])
    check.equal(status, 2, "exit code, with stderr %s" % errors[-300:])
    check.contains(errors, "port", doing="stderr")
    check.equal(printed, "", "stdout")


@case("PROF-BOARD-003")
def busy_port_is_refused(mx, check):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen(1)
        port = taken.getsockname()[1]
        status, _, errors = outcome(check, ["--logdir=%s" % logs(check, FIRST), "--port=%d" % port])
    check.equal(status, 1, "exit code, with stderr %s" % errors[-300:])
    check.contains(errors, "already in use", str(port), doing="stderr")


@case("PROF-BOARD-003")
def unknown_run_and_tag_are_not_found(mx, check):
    with serving(check, "--logdir=%s" % logs(check, FIRST), "--port=0") as board:
        for path, parameters in [("/api/scalars", {"run": "none", "tag": "loss"}), ("/api/trace", {"run": "none"}),
                                 ("/api/scalars", {"run": "first", "tag": "none"}), ("/api/trace", {"run": ".."})]:
            status, kind, body = board.ask(path, **parameters)
            check.equal(status, 404, "status of %s %s" % (path, parameters))
            check.contains(kind, "application/json", doing="content type of the error")
            check.that(bool(json.loads(body).get("error")), "the error is told", '{"error": text}', body)
        check.equal(len(board.get("/api/scalars", run="first", tag="loss")), 2, "points of a tag that is there")


@case("PROF-BOARD-003")
def broken_files_are_skipped_with_a_warning(mx, check):
    good = {"traceEvents": operator("dot", 0, 1000)}
    folder = logs(check, dict(FIRST, **{"first/bad.json": '{"traceEvents": [}', "first/bad.jsonl": "no scalar\n",
                                        "first/good.json": good}))
    with serving(check, "--logdir=%s" % folder, "--port=0") as board:
        check.equal(board.get("/api/runs"), ["first"], "runs")
        rows = board.get("/api/trace", run="first")["operators"]
        check.equal([row["name"] for row in rows], ["dot"], "operators of the sound trace")
        check.equal(len(board.get("/api/scalars", run="first", tag="loss")), 2, "points of the sound log")
        board.end()
    for name in ("bad.json", "bad.jsonl"):
        told = [line for line in board.errors.splitlines() if name in line.replace(":", " ").replace("/", " ").split()]
        check.that(bool(told), "a line on stderr names %s" % name, "a warning", board.errors[-600:])


@case("PROF-BOARD-004")
def new_data_is_there_at_the_next_request(mx, check):
    folder = logs(check, FIRST)
    with serving(check, "--logdir=%s" % folder, "--port=0") as board:
        check.equal(len(board.get("/api/scalars", run="first", tag="loss")), 2, "points at first")
        with open(os.path.join(folder, "first", "scalars.jsonl"), "a") as file:
            file.write(json.dumps(scalar("loss", 2, 0.25)) + "\n")
        found = board.get("/api/scalars", run="first", tag="loss")
        check.equal([point[1:] for point in found], [[0, 1.0], [1, 0.5], [2, 0.25]], "points with the one added")
        logs(check, {"late/scalars.jsonl": [scalar("loss", 0, 3.0)]})
        check.equal(board.get("/api/runs"), ["first", "late"], "runs with the one added")


@case("PROF-BOARD-004")
def only_this_machine_is_answered(mx, check):
    with serving(check, "--logdir=%s" % logs(check, FIRST), "--port=0") as board:
        check.equal(board.host, "127.0.0.1", "host in the address")
        for other in _other_addresses():
            try:
                socket.create_connection((other, board.port), timeout=10).close()
            except OSError:
                continue
            check.that(False, "nothing answers at %s" % other, "no connection", "a connection")


@case("PROF-BOARD-004")
def host_can_be_chosen(mx, check):
    with serving(check, "--logdir=%s" % logs(check, FIRST), "--port=0", "--host=0.0.0.0") as board:
        check.equal(board.ask("/api/runs", host="127.0.0.1")[0], 200, "status at 127.0.0.1")
        for other in _other_addresses():
            socket.create_connection((other, board.port), timeout=10).close()
            check.that(True, "something answers at %s" % other)


@case("PROF-BOARD-004")
def sigterm_ends_it_well(mx, check):
    with serving(check, "--logdir=%s" % logs(check, FIRST), "--port=0") as board:
        check.equal(board.get("/api/runs"), ["first"], "runs")
        check.equal(board.end(signal.SIGTERM), 0, "exit code after SIGTERM")


def _other_addresses():
    """Further addresses of this machine: on Linux the whole of 127/8 is its own."""
    found = []
    for address in ("127.0.0.2", socket.gethostname()):
        try:
            with socket.socket() as probe:
                probe.bind((address, 0))
                if probe.getsockname()[0] != "127.0.0.1":
                    found.append(address)
        except OSError:
            continue
    return found
