"""Profiles taken in processes of their own: the profiler is one per process, and some engines let it be used once.

Runs in the engine's interpreter: Python 3.8, standard library and numpy >= 1.17 only.
"""

import json
import re

HEAD = "\nProfile Statistics:\n\tNote the difference in units for different entries.\n"

_START = """
import atexit, json, os, shutil, sys, tempfile, time, warnings
from conformance.suite import kit

profiler = mx.profiler
before = kit.numpy_mode(mx)
if before:
    mx.npx.reset_np()
folder = os.getcwd()
if "CASE_FOLDER" in os.environ:
    folder = os.environ["CASE_FOLDER"]
else:
    folder = tempfile.mkdtemp(prefix="conform-")
    owner = os.getpid()
    atexit.register(lambda: os.getpid() == owner and shutil.rmtree(folder, ignore_errors=True))
os.chdir(folder)

def say(name, value):
    print("=" + json.dumps([name, value]))

def error(function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except BaseException as caught:
        return [[kind.__name__ for kind in type(caught).__mro__], str(caught)]
    return None

def trace(path="trace.json"):
    try:
        with open(path) as file:
            return json.load(file)
    except (OSError, ValueError):
        return None

def statistics(**options):
    return json.loads(profiler.dumps(format="json", **options))

def counts(category="operator"):
    return {name: row["Count"] for name, row in statistics()["Time"].get(category, {}).items()}

def work(name, *arrays):
    getattr(mx.nd, name)(*(arrays or (a,))).wait_to_read()

def run():
    profiler.set_state("run")

def stop():
    mx.nd.waitall()
    profiler.set_state("stop")

a = mx.nd.ones((100, 100))
b = mx.nd.ones((100, 100))
a.wait_to_read()
b.wait_to_read()
mx.nd.waitall()
"""

_KNOWN = {}


def told(check, code, environment=None, folder=None):
    """What *code* says, run in a process of its own: name -> value. The same code runs once for all cases.

    folder: where it works, for a look at what it leaves behind; such code runs every time.
    """
    variables = dict(environment or {})
    if folder is not None:
        variables["CASE_FOLDER"] = folder
    key = (check._engine.prelude(), code, tuple(sorted(variables.items())))
    if key not in _KNOWN:
        _KNOWN[key] = check.python(_START + code, environment=variables, timeout=100)
    status, printed, errors = _KNOWN[key]
    check.equal(status, 0, "exit status of the process, which wrote %s" % errors[-600:])
    return dict(json.loads(line[1:]) for line in printed.splitlines() if line.startswith("=["))


def refused(check, answer, kind, *fragments):
    """An answer of ``error`` tells of an exception of this kind (or a kind of it) whose message has the fragments."""
    check.that(answer is not None, "an exception is raised", kind, "no exception")
    check.that(kind in answer[0], "kind of the exception", kind, "%s: %s" % (answer[0][0], answer[1][:300]))
    for fragment in fragments:
        check.contains(answer[1], fragment, doing="message of the %s" % kind)


def events(document, **wanted):
    """The events of a trace with these fields."""
    return [event for event in document["traceEvents"]
            if all(event.get(name) == value for name, value in wanted.items())]


def sections(table):
    """The text of a statistics table as category -> name -> list of numbers, and category -> column titles."""
    rows, titles, category = {}, {}, None
    lines = table.splitlines()
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if following and set(following) == {"="}:
            category = line
            rows[category] = {}
        elif category is None or not line.strip() or set(line) <= {"=", "-", " "}:
            continue
        elif line.startswith("Name ") and category not in titles:
            titles[category] = re.split(r"\s{3,}", line.strip())
        else:
            width = len(titles[category]) - 1
            words = line.split()
            rows[category][" ".join(words[:-width])] = [float(word) for word in words[-width:]]
    return rows, titles
