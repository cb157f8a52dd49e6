"""JUnit and CTRF: golden files, the formats' structure, counts that add up, hostile text."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter

import jsonschema
import pytest
import runs
from formats import CTRF, JUNIT

from reports import ctrf, junit
from reports.outcomes import CASE_OUTCOMES


def test_junit_golden(golden):
    golden("junit.xml", junit.render(runs.report()))


def test_ctrf_golden(golden):
    golden("ctrf.json", ctrf.render(runs.report()))


def test_every_outcome_has_a_place_in_both_formats():
    assert set(junit.KINDS) == set(CASE_OUTCOMES) == set(ctrf.STATUSES)
    assert [name for name, kind in junit.KINDS.items() if kind is None] == ["pass"]
    assert [name for name, status in ctrf.STATUSES.items() if status == "passed"] == ["pass"]


# -- JUnit ---------------------------------------------------------------------------------------------------


def check_junit(element, path="testsuites"):
    """Hold an element against the structure that JUnit readers share (see formats.py)."""
    required, optional, children, order = JUNIT[element.tag]
    attributes = set(element.attrib)
    assert required <= attributes <= required | optional, (path, attributes)
    for name in attributes & {"tests", "failures", "errors", "skipped"}:
        assert re.fullmatch(r"\d+", element.get(name)), path
    if "time" in attributes:
        assert re.fullmatch(r"\d+(\.\d+)?", element.get("time")), path
    if not order:
        assert len(element) == 0 or children, path
    tags = [child.tag for child in element]
    assert set(tags) <= set(children), (path, tags)
    assert tags == sorted(tags, key=children.index), (path, "children out of order", tags)
    for child in element:
        check_junit(child, f"{path}/{child.tag}")


@pytest.mark.parametrize("report", [runs.report(), runs.hostile(), runs.report("mx")], ids=["demo", "hostile", "one"])
def test_junit_structure_and_counts(report):
    root = ElementTree.fromstring(junit.render(report))
    check_junit(root)
    totals = Counter()
    for suite in root:
        cases = suite.findall("testcase")
        found = {
            "tests": len(cases),
            "failures": sum(case.find("failure") is not None for case in cases),
            "errors": sum(case.find("error") is not None for case in cases),
            "skipped": sum(case.find("skipped") is not None for case in cases),
        }
        assert found == {name: int(suite.get(name)) for name in found}
        assert len({(case.get("classname"), case.get("name")) for case in cases}) == len(cases)
        totals.update(found)
    assert totals == {name: int(root.get(name)) for name in totals}


def outcome_in_junit(engine, identifier):
    root = ElementTree.fromstring(junit.render(runs.report(engine)))
    found = [case for case in root.iter("testcase") if case.get("classname").endswith(identifier)]
    return [child.tag for case in found for child in case if child.tag in ("failure", "error", "skipped")]


def test_junit_says_each_outcome():
    assert outcome_in_junit("acme", "OPT-SGD-001") == []
    assert outcome_in_junit("acme", "OPT-ADAM-001") == ["failure"]
    assert outcome_in_junit("acme", "OPT-LAMB-001") == ["error"]
    assert outcome_in_junit("acme", "TRAINER-CORE-001") == ["error"]
    for rule in ("OPT-SPARSE-001", "TRAINER-CORE-002", "TRAINER-LATE-001", "TRAINER-SAVE-001"):
        assert outcome_in_junit("acme", rule) == ["skipped"]
    for rule in ("TRAINER-SAVE-002", "TRAINER-SAVE-003"):
        assert outcome_in_junit("acme", rule) == ["failure"]
    assert outcome_in_junit("mx", "TRAINER-HANG-001") == ["skipped"]  # as its inventory records
    assert outcome_in_junit("mx", "TRAINER-SAVE-001") == ["failure"]  # a surprise
    assert outcome_in_junit("mx", "TRAINER-SAVE-002") == ["failure"]  # passes, and should not


def test_a_run_without_surprise_is_green_in_junit():
    root = ElementTree.fromstring(junit.render(runs.report("ref")))
    assert (root.get("failures"), root.get("errors")) == ("0", "0")
    suite = root.find("testsuite")
    assert suite.find("properties/property[@name='rules.without.case']").get("value") == "2"


# -- CTRF ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("report", [runs.report(), runs.hostile(), runs.report("mx")], ids=["demo", "hostile", "one"])
def test_ctrf_structure_and_counts(report):
    document = json.loads(ctrf.render(report))
    jsonschema.validate(document, CTRF)
    tests = document["results"]["tests"]
    summary = document["results"]["summary"]
    assert summary["tests"] == len(tests)
    found = Counter(test["status"] for test in tests)
    for status in ("passed", "failed", "skipped", "pending", "other"):
        assert summary[status] == found[status]
    assert len({test["testId"] for test in tests}) == len(tests)
    assert summary["stop"] >= summary["start"]


def test_ctrf_keeps_rules_without_case_as_pending():
    tests = json.loads(ctrf.render(runs.report("ref")))["results"]["tests"]
    assert [test["name"] for test in tests if test["status"] == "pending"] == ["NDARRAY-COPY-001", "NDARRAY-COPY-002"]


def test_ctrf_says_known_differences_apart_and_surprises_loud():
    tests = {test["name"]: test for test in json.loads(ctrf.render(runs.report("mx")))["results"]["tests"]}
    assert tests["TRAINER-HANG-001/observe"]["status"] == "other"
    assert tests["TRAINER-HANG-001/observe"]["rawStatus"] == "fail"
    assert tests["TRAINER-SAVE-001/observe"]["status"] == "failed"
    assert tests["TRAINER-SAVE-002/observe"]["status"] == "passed"
    assert tests["TRAINER-SAVE-002: inventory"]["status"] == "failed"


def test_ctrf_times():
    summary = json.loads(ctrf.render(runs.report("mx")))["results"]["summary"]
    assert (summary["start"], summary["stop"]) == (1767323045000, 1767323086250)
    assert json.loads(ctrf.render(runs.hostile()))["results"]["summary"]["start"] == 0


def test_long_text_is_cut_in_both():
    assert len(junit.render(runs.hostile())) < 4_000_000
    assert "characters left out" in junit.render(runs.hostile())
    assert "characters left out" in ctrf.render(runs.hostile())
