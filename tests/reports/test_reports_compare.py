"""Run against run."""

from __future__ import annotations

import json

import pytest
import runs

from reports import parse
from reports.compare import compare, render_json, render_markdown, render_text, summary
from reports.testing import case_record, footer, header, rule


def run(**outcomes):
    rules, cases, counts = [], [], {}
    for name, outcome in outcomes.items():
        identifier = f"A-{name.upper()}-001"
        rules.append(rule(identifier, "a", "MUST", cases=[f"{identifier}/c"]))
        cases.append(case_record(f"{identifier}/c", "a", "MUST", outcome.replace("_", "-"), "engine"))
        counts[outcome.replace("_", "-")] = counts.get(outcome.replace("_", "-"), 0) + 1
    return parse(runs.text_of([header("engine"), *rules, *cases, footer(counts, len(rules))]), "run.jsonl")


BEFORE = {
    "good": "pass",
    "bad": "fail",
    "worse": "fail",
    "lost": "pass",
    "gone": "pass",
    "quiet": "pass",
    "same": "fail",
}
AFTER = {
    "good": "pass",
    "bad": "pass",
    "worse": "crash",
    "lost": "fail",
    "quiet": "unsupported",
    "same": "fail",
    "fresh": "pass",
}


def kinds(comparison):
    return {change.rule[2:-4].lower(): change.kind for change in comparison.changes}


def test_each_kind():
    comparison = compare(run(**BEFORE), run(**AFTER))
    assert kinds(comparison) == {
        "bad": "fixed", "worse": "changed", "lost": "regressed", "quiet": "regressed", "gone": "gone", "fresh": "new",
    }  # fmt: skip
    assert comparison.same == 2
    assert comparison.worse
    assert summary(comparison) == "1 fixed, 2 regressed, 1 changed, 1 new, 1 gone, 2 as before"


@pytest.mark.parametrize(
    "after",
    ["fail", "error", "crash", "timeout", "unsupported", "blocked", "waived", "unstable", "not_run", "unexpected_pass"],
)
def test_whatever_is_no_pass_any_more_has_regressed(after):
    comparison = compare(run(it="pass"), run(it=after))
    assert kinds(comparison) == {"it": "regressed"}
    assert comparison.worse


def test_only_losses_are_worse():
    assert not compare(run(it="fail"), run(it="pass")).worse
    assert not compare(run(it="fail"), run(it="crash")).worse
    assert not compare(run(it="fail", other="pass"), run(other="pass")).worse
    assert compare(run(it="pass", other="pass"), run(other="pass")).worse
    assert not compare(run(it="pass"), run(it="pass", new="fail")).worse


def test_the_worst_comes_first():
    shown = render_text(compare(run(**BEFORE), run(**AFTER)))
    titles = ["Regressed: ", "Gone: ", "Changed: ", "Fixed: ", "New: "]
    assert [title for title in titles if title in shown] == titles
    assert [shown.index(title) for title in titles] == sorted(shown.index(title) for title in titles)


def test_golden(golden):
    comparison = compare(run(**BEFORE), run(**AFTER))
    golden("compare.txt", render_text(comparison))
    golden("compare.md", render_markdown(comparison))
    golden("compare.json", render_json(comparison))


def test_other_engines_and_versions_are_named():
    notes = compare(runs.result("ref"), runs.result("mx")).notes
    assert "engine: refengine before, mxnet-1.9.1 now" in notes
    assert "numpy: 2.3.0 before, 1.23.5 now" in notes
    assert compare(run(it="pass"), run(it="pass")).notes == ()


def test_long_lists_are_cut_and_counted():
    many = {f"n{number}": "pass" for number in range(60)}
    comparison = compare(run(**many), run(**dict.fromkeys(many, "fail")))
    assert "and 10 more cases" in render_text(comparison)
    assert len(json.loads(render_json(comparison))["changes"]) == 60


def test_hostile_runs():
    comparison = compare(run(it="pass"), parse(runs.text_of(runs.hostile_lines())))
    for shown in (render_text(comparison), render_markdown(comparison)):
        assert "\x1b" not in shown
        assert "\u202e" not in shown
    rows = [line for line in render_markdown(comparison).splitlines() if line.startswith("| ")]
    assert rows
    assert all(line.replace("\\|", "").count("|") == 5 for line in rows)
