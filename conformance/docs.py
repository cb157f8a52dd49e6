"""Pages generated from data: ``python -m conformance.docs`` writes ``docs/rules/`` and ``docs/oracle.md``.

What is committed is small: how much of the inventory has cases, and where the releases do something else than the rules
say. ``python -m conformance.docs --all FOLDER`` writes a page for every file of rules as well.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from conformance.catalogue import Catalogue, load_catalogue
from conformance.markdown import cell, table
from conformance.oracle import known
from conformance.oracle import page as oracle_page
from conformance.rule import LEVELS, RELEASES, STATUSES, Rule
from reports.files import write_atomically

FOLDER = Path(__file__).parents[1] / "docs" / "rules"
_GENERATED = "<!-- Generated from conformance/rules by `python -m conformance.docs`; do not edit. -->"


def pages(catalogue: Catalogue) -> dict[str, str]:
    """File name -> text of the pages that are committed."""
    return {"coverage.md": coverage(catalogue), "differences.md": differences(catalogue)}


def all_pages(catalogue: Catalogue) -> dict[str, str]:
    """Those, and a page for each file of rules."""
    return {**pages(catalogue), **{f"{name}.md": page(name, rules, catalogue) for name, rules in _files(catalogue)}}


def coverage(catalogue: Catalogue) -> str:
    """How many rules there are, and how many have a case and a mutant."""
    rows: list[Sequence[object]] = []
    everything = list(catalogue.rules.values())
    for name, rules in [*_files(catalogue), ("all", everything)]:
        with_case = [rule for rule in rules if rule.id in catalogue.cases_of]
        levels = Counter(rule.level for rule in rules)
        musts = [rule for rule in with_case if rule.level == "MUST"]
        guarded = sum(rule.id in catalogue.mutants_of for rule in musts)
        rows.append([name, len(rules), *(levels[level] for level in LEVELS), len(with_case), len(musts), guarded])
    heading = ["Rules", "Count", *LEVELS, "With case", "MUST with case", "of these with mutant"]
    waiting = [
        [entry.file.removeprefix("rules-").removesuffix(".yaml") or cell(entry.rules), cell(entry.reason)]
        for entry in catalogue.pending_list
    ]
    lines = [
        _GENERATED,
        "# Coverage of the rules",
        "",
        "A rule is one entry of the inventory, `conformance/rules/rules-*.yaml`; `conform explain RULE` shows one with",
        "its source, its cases, and the mutants that its cases kill. What has no case yet is never reported as passed.",
        "",
        *table(heading, rows),
        "",
        "## What the releases do",
        "",
        "As recorded for the rules that have cases, and checked by every run against the releases.",
        "",
        *table(["Release", *STATUSES], [_statuses(catalogue, release) for release in RELEASES]),
        "",
        "## Still without cases",
        "",
        *table(["Rules", "Why"], waiting),
    ]
    return "\n".join(lines) + "\n"


def differences(catalogue: Catalogue) -> str:
    """Where a release does something else than the rules with cases say."""
    lines = [
        _GENERATED,
        "# Where Apache MXNet differs from the rules",
        "",
        "Rules that have cases and that a release does not meet. Runs against the releases expect exactly this:",
        "anything else is reported as a surprise.",
    ]
    for release in RELEASES:
        rows = [
            [rule.id, rule.level, rule.status(release), cell(rule.statement), cell(rule.releases[release].observation)]
            for rule in catalogue.rules.values()
            if rule.id in catalogue.cases_of and rule.status(release) in ("differs", "absent")
        ]
        lines += ["", f"## {release}", "", *table(["Rule", "Level", "Status", "Rule says", "Release does"], rows)]
    return "\n".join(lines) + "\n"


def page(name: str, rules: Iterable[Rule], catalogue: Catalogue) -> str:
    """One file of rules as a page."""
    heading = ["Rule", "Level", "Statement", "Source", "Cases", *RELEASES]
    rows = []
    for rule in rules:
        cases = len(catalogue.cases_of.get(rule.id, ())) or "none yet"
        statuses = [f"{rule.status(release)}: {cell(rule.releases[release].observation)}" for release in RELEASES]
        rows.append([rule.id, rule.level, cell(rule.statement), cell(rule.source), cases, *statuses])
    return "\n".join([_GENERATED, f"# Rules: {name}", "", *table(heading, rows)]) + "\n"


def _files(catalogue: Catalogue) -> list[tuple[str, list[Rule]]]:
    found: dict[str, list[Rule]] = {}
    for rule in catalogue.rules.values():
        found.setdefault(rule.file.removeprefix("rules-").removesuffix(".yaml"), []).append(rule)
    return sorted(found.items())


def _statuses(catalogue: Catalogue, release: str) -> list[object]:
    rules = [rule for rule in catalogue.rules.values() if rule.id in catalogue.cases_of]
    count = Counter(rule.status(release) for rule in rules)
    return [release, *(count[status] for status in STATUSES)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the pages."""
    parser = argparse.ArgumentParser(prog="python -m conformance.docs", description=main.__doc__)
    parser.add_argument("--all", metavar="FOLDER", help="write every page, into this folder")
    chosen = parser.parse_args(arguments)
    if not chosen.all:
        write_atomically(oracle_page.FILE, oracle_page.page(known.load()))
        print(oracle_page.FILE)
    catalogue = load_catalogue()
    folder = Path(chosen.all) if chosen.all else FOLDER
    for name, text in (all_pages if chosen.all else pages)(catalogue).items():
        write_atomically(folder / name, text)
        print(folder / name)


if __name__ == "__main__":
    main()
