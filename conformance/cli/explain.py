"""``conform explain``: everything that is known about one rule."""

from __future__ import annotations

import json

import click

from conformance.catalogue import Catalogue, load_catalogue, place_of
from conformance.cli.explain_nearest import nearest
from conformance.errors import UsageFault
from conformance.rule import RELEASES, Rule


@click.command(
    "explain", short_help="Show everything about one rule.",
    epilog="Exit codes: 0 shown, 2 no such rule, 4 faulty inventory or suite.",
)  # fmt: skip
@click.argument("rule")
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="How to print it."
)
def command(rule: str, form: str) -> None:
    """Show a RULE: statement, source, what each release does, its cases and mutants.

    RULE may also be the id of a case, such as TRAINER-CORE-001/one_iteration.
    """
    catalogue = load_catalogue()
    found = catalogue.rules.get(rule.split("/")[0].upper())
    if found is None:
        near = nearest(rule.split("/")[0], catalogue.rules)
        hint = f"did you mean {', '.join(near)}?" if near else "`conform rules --rule 'GLOB'` lists the ids"
        raise UsageFault(f"there is no rule {rule!r}", hint=hint)
    click.echo(json.dumps(as_record(found, catalogue), indent=1) if form == "json" else as_text(found, catalogue))


def as_record(rule: Rule, catalogue: Catalogue) -> dict[str, object]:
    """The rule with its cases and mutants as plain JSON values."""
    return {
        **rule.as_record(),
        "where": rule.where,
        "pending": catalogue.pending.get(rule.id),
        "cases": [
            {"id": case.id, "where": place_of(case), "needs": list(case.needs), "after": list(case.after)}
            for case in catalogue.cases_of.get(rule.id, ())
        ],
        "mutants": [
            {"id": mutant.id, "where": place_of(mutant), "doc": mutant.doc}
            for mutant in catalogue.mutants_of.get(rule.id, ())
        ],
    }


def as_text(rule: Rule, catalogue: Catalogue) -> str:
    """The rule with its cases and mutants for a person to read."""
    lines = [f"{rule.id}  {rule.level}  {rule.area}  ({rule.verdict})", ""]
    lines += _block("", rule.statement)
    if rule.document_says:
        lines += ["", *_block("The document says: ", rule.document_says)]
    lines += ["", f"Source   {rule.source}", f"Entry    conformance/rules/{rule.where}"]
    if rule.api:
        lines += _block("API      ", ", ".join(rule.api))
    lines.append(f"Needs    {', '.join(rule.needs) or 'nothing beyond the core'}")
    if rule.notes:
        lines += _block("Notes    ", rule.notes)
    lines += ["", "Releases"]
    for release in RELEASES:
        known = rule.releases[release]
        lines += _block(f"  {release:<14} {known.status:<9} ", known.observation)
    cases = catalogue.cases_of.get(rule.id, ())
    lines += ["", f"Cases ({len(cases)})"]
    for case in cases:
        extra = [f"needs {', '.join(case.needs)}"] if case.needs else []
        extra += [f"after {', '.join(case.after)}"] if case.after else []
        lines.append(f"  {case.id}  {place_of(case)}{'  (' + '; '.join(extra) + ')' if extra else ''}")
    if not cases:
        lines += _block("  none yet: ", catalogue.pending.get(rule.id, "the rule waits for one"))
    if rule.check:
        lines += ["  Recipe for a case:", *(f"    {line}" for line in rule.check.rstrip().split("\n"))]
    mutants = catalogue.mutants_of.get(rule.id, ())
    lines += ["", f"Mutants ({len(mutants)})"]
    for mutant in mutants:
        lines += [f"  {mutant.id}  {place_of(mutant)}", *_block("    ", mutant.doc)]
    if cases:
        lines += ["", f"Run      conform run --engine NAME --rule '{rule.id}'"]
    return "\n".join(lines)


def _block(label: str, text: str, width: int = 110) -> list[str]:
    """A label and a text, wrapped, with its further lines under its first."""
    wrapped = click.wrap_text(
        text.strip(), width, initial_indent=label, subsequent_indent=" " * len(label), preserve_paragraphs="\n" in text
    )
    return wrapped.split("\n")
