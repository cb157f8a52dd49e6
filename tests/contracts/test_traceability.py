"""Every rule has a case, every case a rule, and every MUST a mutant; what waits stands in the pending list."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from conformance.case import Case
from conformance.catalogue import Catalogue, load_catalogue
from conformance.engine import CAPABILITIES
from conformance.mutants import Mutant
from conformance.pending import Pending
from conformance.rule import Release, Rule


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_catalogue()


@pytest.mark.parametrize("gate", ["case", "rule", "mutant", "check", "pending", "capability"])
def test_gate(catalogue: Catalogue, gate: str) -> None:
    gaps = [str(gap) for gap in catalogue.gaps(frozenset(CAPABILITIES)) if gap.gate == gate]
    assert not gaps, f"{len(gaps)} gaps:\n" + "\n".join(gaps[:40])


def test_every_case_says_in_its_module_what_it_is_about(catalogue: Catalogue) -> None:
    """A case stands in the folder of its rules' file: a reader finds it without searching."""
    folders: dict[str, set[str]] = {}
    for case in catalogue.cases.values():
        rule = catalogue.rules.get(case.rule)
        if rule is not None:
            folders.setdefault(case.module.split(".")[2], set()).add(rule.file)
    mixed = {folder: sorted(files) for folder, files in folders.items() if len(files) > 1}
    assert not mixed, "one folder of cases for one file of rules"


# -- the gates themselves ---------------------------------------------------------------------------------------


def rule(identifier: str, **fields: object) -> Rule:
    sound = Rule(
        id=identifier, area="trainer", level="MUST", statement="So.", source="x.txt, y", verdict="spec", api=(),
        needs=(), releases={"mxnet-1.9.1": Release("holds", "as stated")}, notes="", check="", document_says="",
        file="rules-x.yaml", line=7,
    )  # fmt: skip
    return replace(sound, **fields)  # type: ignore[arg-type]


def body(mx: object, check: object) -> None:
    """A case."""


def case(identifier: str, **fields: object) -> Case:
    given = {"needs": (), "after": (), **fields}
    return Case(identifier, body, None, {}, timeout=None, **given)


def gaps(
    rules: Iterable[Rule], cases: Iterable[Case] = (), mutants: Iterable[Mutant] = (), pending: Iterable[Pending] = ()
) -> list[tuple[str, str]]:
    made = Catalogue(
        {item.id: item for item in rules}, {item.id: item for item in cases}, {item.id: item for item in mutants},
        tuple(pending),
    )  # fmt: skip
    return [(gap.gate, gap.text) for gap in made.gaps(frozenset({"gpu"}))]


A, B = "AREA-TOPIC-001", "AREA-TOPIC-002"
LATER = Pending("rules-x.yaml", "", "later", 1)


def breaks(*rules: str) -> Mutant:
    return Mutant(body, rules)


def test_a_sound_suite_has_no_gap() -> None:
    assert gaps([rule(A), rule(B, level="MAY")], [case(A), case(B)], [breaks(A)]) == []
    waiting = Pending("", "AREA-*", "later", 1)
    assert gaps([rule(A), rule(B, check="Do it.")], [case(A)], [breaks(A)], [waiting]) == []


@pytest.mark.parametrize(
    ("found", "gate", "fragment"),
    [
        (gaps([rule(A)]), "case", "has no case and is not in pending.yaml"),
        (gaps([rule(A)], [case(A)]), "mutant", "needs a mutant"),
        (gaps([rule(A, check="Do it.")], [case(A)], [breaks(A)]), "check", "remove its `check`"),
        (gaps([rule(A)], pending=[LATER]), "check", "neither a case nor a `check`"),
        (gaps([], [case(A)]), "rule", "is about no rule"),
        (gaps([rule(A)], [case(A, after=(B,))], [breaks(A)]), "rule", f"stands on {B}, which is no rule"),
        (gaps([], mutants=[breaks(A)]), "rule", f"breaks {A}, which is no rule"),
        (gaps([rule(A, check="x")], mutants=[breaks(A)], pending=[LATER]), "case", "has no case"),
        (gaps([rule(A)], [case(A)], [breaks(A)], [LATER]), "pending", "remove the entry"),
        (gaps([rule(A, needs=("flying",))], [case(A)], [breaks(A)]), "capability", "needs 'flying'"),
        (gaps([rule(A)], [case(A, needs=("flying",))], [breaks(A)]), "capability", "needs 'flying'"),
    ],
)  # fmt: skip
def test_each_gate_notices(found: list[tuple[str, str]], gate: str, fragment: str) -> None:
    assert [name for name, _ in found] == [gate], found
    assert fragment in found[0][1]
