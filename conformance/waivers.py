"""Waivers: a vendor's dated, reasoned, exact exceptions, in a TOML file of their own::

    [[waiver]]
    id = "TRAINER-STALE-001"          # a rule, or a case: TRAINER-STALE-001/one_of_two[adam]
    reason = "stale gradients are not tracked yet, TICKET-123"
    since = 2025-01-15
    expires = 2025-07-01
    engine_version = "2.4.0"          # optional: the waiver is for this version of the engine only

No patterns: a waiver names exactly one thing. One that is unexplained, expired, for another version, or for something
that does not exist is an error with its line; one for something that passes now makes an unexpected pass.
"""

from __future__ import annotations

import datetime
import difflib
import re
import tomllib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.errors import UsageFault

_FIELDS = ("id", "reason", "since", "expires", "engine_version")
_IDENTIFIER = re.compile(r"^[A-Z][A-Z0-9]*(-[A-Z0-9]+)+-[0-9]{3}(/\w+(\[[^\]]*\])?)?$")


@dataclass(frozen=True)
class Waiver:
    """One exception; ``where`` is ``file:line``."""

    id: str
    reason: str
    since: datetime.date
    expires: datetime.date
    engine_version: str | None
    where: str

    def covers(self, rule: str, case: str) -> bool:
        """True if it names this case or its rule."""
        return self.id in (rule, case)

    def as_record(self) -> dict[str, Any]:
        """Plain values for the result file."""
        return {
            "id": self.id, "reason": self.reason, "since": self.since.isoformat(), "expires": self.expires.isoformat(),
            "engine_version": self.engine_version, "where": self.where,
        }


def read_waivers(path: Path, today: datetime.date) -> tuple[Waiver, ...]:
    """Read and check a file of waivers; raises UsageFault that lists every faulty line."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageFault(f"waiver file cannot be read: {path}: {error}") from None
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageFault(f"{path}: not a TOML file: {error}") from None
    entries = document.pop("waiver", [])
    if document or not isinstance(entries, list):
        stray = ", ".join(document) or "a waiver that is no table"
        raise UsageFault(f"{path}: expected [[waiver]] tables and nothing else, got also {stray}")
    lines = _entry_lines(text, len(entries))
    faults: list[str] = []
    found: list[Waiver] = []
    first_line: dict[str, int] = {}
    for entry, (line, keys) in zip(entries, lines):
        problems = list(_problems(entry, keys, line, today))
        identifier = entry.get("id")
        if isinstance(identifier, str) and identifier in first_line:
            twice = f"{identifier} is waived twice; first in line {first_line[identifier]}"
            problems.append((keys.get("id", line), twice))
        faults += [f"{path}:{at}: {problem}" for at, problem in problems]
        if not problems:
            at = keys.get("id", line)
            first_line[entry["id"]] = at
            found.append(Waiver(entry["id"], entry["reason"].strip(), entry["since"], entry["expires"],
                                entry.get("engine_version"), f"{path}:{at}"))
    if faults:
        raise UsageFault("faulty waivers:\n" + "\n".join(faults), "A waiver needs id, reason, since and expires.")
    return tuple(found)


def _problems(
    entry: Any, keys: dict[str, int], line: int, today: datetime.date
) -> Iterable[tuple[int, str]]:
    if not isinstance(entry, dict):
        yield line, f"expected a table, got {entry!r}"
        return
    for key in entry:
        if key not in _FIELDS:
            near = difflib.get_close_matches(key, _FIELDS, 1)
            yield keys.get(key, line), f"unknown key {key!r}" + (f"; did you mean {near[0]!r}?" if near else "")
    identifier = entry.get("id")
    if not isinstance(identifier, str) or not _IDENTIFIER.match(identifier):
        yield keys.get("id", line), f"id: expected one rule or case, exactly (no pattern), got {identifier!r}"
    reason = entry.get("reason")
    if not isinstance(reason, str) or len(reason.strip()) < 10:
        yield keys.get("reason", line), f"unexplained: expected a reason of at least ten characters, got {reason!r}"
    dates = {}
    for key in ("since", "expires"):
        value = entry.get(key)
        if type(value) is not datetime.date:
            yield keys.get(key, line), f"{key}: expected a date such as 2025-07-01 (without quotes), got {value!r}"
        else:
            dates[key] = value
    if len(dates) == 2 and dates["since"] > dates["expires"]:
        yield keys.get("since", line), f"since {dates['since']} is after expires {dates['expires']}"
    if "since" in dates and dates["since"] > today:
        yield keys.get("since", line), f"since {dates['since']} lies in the future"
    if "expires" in dates and dates["expires"] < today:
        yield keys.get("expires", line), f"{identifier}: expired on {dates['expires']}; fix the engine or renew it"
    version = entry.get("engine_version")
    if version is not None and (not isinstance(version, str) or not version):
        yield keys.get("engine_version", line), f"engine_version: expected a version string, got {version!r}"


def _entry_lines(text: str, count: int) -> list[tuple[int, dict[str, int]]]:
    """Line of each [[waiver]] header, and of each of its keys; tomllib itself keeps no positions."""
    found: list[tuple[int, dict[str, int]]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if re.match(r"\s*\[\[\s*[\"']?waiver[\"']?\s*\]\]", line):
            found.append((number, {}))
        key = re.match(r"\s*[\"']?([A-Za-z_]\w*)[\"']?\s*=", line)
        if key and found:
            found[-1][1].setdefault(key.group(1), number)
    # `waiver = [{...}]` is the same document without headers.
    return found if len(found) == count else [(1, {})] * count


def check_against(
    waivers: Sequence[Waiver], known_rules: Collection[str], known_cases: Collection[str], engine_version: str,
) -> None:
    """Every waiver names something that exists and is for this version; else UsageFault with the lines."""
    faults = []
    for waiver in waivers:
        known = known_cases if "/" in waiver.id else known_rules
        if waiver.id not in known:
            near = difflib.get_close_matches(waiver.id, known, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            faults.append(f"{waiver.where}: {waiver.id} does not exist{hint}")
        elif waiver.engine_version not in (None, engine_version):
            faults.append(f"{waiver.where}: {waiver.id} is waived for version {waiver.engine_version} of the engine, "
                          f"and this is {engine_version}")
    if faults:
        raise UsageFault("faulty waivers:\n" + "\n".join(faults), "Correct the id, renew the waiver or remove it.")
