"""Mutants of PROF-DUMPS: statistics as a table and as JSON."""

import json

from conformance.mutants import mutant
from conformance.mutants.profiler_settings import function


def changed(mx, change, **when):
    """Have ``dumps`` give ``change(text)`` for calls with these options."""
    def body(original, *args, **options):
        text = original(*args, **options)
        fits = not args and all(options.get(name) == value for name, value in when.items())
        return change(text) if fits else text

    function(mx, "dumps", body)


@mutant("PROF-DUMPS-001")
def statistics_are_always_kept(mx):
    function(mx, "set_config", lambda original, **settings: original(
        **dict(settings, aggregate_stats=settings.get("aggregate_stats", settings.get("profile_all", False)))))


@mutant("PROF-DUMPS-002")
def table_tells_averages_as_totals(mx):
    def change(text):
        lines = []
        for line in text.split("\n"):
            words = line.split()
            if len(words) == 6 and words[0] == "dot":
                line = "%-25s%16s%17s%17s%17s%17s" % (words[0], words[1], words[5], words[3], words[4], words[5])
            lines.append(line)
        return "\n".join(lines)

    changed(mx, change, format=None)


@mutant("PROF-DUMPS-003")
def kilobytes_have_1024_bytes(mx):
    def change(text):
        document = json.loads(text)
        for rows in document["Memory"].values():
            for row in rows.values():
                for name in ("Min", "Max", "Avg"):
                    row[name] = row[name] / 1.024
        return json.dumps(document)

    changed(mx, change, format="json")


@mutant("PROF-DUMPS-004")
def other_formats_are_tables(mx):
    def body(original, reset=False, format="table", *args, **options):
        return original(reset, "table" if format == "xml" else format, *args, **options)

    function(mx, "dumps", body)


@mutant("PROF-DUMPS-005")
def json_tells_seconds(mx):
    def change(text):
        document = json.loads(text)
        document["Unit"]["Time"] = "s"
        return json.dumps(document)

    changed(mx, change, format="json")


@mutant("PROF-DUMPS-006")
def order_is_always_the_same(mx):
    def body(original, reset=False, format="table", sort_by="total", ascending=False):
        if ascending is True:
            ascending = False
        return original(reset, format, sort_by, ascending)

    function(mx, "dumps", body)


@mutant("PROF-DUMPS-007")
def reset_is_ignored(mx):
    def body(original, *args, **options):
        if options == {"reset": True}:
            options = {}
        return original(*args, **options)

    function(mx, "dumps", body)


@mutant("PROF-DUMPS-008")
def dump_of_nothing_is_silent(mx):
    configured = []

    def configure(original, **settings):
        configured.append(settings)
        return original(**settings)

    function(mx, "set_config", configure)
    function(mx, "dump", lambda original, *args, **kwargs: original(*args, **kwargs) if configured else None)


@mutant("PROF-DUMPS-009")
def nothing_is_shown_before_the_first_run(mx):
    ran = []

    def state(original, state="stop", *args, **kwargs):
        result = original(state, *args, **kwargs)
        if state == "run":
            ran.append(True)
        return result

    function(mx, "set_state", state)
    function(mx, "dumps", lambda original, *args, **options:
             original(*args, **options) if ran or args or options else "")
