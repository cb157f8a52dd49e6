"""Scalar logs as they are read: series of points, by tag, within a bound of memory."""

from __future__ import annotations

import json
import math
from array import array
from typing import Any

from .growing import GrowingFile
from .log import LONGEST_TAG

LONGEST_LINE = 1 << 16
"""Bytes of a line; a longer one is no scalar."""

_HOPELESS = 1000
"""Lines without a single scalar after which a file is taken for something else."""

_TEXTS = {'NaN': math.nan, 'Infinity': math.inf, '-Infinity': -math.inf}


class Series:
    """The points of one tag in one file. ``stride`` n means that every n-th point was kept, and the last one."""

    __slots__ = ('count', 'last', 'steps', 'stride', 'times', 'values')

    def __init__(self) -> None:
        self.times, self.steps, self.values = array('d'), array('q'), array('d')
        self.count = 0
        self.stride = 1
        self.last: tuple[float, int, float] | None = None      # only while the last point is not among those kept

    def add(self, moment: float, step: int, value: float) -> bool:
        """Take a point in; True if it is kept for good."""
        keep = self.count % self.stride == 0
        self.count += 1
        if keep:
            self.times.append(moment)
            self.steps.append(step)
            self.values.append(value)
            self.last = None
        else:
            self.last = (moment, step, value)
        return keep

    def halve(self) -> int:
        """Forget every second point; how many were forgotten."""
        before = len(self.steps)
        end = (self.times[-1], self.steps[-1], self.values[-1])
        self.times, self.steps, self.values = self.times[::2], self.steps[::2], self.values[::2]
        self.stride *= 2
        if before % 2 == 0 and self.last is None:
            self.last = end
        return before - len(self.steps)

    def points(self) -> list[tuple[float, int, float]]:
        """(wall time, step, value) in the order of the file."""
        points = list(zip(self.times, self.steps, self.values))
        if self.last is not None:
            points.append(self.last)
        return points


class ScalarFile(GrowingFile):
    """A file of lines ``{"tag", "step", "value", "wall_time"}``; other lines are skipped and counted.

    ``most_points`` and ``most_tags`` bound what is kept; whoever has many files makes them smaller.
    """

    most_points = 1_000_000
    most_tags = 1000

    def forget(self) -> None:
        """Begin anew."""
        self.series: dict[str, Series] = {}
        self._kept = 0
        self._rest = b''
        self._too_long = False
        self._line = self._bad = 0
        self._first_bad = ''
        self._refused_tags = 0

    def feed(self, piece: bytes) -> bool:
        """Take whole lines in; the beginning of one waits for its end."""
        lines = (self._rest + piece).split(b'\n')
        self._rest = lines.pop()
        for line in lines:
            if self._too_long:
                self._too_long = False      # this was the end of it, and it was counted already
                continue
            self._take(line)
        if len(self._rest) > LONGEST_LINE:
            if not self._too_long:
                self._line += 1
                self._skip('it is longer than 64 KiB')
            self._too_long, self._rest = True, b''
        if self._bad >= _HOPELESS and not self.series:
            self._report()
            return False
        return True

    def settle(self) -> None:
        """A last line without its end is taken in if it is whole: no beginning of an object is an object."""
        if self._rest and not self._too_long and _scalar(self._rest) is not None:
            self._take(self._rest)
            self._line -= 1
            self._rest = b''
        while self._kept > self.most_points:
            self._kept -= max(self.series.values(), key=lambda series: len(series.steps)).halve()
        self._report()

    def _take(self, line: bytes) -> None:
        self._line += 1
        if not line.strip():
            return
        found = _scalar(line) if len(line) <= LONGEST_LINE else None
        if found is None:
            self._skip(_complaint(line))
            return
        tag, moment, step, value = found
        series = self.series.get(tag)
        if series is None:
            if len(self.series) >= self.most_tags:
                self._refused_tags += 1
                return
            series = self.series[tag] = Series()
        self._kept += series.add(moment, step, value)
        if self._kept > self.most_points:
            self._kept -= max(self.series.values(), key=lambda one: len(one.steps)).halve()

    def _skip(self, why: str) -> None:
        self._bad += 1
        if self._bad == 1:
            self._first_bad = f'line {self._line}: {why}'

    def _report(self) -> None:
        """Say in words what was skipped."""
        problems = []
        if self._bad and not self.series:
            problems.append(f'skipped, no line of it is a scalar; {self._first_bad}')
        elif self._bad:
            lines = '1 line' if self._bad == 1 else f'{self._bad} lines'
            problems.append(f'{lines} skipped; {self._first_bad}')
        if self._refused_tags:
            problems.append(f'only the first {self.most_tags} tags are shown')
        stride = max((series.stride for series in self.series.values()), default=1)
        if stride > 1:
            problems.append(f'too long to be shown whole; of the longest series every {stride}th point is kept')
        self.problems = problems


def _scalar(line: bytes) -> tuple[str, float, int, float] | None:
    """Tag, wall time, step and value of a line, or None if it has another form."""
    try:
        record = json.loads(line.decode('utf-8', 'replace'))
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict):
        return None
    tag, step = record.get('tag'), record.get('step')
    if not isinstance(tag, str) or not 0 < len(tag) <= LONGEST_TAG:
        return None
    if isinstance(step, float) and step.is_integer():
        step = int(step)
    if not isinstance(step, int) or isinstance(step, bool) or not -(1 << 63) <= step < 1 << 63:
        return None
    value, moment = _number(record.get('value')), _number(record.get('wall_time'))
    if value is None or moment is None or not math.isfinite(moment):
        return None
    return tag if tag.isascii() else tag.encode('utf-8', 'backslashreplace').decode(), moment, step, value


def _number(value: Any) -> float | None:
    if isinstance(value, float):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            return None
    return _TEXTS.get(value) if isinstance(value, str) else None


def _complaint(line: bytes) -> str:
    """Why a line is no scalar."""
    if len(line) > LONGEST_LINE:
        return 'it is longer than 64 KiB'
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return 'it is not JSON'
    if not isinstance(record, dict):
        return 'expected an object with tag, step, value and wall_time'
    missing = [name for name in ('tag', 'step', 'value', 'wall_time') if name not in record]
    if missing:
        return f'it has no {" and no ".join(missing)}'
    return 'expected a text as tag, an integer as step, numbers as value and wall_time'
