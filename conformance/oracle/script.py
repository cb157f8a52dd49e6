"""A stand-alone script of a few lines for a program that two engines answer differently."""

from __future__ import annotations

import re
import textwrap

from conformance.engine import Engine
from conformance.oracle.program import Program, assigned, names_in
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
"""
'''


def script(finding: Finding, engines: tuple[Engine, Engine]) -> str:
    """The script, as text; it needs nothing but the engine, numpy and Python 3.8."""
    difference = finding.difference
    sides = [textwrap.fill(f"{engine.name}: {shown}", 110, subsequent_indent="    ")
             for engine, shown in zip(engines, (difference.first, difference.second))]
    verdict = textwrap.fill(f"Verdict: {finding.verdict.text}: {finding.verdict.why}.", 110, subsequent_indent="    ")
    if finding.verdict.rules:
        verdict += "\n" + textwrap.fill(f"Rules: {', '.join(finding.verdict.rules)}", 110, subsequent_indent="    ")
    head = _HEAD.format(title=_clean(f"{finding.signature[0]}: {' and '.join(e.name for e in engines)} differ "
                                     f"({difference.kind})"), first=_clean(sides[0]), second=_clean(sides[1]),
                        verdict=_clean(verdict), modules=" | ".join(dict.fromkeys(e.module for e in engines)))
    imports = "import importlib\nimport os\nimport sys\nimport traceback\n\nimport numpy as np"
    if re.search(r"\b(nan|inf)\b", finding.program.text):
        imports = imports.replace("import sys", "from math import inf, nan\nimport sys")
    start = f"mx = importlib.import_module(sys.argv[1] if len(sys.argv) > 1 else {engines[0].module!r})"
    settings = "\n".join(dict.fromkeys(line for engine in engines for line in environment(engine).splitlines()))
    setup = [engine.setup.rstrip() for engine in engines if engine.setup]
    legacy = "mx.__version__.startswith('2') and mx.npx.reset_np()  # 2.x starts in numpy mode"
    setup += [legacy] if any("2.0" in engine.name for engine in engines) else []
    return laid_out([head, imports, settings, start, *setup, _body(finding.program, difference.name)])


def _clean(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', "'''")


def _body(program: Program, name: str) -> str:
    """The statements, each tried, and what they leave."""
    shown = [name] if name else []
    shown += [found for line in program.lines[-1:] for found in [assigned(line), *sorted(names_in(line))]
              if found and found not in shown and any(assigned(other) == found for other in program.lines)]
    lines = list(program.lines)
    body = [*lines[:-1], "try:", f"    {lines[-1]}"]
    body += [f"    print({found!r}, '=', {found}, getattr({found}, 'dtype', ''), getattr({found}, 'grad', ''))"
             for found in shown]
    body += ["except Exception:", "    traceback.print_exc()"]
    if not program.np_shape:
        return "\n".join(body)
    return "with mx.util.np_shape(True):\n" + textwrap.indent("\n".join(body), "    ")
