"""Which cases a run is about."""

from __future__ import annotations

import pytest
from miniature import mini_rules

from conformance.errors import HarnessFault, UsageFault
from conformance.selection import CaseInfo, Selection, check_suite

RULES = mini_rules(MINI_ADD_002={"area": "optimizer"}, MINI_ZERO_001={"level": "MAY"})
CASES = [
    CaseInfo("MINI-ADD-001/adds_up[large]", "MINI-ADD-001"), CaseInfo("MINI-ADD-001/adds_up[small]", "MINI-ADD-001"),
    CaseInfo("MINI-ADD-002/adds_up_an_array", "MINI-ADD-002"), CaseInfo("MINI-DOUBLE-001/doubles", "MINI-DOUBLE-001"),
    CaseInfo("MINI-ZERO-001/is_zero", "MINI-ZERO-001"),
]


def chosen(**fields: object) -> list[str]:
    selection = Selection(**fields)  # type: ignore[arg-type]
    return [case.id for case in selection.select(CASES, RULES)]


def test_everything_without_a_wish() -> None:
    assert len(chosen()) == len(CASES)


@pytest.mark.parametrize(
    ("pattern", "count"),
    [
        ("MINI-ADD-*", 3), ("MINI-ADD-001", 2), ("*/doubles", 1), ("MINI-ADD-001/adds_up[large]", 1),
        ("*adds_up*", 3), ("mini-*", 0),
    ],
)
def test_pattern_matches_rule_or_case_and_an_exact_sample(pattern: str, count: int) -> None:
    assert len(chosen(patterns=(pattern,))) == count


def test_filters_narrow_together() -> None:
    assert chosen(areas=("optimizer",)) == ["MINI-ADD-002/adds_up_an_array"]
    assert chosen(levels=("MAY", "SHOULD")) == ["MINI-ZERO-001/is_zero"]
    assert chosen(areas=("optimizer",), levels=("MAY",)) == []
    assert chosen(only=frozenset({"MINI-DOUBLE-001/doubles"}), patterns=("MINI-D*", "MINI-Z*")) == [
        "MINI-DOUBLE-001/doubles"]


def test_shards_are_a_partition_that_keeps_a_rule_together() -> None:
    parts = [chosen(shard=(number, 3)) for number in (1, 2, 3)]
    assert sorted(case for part in parts for case in part) == [case.id for case in CASES]
    homes = [{case.partition("/")[0] for case in part} for part in parts]
    assert not homes[0] & homes[1]
    assert not homes[0] & homes[2]
    assert not homes[1] & homes[2]


def test_rules_without_a_case_belong_to_a_whole_run_only() -> None:
    whole = Selection()
    assert "MINI-NOCASE-001" in whole.select_rules(RULES, whole.select(CASES, RULES))
    part = Selection(shard=(1, 2))
    assert "MINI-NOCASE-001" not in part.select_rules(RULES, part.select(CASES, RULES))
    named = Selection(patterns=("MINI-N*",))
    assert named.select_rules(RULES, []) == ["MINI-NOCASE-001"]


def test_pattern_that_matches_nothing_is_wrong_use() -> None:
    with pytest.raises(UsageFault, match=r"no rule and no case matches 'MINI-DUOBLE-001'") as caught:
        Selection(patterns=("MINI-DUOBLE-001",)).check_patterns(CASES, RULES)
    assert caught.value.hint == "Did you mean MINI-DOUBLE-001?"
    Selection(patterns=("MINI-NOCASE-*",)).check_patterns(CASES, RULES)


def test_case_needs_a_rule() -> None:
    with pytest.raises(HarnessFault, match=r"case X-Y-001/z \(suite.x:7\) has no rule"):
        check_suite([CaseInfo("X-Y-001/z", "X-Y-001", module="suite.x", line=7)], RULES)
    with pytest.raises(HarnessFault, match=r"stands on X-Y-002, which is no rule"):
        check_suite([CaseInfo("MINI-ADD-001/z", "MINI-ADD-001", after=("X-Y-002",))], RULES)
