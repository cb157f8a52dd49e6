"""``python -m refengine run script.py [arguments]``: run a program that imports ``mxnet`` on the reference engine.

Also ``run -m module [arguments]`` and ``run -c code [arguments]``, as Python itself takes them.
"""

from __future__ import annotations

import importlib.util
import os
import pkgutil
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
        _check_module(rest[0])
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
        importer = pkgutil.get_importer(what)
        if importer is not None and not importer.find_spec("__main__"):
            _fail(f"no __main__.py in {what}")
        sys.argv[:] = [what, *rest]
        sys.path.insert(0, os.path.dirname(os.path.abspath(what)))
        runpy.run_path(what, run_name="__main__")


def _check_module(name: str) -> None:
    """Whether Python can run a module of this name; else one line says why not, with the exit code of Python itself.

    An error inside a package that is imported on the way to the module is the program's own, and passes as it is.
    """
    if name.startswith("."):
        _fail(f"relative module names are not supported: {name}")
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
            if spec is None:
                _fail(f"no module named {name}.__main__: {name} is a package and cannot be run by itself")
    except ImportError as error:
        missing = error.name
        if missing is None or (missing != name and not name.startswith(missing + ".")):
            raise
        _no_module(name, error)
    except (AttributeError, TypeError, ValueError) as error:
        _no_module(name, error)
    if spec is None:
        _no_module(name)
    if spec.loader is None or getattr(spec.loader, "get_code", lambda _: None)(name) is None:
        _fail(f"no code to run in the module {name}")


def _no_module(name: str, error: Exception | None = None) -> NoReturn:
    if name.endswith(".py"):
        detail = f"; to run a file, leave out -m: run {name}"
    else:
        detail = "" if error is None or str(error) == f"No module named {name!r}" else f": {error}"
    shown = name or "''"
    _fail(f"no module named {shown}{detail}")


def _fail(problem: str) -> NoReturn:
    sys.stderr.write(f"Error: {problem}\n")
    raise SystemExit(1)


def _refuse(problem: str) -> NoReturn:
    sys.stderr.write(f"{USAGE}\nError: {problem}\n")
    raise SystemExit(2)


if __name__ == "__main__":
    main(sys.argv[1:])
