"""The table of engines, and what a faulty one says."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance import engine as engines
from conformance.engine import (
    ASSUMED,
    BUILT_IN,
    CAPABILITIES,
    Engine,
    Timeouts,
    find_engine,
    known_engines,
    read_engines,
)
from conformance.errors import UsageFault


def table(folder: Path, text: str) -> dict[str, Engine]:
    path = folder / "engines.toml"
    path.write_text(text)
    return read_engines(path, "test")


def test_built_in_engines() -> None:
    known = read_engines(BUILT_IN, "built in")
    assert set(known) == {"refengine", "mxnet-1.9.1", "mxnet-2.0.0b1"}
    assert known["refengine"].inventory is None
    for name in ("mxnet-1.9.1", "mxnet-2.0.0b1"):
        assert known[name].inventory == name
        assert known[name].own_environment
        assert known[name].module == "mxnet"


def test_inventory_names_a_release_that_the_rules_know() -> None:
    from conformance.rule import RELEASES

    for engine in read_engines(BUILT_IN, "built in").values():
        assert engine.inventory is None or engine.inventory in RELEASES


def test_full_entry(tmp_path: Path) -> None:
    found = table(tmp_path, """
        [engines.mine]
        doc = "our engine"
        module = "our.engine"
        interpreter = "venv/bin/python"
        env = {OUR_LOG = "0"}
        setup = "mx.start()"
        path = ["src"]
        capabilities = ["float16"]
        missing = {dist = "not planned"}
        detect = {symbol = "hasattr(mx, 'sym')"}
        timeouts = {case = 5}
    """)["mine"]
    assert found.interpreter == str(tmp_path / "venv/bin/python")
    assert found.path == (str(tmp_path / "src"),)
    assert found.timeouts == Timeouts(start=120.0, case=5.0)
    assert found.able({}, {"gpu": False, "symbol": True}) == {"float16", "symbol"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[engines.x]\nmodule = 'x'\nmodul = 'y'", r"\[engines.x\]: unknown key 'modul'.*Did you mean 'module'"),
        ("[engines.x]\ninterpreter = 'python'", "`module` is needed"),
        ("[engines.x]\nmodule = 'x'\ncapabilities = ['flaot16']", "unknown capability 'flaot16'.*you mean 'float16'"),
        ("[engines.x]\nmodule = 'x'\ncapabilities = 'float16'", "capabilities: expected a list of str, got 'float16'"),
        ("[engines.x]\nmodule = 'x'\nenv = {A = 1}", "env: expected a dict of str"),
        ("[engines.x]\nmodule = 'x'\nsetup = 1", "setup: expected a string, got 1"),
        ("[engines.x]\nmodule = 'x'\ntimeouts = {case = 0}",
         "case: expected a number of seconds above 0 and at most 10000000, got 0"),
        ("[engines.x]\nmodule = 'x'\ntimeouts = {cases = 3}", "expected {start = seconds, case = seconds}"),
        ("[engines.x]\nmodule = 'x'\ninterpreter = 'p'\nrequirements = ['y']", "or `requirements`, not both"),
        ("[engine.x]\nmodule = 'x'", r"expected tables \[engines.NAME\] and nothing else; remove engine"),
        ("[engines]\nx = 1", "expected a table, got 1"),
        ("[engines.x", "not a TOML file"),
    ],
)
def test_faulty_table_is_told_exactly(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(UsageFault) as caught:
        table(tmp_path, text)
    assert caught.value.exit_code == 2
    import re

    assert re.search(told, str(caught.value), re.DOTALL), str(caught.value)
    assert "engines.toml" in str(caught.value)


def test_missing_table(tmp_path: Path) -> None:
    with pytest.raises(UsageFault, match="not found"):
        read_engines(tmp_path / "none.toml", "test")


def test_engines_file_wins_over_the_built_in_table(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("[engines.refengine]\nmodule = 'other'\n[engines.mine]\nmodule = 'mine'\n")
    assert known_engines(path)["refengine"].module == "other"
    assert find_engine("mine", path).origin == str(path)
    assert find_engine("mxnet-1.9.1", path).module == "mxnet"


def test_importable_module_is_an_engine() -> None:
    found = find_engine("json.decoder")
    assert (found.module, found.origin, found.inventory) == ("json.decoder", "module", None)


def test_unknown_engine_names_the_nearest() -> None:
    with pytest.raises(UsageFault, match=r"unknown engine 'mxnet-1\.9'") as caught:
        find_engine("mxnet-1.9")
    assert "Did you mean 'mxnet-1.9.1'?" in caught.value.hint
    with pytest.raises(UsageFault, match="neither in the table"):
        find_engine("no_such_package.engine")


def test_entry_points_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib.metadata import EntryPoint

    entry = EntryPoint("acme", "acme.mx", engines.ENTRY_POINTS)
    monkeypatch.setattr(engines.importlib.metadata, "entry_points", lambda group: [entry])
    found = find_engine("acme")
    assert (found.module, found.origin) == ("acme.mx", "entry point")


def test_capabilities_of_a_module_that_declares_nothing() -> None:
    plain = Engine("x", "x")
    assert plain.able({}, {"gpu": False, "multi_gpu": False}) == ASSUMED
    assert plain.able({}, {"gpu": True}) == ASSUMED | {"gpu"}
    assert plain.able({"capabilities": ["symbol"]}, {}) == {"symbol"}
    assert Engine("x", "x", capabilities=frozenset()).able({"capabilities": ["symbol"]}, {}) == frozenset()


def test_missing_wins_over_everything() -> None:
    engine = Engine("x", "x", capabilities=frozenset({"gpu"}), missing={"gpu": "broken here"})
    assert engine.able({}, {"gpu": True}) == frozenset()


def test_every_capability_of_the_inventory_is_known() -> None:
    from conformance.rule import load_rules

    assert {need for rule in load_rules().values() for need in rule.needs} <= set(CAPABILITIES)


def test_file_name_has_no_odd_letters() -> None:
    assert Engine("a/b c:d", "x").file_name == "a-b-c-d"
