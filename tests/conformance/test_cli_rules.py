"""`conform rules` and `conform explain`: what a person asks the inventory."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner, Result

from conformance.cli.explain import command as explain
from conformance.cli.explain_nearest import nearest
from conformance.cli.rules import command as rules
from conformance.markdown import cell
from conformance.rule import load_rules


def run(command: object, *arguments: str) -> Result:
    return CliRunner().invoke(command, list(arguments))  # type: ignore[arg-type]


def test_the_table_lists_what_fits_and_counts_it() -> None:
    result = run(rules, "--rule", "trainer-core-00?")
    assert result.exit_code == 0
    assert "TRAINER-CORE-001" in result.output
    assert result.output.rstrip().endswith("6 rules")


def test_ids_and_statements_stay_readable_on_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    monkeypatch.setenv("FORCE_COLOR", "1")
    shown = re.sub(r"\x1b\[[0-9;]*m", "", run(rules, "--rule", "LAUNCH-DMLC-008").output)
    assert "LAUNCH-DMLC-008" in shown
    assert "overrides" in shown
    assert max(map(len, shown.splitlines())) <= 50


def test_json_carries_the_whole_rule() -> None:
    result = run(rules, "--rule", "TRAINER-CORE-001", "--format", "json")
    (record,) = json.loads(result.output)
    rule = load_rules()["TRAINER-CORE-001"]
    assert record == {**rule.as_record(), "where": rule.where}


def test_markdown_has_a_row_for_each_rule() -> None:
    result = run(rules, "--area", "trainer", "--level", "SHOULD", "--format", "markdown")
    rows = [line for line in result.output.splitlines() if line.startswith("| ")]
    expected = [rule for rule in load_rules().values() if (rule.area, rule.level) == ("trainer", "SHOULD")]
    assert len(rows) == len(expected) + 2
    for row in rows:
        assert row.replace(r"\|", "").count("|") == 7, row


def test_filters_are_joined_by_and_and_values_by_or() -> None:
    both = ("--area", "trainer", "--area", "optimizer", "--status", "mxnet-1.9.1=absent", "--format", "json")
    records = json.loads(run(rules, *both).output)
    assert {record["area"] for record in records} == {"trainer", "optimizer"}
    assert {record["releases"]["mxnet-1.9.1"]["status"] for record in records} == {"absent"}


def test_without_case_leaves_out_what_has_one() -> None:
    assert run(rules, "--rule", "TRAINER-CORE-001", "--without-case").exit_code == 5
    assert run(rules, "--rule", "AMP-INIT-001", "--without-case").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (("--rule", "TRAINR-CORE-001"), 5, "TRAINER-CORE-001"),
        (("--needs", "sparce"), 2, "unknown capability 'sparce'"),
        (("--area", "cooking"), 2, "'cooking' is not one of"),
        (("--status", "mxnet-1.9.1=broken"), 2, "expected one of mxnet-1.9.1, mxnet-2.0.0b1"),
    ],
)
def test_wrong_use_says_what_would_be_right(arguments: tuple[str, ...], code: int, text: str) -> None:
    result = run(rules, *arguments)
    assert result.exit_code == code
    assert text in result.output


def test_text_in_a_table_cell_is_shown_as_written() -> None:
    assert cell("a | b\n c") == r"a \| b c"
    assert cell("_private and snake_case*") == r"\_private and snake_case\*"


def test_explain_shows_rule_releases_cases_and_mutants() -> None:
    result = run(explain, "trainer-core-001")
    assert result.exit_code == 0
    for text in (
        "TRAINER-CORE-001  MUST  trainer  (spec)",
        "Source   003_5125d3401b2d3aaf.txt, Core role and design of the Trainer",
        "mxnet-1.9.1    holds     -2.0",
        "TRAINER-CORE-001/one_iteration  conformance/suite/trainer/core.py:",
        "trainer_core.step_returns_itself  conformance/mutants/trainer_core.py:",
        "conform run --engine NAME --rule 'TRAINER-CORE-001'",
    ):
        assert text in result.output, result.output


def test_explain_takes_the_id_of_a_case_and_speaks_json() -> None:
    result = run(explain, "TRAINER-CORE-001/one_iteration", "--format", "json")
    record = json.loads(result.output)
    assert record["id"] == "TRAINER-CORE-001"
    assert "TRAINER-CORE-001/one_iteration" in [case["id"] for case in record["cases"]]
    assert record["pending"] is None


def test_explain_shows_the_recipe_while_there_is_no_case() -> None:
    result = run(explain, "AMP-INIT-001")
    assert "none yet: mixed precision" in result.output
    assert "Recipe for a case:" in result.output


def test_explain_suggests_near_names() -> None:
    result = run(explain, "TRAINER-COER-001")
    assert result.exit_code == 2
    assert "did you mean TRAINER-CORE-001" in result.output


@pytest.mark.parametrize(
    ("name", "meant"),
    [("NOPE", "OPT-"), ("trainer", "TRAINER-CORE-001, TRAINER-INIT-001"), ("sgd", "OPT-SGD-001"),
     ("sgd-002", "OPT-SGD-002")],
)
def test_explain_suggests_rules_of_a_topic_that_is_near(name: str, meant: str) -> None:
    result = run(explain, name)
    assert result.exit_code == 2
    assert "did you mean " in result.output
    assert meant in result.output


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("trainer-coer-001", "TRAINER-CORE-001"), ("tranier-core-003", "TRAINER-CORE-003"),
        ("autograd-back-04", "AUTOGRAD-BACK-004"), ("autograd-bak-4", "AUTOGRAD-BACK-004"),
        ("AUTOGRAD-BACK-004b", "AUTOGRAD-BACK-004"), ("opt-sdg-002", "OPT-SGD-002"), ("opt-sgd-022", "OPT-SGD-002"),
        ("opt-sgd-010", "OPT-SGD-001"), ("opt-adm", "OPT-ADAM-001"), ("trainer-core-999", "TRAINER-CORE-006"),
        ("prof_trace.5", "PROF-TRACE-005"), ("proftrace005", "PROF-TRACE-005"), ("trace-5", "PROF-TRACE-005"),
        ("prof-dump-003", "PROF-DUMPS-003"), ("ampinit", "AMP-INIT-001"), ("core-trainer-002", "TRAINER-CORE-002"),
        ("comp-1bti-02", "COMP-1BIT-002"), ("diag-l2", "DIAG-L2-001"), ("diga-l5-001", "DIAG-L5-001"),
        ("adam-1", "OPT-ADAM-001"), ("BACK-004/case", "AUTOGRAD-BACK-004"),
    ],
)  # fmt: skip
def test_explain_proposes_the_closest_rule_first(name: str, meant: str) -> None:
    result = run(explain, name)
    assert result.exit_code == 2
    assert f"did you mean {meant}" in result.output


def test_proposals_come_in_the_order_of_their_distance() -> None:
    rules = ["ND-DOT-001", "OPT-SGLD-001", "OPT-SGD-001", "OPT-SGD-002", "OPT-SGD-003", "OPT-ADAM-002", "KV-PUSH-002"]
    assert nearest("opt-sdg-2", rules) == ["OPT-SGD-002", "OPT-SGD-001", "OPT-SGD-003"]
    assert nearest("opt-sdg-2", rules, 1) == ["OPT-SGD-002"]
    assert nearest("sgd", [*rules, "SGD-X-001"]) == ["SGD-X-001", "OPT-SGD-001", "OPT-SGLD-001"]


@pytest.mark.parametrize("name", ["", "0123456789", "xyzzy", ".", "ß"])
def test_explain_suggests_nothing_where_nothing_is_near(name: str) -> None:
    result = run(explain, name)
    assert result.exit_code == 2
    assert "conform rules --rule 'GLOB'" in result.output
