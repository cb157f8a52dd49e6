"""The committed pages about rules are what the inventory says now, and small."""

from __future__ import annotations

import re

import pytest

from conformance.catalogue import Catalogue, load_catalogue
from conformance.docs import FOLDER, all_pages, main, pages
from conformance.oracle import known
from conformance.oracle import page as oracle_page
from conformance.rule import RELEASES


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_catalogue()


def test_the_committed_pages_are_up_to_date(catalogue: Catalogue) -> None:
    expected = pages(catalogue)
    assert {path.name for path in FOLDER.iterdir()} == set(expected)
    for name, text in expected.items():
        committed = (FOLDER / name).read_text(encoding="utf-8")
        assert committed == text, f"docs/rules/{name} is out of date: run `python -m conformance.docs`"


def test_they_are_small(catalogue: Catalogue) -> None:
    assert sum(map(len, pages(catalogue).values())) < 70_000


def test_every_table_row_has_as_many_cells_as_its_heading(catalogue: Catalogue) -> None:
    for name, text in all_pages(catalogue).items():
        width = 0
        for line in text.splitlines():
            bars = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0
            assert not bars or not width or bars == width, f"{name}: {line[:100]}"
            width = bars


def test_each_rule_stands_on_one_page_and_each_difference_is_listed(catalogue: Catalogue) -> None:
    written = all_pages(catalogue)
    full = "\n".join(text for name, text in written.items() if name not in pages(catalogue))
    for rule in catalogue.rules.values():
        assert full.count(f"\n| {rule.id} |") == 1
        if rule.id in catalogue.cases_of:
            listed = sum(rule.status(release) in ("differs", "absent") for release in RELEASES)
            assert written["differences.md"].count(f"\n| {rule.id} |") == listed


def test_the_command_writes_every_page(tmp_path: object, catalogue: Catalogue) -> None:
    main(["--all", str(tmp_path)])
    from pathlib import Path

    found = {path.name: path.read_text(encoding="utf-8") for path in Path(str(tmp_path)).iterdir()}
    assert found == all_pages(catalogue)


def test_the_page_of_known_differences_is_up_to_date() -> None:
    text = oracle_page.page(known.load())
    assert oracle_page.FILE.read_text(encoding="utf-8") == text, "docs/oracle.md: run `python -m conformance.docs`"
    rows = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| ---")]
    assert len(rows) == len(known.load()) + len({entry.engines for entry in known.load()})
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {5}
