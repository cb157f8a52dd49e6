"""The program ``mxnet-board`` of the engine that is tested, in a process of its own.

It is the console script of that name in the engine's own distribution, or else ``python -m PACKAGE.board``.

Runs in the engine's interpreter: Python 3.8, standard library and numpy >= 1.17 only.
"""

import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import urllib.parse

_PROGRAM = """
import runpy, sys
def program():
    from importlib.metadata import entry_points
    top, found = mx.__name__.partition(".")[0], entry_points()
    for script in found.select(group="console_scripts") if hasattr(found, "select") else found["console_scripts"]:
        if script.name == "mxnet-board" and script.value.partition(":")[0].partition(".")[0] == top:
            return script.load()
    return lambda: runpy.run_module(top + ".board", run_name="__main__")
sys.argv[:] = ["mxnet-board"] + sys.argv[1:]
sys.exit(program()())
"""

SECONDS = 25


def start(check, arguments, folder=None):
    """The running program; whoever starts it sees to its end."""
    command = [sys.executable, "-c", check._engine.prelude() + _PROGRAM] + list(arguments)
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    if folder is not None:
        # What a relative entry of the path means must not change with the folder.
        variables["PYTHONPATH"] = os.pathsep.join(os.path.abspath(part) for part in sys.path)
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
                            cwd=folder, env=variables)


def outcome(check, arguments, folder=None):
    """Exit code, stdout and stderr of a call that is expected to end by itself."""
    process = start(check, arguments, folder)
    try:
        printed, errors = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        printed, errors = process.communicate()
        check.that(False, "the program ends by itself", "an exit code", "it runs on and printed %r" % printed)
    return process.returncode, printed, errors


class Served(object):
    """The running program: ``address`` as it printed it, ``get``, and ``end``, after which ``errors`` is its stderr."""

    def __init__(self, check, process):
        self.check, self.process = check, process
        self.errors = None
        watch = threading.Timer(SECONDS, process.kill)
        watch.start()
        try:
            self.address = process.stdout.readline().strip()
        finally:
            watch.cancel()
        found = re.match(r"http://(.+):(\d+)$", self.address)
        if found is None:
            process.kill()
            check.that(False, "first line on stdout", "http://HOST:PORT",
                       "%r; stderr: %s" % (self.address, process.communicate()[1][-600:]))
        self.host, self.port = (found.group(1), int(found.group(2))) if found else ("", 0)

    def ask(self, path, host=None, **parameters):
        """Status, content type and body of a page."""
        connection = http.client.HTTPConnection(host or self.host, self.port, timeout=SECONDS)
        try:
            query = "?" + urllib.parse.urlencode(parameters) if parameters else ""
            connection.request("GET", path + query)
            answer = connection.getresponse()
            return answer.status, answer.getheader("Content-Type", ""), answer.read().decode("utf-8")
        finally:
            connection.close()

    def get(self, path, **parameters):
        """The JSON value of a page that is there."""
        status, kind, body = self.ask(path, **parameters)
        self.check.equal(status, 200, "status of %s %s, which answers %s" % (path, parameters, body[:300]))
        self.check.contains(kind, "application/json", doing="content type of %s" % path)
        return json.loads(body)

    def end(self, number=signal.SIGTERM):
        """Send a signal; the exit code."""
        self.process.send_signal(number)
        try:
            _, self.errors = self.process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            self.check.that(False, "the program ends after a signal", "an exit code", "it runs on")
        return self.process.returncode


@contextlib.contextmanager
def serving(check, *arguments, **options):
    """The program, started with these arguments; ended at the end of the block in any case."""
    process = start(check, arguments, options.get("folder"))
    try:
        yield Served(check, process)
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


def logs(check, files):
    """A folder with files: path -> a text, a list of lines for JSON, or a JSON value."""
    folder = check.path("logs")
    for name, content in files.items():
        path = os.path.join(folder, *name.split("/"))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if isinstance(content, list):
            content = "".join(json.dumps(line) + "\n" for line in content)
        elif not isinstance(content, str):
            content = json.dumps(content)
        with open(path, "w") as file:
            file.write(content)
    os.makedirs(folder, exist_ok=True)
    return folder


def scalar(tag, step, value, wall_time=1700000000.0):
    """One line of a scalar log."""
    return {"tag": tag, "step": step, "value": value, "wall_time": wall_time}


def operator(name, start, end, **more):
    """The two events of an operator that took from *start* to *end*, in microseconds."""
    event = dict({"name": name, "cat": "operator", "pid": 0, "tid": 1}, **more)
    return [dict(event, ph="B", ts=start), dict(event, ph="E", ts=end)]
