"""Which rules somebody may have meant by an id that there is not, the closest first."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NUMBERED = re.compile(r"(.+?)(?:-|(?<=[A-Z]))(\d{1,4})[A-Z]?")

_AREA, _TOPIC, _JOINED, _SWAPPED, _WITHIN = 0.2, 0.3, 0.1, 0.5, 0.75
"""What it costs when only the area was named, only the topic, or both without the dash, the other way round, in part.
A wrong, missing, superfluous or swapped letter costs 1."""

_RANGE = 1.5
"""How much further away than the closest rule others may be that are proposed as well."""


def nearest(name: str, known: Iterable[str], count: int = 5) -> list[str]:
    """The ids that somebody may have meant, the closest first; one rule of each topic where no number was named.

    >>> nearest("trainer-coer-2", ["TRAINER-CORE-001", "TRAINER-CORE-002", "TRAINER-LR-002"])
    ['TRAINER-CORE-002', 'TRAINER-CORE-001']
    >>> nearest("sgd", ["AMP-SGD-001", "SGD-NAG-001", "SGD-NAG-002", "TRAINER-CORE-001"])
    ['SGD-NAG-001', 'AMP-SGD-001']
    >>> nearest("trainer", ["OPT-SGD-001", "TRAINING-CORE-001", "TRAINING-CORE-002"])
    ['TRAINING-CORE-001']
    """
    wanted = re.sub(r"[^A-Z0-9]+", "-", name.upper()).strip("-")
    numbered = _NUMBERED.fullmatch(wanted)
    topics: dict[str, list[str]] = {}
    for item in known:
        topics.setdefault(item.rpartition("-")[0], []).append(item)
    found: list[tuple[float, float, float, int, str]] = []
    for topic, rules in topics.items():
        whole = _distance_of_topic(wanted, topic)
        found.append((whole, whole, 0, len(found), rules[0]))
        if numbered:
            cost = _distance_of_topic(numbered[1], topic)
            near = sorted((_distance_of_number(numbered[2], rule.rpartition("-")[2]), rule) for rule in rules)
            # Who names a topic in full and a number means one of its rules; else one rule of each topic will do.
            if cost in (_AREA, _TOPIC, _WITHIN):
                near = near[:1]
            found += [(cost + distance[0] / 2, cost, distance[1], len(found), rule) for distance, rule in near]
    limit = 0.6 * len(numbered[1] if numbered else wanted)
    found = sorted(entry for entry in found if entry[1] <= limit)
    close = [rule for cost, _, _, _, rule in found if cost <= found[0][0] + _RANGE]
    return list(dict.fromkeys(close))[:count]


def _distance_of_topic(wanted: str, topic: str) -> float:
    """How far some words are from a topic such as OPT-SGD, or from its area or the rest of it alone."""
    area, _, rest = topic.partition("-")
    best = min(
        _edits(wanted, topic),
        _AREA + _edits(wanted, area),
        _TOPIC + _edits(wanted, rest),
        _JOINED + _edits(wanted.replace("-", ""), topic.replace("-", "")),
        _SWAPPED + _edits(wanted, f"{rest}-{area}"),
    )
    return min(best, _WITHIN) if len(wanted) > 2 and wanted in topic else best


def _distance_of_number(wanted: str, number: str) -> tuple[int, int]:
    """How many digits are wrong, and by how much the number is."""
    if not number.isdigit():
        return len(wanted), 0
    return _edits(f"{int(wanted):03}", number), abs(int(wanted) - int(number))


def _edits(first: str, second: str) -> int:
    """The number of letters to change, add, leave out or swap with the next one, to make one text of the other.

    >>> _edits("CORE", "COER"), _edits("SGD", "SGLD"), _edits("", "ND")
    (1, 1, 2)
    """
    before: list[int] = []
    row = list(range(len(second) + 1))
    for i, letter in enumerate(first, 1):
        before, last, row = row, before, [i]
        for j, other in enumerate(second, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == second[j - 2] and first[i - 2] == other:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
    return row[-1]
