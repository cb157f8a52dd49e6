"""What the page shows: runs with their scalars, operators and spans, always as the files are now."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from .folder import ROOT, Found, Walk, shown, walk
from .growing import GrowingFile
from .log import plain
from .scalars import ScalarFile
from .traces import MOST_COUNTERS, MOST_SPANS, Row, TraceFile

MOST_POINTS = 4_000_000
"""Points of all scalars that are kept, 24 bytes each; files share them evenly."""

MOST_TAGS = 100_000
EAGER = 1 << 23
"""Bytes of a trace that is read for an overview already; a longer one waits until somebody looks at it."""

MOST_TRACES = 50
"""Traces whose sums and spans are kept; of more, those that were looked at last."""

SLICE = 0.5
"""Seconds after which one that reads a long file lets others look at it."""

OVERVIEW_SECONDS, MOST_SECONDS = 2.0, 60.0
"""How long one request reads; what is left is read by the next one."""


class Unknown(LookupError):
    """No such run or tag; the text says which."""


class Run:
    """The files of one run."""

    def __init__(self) -> None:
        self.scalars: dict[str, ScalarFile] = {}
        self.traces: dict[str, TraceFile] = {}

    def update(self, found: Found) -> None:
        """Have exactly the files that were found now."""
        self.scalars = {name: self.scalars.get(name) or ScalarFile(path, name) for name, path in found.scalars.items()}
        self.traces = {name: self.traces.get(name) or TraceFile(path, name) for name, path in found.traces.items()}

    def files(self) -> Iterable[GrowingFile]:
        """All of them."""
        return [*self.scalars.values(), *self.traces.values()]


class Board:
    """The runs below a folder. Every answer looks at the files anew and reads what was added.

    warn: called once for each problem with the name of a file and a sentence.
    """

    def __init__(self, folder: str | os.PathLike[str], warn: Callable[[str, str], None] | None = None) -> None:
        self.folder = Path(folder).resolve()
        self._warn = warn
        self._lock = threading.Lock()
        self._runs: dict[str, Run] = {}
        self._told: set[tuple[str, str]] = set()
        self._recent: dict[TraceFile, None] = {}        # the oldest first

    # ---- answers -----------------------------------------------------------------------------------------------

    def runs(self) -> list[str]:
        """The names of all runs."""
        runs, _ = self._look(OVERVIEW_SECONDS)
        return list(runs)

    def overview(self) -> dict[str, Any]:
        """Runs with their tags and files, and everything that people should know."""
        runs, found = self._look(OVERVIEW_SECONDS)
        return {
            'folder': shown(str(self.folder)),
            'runs': [_summary(name, run) for name, run in runs.items()],
            'problems': [{'file': name, 'message': text} for name, text in self._problems(runs, found)],
        }

    def tags(self, name: str) -> list[str]:
        """The tags of a run, in order."""
        return sorted({tag for file in self._read(name, 'scalars') for tag in list(file.series)})

    def scalars(self, name: str, tag: str, points: int | None = None,
                seconds: float = MOST_SECONDS) -> list[list[Any]]:
        """``[wall time, step, value]`` of a tag, ordered by step.

        points: about how many are wanted; then the extremes of each stretch are kept.  seconds: how long it may read.
        """
        files = [file for file in self._read(name, 'scalars', seconds) if tag in file.series]
        if not files:
            raise Unknown(f'no tag {tag!r} in the run {name!r}')
        found: list[tuple[float, int, float]] = []
        for file in files:
            with file.lock:
                series = file.series.get(tag)
                found += series.points() if series is not None else []
        found.sort(key=lambda point: point[1])
        return [[moment, step, plain(value)] for moment, step, value in thinned(found, points)]

    def trace(self, name: str, seconds: float = MOST_SECONDS) -> dict[str, Any]:
        """Time per operator over all traces of a run, the longest total first; times in milliseconds."""
        files = self._read(name, 'traces', seconds)
        rows: dict[tuple[str, str], Row] = {}
        counters: list[dict[str, Any]] = []
        for file in files:
            with file.lock:
                for (category, label, asynchronous), row in file.rows.items():
                    if not file.mirrored(category, label, asynchronous):
                        rows.setdefault((category, label), Row()).merge(row)
                counters += [{'category': category, 'name': label, 'count': counter.count, 'last': counter.last,
                              'min': counter.least, 'max': counter.most}
                             for (category, label), counter in file.counters.items()]
        ordered = sorted(rows.items(), key=lambda item: (-item[1].total, item[0]))
        return {'unit': 'ms', 'operators': [_operator(*key, row) for key, row in ordered], 'counters': counters,
                **_progress(files)}

    def timeline(self, name: str, seconds: float = MOST_SECONDS) -> dict[str, Any]:
        """The longest spans by process and thread, and counters; times in milliseconds since the first event."""
        files = self._read(name, 'traces', seconds)
        start = min((file.start for file in files), default=math.inf)
        if not math.isfinite(start):
            return {'start': None, 'length': 0, 'lanes': [], 'names': [], 'categories': [], 'spans': 0, 'shown': 0,
                    'counters': [], **_progress(files)}
        names, categories = _Numbers(), _Numbers()
        lanes: list[dict[str, Any]] = []
        counters: list[dict[str, Any]] = []
        end, total = start, 0
        for file in files:
            with file.lock:
                end, total = max(end, file.end), total + sum(
                    row.count for key, row in file.rows.items() if not file.mirrored(*key))
                lanes += _lanes(file, start, names, categories, len(files) > 1)
                counters += [{'category': category, 'name': label, 'min': counter.least, 'max': counter.most,
                              'points': [[_ms(moment - start), value] for moment, value in counter.points]}
                             for (category, label), counter in file.counters.items()]
        lanes.sort(key=lambda lane: (lane['label'], lane['detail']))
        return {'start': start / 1e6, 'length': _ms(end - start), 'lanes': lanes, 'names': list(names),
                'categories': list(categories), 'spans': total, 'shown': sum(len(lane['spans']) for lane in lanes),
                'counters': counters[:MOST_COUNTERS], **_progress(files)}

    # ---- looking at the files ----------------------------------------------------------------------------------

    def _find(self) -> tuple[dict[str, Run], Walk]:
        found = walk(self.folder)
        with self._lock:
            self._runs = {name: self._runs.get(name) or Run() for name in found.runs}
            for name, run in self._runs.items():
                run.update(found.runs[name])
            there = {file for run in self._runs.values() for file in run.traces.values()}
            self._recent = {file: None for file in self._recent if file in there}
            runs = dict(self._runs)
        files = sum(len(run.scalars) for run in runs.values()) or 1
        for run in runs.values():
            for file in run.scalars.values():
                file.most_points = min(MOST_POINTS, max(MOST_POINTS // files, 1000))
                file.most_tags = min(ScalarFile.most_tags, max(MOST_TAGS // files, 20))
        return runs, found

    def _look(self, seconds: float) -> tuple[dict[str, Run], Walk]:
        """Find the runs and read what is new, as far as the time goes."""
        runs, found = self._find()
        until = time.monotonic() + seconds
        for run in runs.values():
            for file in run.files():
                if time.monotonic() > until:
                    break
                if isinstance(file, ScalarFile) or self._wanted(file):
                    file.refresh(until, wait=False)
        self._tell(runs, found)
        return runs, found

    def _read(self, name: str, kind: str, seconds: float = MOST_SECONDS) -> list[Any]:
        """The files of a run, read as far as the time goes."""
        runs, found = self._find()
        run = runs.get(name)
        if run is None:
            raise Unknown(f'no run {name!r} under {shown(str(self.folder))}')
        files: list[Any] = list(getattr(run, kind).values())
        until = time.monotonic() + seconds
        for file in files:
            if kind == 'traces':
                self._keep(file)
            file.refresh(min(until, time.monotonic() + SLICE))
            while file.unread and time.monotonic() < until:
                time.sleep(0.001)       # others may have been waiting
                file.refresh(min(until, time.monotonic() + SLICE))
        self._tell({name: run}, found)
        return [file for file in files if kind == 'scalars' or file.is_trace]

    def _wanted(self, file: GrowingFile) -> bool:
        """Whether a trace is read for an overview."""
        if not file.unseen:
            return True
        with self._lock:
            if len(self._recent) >= MOST_TRACES or not isinstance(file, TraceFile) or _size(file.path) > EAGER:
                return False
            self._recent[file] = None
        return True

    def _keep(self, file: TraceFile) -> None:
        """Somebody looks at this trace: of too many, forget the one that nobody has looked at for longest."""
        with self._lock:
            self._recent.pop(file, None)
            self._recent[file] = None
            old = list(self._recent)[:max(len(self._recent) - MOST_TRACES, 0)]
            for other in old:
                del self._recent[other]
        for other in old:
            other.release()

    def _problems(self, runs: dict[str, Run], found: Walk) -> list[tuple[str, str]]:
        listed = [(file.name, text) for run in runs.values() for file in run.files() for text in file.problems]
        return (found.problems + listed)[:200]

    def _tell(self, runs: dict[str, Run], found: Walk) -> None:
        if self._warn is None:
            return
        for problem in self._problems(runs, found):
            if problem not in self._told and len(self._told) < 1000:
                self._told.add(problem)
                self._warn(*problem)


def thinned(points: list[tuple[float, int, float]], wanted: int | None) -> list[tuple[float, int, float]]:
    """About so many of the points: of each stretch its least, its greatest, and what is not finite.

    >>> [value for _, _, value in thinned([(0.0, i, float(i == 500)) for i in range(1000)], 8)]
    [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    """
    if wanted is None or len(points) <= max(wanted, 4):
        return points
    stretch = -(-2 * len(points) // max(wanted, 4))
    kept: list[tuple[float, int, float]] = [points[0]]
    for begin in range(0, len(points), stretch):
        part = range(begin, min(begin + stretch, len(points)))
        finite = [index for index in part if math.isfinite(points[index][2])]
        chosen = {next((index for index in part if not math.isfinite(points[index][2])), part[0])} if (
            len(finite) < len(part)) else set()
        if finite:
            chosen |= {min(finite, key=lambda i: points[i][2]), max(finite, key=lambda i: points[i][2])}
        kept += [points[index] for index in sorted(chosen - {0, len(points) - 1})]
    return [*kept, points[-1]]


class _Numbers(dict[str, int]):
    """A number for each text, in the order in which they come."""

    def __missing__(self, text: str) -> int:
        self[text] = len(self)
        return self[text]


def _size(path: Path) -> int:
    try:
        return os.stat(path, follow_symlinks=False).st_size
    except OSError:
        return 0


def _ms(microseconds: float) -> float:
    return round(microseconds / 1000, 6)


def _operator(category: str, name: str, row: Row) -> dict[str, Any]:
    return {'name': name, 'category': category, 'count': row.count, 'total': _ms(row.total),
            'mean': _ms(row.total / row.count), 'min': _ms(row.least), 'max': _ms(row.most)}


def _progress(files: list[TraceFile]) -> dict[str, int]:
    """How far the files were read, in bytes."""
    return {'size': sum(file.size for file in files), 'unread': sum(file.unread for file in files)}


def _summary(name: str, run: Run) -> dict[str, Any]:
    counts: dict[str, int] = {}
    for file in run.scalars.values():
        with file.lock:
            for tag, series in file.series.items():
                counts[tag] = counts.get(tag, 0) + series.count
    traces = [file for file in run.traces.values() if file.is_trace or file.unseen]
    return {'name': name, 'tags': [[tag, counts[tag]] for tag in sorted(counts)],
            'version': sum(file.version for file in run.scalars.values()), 'traces': len(traces),
            'trace_version': sum(file.version + _size(file.path) for file in traces),
            'unread': sum(file.unread for file in run.files())}


def _lanes(file: TraceFile, start: float, names: _Numbers, categories: _Numbers, several: bool) -> list[dict[str, Any]]:
    spans: dict[tuple[Any, Any], list[list[float]]] = {}
    for duration, _, begin, lane, category, name, asynchronous in file.spans:
        if not file.mirrored(category, name, asynchronous):
            spans.setdefault(lane, []).append([_ms(begin - start), _ms(duration), names[name], categories[category]])
    threads: dict[Any, int] = {}
    lanes = []
    for lane in sorted(spans, key=lambda key: (str(key[0]), str(key[1]))):
        process = lane[0]
        threads[process] = threads.get(process, 0) + 1
        label = file.processes.get(process, f'process {process}')
        detail = file.threads.get(lane, f'thread {threads[process]}')
        busy = file.lanes[lane]
        lanes.append({'label': f'{file.name}: {label}' if several else label, 'detail': detail,
                      'spans': sorted(spans[lane]), 'busy': {
                          'start': _ms(busy.first * busy.width - start), 'width': _ms(busy.width),
                          'parts': busy.fractions()}})
    return lanes


__all__ = ['MOST_SPANS', 'ROOT', 'Board', 'Run', 'Unknown', 'thinned']
