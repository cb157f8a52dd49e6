"""Mutants of PROF-TRACE and PROF-OBJ: the trace file, and what a program puts into it."""

import atexit
import json
import os

from conformance.mutants import mutant, wrap
from conformance.mutants.profiler_settings import function


def traced(mx, change):
    """Have the finished trace be ``change(document)``; None keeps no file."""
    names = ["profile.json"]

    def configure(original, **settings):
        names.append(settings.get("filename", "profile.json"))
        return original(**settings)

    def dump(original, finished=True, *args, **kwargs):
        result = original(finished, *args, **kwargs)
        if finished:
            with open(names[-1]) as file:
                document = json.load(file)
            with open(names[-1], "w") as file:
                json.dump(change(document), file)
        return result

    function(mx, "set_config", configure)
    function(mx, "dump", dump)


def each_event(mx, change):
    """Have ``change(event)`` alter every event of the trace in place."""
    def all_of_them(document):
        for event in document["traceEvents"]:
            change(event)
        return document

    traced(mx, all_of_them)


@mutant("PROF-TRACE-001")
def trace_is_in_nanoseconds(mx):
    traced(mx, lambda document: dict(document, displayTimeUnit="ns"))


@mutant("PROF-TRACE-002")
def devices_have_no_names(mx):
    def change(event):
        if event["ph"] == "M" and event["args"]["name"] == "cpu/1":
            event["args"]["name"] = "device 1"

    each_event(mx, change)


@mutant("PROF-TRACE-003")
def ends_of_operators_are_lost(mx):
    traced(mx, lambda document: dict(document, traceEvents=[
        event for event in document["traceEvents"] if event["ph"] != "E" or event["cat"] != "operator"]))


@mutant("PROF-TRACE-004")
def memory_is_counted_in_kilobytes(mx):
    def change(event):
        if event["ph"] == "C" and event["cat"] == "Device Storage":
            event["args"] = {name: value / 1000 for name, value in event["args"].items()}

    each_event(mx, change)


@mutant("PROF-TRACE-005")
def second_dump_is_silent(mx):
    finished = []

    def body(original, *args, **kwargs):
        if finished:
            return None
        result = original(*args, **kwargs)
        if not args and not kwargs:
            finished.append(True)
        return result

    function(mx, "dump", body)


@mutant("PROF-TRACE-007")
def end_of_the_program_loses_the_trace(mx):
    names, dumped = [], []

    def configure(original, **settings):
        names.append(os.path.abspath(settings.get("filename", "profile.json")))
        return original(**settings)

    def dump(original, finished=True, *args, **kwargs):
        dumped.append(finished)
        return original(finished, *args, **kwargs)

    def lose():
        if names and True not in dumped:
            function_of_engine(False)
            os.remove(names[-1])
            os._exit(0)

    function_of_engine = mx.profiler.dump
    function(mx, "set_config", configure)
    function(mx, "dump", dump)
    atexit.register(lose)


@mutant("PROF-OBJ-001")
def task_has_another_name(mx):
    wrap(mx.profiler.Domain, "new_task", lambda original: lambda self, name: original(self, name.upper()))


@mutant("PROF-OBJ-002")
def frame_does_not_end(mx):
    wrap(mx.profiler.Frame, "stop", lambda original: lambda self: None)


@mutant("PROF-OBJ-003")
def counter_counts_by_one(mx):
    wrap(mx.profiler.Counter, "increment", lambda original: lambda self, delta=1: original(self, min(delta, 1)))


@mutant("PROF-OBJ-006")
def marker_reaches_everywhere(mx):
    wrap(mx.profiler.Marker, "mark", lambda original: lambda self, scope="process":
         original(self, "global" if scope == "thread" else scope))
