"""An environment for an engine: a virtual environment with its pinned requirements, made once and kept.

It is built in a folder of its own and renamed into place when it is complete, so a build that is cut off leaves nothing
that looks usable; a lock keeps two runs from building the same one. The folder's name carries a digest of what was
asked for: other requirements make another environment.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import platformdirs
from filelock import FileLock, Timeout

from conformance.engine import Engine
from conformance.engines.interpreters import Interpreter, find_interpreter
from conformance.errors import EngineFault

#: Overrides the user's cache directory.
FOLDER_VARIABLE = "GLUON_CONFORMANCE_ENGINES_DIR"

MARKER = "environment.json"
BUILD_SECONDS = 1200.0

Report = Callable[[str], None]

_NO_NETWORK = (
    "failed to establish a new connection", "temporary failure in name resolution", "name or service not known",
    "network is unreachable", "connection timed out", "no route to host", "connection refused", "read timed out",
    "getaddrinfo failed", "proxyerror", "connecttimeouterror", "nodename nor servname",
)


def environments_folder() -> Path:
    """Where environments are kept."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    return Path(chosen) if chosen else platformdirs.user_cache_path("gluon-conformance") / "engines"


def environment_folder(engine: Engine) -> Path:
    """The folder of this engine's environment, whether it has been built or not."""
    asked = json.dumps([sorted(engine.requirements), list(engine.python), sys.platform])
    return environments_folder() / f"{engine.file_name}-{hashlib.sha256(asked.encode()).hexdigest()[:12]}"


def installed_interpreter(engine: Engine) -> str | None:
    """The Python of an environment that is complete and still starts, else None.

    It stops starting when the Python that it was made from is removed.
    """
    folder = environment_folder(engine)
    python = folder / "bin" / "python"
    if not (folder / MARKER).is_file() or not os.access(python, os.X_OK):
        return None
    try:
        done = subprocess.run([str(python), "-I", "-c", ""], timeout=30, check=False, capture_output=True)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return str(python) if done.returncode == 0 else None


def interpreter_for(engine: Engine, report: Report = lambda line: None) -> str:
    """The Python to run the engine with; builds its environment if it needs one that is not there yet.

    report: called with a line of text when something takes time.  Raises EngineFault with what to do.
    """
    if engine.interpreter is not None:
        found = shutil.which(os.path.expanduser(engine.interpreter))
        if found is None:
            raise EngineFault(f"the interpreter of engine {engine.name} does not exist: {engine.interpreter}",
                              "Correct `interpreter` in the engine's table entry.")
        return os.path.abspath(found)
    if not engine.requirements:
        return sys.executable
    return installed_interpreter(engine) or _build_locked(engine, report)


def remove(engine: Engine) -> bool:
    """Remove the engine's environment; True if there was one."""
    folder = environment_folder(engine)
    if not folder.exists():
        return False
    with FileLock(f"{folder}.lock"):
        shutil.rmtree(folder)
    return True


def _build_locked(engine: Engine, report: Report) -> str:
    folder = environment_folder(engine)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(f"{folder}.lock")
        try:
            lock.acquire(timeout=0.1)
        except Timeout:
            report(f"{engine.name}: another run is building its environment; waiting for it")
            lock.acquire(timeout=BUILD_SECONDS)
    except Timeout:
        raise EngineFault(f"another run has held {folder}.lock for {BUILD_SECONDS:g} s",
                          "End that run, or remove the lock if nothing holds it.") from None
    except OSError as error:
        raise EngineFault(f"the folder of engine environments cannot be used: {folder.parent}: {error.strerror}",
                          f"Set {FOLDER_VARIABLE} to a folder that you may write to.") from None
    try:
        return installed_interpreter(engine) or _build(engine, folder, report)
    finally:
        lock.release()


def _build(engine: Engine, folder: Path, report: Report) -> str:
    base = find_interpreter(engine.python or (f"{sys.version_info[0]}.{sys.version_info[1]}",))
    if base is None:
        raise EngineFault(
            f"engine {engine.name} needs a 64-bit Python {' or '.join(engine.python)}, and none was found: not among "
            "the running interpreter, python3.x on PATH, and the versions of pyenv",
            "Install one of them (for example `pyenv install 3.11` or your system's python3.11 and python3.11-venv), "
            f"or give an interpreter that has {' and '.join(engine.requirements)} in an --engines-file.",
        )
    report(f"{engine.name}: making its environment with Python {base.version} in {folder} (once per machine)")
    work = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        python = _virtual_environment(engine, base, work)
        report(f"{engine.name}: installing {' '.join(engine.requirements)}")
        _install(engine, python, work)
        _try_import(engine, python)
        marker = {"requirements": list(engine.requirements), "python": base.version, "base": base.path}
        (work / MARKER).write_text(json.dumps(marker, indent=2) + "\n")
        if folder.exists():  # complete once, but its Python no longer starts
            shutil.rmtree(folder)
        os.rename(work, folder)
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise
    return str(folder / "bin" / "python")


def _virtual_environment(engine: Engine, base: Interpreter, work: Path) -> Path:
    # Without pip: seconds faster, and Debian splits ensurepip from Python.
    made = _run([base.path, "-m", "venv", "--without-pip", str(work)])
    if made.returncode != 0:
        raise EngineFault(
            f"engine {engine.name}: Python {base.version} at {base.path} cannot make a virtual environment",
            f"Install its venv module (on Debian and Ubuntu: python{base.minor}-venv).", _tail(made),
        )
    return work / "bin" / "python"


def _pip(engine: Engine, python: Path) -> list[str]:
    """The command of a pip that can install there: the harness's own, or one that the interpreter brings along.

    The harness's may be missing, or too new for an old interpreter: it runs itself in the other one.
    """
    ours = [sys.executable, "-m", "pip", "--python", str(python)]
    if _run([*ours, "--version"]).returncode == 0:
        return ours
    made = _run([str(python), "-m", "ensurepip"])
    if made.returncode != 0:
        raise EngineFault(
            f"engine {engine.name}: no pip for {python}: neither the harness's nor ensurepip's works",
            "Install pip where `conform` runs, or ensurepip for that Python (on Debian and Ubuntu: python3.x-venv).",
            _tail(made),
        )
    return [str(python), "-m", "pip"]


def _install(engine: Engine, python: Path, work: Path) -> None:
    options = ["--no-input", "--disable-pip-version-check", "--retries", "2"]
    done = _run([*_pip(engine, python), "install", *options, *engine.requirements])
    if done.returncode == 0:
        return
    printed = done.stdout + done.stderr
    if any(sign in printed.lower() for sign in _NO_NETWORK):
        raise EngineFault(
            f"engine {engine.name}: {' and '.join(engine.requirements)} could not be fetched: no connection to the "
            "package index",
            "Connect to the network (or set PIP_INDEX_URL to an index that you can reach) and run again; once built, "
            f"the environment in {work.parent} is used without a network.", _tail(done),
        )
    raise EngineFault(
        f"engine {engine.name}: pip could not install {' and '.join(engine.requirements)}",
        "Read pip's message above; the package may not exist for this system or this Python.", _tail(done),
    )


def _try_import(engine: Engine, python: Path) -> None:
    environment = {**os.environ, **engine.env}
    done = _run([str(python), "-c", f"import {engine.module}"], environment)
    if done.returncode != 0:
        raise EngineFault(
            f"engine {engine.name}: installed, but `import {engine.module}` fails", details=_tail(done),
            hint="A C runtime of the system may be missing (Debian, Ubuntu: libgomp1, libquadmath0, libgfortran5).",
        )


def _run(command: list[str], environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    variables = dict(os.environ if environment is None else environment)
    for name in ("PYTHONPATH", "PYTHONHOME", "PIP_TARGET", "PIP_PREFIX", "PIP_USER", "VIRTUAL_ENV"):
        variables.pop(name, None)
    try:
        return subprocess.run(command, capture_output=True, text=True, env=variables, timeout=BUILD_SECONDS,
                              check=False, stdin=subprocess.DEVNULL, errors="replace")
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", f"no end after {BUILD_SECONDS:g} s")
    except OSError as error:
        return subprocess.CompletedProcess(command, 127, "", str(error))


def _tail(done: subprocess.CompletedProcess[str], lines: int = 15) -> str:
    printed = (done.stdout + "\n" + done.stderr).strip().splitlines()
    return "\n".join("  | " + line for line in printed[-lines:])
