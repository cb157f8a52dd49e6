"""Aggregated statistics of a profile: counts, sums and extremes per name, as a table or as JSON."""

from __future__ import annotations

import json
from typing import Any

HEAD = '\nProfile Statistics:\n\tNote the difference in units for different entries.\n'

SORTS = ('total', 'avg', 'min', 'max', 'count')

_RULE = '=' * 17
_TIMES = ('Time (ms)', 'Min Time (ms)', 'Max Time (ms)', 'Avg Time (ms)')
_SIZES = ('Min Use  (kB)', 'Max Use  (kB)', 'Avg Use  (kB)')
_VALUES = ('Min Value', 'Max Value', 'Avg Value')


class Row:
    """Count, sum, least and greatest of the observations under one name."""

    __slots__ = ('count', 'least', 'most', 'total')

    def __init__(self) -> None:
        self.count = 0
        self.total = 0.0
        self.least = self.most = 0.0

    def add(self, value: float) -> None:
        """Take one observation in."""
        if not self.count:
            self.least = self.most = value
        elif value < self.least:
            self.least = value
        elif value > self.most:
            self.most = value
        self.count += 1
        self.total += value

    @property
    def average(self) -> float:
        """The mean."""
        return self.total / self.count if self.count else 0.0

    def key(self, sort_by: str) -> float:
        """What rows are ordered by."""
        return {'total': self.total, 'avg': self.average, 'min': self.least, 'max': self.most,
                'count': float(self.count)}[sort_by]


class Statistics:
    """Rows of times (in ms), of memory (in kB of 1000 bytes) and of counters, by category and name."""

    def __init__(self) -> None:
        self.times: dict[str, dict[str, Row]] = {}
        self.sizes: dict[str, dict[str, Row]] = {}
        self.values: dict[str, dict[str, Row]] = {}

    @staticmethod
    def add(where: dict[str, dict[str, Row]], category: str, name: str, value: float) -> None:
        """Take one observation of a name in."""
        rows = where.get(category)
        if rows is None:
            rows = where[category] = {}
        row = rows.get(name)
        if row is None:
            row = rows[name] = Row()
        row.add(value)

    def category(self, category: str) -> None:
        """Have a section of this name, also while nothing is in it."""
        self.times.setdefault(category, {})

    def clear(self) -> None:
        """Forget everything."""
        for where in (self.times, self.sizes, self.values):
            where.clear()

    # ---- output ------------------------------------------------------------------------------------------------

    def table(self, sort_by: str, ascending: bool) -> str:
        """A section per category, rows ordered by a column."""
        sections = []
        for where, columns in ((self.sizes, _SIZES), (self.times, _TIMES), (self.values, _VALUES)):
            for category, rows in where.items():
                lines = [category, _RULE, _header(columns), _header(tuple('-' * len(c) for c in columns), '----',
                                                                    '-' * 11)]
                lines += [_line(name, row, columns) for name, row in _ordered(rows, sort_by, ascending)]
                sections.append((category, '\n'.join(lines) + '\n\n'))
        return HEAD + ''.join(text for _, text in sorted(sections, key=lambda item: item[0])) + (
            '\n' if sections else '')

    def as_json(self, sort_by: str, ascending: bool) -> str:
        """The same as a JSON document; counters have a section of their own when there are some."""
        def section(where: dict[str, dict[str, Row]], total: bool) -> dict[str, Any]:
            return {category: {name: _fields(row, total) for name, row in _ordered(where[category], sort_by, ascending)}
                    for category in sorted(where)}

        document = {'Time': section(self.times, True), 'Memory': section(self.sizes, False)}
        if self.values:
            document['Counter'] = section(self.values, False)
        document['Unit'] = {'Time': 'ms', 'Memory': 'kB'}
        return json.dumps(document, indent=4)


def _ordered(rows: dict[str, Row], sort_by: str, ascending: bool) -> list[tuple[str, Row]]:
    return sorted(rows.items(), key=lambda item: item[1].key(sort_by), reverse=not ascending)


def _header(columns: tuple[str, ...], name: str = 'Name', count: str = 'Total Count') -> str:
    return f'{name:<25}{count:>16}' + ''.join(f'{column:>17}' for column in columns)


def _line(name: str, row: Row, columns: tuple[str, ...]) -> str:
    numbers = (row.least, row.most, row.average)
    if columns is _TIMES:
        numbers = (row.total, *numbers)     # type: ignore[assignment]
    return f'{name:<25}{row.count:>16}' + ''.join(f'{number:>17.4f}' for number in numbers)


def _fields(row: Row, total: bool) -> dict[str, Any]:
    fields: dict[str, Any] = {'Count': row.count}
    if total:
        fields['Total'] = row.total
    return {**fields, 'Min': row.least, 'Max': row.most, 'Avg': row.average}
