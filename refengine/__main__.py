"""``python -m refengine run script.py [arguments]``: run a program that imports ``mxnet`` on the reference engine.

Also ``run -m module [arguments]`` and ``run -c code [arguments]``, as Python itself takes them.
"""

from __future__ import annotations

import os
import runpy
import sys
from typing import NoReturn

USAGE = """\
usage: python -m refengine run SCRIPT.py [ARGUMENT ...]
       python -m refengine run -m MODULE [ARGUMENT ...]
       python -m refengine run -c CODE [ARGUMENT ...]

Run a program in which `import mxnet` gives the reference engine.
"""


def main(arguments: list[str]) -> None:
    """Run what the arguments name, in this process."""
    asked = arguments[1:] if arguments[:1] == ["run"] else arguments
    if asked[:1] in (["-h"], ["--help"]):
        sys.stdout.write(USAGE)
        return
    if len(arguments) < 2 or arguments[0] != "run":
        _refuse("expected `run` and a program")
    from refengine.compat import alias

    alias.install()
    what, *rest = arguments[1:]
    if what == "-m" and rest:
        sys.argv[:] = rest
        sys.path.insert(0, os.getcwd())
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif what == "-c" and rest:
        sys.argv[:] = ["-c", *rest[1:]]
        sys.path.insert(0, "")
        exec(compile(rest[0], "<string>", "exec"), {"__name__": "__main__"})
    elif what.startswith("-"):
        _refuse(f"expected a script, -m MODULE or -c CODE, got {what}")
    elif not os.path.exists(what):
        _refuse(f"no such file: {what}")
    else:
        sys.argv[:] = [what, *rest]
        sys.path.insert(0, os.path.dirname(os.path.abspath(what)))
        runpy.run_path(what, run_name="__main__")


def _refuse(problem: str) -> NoReturn:
    sys.stderr.write(f"{USAGE}\nError: {problem}\n")
    raise SystemExit(2)


if __name__ == "__main__":
    main(sys.argv[1:])
