"""The published schema and the reader agree: what one refuses in a record, the other refuses too."""

from __future__ import annotations

import copy
import json
from importlib.resources import files

import jsonschema
import pytest
import runs

from reports import ResultError, parse
from reports.outcomes import VERDICTS

SCHEMA = json.loads((files("reports") / "schema" / "result.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

VALUES = [None, True, False, 0, 7, -1, 0.5, "", "text", [], ["text"], [7], {}, {"a": 7}, {"a": "text"}]

#: Refusals of the reader that are about several records at once; a schema of one line cannot know them.
ACROSS = ("miscounted", "second time", "no rule record", "but its rule says", "after the footer")


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("engine", ["acme", "ref", "mx"])
def test_real_records_fit(engine):
    for record in runs.lines(engine):
        VALIDATOR.validate(record)
    for record in runs.hostile_lines():
        VALIDATOR.validate(record)


def places(value, path=()):
    """Every key of a record, nested ones included."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield (*path, key)
            yield from places(item, (*path, key))


def change(record, path, value):
    record = copy.deepcopy(record)
    inside = record
    for key in path[:-1]:
        inside = inside[key]
    if value is places:
        del inside[path[-1]]
    else:
        inside[path[-1]] = value
    return record


def agree(whole, number, changed):
    by_schema = VALIDATOR.is_valid(changed)
    try:
        parse(runs.text_of([*whole[:number], changed, *whole[number + 1 :]]))
        by_reader, why = True, ""
    except ResultError as error:
        by_reader, why = False, error.problem
    if any(words in why for words in ACROSS):
        return
    assert by_schema == by_reader, (changed, why)


#: One record of each kind, the richest there is: (run, its place).
RICH = [("mx", 0), ("mx", 8), ("acme", -3), ("acme", 18), ("mx", -1)]


@pytest.mark.parametrize(("engine", "number"), RICH)
def test_reader_and_schema_agree_on_every_field_and_value(engine, number):
    whole = runs.lines(engine)
    number %= len(whole)
    kinds = 0
    for path in places(whole[number]):
        agree(whole, number, change(whole[number], path, places))  # the key is missing
        for value in VALUES:
            if path == ("record",) and value == "text":
                continue
            agree(whole, number, change(whole[number], path, value))
            kinds += 1
    assert kinds > 60


def test_the_rich_records_are_of_every_kind():
    assert [runs.lines(engine)[number]["record"] for engine, number in RICH] == [
        "header",
        "rule",
        "case",
        "case",
        "footer",
    ]


@pytest.mark.parametrize("name", ["expected", "got", "traceback"])
def test_parts_of_a_failure(name):
    whole = runs.lines("acme")
    number = next(i for i, record in enumerate(whole) if record["record"] == "case" and record["failure"])
    for value in VALUES:
        agree(whole, number, change(whole[number], ("failure", name), value))


def test_knows_every_verdict_that_a_run_can_end_with():
    assert set(SCHEMA["$defs"]["footer"]["properties"]["verdict"]["enum"]) == set(VERDICTS)
