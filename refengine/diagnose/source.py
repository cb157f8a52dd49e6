"""Lines and expressions of the program: where a call came from and what its operands are called."""

from __future__ import annotations

import linecache
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from types import CodeType, FrameType, TracebackType

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
"""Everything below belongs to the engine; what is called from elsewhere is the program."""


@dataclass(frozen=True)
class Place:
    """A line of the program; ``expression`` is the part of it that was running."""

    file: str
    line: int
    function: str
    text: str
    expression: str = ''

    def shown(self) -> list[str]:
        """The place as lines of a message."""
        lines = [f'  {self.file}, line {self.line}, in {self.function}']
        if self.text:
            lines.append(f'    {self.text}')
        return lines


def is_engine(code: CodeType) -> bool:
    """Whether code belongs to the engine (or is made by it, as dataclasses are)."""
    return code.co_filename.startswith((PACKAGE, '<frozen', '<string>' + PACKAGE))


def _segment(lines: Sequence[str], first: int, last: int, start: int, end: int) -> str:
    """The source between two positions, whose columns count bytes."""
    chosen = [lines[n - 1].encode() for n in range(first, last + 1) if n <= len(lines)]
    if not chosen:
        return ''
    chosen[-1] = chosen[-1][:end]
    chosen[0] = chosen[0][start:]
    return b''.join(chosen).decode(errors='replace').strip()


def place_of(frame: FrameType, instruction: int | None = None, line: int | None = None) -> Place:
    """Where a frame is, or was when an exception passed it."""
    code = frame.f_code
    line = line or frame.f_lineno or code.co_firstlineno
    offset = frame.f_lasti if instruction is None else instruction
    lines = linecache.getlines(code.co_filename, frame.f_globals)
    text = lines[line - 1].strip() if 0 < line <= len(lines) else ''
    expression = ''
    position = next(islice(code.co_positions(), max(offset, 0) // 2, None), None)
    if position is not None and None not in position:
        first, last, start, end = position
        expression = _segment(lines, first or line, last or line, start or 0, end or 0)
    return Place(code.co_filename, line, code.co_name, text, expression)


def of_caller() -> tuple[FrameType | None, Place | None]:
    """The innermost frame of the program on the stack."""
    import sys
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_engine(frame.f_code):
        frame = frame.f_back
    return (frame, place_of(frame)) if frame is not None else (None, None)


def frames_of(traceback: TracebackType | None) -> Iterator[tuple[FrameType, int, int]]:
    """Frames of a traceback from the outermost on, with instruction and line."""
    while traceback is not None:
        yield traceback.tb_frame, traceback.tb_lasti, traceback.tb_lineno
        traceback = traceback.tb_next
