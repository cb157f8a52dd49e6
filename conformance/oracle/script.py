"""A short stand-alone script for a program that two engines answer differently, which says what an engine does."""

from __future__ import annotations

import re
import textwrap

from conformance.engine import Engine
from conformance.oracle.expected import AS_SHOWN, Expected, expected
from conformance.oracle.program import Program
from conformance.oracle.session import Finding
from conformance.reproduce import environment, laid_out

_HEAD = '''\
#!/usr/bin/env python
"""{title}

{first}
{second}
{verdict}

Run it with a Python in which the engine can be imported:

    python THIS_FILE {modules}

Exit status: {status}
"""
'''

_LOOK = '''\
def look(value):
    """What kind of array, its element type, shape, elements and storage; anything else as Python writes it."""
    kind, stype = "array" if hasattr(value, "asnumpy") else type(value).__name__, getattr(value, "stype", "default")
    value = value.asnumpy() if kind == "array" else value
    if isinstance(value, (np.ndarray, np.generic, float)):
        value = np.asarray(value)
        return (kind if kind in ("array", "float") else "numpy"), value.dtype.name, value.shape, value.tolist(), stype
    if isinstance(value, (list, tuple)):
        return [look(item) for item in value]
    return repr(value) if isinstance(value, (bool, int, str, bytes, type, slice, type(None))) else kind


def same(one, two):
    """Whether two engines do the same here."""
    if isinstance(one, list) or isinstance(two, list):
        return type(one) is type(two) and len(one) == len(two) and all(map(same, one, two))
    if "raises" in (one[0], two[0]):
        return one[0] == two[0] and (one[1][0] in two[1] or two[1][0] in one[1])
    if isinstance(one, str) or isinstance(two, str):
        return one == two
    return one[:3] + one[4:] == two[:3] + two[4:] and {elements}
'''


def script(finding: Finding, engines: tuple[Engine, Engine]) -> str:
    """The script, as text; it needs nothing but the engine, numpy and Python 3.8."""
    difference = finding.difference
    sides = [textwrap.fill(f"{engine.name}: {shown}", 110, subsequent_indent="    ")
             for engine, shown in zip(engines, (difference.first, difference.second))]
    verdict = textwrap.fill(f"Verdict: {finding.verdict.text}: {finding.verdict.why}.", 110, subsequent_indent="    ")
    if finding.verdict.rules:
        verdict += "\n" + textwrap.fill(f"Rules: {', '.join(finding.verdict.rules)}", 110, subsequent_indent="    ")
    wanted = expected(finding, tuple(engine.name for engine in engines))
    head = _HEAD.format(title=_clean(f"{finding.signature[0]}: {' and '.join(e.name for e in engines)} differ "
                                     f"({difference.kind})"), first=_clean(sides[0]), second=_clean(sides[1]),
                        verdict=_clean(verdict), modules=" | ".join(dict.fromkeys(e.module for e in engines)),
                        status=_clean(wanted.status))
    modules = ["importlib", "os", *(["re"] if "re." in wanted.raised else []), "sys", "traceback"]
    imports = "\n".join(f"import {name}" for name in modules) + "\n"
    if re.search(r"\b(nan|inf)\b", finding.program.text + wanted.text):
        imports += "from math import inf, nan\n"
    imports += "\nimport numpy as np"
    start = f"mx = importlib.import_module(sys.argv[1] if len(sys.argv) > 1 else {engines[0].module!r})"
    settings = "\n".join(dict.fromkeys(line for engine in engines for line in environment(engine).splitlines()))
    setup = [engine.setup.rstrip() for engine in engines if engine.setup]
    legacy = "mx.__version__.startswith('2') and mx.npx.reset_np()  # 2.x starts in numpy mode"
    setup += [legacy] if any("2.0" in engine.name for engine in engines) else []
    look = _LOOK.replace("{elements}", wanted.elements) if wanted.shows in AS_SHOWN else ""
    end = f"EXPECTED = {wanted.text}\n" if wanted.text else ""
    end += 'print("found:   ", found)\n'
    end += f'print("expected:", EXPECTED)\nsys.exit(0 if {wanted.test} else 1)' if wanted.text else ""
    return laid_out([head, imports, settings, start, *setup, look and "\n" + look + "\n",
                     _body(finding.program, difference.step, wanted), end])


def _clean(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', "'''")


def _body(program: Program, step: int, wanted: Expected) -> str:
    """The statements up to the one in question, that one tried, and what it leaves as ``found``."""
    *before, last = program.lines[:step + 1]
    look = f"found = {wanted.look}"
    body = [*before, "try:", f"    {last}", *([] if wanted.afterwards else [f"    {look}"]),
            "except Exception as error:", "    traceback.print_exc()", f"    found = {wanted.raised}",
            *([look] if wanted.afterwards else [])]
    if not program.np_shape:
        return "\n".join(body)
    return "with mx.util.np_shape(True):\n" + textwrap.indent("\n".join(body), "    ")
