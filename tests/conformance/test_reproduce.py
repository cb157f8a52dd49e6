"""Reproducers: scripts that stand alone and tell what the run told."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from commands import ROOT, conform

from conformance.case import Case
from conformance.catalogue import Catalogue, load_catalogue
from conformance.engine import Engine, find_engine
from conformance.extract import Entangled, Extract
from conformance.reproduce import script
from conformance.scope import outer_names

REFERENCE = Engine("refengine", "refengine", path=(str(ROOT),))

#: Cases that use much: samples made in a loop, kit functions, helpers of their area, scratch files, fresh interpreters.
VARIED = ("TRAINER-CORE-001", "TRAINER-STEP-020", "TRAINER-STATE-001", "OPT-ADAM-001", "KVDECIDE-CAP-005")


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_catalogue()


def run(text: str, folder: Path, *interpreter: str) -> subprocess.CompletedProcess[str]:
    """Run a reproducer isolated: neither this project's folder nor PYTHONPATH is seen."""
    path = folder / "reproducer.py"
    path.write_text(text)
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run([*(interpreter or (sys.executable,)), "-I", str(path)], capture_output=True, text=True,
                          cwd=folder, env=variables, check=False)


def one_of_each_function(catalogue: Catalogue) -> list[Case]:
    return list({case.function: case for case in catalogue.cases.values()}.values())


def test_every_case_can_be_cut_out_and_stands_alone(catalogue: Catalogue) -> None:
    for case in one_of_each_function(catalogue):
        text = script(case, catalogue.rules[case.rule], REFERENCE)
        assert "SOURCES" not in text, case.id
        tree = ast.parse(text, feature_version=(3, 8))
        imported = {alias.name.partition(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import)
                    for alias in node.names}
        imported |= {str(node.module).partition(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        assert "conformance" not in imported, case.id


@pytest.mark.parametrize("rule", VARIED)
def test_passes_on_the_reference_engine(rule: str, catalogue: Catalogue, tmp_path: Path) -> None:
    case = catalogue.cases_of[rule][-1]
    done = run(script(case, catalogue.rules[rule], REFERENCE), tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASS: " in done.stdout
    assert "refengine" in done.stdout


def test_only_what_is_used_of_the_checker_is_there(catalogue: Catalogue) -> None:
    text = script(catalogue.cases["TRAINER-CORE-001/one_iteration"], catalogue.rules["TRAINER-CORE-001"], REFERENCE)
    assert "    def equal(" in text
    assert "    def warns(" not in text
    assert "    def python(" not in text
    assert "noqa" not in text


def vendor(folder: Path, body: str) -> Engine:
    (folder / "broken_engine.py").write_text(body)
    return Engine("broken", "broken_engine", path=(str(folder),))


WRONG_STEP = """\
from refengine import *
import refengine
gluon, init, optimizer = refengine.gluon, refengine.init, refengine.optimizer
before = gluon.Trainer.step
gluon.Trainer.step = lambda self, *a, **k: before(self, *a, **k) or 7
"""


def test_shows_the_failure_of_a_broken_engine(catalogue: Catalogue, tmp_path: Path) -> None:
    engine = vendor(tmp_path, f"import sys; sys.path.append({str(ROOT)!r})\n" + WRONG_STEP)
    case = catalogue.cases["TRAINER-CORE-001/one_iteration"]
    done = run(script(case, catalogue.rules[case.rule], engine), tmp_path)
    assert done.returncode == 1, done.stderr
    assert "FAIL: value returned by step: expected None, got 7" in done.stdout


@pytest.mark.parametrize("raised", ["AssertionError('own')", "RuntimeError('own')", "SystemExit(0)"])
def test_exception_of_the_engine_is_no_failure_of_a_check(raised: str, catalogue: Catalogue, tmp_path: Path) -> None:
    engine = vendor(tmp_path, f"class gluon:\n    @staticmethod\n    def Parameter(*a, **k):\n        raise {raised}\n")
    case = catalogue.cases["TRAINER-CORE-001/one_iteration"]
    done = run(script(case, catalogue.rules[case.rule], engine), tmp_path)
    assert done.returncode == 2
    assert "ERROR: an exception where the rule has none: " + raised.partition("(")[0] in done.stdout


@pytest.mark.needs_mxnet
@pytest.mark.slow
@pytest.mark.parametrize("identifier", ["TRAINER-STEP-007", "OPT-NAG-001", "TRAINER-INIT-011", "TRAINER-CORE-001"])
def test_real_release_tells_the_same_as_the_run(identifier: str, catalogue: Catalogue, tmp_path: Path) -> None:
    from conformance.engines import interpreter_for

    engine = find_engine("mxnet-1.9.1")
    conform("run", "--engine", "mxnet-1.9.1", "--rule", identifier, "--output", tmp_path)
    lines = [json.loads(line) for line in (tmp_path / "mxnet-1.9.1.jsonl").read_text().splitlines()]
    found = {line["id"]: line["outcome"] for line in lines if line["record"] == "case"}
    interpreter = interpreter_for(engine)
    for case in catalogue.cases_of[identifier][:3]:
        done = run(script(case, catalogue.rules[identifier], engine), tmp_path, interpreter)
        assert {0: "pass", 1: "fail", 2: "error"}[done.returncode] == found[case.id], done.stdout + done.stderr


def test_what_cannot_be_cut_out_carries_whole_modules(
    catalogue: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(*arguments: object) -> None:
        raise Entangled("a reason")

    monkeypatch.setattr(Extract, "add", refuses)
    case = catalogue.cases_of["TRAINER-STEP-020"][0]
    text = script(case, catalogue.rules[case.rule], REFERENCE)
    assert "could not be cut out on its own (a reason)" in text
    done = run(text, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASS: " in done.stdout


def test_command_prints_or_writes_the_script(tmp_path: Path) -> None:
    printed = conform("reproduce", "TRAINER-CORE-001/one_iteration", "--engine", "refengine")
    assert printed.returncode == 0
    written = conform("reproduce", "TRAINER-CORE-001/one_iteration", "--engine", "refengine", "--to", tmp_path / "x.py")
    assert written.stdout == ""
    assert (tmp_path / "x.py").read_text() == printed.stdout
    assert "mxnet" not in ast.get_docstring(ast.parse(printed.stdout))  # type: ignore[operator]


def test_a_target_that_cannot_be_written_is_wrong_use(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    target = tmp_path / "file" / "show.py"
    done = conform("reproduce", "TRAINER-CORE-001/one_iteration", "--engine", "refengine", "--to", target)
    assert done.returncode == 2
    assert f"Error: {target} cannot be written: " in done.stderr


def test_of_a_rule_the_case_that_failed_last_is_taken(tmp_path: Path, catalogue: Catalogue) -> None:
    last = catalogue.cases_of["OPT-NAG-001"][-1].id
    lines = [{"record": "case", "id": last, "outcome": "fail"}, {"record": "footer"}]
    (tmp_path / "refengine.jsonl").write_text("\n".join(map(json.dumps, lines)))
    done = conform("reproduce", "OPT-NAG-001", "--engine", "refengine", "--results", tmp_path)
    assert f"{last} (failed last time); the rule's others: " in done.stderr
    assert last in done.stdout


@pytest.mark.parametrize(
    ("identifier", "told"),
    [("TRAINER-COER-001", "Near: "), ("AMP-INIT-001", "AMP-INIT-001 has no case yet")],
)
def test_wrong_identifier_is_told(identifier: str, told: str, tmp_path: Path) -> None:
    done = conform("reproduce", identifier, "--engine", "refengine")
    assert done.returncode == 2
    assert told in done.stderr


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("def f(a, *b, c=d, **e):\n    return a, b, c, e, g", ["d", "g"]),
        ("def f():\n    x = 1\n    def g():\n        return x, y\n    return g", ["y"]),
        ("class A(B):\n    c = 1\n    d = c\n    def e(self):\n        return c", ["B", "c"]),
        ("x = [a for a in b if a in c]", ["b", "c"]),
        ("x = {k: v for k, v in items.items() for w in v if w}", ["items"]),
        ("def f():\n    for i, (j, k) in p:\n        pass\n    with q as r:\n        return i, j, k, r", ["p", "q"]),
        ("def f():\n    global n\n    n = 1\n    return n", ["n"]),
        ("def f():\n    try:\n        import m\n    except E as e:\n        return e, m", ["E"]),
        ("f = lambda a, b=c: a + b + d", ["c", "d"]),
        ("@deco(x)\ndef f(a: T) -> U:\n    return a", ["deco", "x", "T", "U"]),
        ("def f():\n    if (n := g()):\n        return n", ["g"]),
    ],
)
def test_names_from_outside(code: str, names: list[str]) -> None:
    assert [name.id for name in outer_names(ast.parse(code).body[0])] == names
