"""The structure of the two exchange formats, written down for the tests.

JUnit has no one schema; this is what the readers of Jenkins, GitLab and GitHub agree on, as the xUnit schema of Jenkins
words it. CTRF's is the structure published at https://ctrf.io, without the parts that the renderer does not use.
"""

from __future__ import annotations

from typing import Any

_COUNTS = {"tests", "failures", "errors", "skipped"}

#: element -> (required attributes, optional ones, children in their order, whether it has children)
JUNIT: dict[str, tuple[set[str], set[str], list[str], bool]] = {
    "testsuites": ({"name"} | _COUNTS, {"time"}, ["testsuite"], True),
    "testsuite": (
        {"name"} | _COUNTS,
        {"time", "timestamp", "hostname", "id", "package"},
        ["properties", "testcase", "system-out", "system-err"],
        True,
    ),
    "properties": (set(), set(), ["property"], True),
    "property": ({"name", "value"}, set(), [], False),
    "testcase": ({"name", "classname"}, {"time"}, ["skipped", "error", "failure", "system-out", "system-err"], True),
    "skipped": (set(), {"message", "type"}, [], False),
    "error": ({"type"}, {"message"}, [], False),
    "failure": ({"type"}, {"message"}, [], False),
    "system-out": (set(), set(), [], False),
    "system-err": (set(), set(), [], False),
}

_TEXT: dict[str, Any] = {"type": "string"}
_NAME: dict[str, Any] = {"type": "string", "minLength": 1}
_WHOLE: dict[str, Any] = {"type": "integer", "minimum": 0}


def _object(required: list[str], properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "required": required, "properties": properties, "additionalProperties": False}


_TEST = _object(
    ["name", "status", "duration"],
    {
        "name": _NAME,
        "testId": _NAME,
        "status": {"enum": ["passed", "failed", "skipped", "pending", "other"]},
        "rawStatus": _TEXT,
        "duration": _WHOLE,
        "suite": {"type": "array", "minItems": 1, "items": _TEXT},
        "tags": {"type": "array", "items": _TEXT},
        "message": _TEXT,
        "trace": _TEXT,
        "stdout": {"type": "array", "items": _TEXT},
        "extra": {"type": "object"},
    },
)

CTRF: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    **_object(
        ["reportFormat", "specVersion", "results"],
        {
            "reportFormat": {"const": "CTRF"},
            "specVersion": {"type": "string", "pattern": r"^[0-9]+\.[0-9]+\.[0-9]+$"},
            "generatedBy": _TEXT,
            "results": _object(
                ["tool", "summary", "tests"],
                {
                    "tool": _object(["name"], {"name": _NAME, "version": _TEXT}),
                    "summary": _object(
                        ["tests", "passed", "failed", "skipped", "pending", "other", "start", "stop"],
                        dict.fromkeys(
                            ["tests", "passed", "failed", "skipped", "pending", "other", "suites", "start", "stop"],
                            _WHOLE,
                        ),
                    ),
                    "tests": {"type": "array", "items": _TEST},
                    "extra": {"type": "object"},
                },
            ),
        },
    ),
}
