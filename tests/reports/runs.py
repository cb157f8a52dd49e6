"""Result files for the tests: three runs that between them show every outcome, known differences and surprises."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from reports import Report, Result, merge, parse
from reports.testing import case_record, footer, header, rule

#: rule -> (area, level, {engine: outcomes of its cases}); no outcomes: the rule has no case yet.
RULES: dict[str, tuple[str, str, dict[str, list[str]]]] = {
    "NDARRAY-COPY-001": ("ndarray", "MUST", {}),
    "NDARRAY-COPY-002": ("ndarray", "MAY", {}),
    "OPT-ADAM-001": ("optimizer", "MUST", {"acme": ["pass", "fail"], "ref": ["pass", "pass"], "mx": ["pass", "pass"]}),
    "OPT-LAMB-001": ("optimizer", "SHOULD", {"acme": ["error"], "ref": ["pass"], "mx": ["pass"]}),
    "OPT-SGD-001": ("optimizer", "MUST", {"acme": ["pass"], "ref": ["pass"], "mx": ["pass"]}),
    "OPT-SPARSE-001": ("optimizer", "MUST", {"acme": ["unsupported"], "ref": ["unsupported"], "mx": ["pass"]}),
    "TRAINER-CORE-001": ("trainer", "MUST", {"acme": ["crash"], "ref": ["pass"], "mx": ["pass"]}),
    "TRAINER-CORE-002": ("trainer", "MUST", {"acme": ["blocked"], "ref": ["pass"], "mx": ["pass"]}),
    "TRAINER-HANG-001": ("trainer", "MUST", {"acme": ["timeout"], "ref": ["pass"], "mx": ["fail"]}),
    "TRAINER-LATE-001": ("trainer", "MAY", {"acme": ["not-run"], "ref": ["pass"], "mx": ["error"]}),
    "TRAINER-SAVE-001": ("trainer", "SHOULD", {"acme": ["waived"], "ref": ["pass"], "mx": ["fail"]}),
    "TRAINER-SAVE-002": ("trainer", "SHOULD", {"acme": ["unexpected-pass"], "ref": ["pass"], "mx": ["pass"]}),
    "TRAINER-SAVE-003": ("trainer", "MAY", {"acme": ["unstable"], "ref": ["pass"], "mx": ["pass"]}),
}

#: What the inventory says of mxnet-1.9.1 where it does not say "holds".
RELEASES = {
    "TRAINER-HANG-001": ("differs", "`step` returns at once and the weights never change"),
    "TRAINER-LATE-001": ("absent", "there is no such method"),
    "TRAINER-SAVE-002": ("differs", "the file is written in another order"),
}

SURPRISES = [
    {"rule": "TRAINER-SAVE-001", "expected": "holds", "observed": "fail", "detail": ""},
    {"rule": "TRAINER-SAVE-002", "expected": "differs", "observed": "pass", "detail": "every case passes"},
]

NAMES = {"acme": "acme-gluon", "ref": "refengine", "mx": "mxnet-1.9.1"}


def lines(engine: str) -> list[dict[str, Any]]:
    """The records of one of the three runs: ``acme``, ``ref`` or ``mx``."""
    name = NAMES[engine]
    rules, cases = [], []
    for identifier, (area, level, outcomes) in RULES.items():
        own = outcomes.get(engine, [])
        names = [f"{identifier}/observe" + (f"[{'abc'[n]}]" if len(own) > 1 else "") for n in range(len(own))]
        status, observation = RELEASES.get(identifier, ("holds", "as stated"))
        rules.append(
            rule(
                identifier,
                area,
                level,
                statement=f"What {identifier} asks of `Trainer.step`, whatever *else* | happens.",
                releases={
                    "mxnet-1.9.1": {"status": status, "observation": observation},
                    "mxnet-2.0.0b1": {"status": "untested", "observation": ""},
                },
                cases=names,
                needs=["sparse"] if "SPARSE" in identifier else [],
                mutants=[f"{area}_core.breaks_it"] if own and level == "MUST" else [],
            )
        )
        for case, outcome in zip(names, own):
            cases.append(case_record(case, area, level, outcome, name, **_special(outcome)))
    counts = dict(Counter(case["outcome"] for case in cases))
    if engine == "mx":
        head = header(name, version="1.9.1", python="3.11.7", numpy="1.23.5", inventory="mxnet-1.9.1", module="mxnet")
        end = footer(counts, len(rules), surprises=SURPRISES, verdict="surprise", exit_code=1, seconds=41.25)
    elif engine == "acme":
        head = header(name, version="3.1.4")
        end = footer(counts, len(rules), verdict="does-not-conform", exit_code=1, seconds=75.5)
    else:
        head = header(name, version="0.1.0", python="3.13.1")
        end = footer(counts, len(rules), seconds=0.75)
    return [head, *rules, *cases, end]


def _special(outcome: str) -> dict[str, Any]:
    failure = {"kind": outcome, "doing": "running the case", "expected": "an end", "tolerance": None}
    if outcome == "error":
        traceback = 'Traceback (most recent call last):\n  File "case.py", line 3, in observe\nZeroDivisionError: no'
        return {"failure": failure | {"got": "ZeroDivisionError: no", "traceback": traceback, "output": "a warning"}}
    if outcome == "crash":
        return {"failure": failure | {"got": "signal 11", "traceback": None, "output": "one\ntwo\nSegmentation fault"}}
    if outcome == "blocked":
        return {"blocked_by": ["TRAINER-CORE-001"], "message": "blocked by TRAINER-CORE-001"}
    if outcome == "waived":
        return {"waiver": {"reason": "the allocator is being replaced", "until": "2027-03-01"}}
    if outcome == "unsupported":
        return {"message": "needs sparse, which this engine does not have"}
    return {}


def text_of(records: list[dict[str, Any]]) -> str:
    """The content of a result file."""
    return "".join(json.dumps(record) + "\n" for record in records)


def result(engine: str) -> Result:
    """One of the three runs."""
    return parse(text_of(lines(engine)), f"{NAMES[engine]}.jsonl")


def report(*engines: str) -> Report:
    """Runs side by side; all three by default."""
    return merge([result(engine) for engine in engines or ("ref", "mx", "acme")])


#: Text that tries to leave the place where it is shown.
HOSTILE = [
    "<script>window.hacked=1</script>",
    "</script><script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    "\"><svg onload=window.hacked=1>",
    "' onmouseover='window.hacked=1",
    "<!--", "]]>", "]]]]><![CDATA[>", "-->",
    "{{ 7*7 }} {% raw %}", "${7*7}", "$& $1", "{rule} {case}", "[bold red]rich[/]",
    "javascript:window.hacked=1",
    "\x1b[31mred\x1b[0m\x1b]0;title\x07\r\x08",
    "\u202egnp.exe \u2066x\u2069 \u200b",
    "a\u2028b\u2029c\x85d\x00e\ud800f\ufffe",
    "| a | b |\n| --- | --- |", "# heading", "1. list", "@someone #1 https://example.invalid/",
    "``` ```` `", "**bold** _em_ ~~s~~ <details>",
    "😀 ﷽ Ω 漢字",
]  # fmt: skip


def hostile_lines() -> list[dict[str, Any]]:
    """A run in which every free text is hostile, and one is very long."""
    everything = " ".join(HOSTILE) + "\n" + "\n".join(HOSTILE)
    parts = dict.fromkeys(("kind", "doing", "expected", "tolerance", "traceback", "output"), everything)
    parts["got"] = everything + "x" * 200_000
    rules, cases = [], []
    for number, text in enumerate(HOSTILE, 1):
        identifier = f"HOSTILE-{number:03d}"
        case = f"{identifier}/{text}"
        rules.append(
            rule(
                identifier,
                "area" + HOSTILE[number % 4],
                "MUST",
                statement=text,
                source=text,
                verdict=text,
                api=[text],
                needs=[text],
                notes=everything,
                releases={text: {"status": "differs", "observation": text}},
                cases=[case],
                mutants=[text],
            )
        )
        cases.append(
            case_record(
                case,
                "area" + HOSTILE[number % 4],
                "MUST",
                "fail",
                "hostile",
                message=everything,
                failure=parts,
                replay=text,
                blocked_by=[text] if number % 2 else [],
                waiver={text: text} if number % 3 == 0 else None,
            )
        )
    surprise = {"rule": "HOSTILE-001", "expected": HOSTILE[0], "observed": HOSTILE[1], "detail": everything}
    head = header(HOSTILE[1] + "\x1b[2J", version=HOSTILE[2], python=HOSTILE[3], numpy=HOSTILE[4], platform=HOSTILE[5])
    head["engine"]["inventory"] = HOSTILE[0]
    head["started"] = HOSTILE[1]
    head["suite"]["version"] = HOSTILE[1]
    head["options"] = {"shard": HOSTILE[1], "mutant": HOSTILE[1]}
    counts = {"fail": len(cases)}
    return [head, *rules, *cases, footer(counts, len(rules), surprises=[surprise], verdict="surprise", exit_code=1)]


def hostile() -> Report:
    """The hostile run as a report."""
    return merge([parse(text_of(hostile_lines()), "hostile.jsonl")])
