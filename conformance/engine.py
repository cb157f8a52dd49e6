"""Engines: what is being tested, and the table that knows them.

An engine reaches a run in one of four ways, tried in this order: an entry of the file given by ``--engines-file``, an
entry of the built-in ``engines.toml``, an entry point of the group ``gluon_conformance.engines``, or simply the dotted
name of a module that the harness's interpreter can import.
"""

from __future__ import annotations

import difflib
import importlib.metadata
import importlib.util
import os
import re
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from conformance.errors import UsageFault

ENTRY_POINTS = "gluon_conformance.engines"
BUILT_IN = Path(__file__).with_name("engines.toml")

#: Every capability that a rule or a case may need: name -> what an engine with it can do.
CAPABILITIES: dict[str, str] = {
    "sparse": "row_sparse and csr storage: arrays, operators, parameters and stores",
    "dist": "a distributed store: scheduler, servers and workers in processes of their own",
    "gpu": "at least one gpu device that is present and usable",
    "multi_gpu": "at least two gpu devices that are present and usable",
    "float16": "float16 arithmetic on the cpu",
    "onednn": "kernels of oneDNN (MKL-DNN) on the cpu",
    "symbol": "symbolic graphs: mx.sym, export and SymbolBlock",
    "plot": "drawings of graphs: mx.viz, and the Python package graphviz is there",
    "compression": "gradient compression of a store",
    "numpy_mode": "the numpy front ends mx.np and mx.npx and the switch between the two modes",
    "control": "control-flow operators: foreach, while_loop, cond",
    "amp": "automatic mixed precision",
    "quantization": "8-bit quantisation of a trained network",
    "recordio": "RecordIO files and the iterators over them",
    "image": "decoding and augmenting images",
    "profiler": "mx.profiler",
    "board": "the program mxnet-board: a console script of the engine's distribution, or `python -m PACKAGE.board`",
    "onnx": "reading and writing ONNX models",
    "horovod": "a horovod store",
    "byteps": "a byteps store",
}

#: What a module that declares nothing is taken to be able to do: all that needs no hardware and no third package.
ASSUMED = frozenset(CAPABILITIES) - {"board", "plot", "gpu", "multi_gpu", "dist", "onednn", "onnx", "horovod",
                                       "byteps"}

#: How an engine is asked for what depends on the machine: capability -> expression over ``mx``.
DETECTED: dict[str, str] = {
    "gpu": "mx.context.num_gpus() >= 1",
    "multi_gpu": "mx.context.num_gpus() >= 2",
    "onednn": "any(f.enabled for f in mx.runtime.feature_list() if f.name in ('MKLDNN', 'ONEDNN'))",
    "plot": "hasattr(mx, 'viz') and __import__('importlib.util').util.find_spec('graphviz') is not None",
}

_FIELDS = {
    "module", "interpreter", "requirements", "python", "env", "setup", "capabilities", "missing", "detect", "timeouts",
    "inventory", "path", "exec", "suite", "doc",
}


#: No wait is longer: the clocks of some calls overflow at large numbers.
MOST_SECONDS = 1e7


@dataclass(frozen=True)
class Timeouts:
    """Seconds: to import the engine and the suite, and for one case that states none itself."""

    start: float = 120.0
    case: float = 30.0


@dataclass(frozen=True)
class Engine:
    """One engine, as the table describes it.

    interpreter: command of its Python, None for the harness's own;  requirements, python: what to install where there
    is no interpreter yet, and the Python versions ("3.11", ...) that it runs on, best first;  env: variables for its
    process;  setup: Python run after the import with ``mx`` bound;  path: folders to import from;  capabilities:
    None if the engine declares nothing;  missing: capability -> why this engine is known to lack it;  detect:
    capability -> expression that tells whether it is there;  inventory: key of ``releases`` that its results are held
    against;  exec: arguments that make its interpreter run a script in which ``mxnet`` is this engine;  engines_file:
    the file given by ``--engines-file`` that names it.
    """

    name: str
    module: str
    doc: str = ""
    interpreter: str | None = None
    requirements: tuple[str, ...] = ()
    python: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    setup: str = ""
    path: tuple[str, ...] = ()
    capabilities: frozenset[str] | None = None
    missing: Mapping[str, str] = field(default_factory=dict)
    detect: Mapping[str, str] = field(default_factory=lambda: dict(DETECTED))
    timeouts: Timeouts = Timeouts()
    inventory: str | None = None
    exec: tuple[str, ...] = ()
    origin: str = "built in"
    engines_file: Path | None = None

    @property
    def own_environment(self) -> bool:
        """True if an environment has to be made for it."""
        return self.interpreter is None and bool(self.requirements)

    @property
    def file_name(self) -> str:
        """Its name as the stem of a file."""
        return re.sub(r"[^A-Za-z0-9._-]+", "-", self.name)

    def able(self, declared: Mapping[str, Any], detected: Mapping[str, bool]) -> frozenset[str]:
        """What it can do: declared in the table or by the engine itself, and what was found on this machine."""
        stated = self.capabilities
        if stated is None and "capabilities" in declared:
            stated = frozenset(str(name) for name in declared["capabilities"])
        found = ASSUMED if stated is None else stated
        present = {name for name, there in detected.items() if there}
        absent = {name for name, there in detected.items() if not there} | set(self.missing)
        return frozenset((found | present) - absent)


def read_engines(path: Path, origin: str) -> dict[str, Engine]:
    """Read a table of engines; raises :class:`UsageFault` that names the file and the faulty key."""
    try:
        with path.open("rb") as stream:
            document = tomllib.load(stream)
    except FileNotFoundError:
        raise UsageFault(f"engines file not found: {path}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageFault(f"{path}: not a TOML file: {error}") from None
    table = document.pop("engines", None)
    if not isinstance(table, dict) or document:
        stray = f"; remove {', '.join(sorted(document))}" if document else ""
        raise UsageFault(f"{path}: expected tables [engines.NAME] and nothing else{stray}")
    return {name: _engine(name, entry, path, origin) for name, entry in table.items()}


def _engine(name: str, entry: Any, path: Path, origin: str) -> Engine:
    where = f"{path}: [engines.{name}]"
    if not isinstance(entry, dict):
        raise UsageFault(f"{where}: expected a table, got {entry!r}")
    for key in entry:
        if key not in _FIELDS:
            near = difflib.get_close_matches(key, _FIELDS, 1)
            hint = f"Did you mean {near[0]!r}?" if near else f"Known keys: {', '.join(sorted(_FIELDS))}."
            raise UsageFault(f"{where}: unknown key {key!r}", hint)
    if not isinstance(entry.get("module"), str):
        raise UsageFault(f"{where}: `module` is needed: the name under which the engine is imported")
    for key in ("requirements", "python", "path", "capabilities", "exec"):
        _expect(where, entry, key, list, str)
    for key in ("env", "missing", "detect"):
        _expect(where, entry, key, dict, str)
    for key in ("interpreter", "setup", "inventory", "doc"):
        if key in entry and not isinstance(entry[key], str):
            raise UsageFault(f"{where}: {key}: expected a string, got {entry[key]!r}")
    for key in ("capabilities", "missing", "detect"):
        _known_capabilities(where, key, entry.get(key, ()))
    if entry.get("interpreter") and entry.get("requirements"):
        raise UsageFault(f"{where}: give `interpreter` or `requirements`, not both")
    return Engine(
        name=name,
        module=entry["module"],
        doc=entry.get("doc", ""),
        interpreter=_resolved(entry["interpreter"], path) if entry.get("interpreter") else None,
        requirements=tuple(entry.get("requirements", ())),
        python=tuple(entry.get("python", ())),
        env=dict(entry.get("env", {})),
        setup=entry.get("setup", ""),
        path=tuple(str((path.parent / folder).resolve()) for folder in entry.get("path", ())),
        capabilities=frozenset(entry["capabilities"]) if "capabilities" in entry else None,
        missing=dict(entry.get("missing", {})),
        detect={**DETECTED, **entry.get("detect", {})},
        timeouts=_timeouts(where, entry.get("timeouts", {})),
        inventory=entry.get("inventory"),
        exec=tuple(entry.get("exec", ())),
        origin=origin,
    )


def _expect(where: str, entry: Mapping[str, Any], key: str, kind: type, inner: type) -> None:
    value = entry.get(key, kind())
    items = value.values() if isinstance(value, dict) else value
    if not isinstance(value, kind) or not all(isinstance(item, inner) for item in items):
        raise UsageFault(f"{where}: {key}: expected a {kind.__name__} of {inner.__name__}, got {value!r}")


def _known_capabilities(where: str, key: str, names: Any) -> None:
    for name in names:
        if name not in CAPABILITIES:
            near = difflib.get_close_matches(name, CAPABILITIES, 1)
            hint = f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(CAPABILITIES)}."
            raise UsageFault(f"{where}: {key}: unknown capability {name!r}", hint)


def _timeouts(where: str, entry: Any) -> Timeouts:
    if not isinstance(entry, dict) or set(entry) - {"start", "case"}:
        raise UsageFault(f"{where}: timeouts: expected {{start = seconds, case = seconds}}, got {entry!r}")
    for key, value in entry.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= MOST_SECONDS:
            raise UsageFault(f"{where}: timeouts.{key}: expected a number of seconds above 0 and at most "
                             f"{MOST_SECONDS:.0f}, got {value!r}")
    return replace(Timeouts(), **{key: float(value) for key, value in entry.items()})


def _resolved(interpreter: str, path: Path) -> str:
    """A bare command is looked up on PATH; anything with a slash is relative to the file that names it."""
    expanded = os.path.expanduser(interpreter)
    return str((path.parent / expanded).absolute()) if os.sep in expanded else expanded


def known_engines(engines_file: Path | None = None) -> dict[str, Engine]:
    """All engines by name: the built-in table, entry points, and the given file, which wins over both."""
    found: dict[str, Engine] = {}
    for entry in importlib.metadata.entry_points(group=ENTRY_POINTS):
        module = entry.value.partition(":")[0]
        origin = f"entry point of {entry.dist.name}" if entry.dist is not None else "entry point"
        found[entry.name] = Engine(name=entry.name, module=module, origin=origin)
    found.update(read_engines(BUILT_IN, "built in"))
    if engines_file is not None:
        given = read_engines(engines_file, str(engines_file))
        found.update({name: replace(engine, engines_file=engines_file) for name, engine in given.items()})
    return found


def find_engine(name: str, engines_file: Path | None = None) -> Engine:
    """The engine of that name, or one for the importable module of that name; else :class:`UsageFault`."""
    known = known_engines(engines_file)
    if name in known:
        return known[name]
    if re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", name) and _importable(name):
        return Engine(name=name, module=name, origin="module")
    near = difflib.get_close_matches(name, known, 1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    raise UsageFault(
        f"unknown engine {name!r}: neither in the table ({', '.join(sorted(known))}) nor an importable module",
        f"{hint}See `conform engines`, or name a module that this interpreter ({sys.executable}) can import.",
    )


def _importable(name: str) -> bool:
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # `--engine package.module` may name what lies in the current folder
    try:
        return importlib.util.find_spec(name.partition(".")[0]) is not None
    except (ImportError, ValueError):
        return False
