"""A script that shows one case on one engine without this project: for a bug report, or to step through.

It holds the source of the case, of the building blocks it uses, and of the part of the checker it uses; nothing else is
imported than the engine and numpy. Where something cannot be cut out cleanly, the script carries the whole modules as
text instead, and says so.
"""

from __future__ import annotations

import ast
import importlib.util
import re
import textwrap
import zlib
from pathlib import Path

from conformance.case import Case
from conformance.engine import Engine
from conformance.extract import PLAIN, Entangled, Extract, is_registration, read_source
from conformance.rule import Rule

CHECKER = "conformance.check"

_HEAD = '''\
#!/usr/bin/env python
"""{title}

{statement}
Source of the rule: {source}

Run it with a Python in which `import {module}` works{where}:

    python THIS_FILE

Exit status: 0 the rule holds, 1 it does not, 2 an exception where the rule has none.
"""
'''

_TAIL = '''\

class Engine(object):
    """Tells the checker how a fresh interpreter gets the engine."""

    def prelude(self):
        return {prelude!r}


def main():
    mx = importlib.import_module({module!r})
{setup}    seed = {seed}
    random.seed(seed)
    np.random.seed(seed)
    try:
        mx.random.seed(seed)
    except Exception as error:
        print("mx.random.seed: %s" % error)
    print("%s %s, numpy %s, Python %s" % ({name!r}, getattr(mx, "__version__", "?"), np.__version__,
                                          sys.version.split()[0]))
    check = {check}
    try:
        {call}
    except (Exception, SystemExit) as error:
        traceback.print_exc()
        if type(error).__name__ == "CheckFailed":
            print("FAIL: %s" % error)
            return 1
        print("ERROR: an exception where the rule has none: %s: %s" % (type(error).__name__, error))
        return 2
    finally:
        check.close_down()
    if {raised}:
        print("FAIL: %s (the engine swallowed this failure: it happened inside a callback)" % {raised}[0])
        return 1
    if not check.count:
        print("ERROR: the case observed nothing")
        return 2
    print("PASS: %d observations agree with the rule" % check.count)
    return 0


if __name__ == "__main__":
    sys.exit(main())
'''

_BUNDLE = '''\
# The case could not be cut out on its own ({reason}), so these are the whole modules, as text.
SOURCES = {sources}


class Bundled(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports the modules above."""

    def find_spec(self, name, path=None, target=None):
        if name in SOURCES:
            return importlib.util.spec_from_loader(name, self, is_package=SOURCES[name][0])
        return None

    def exec_module(self, module):
        linecache.cache[module.__name__] = (len(SOURCES[module.__name__][1]), None,
                                            SOURCES[module.__name__][1].splitlines(True), module.__name__)
        exec(compile(SOURCES[module.__name__][1], module.__name__, "exec"), module.__dict__)


sys.meta_path.insert(0, Bundled())
'''

_IMPORTS = ("import importlib", "import os", "import random", "import sys", "import traceback", "import numpy as np")


def script(case: Case, rule: Rule, engine: Engine) -> str:
    """The script, as text. It needs Python 3.8 and numpy, as the engine's own interpreter has them."""
    try:
        return _cut_out(case, rule, engine)
    except Entangled as reason:
        return _bundled(case, rule, engine, str(reason))


def _cut_out(case: Case, rule: Rule, engine: Engine) -> str:
    extract = Extract(case.module)
    function = extract.add(case.module, case.function.__name__)
    samples = _samples(case, extract)
    methods = _methods(extract)
    extract.keep = {"Check": methods}
    extract.add(CHECKER, "Check")
    imports = sorted({*_IMPORTS, *extract.imports}, key=lambda line: ("numpy" in line, line.startswith("from"), line))
    parts = [
        _head(case, rule, engine),
        "\n".join(imports),
        environment(engine),
        _title("the checker, as far as this case uses it"),
        *_spaced(extract.blocks(lambda module: module in PLAIN)),
        _title("building blocks, and the case"),
        *_spaced(extract.blocks(lambda module: module not in PLAIN)),
    ]
    call = f"{function}(mx, check)"
    if samples:
        parts.append(f"SAMPLES = {samples}")
        call = f"{function}(mx, check, **SAMPLES[{case.sample!r}])"
    parts += [_title("running it"), _tail(case, engine, call, "RAISED")]
    return laid_out(parts)


def _samples(case: Case, extract: Extract) -> str:
    """The text of the samples among which the case's own is, or "" if it has none."""
    if case.sample is None:
        return ""
    node = read_source(case.module).definitions[case.function.__name__]
    assert isinstance(node, ast.FunctionDef)
    for decorator in node.decorator_list:
        if not (is_registration(decorator) and isinstance(decorator, ast.Call)):
            continue
        named = [part.value for part in decorator.args if isinstance(part, ast.Constant)]
        given = [keyword.value for keyword in decorator.keywords if keyword.arg == "samples"]
        if case.rule in named and given:
            return extract.expression(case.module, given[0])
    raise Entangled(f"the samples of {case.function.__name__} do not stand at its decorator")


def _methods(extract: Extract) -> set[str]:
    """The methods of the checker that are used, and those that these use."""
    node = read_source(CHECKER).definitions["Check"]
    assert isinstance(node, ast.ClassDef)
    uses = {
        method.name: {part.attr for part in ast.walk(method) if isinstance(part, ast.Attribute)}
        for method in node.body if isinstance(method, ast.FunctionDef)
    }
    wanted: set[str] = set()
    # Arrays have a shape and a dtype too: these two count only where the checker is asked for them.
    common = {"shape", "dtype"} - extract.asked_of_checker
    waiting = [name for name in uses if name in extract.attributes - common] + ["__init__", "close_down"]
    while waiting:
        name = waiting.pop()
        if name not in wanted:
            wanted.add(name)
            waiting += [other for other in uses[name] if other in uses]
    return wanted


def _bundled(case: Case, rule: Rule, engine: Engine, reason: str) -> str:
    names = ["conformance", "conformance.case", "conformance.tolerance", CHECKER, *_needed(case.module)]
    sources = {}
    for name in dict.fromkeys(names):
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        sources[name] = (spec.submodule_search_locations is not None, Path(spec.origin).read_text(encoding="utf-8"))
    listed = ",\n".join(f"{name!r}: {entry!r}" for name, entry in sources.items())
    imports = ("import importlib", "import importlib.abc", "import importlib.util", "import linecache", *_IMPORTS[1:])
    start = (f"from conformance.case import REGISTRY\nfrom conformance.check import Check\n"
             f"importlib.import_module({case.module!r})")
    parts = [
        _head(case, rule, engine), "\n".join(imports), environment(engine),
        _BUNDLE.format(reason=reason, sources="{\n" + listed + "\n}"), start,
        _tail(case, engine, f"REGISTRY[{case.id!r}].run(mx, check)", "sys.modules['conformance.check'].RAISED"),
    ]
    return laid_out(parts)


def _needed(module: str) -> list[str]:
    """The module, the packages around it, and the modules of the suite that it imports, all the way down."""
    found: list[str] = []
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.append(name)
        waiting += [name.rpartition(".")[0]] if "." in name else []
        for _, other, member in read_source(name).imports.values():
            if other.partition(".")[0] == "conformance":
                inner = f"{other}.{member}"
                try:
                    is_module = bool(member) and importlib.util.find_spec(inner) is not None
                except ModuleNotFoundError:
                    is_module = False
                waiting += [other, *([inner] if is_module else [])]
    return found


def _head(case: Case, rule: Rule, engine: Engine) -> str:
    def clean(text: str) -> str:
        return text.replace("\\", "\\\\").replace('"""', "'''")

    where = f" (for example after `pip install {' '.join(engine.requirements)}`)" if engine.requirements else ""
    return _HEAD.format(
        title=clean(f"{case.id} on {engine.name}"), source=clean(rule.source), module=engine.module, where=where,
        statement=clean(textwrap.fill(f"{rule.id} ({rule.level}): {rule.statement}", 110)),
    )


def environment(engine: Engine) -> str:
    """Lines that set what the engine's process must have in its environment and on its path."""
    lines = [f"os.environ.setdefault({name!r}, {value!r})" for name, value in engine.env.items()]
    lines += [f"sys.path.append({folder!r})" for folder in engine.path]
    return "\n".join(lines)


def _tail(case: Case, engine: Engine, call: str, raised: str) -> str:
    check = f"Check({case.id!r}, Engine())"
    prelude = f"import importlib, os\nimport numpy as np\nmx = importlib.import_module({engine.module!r})\n"
    prelude += engine.setup
    setup = textwrap.indent(engine.setup.rstrip() + "\n", "    ") if engine.setup else ""
    return _TAIL.format(raised=raised, prelude=prelude, module=engine.module, setup=setup, name=engine.name, call=call,
                        check=check, seed=zlib.crc32(case.id.encode()) & 0x7FFFFFFF)


def _title(text: str) -> str:
    return f"\n# {text} " + "-" * max(4, 110 - len(text))


def _spaced(blocks: list[str]) -> list[str]:
    """Blank lines above definitions, and no remarks that are for this project's own tools."""
    plain = [re.sub(r"  # (noqa|type): .*", "", block) for block in blocks]
    return ["\n" + block if block.startswith(("def ", "class ", "@")) else block for block in plain]


def laid_out(parts: list[str]) -> str:
    """The parts with one or two blank lines between them."""
    return re.sub(r"\n{4,}", "\n\n\n", "\n\n".join(part.rstrip("\n") for part in parts if part)) + "\n"
