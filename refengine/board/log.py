"""Scalar logs: one JSON object a line, written as the numbers come."""

from __future__ import annotations

import json
import math
import operator
import os
import time
from types import TracebackType
from typing import Any

NAME = 'scalars.jsonl'

LONGEST_TAG = 500
"""Characters that the tag of a scalar may have."""


class ScalarLog:
    """Write numbers of a training run where ``mxnet-board`` finds them (rule PROF-BOARD-002).

    folder: the folder of the run, made if it is not there; a second log for the same folder goes on in its file.
    Every line is written at once and whole, so that the page shows it at its next look and several processes may
    write into one run.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with ScalarLog(folder) as log:
    ...     log.add('loss', 0.5, step=1, wall_time=1700000000.0)
    >>> from pathlib import Path
    >>> print(Path(folder, 'scalars.jsonl').read_text(), end='')
    {"tag": "loss", "step": 1, "value": 0.5, "wall_time": 1700000000.0}
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        os.makedirs(folder, exist_ok=True)
        self.path = os.path.join(os.fspath(folder), NAME)
        self._file: int | None = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, 'O_BINARY', 0),
                                         0o666)
        size = os.lseek(self._file, 0, os.SEEK_END)
        if size:
            os.lseek(self._file, size - 1, os.SEEK_SET)
            if os.read(self._file, 1) != b'\n':     # a program before this one was ended inside a line
                os.write(self._file, b'\n')

    def add(self, tag: str, value: Any, step: int, wall_time: float | None = None) -> None:
        """Note that *tag* has this value at this step.

        tag: a name of 1 to 500 characters, by convention with slashes: ``train/loss``;  value: a number or an array
        of one element;  step: an integer of 64 bits;  wall_time: seconds since 1970, by default now.
        TypeError and ValueError say what was expected.
        """
        if self._file is None:
            raise ValueError(f'this log is closed: {self.path}')
        if not isinstance(tag, str) or not 0 < len(tag) <= LONGEST_TAG:
            raise _wrong(tag, isinstance(tag, str), f'tag: expected a text of 1 to {LONGEST_TAG} characters')
        moment = time.time() if wall_time is None else wall_time
        if isinstance(moment, bool) or not isinstance(moment, int | float) or not math.isfinite(moment):
            raise _wrong(moment, isinstance(moment, int | float), 'wall_time: expected seconds since 1970')
        line = json.dumps({'tag': tag, 'step': _whole(step), 'value': plain(_number(value)), 'wall_time': moment})
        os.write(self._file, line.encode() + b'\n')

    def close(self) -> None:
        """End the log; closing twice does no harm."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def __enter__(self) -> ScalarLog:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, '_file', None) is not None:
            self.close()


def plain(value: float) -> float | str:
    """A number as strict JSON knows it: what is not finite is one of the texts NaN, Infinity and -Infinity."""
    if math.isfinite(value):
        return value
    return 'NaN' if value != value else 'Infinity' if value > 0 else '-Infinity'


def _wrong(value: Any, right_type: bool, expected: str) -> Exception:
    shown = repr(value)
    shown = shown if len(shown) <= 80 else shown[:77] + '...'
    return (ValueError if right_type else TypeError)(f'{expected}, got {shown}')


def _whole(step: Any) -> int:
    try:
        number = operator.index(step)
    except TypeError:
        raise _wrong(step, False, 'step: expected an integer') from None
    if not -(1 << 63) <= number < 1 << 63:
        raise _wrong(step, True, 'step: expected an integer of 64 bits')
    return number


def _number(value: Any) -> float:
    given = value
    if hasattr(value, 'asnumpy'):
        value = value.asnumpy()
    if hasattr(value, 'item'):
        if getattr(value, 'size', 1) != 1:
            raise ValueError(f'value: expected a number or an array of one element, got the shape {value.shape}')
        value = value.item()
    if isinstance(value, str | bytes):
        raise _wrong(given, False, 'value: expected a number')
    try:
        return float(value)
    except (TypeError, OverflowError):
        raise _wrong(given, False, 'value: expected a number') from None
