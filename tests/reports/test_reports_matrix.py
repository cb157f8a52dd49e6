"""Engines side by side, and the counting."""

from __future__ import annotations

import pytest
import runs

from reports import merge, parse
from reports.outcomes import CASE_OUTCOMES, OUTCOMES, worst
from reports.summary import percent, tally
from reports.testing import case_record, footer, header, rule


def states(report, identifier):
    return [cell.state for row in report.rows if row.rule.id == identifier for cell in row.cells]


def test_one_row_for_each_rule_and_one_cell_for_each_engine():
    report = runs.report("ref", "mx", "acme")
    assert [engine.label for engine in report.engines] == ["refengine", "mxnet-1.9.1", "acme-gluon"]
    assert [row.rule.id for row in report.rows] == [*list(runs.RULES)[2:], *list(runs.RULES)[:2]]
    assert {len(row.cells) for row in report.rows} == {3}
    assert states(report, "OPT-ADAM-001") == ["pass", "pass", "fail"]
    assert states(report, "NDARRAY-COPY-001") == ["no-case"] * 3


def test_the_worst_case_is_the_state_of_the_rule():
    assert worst(["pass", "pass"]) == "pass"
    for outcome in CASE_OUTCOMES:
        if outcome != "pass":
            assert worst(["pass", outcome]) == outcome
    assert [name for name in OUTCOMES if OUTCOMES[name].group == "passed"] == ["pass"]


def test_known_differences_and_surprises():
    report = runs.report("mx")
    cells = {row.rule.id: row.cells[0] for row in report.rows}
    assert cells["TRAINER-HANG-001"].known
    assert cells["TRAINER-LATE-001"].known
    assert not cells["TRAINER-SAVE-001"].known
    assert cells["TRAINER-SAVE-001"].surprise.expected == "holds"
    assert cells["TRAINER-SAVE-002"].surprise.observed == "pass"
    assert {row.rule.id for row in report.attention(0)} == {"TRAINER-SAVE-001", "TRAINER-SAVE-002"}


def test_an_engine_without_inventory_knows_no_difference():
    report = runs.report("acme")
    assert not any(cell.known for row in report.rows for cell in row.cells)


def test_attention_puts_must_first_and_leaves_out_what_is_settled():
    wanted = [row.rule.id for row in runs.report("acme").attention(0)]
    assert wanted[:3] == ["OPT-ADAM-001", "TRAINER-CORE-001", "TRAINER-HANG-001"]
    assert "TRAINER-SAVE-001" not in wanted  # waived
    assert "TRAINER-SAVE-002" in wanted  # the waiver is stale
    assert "TRAINER-CORE-002" not in wanted  # blocked: its cause is listed


def test_where_engines_differ():
    report = runs.report("ref", "mx", "acme")
    differs = {row.rule.id for row in report.rows if row.differs}
    assert "OPT-SGD-001" not in differs
    assert "NDARRAY-COPY-001" not in differs
    assert {"OPT-SPARSE-001", "OPT-ADAM-001", "TRAINER-CORE-001"} <= differs
    assert "TRAINER-LATE-001" in differs  # not-run on one, but pass and error on the others


def test_two_runs_of_one_engine_are_told_apart():
    report = merge([runs.result("ref"), runs.result("ref"), runs.result("ref")])
    assert [engine.label for engine in report.engines] == ["refengine", "refengine (2)", "refengine (3)"]


def test_nothing_to_merge():
    with pytest.raises(ValueError, match="at least one result"):
        merge([])


def small(name, selected, options=None, suite="0.1.0"):
    head = header(name)
    head["options"] = options or {}
    head["suite"]["version"] = suite
    rules = [
        rule(identifier, "a", "MUST", cases=[f"{identifier}/c"] if has else [], pending=pending)
        for identifier, has, pending in selected
    ]
    cases = [case_record(f"{identifier}/c", "a", "MUST", "pass", name) for identifier, has, _ in selected if has]
    return parse(runs.text_of([head, *rules, *cases, footer({"pass": len(cases)} if cases else {}, len(rules))]))


def test_rules_that_a_run_left_out():
    one = small("one", [("A-B-001", True, False), ("A-B-002", True, False)])
    two = small("two", [("A-B-001", True, False)])
    report = merge([one, two])
    assert states(report, "A-B-002") == ["pass", "not-selected"]
    assert not any(row.differs for row in report.rows)
    assert "did not select the same rules" in report.remarks[0]


def test_a_part_of_a_run_does_not_take_unselected_cases_for_missing_ones():
    part = small(
        "part", [("A-B-001", True, False), ("A-B-002", False, False), ("A-B-003", False, True)], {"shard": "1/2"}
    )
    report = merge([part])
    assert [row.cells[0].state for row in report.rows] == ["pass", "not-selected", "no-case"]
    assert "part 1/2 of a run" in report.remarks[0]


def test_remarks_on_suites_and_mutants():
    report = merge(
        [small("one", [("A-B-001", True, False)]), small("two", [("A-B-001", True, False)], {"mutant": "m.x"}, "0.2.0")]
    )
    assert any("different versions of the suite (one: 0.1.0, two: 0.2.0)" in remark for remark in report.remarks)
    assert any("broken on purpose, by the mutant m.x" in remark for remark in report.remarks)


def test_areas_without_any_case_come_last():
    assert runs.report().areas == ("optimizer", "trainer", "ndarray")


def test_counts_add_up():
    report = runs.report()
    for index in range(3):
        whole = tally(report.states(index))
        assert whole.total == len(report.rows) == len(runs.RULES)
        assert whole.total == sum(tally(report.states(index, area)).total for area in report.areas)
        assert whole.total == sum(whole.of(group) for group in ("passed", "failed", "held", "unsupported", "open"))
        assert whole.judged + whole.of("unsupported") + whole.of("open") == whole.total


def test_what_was_not_judged_is_neither_passed_nor_counted_against():
    acme = tally(runs.report("acme").states(0))
    assert (acme.passed, acme.judged, acme.total) == (1, 10, 13)
    assert tally([]).rate is None
    assert tally(["no-case", "unsupported"]).rate is None
    assert tally(["waived", "blocked", "not-run", "pass"]).rate == 0.25


def test_percent_is_honest_at_both_ends():
    assert percent(1999 / 2000) == "99.9 %"
    assert percent(1 / 5000) == "0.1 %"
    assert percent(0.0) == "0 %"
    assert percent(1.0) == "100 %"
