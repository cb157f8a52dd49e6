"""What the worker makes of a case, and that all that runs beside an engine runs on an old Python."""

from __future__ import annotations

import ast
import contextlib
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import conformance
from conformance import check as checking
from conformance.case import Case
from conformance.worker import Fault, Runner

PACKAGE = Path(conformance.__file__).parent
ENGINE = SimpleNamespace(__version__="1")


def run(function: Any, mx: Any = ENGINE, **values: Any) -> dict[str, Any]:
    """Run a function as a case in a runner that has nothing else."""
    runner = Runner({"module": "json"})
    runner.mx = mx
    case = Case("R-A-001", function, None, values, (), (), None)
    runner.cases = {case.id: case}
    return runner.run(case.id)


def test_pass_counts_its_checks() -> None:
    def good(mx: Any, check: Any) -> None:
        check.equal(1, 1)
        check.equal(2, 2)

    answer = run(good)
    assert (answer["outcome"], answer["checks"]) == ("pass", 2)


def test_case_that_observes_nothing_is_an_error() -> None:
    answer = run(lambda mx, check: None)
    assert answer["outcome"] == "error"
    assert "observed nothing" in answer["message"]


def test_failure_that_the_engine_swallows_still_fails() -> None:
    def listening(mx: Any, check: Any) -> None:
        def callback() -> None:
            check.equal(1, 2, "what the callback got")

        with contextlib.suppress(Exception):  # as an engine does around callbacks
            callback()
        check.equal(1, 1)

    answer = run(listening)
    assert answer["outcome"] == "fail"
    assert "the engine swallowed this failure" in answer["message"]
    assert answer["failure"]["doing"] == "what the callback got"


def test_samples_are_copied_so_that_an_engine_cannot_change_them() -> None:
    values = {"given": [1, 2], "array": np.ones(2)}

    def changes(mx: Any, check: Any, given: Any, array: Any) -> None:
        given.clear()
        array[:] = 7
        check.equal(1, 1)

    assert run(changes, **values)["outcome"] == "pass"
    assert values["given"] == [1, 2]
    assert values["array"].tolist() == [1.0, 1.0]


def test_each_case_starts_from_its_own_seed() -> None:
    seen: list[Any] = []
    mx = SimpleNamespace(random=SimpleNamespace(seed=lambda number: seen.append(number)))

    def draws(mx: Any, check: Any) -> None:
        seen.append(float(np.random.rand()))
        check.equal(1, 1)

    run(draws, mx)
    first = list(seen)
    seen.clear()
    run(draws, mx)
    assert seen == first


def test_missing_attribute_in_the_case_itself_is_absent() -> None:
    assert run(lambda mx, check: mx.nothing())["absent"] is True

    def inside(mx: Any, check: Any) -> None:
        import json

        json.loads(None)  # type: ignore[arg-type]

    assert "absent" not in run(inside)


def test_pending_work_is_waited_for() -> None:
    waited: list[bool] = []
    mx = SimpleNamespace(nd=SimpleNamespace(waitall=lambda: waited.append(True)))
    run(lambda mx, check: check.equal(1, 1), mx)
    assert waited == [True]


def test_what_is_unknown_is_an_error() -> None:
    assert Runner({"module": "json"}).run("R-A-001/none")["failure"]["kind"] == "UnknownCase"


@pytest.mark.parametrize(
    ("config", "stage", "told"),
    [
        ({"module": "no_such_engine"}, "import", "No module named 'no_such_engine'"),
        ({"module": "json", "setup": "mx.nothing()"}, "setup", "has no attribute 'nothing'"),
        ({"module": "json", "mutant": "none.such"}, "mutant", "no mutant 'none.such'"),
        ({"module": "json", "suite": "no_such_suite"}, "suite", "No module named 'no_such_suite'"),
    ],
)
def test_fault_names_its_stage(config: dict[str, Any], stage: str, told: str) -> None:
    with pytest.raises(Fault) as caught:
        Runner(config).load()
    assert caught.value.stage == stage
    assert told in caught.value.message


def test_setup_and_detection_see_the_engine() -> None:
    runner = Runner({"module": "json", "setup": "mx.set_up = True", "detect": {"a": "mx.set_up", "b": "mx.nothing"}})
    try:
        assert runner.load()["detected"] == {"a": True, "b": False}
    finally:
        del runner.mx.set_up


def test_prelude_binds_the_engine_as_the_worker_does() -> None:
    runner = Runner({"module": "json", "setup": "mx.marked = 1", "path": ["/nowhere"]})
    check = checking.Check("R-A-001/x", runner.handle)
    status, out, err = check.python("import sys, conformance.case; print(mx.__name__, mx.marked, sys.path[-1])")
    assert (status, out.split(), err) == (0, ["json", "1", "/nowhere"], "")


def test_prelude_breaks_the_engine_as_the_mutant_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bugs").mkdir()
    (tmp_path / "bugs" / "__init__.py").write_text("")
    (tmp_path / "bugs" / "small.py").write_text(
        "from conformance.mutants import mutant\n\n\n@mutant('R-A-001')\ndef broken(mx):\n    mx.broken = True\n")
    runner = Runner({"module": "json", "mutant": "small.broken", "mutants": "bugs", "path": [str(tmp_path)]})
    check = checking.Check("R-A-001/x", runner.handle)
    assert check.python("print(mx.broken)")[1].strip() == "True"


WORKER_SIDE = [
    *(PACKAGE / f"{name}.py" for name in ("__init__", "worker", "case", "check", "tolerance", "smoke", "alias")),
    *sorted((PACKAGE / "suite").rglob("*.py")), *sorted((PACKAGE / "mutants").rglob("*.py")),
]


@pytest.mark.parametrize("path", WORKER_SIDE, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_files_beside_an_engine_are_python_3_8(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 8))
    allowed = {"numpy", "conformance"}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            top = name.partition(".")[0]
            assert top in allowed or _standard(top), f"line {node.lineno} imports {name}"


def _standard(name: str) -> bool:
    import sys

    return name in sys.stdlib_module_names


def test_frozen_arrays_of_the_suite(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from conformance.worker import _freeze_arrays

    module = ModuleType("somewhere")
    module.SHARED = np.ones(2)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "somewhere", module)
    _freeze_arrays({"somewhere"})
    with pytest.raises(ValueError, match="read-only"):
        module.SHARED[:] = 0  # type: ignore[attr-defined]
