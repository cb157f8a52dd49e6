"""The call behind an error: its operator, its arrays and what the program calls them, found in the traceback."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from ..dispatch import NDArray
from ..gluon.block import Block
from ..op import Operator
from . import graphs
from .naming import labels, path_to
from .source import Place, frames_of, is_engine, place_of


@dataclass
class Call:
    """A call that failed.

    ``op`` is its operator, or None for a function that is none, whose name is ``function``; ``names`` are what the
    program calls the arrays, ``''`` where that is not known; ``layer`` is the innermost block at work and ``path`` how
    the program reaches it; ``within`` tells of a graph; ``out`` is the array that was to take the result.
    """

    function: str = ''
    op: Operator | None = None
    arrays: list[Any] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    params: dict[str, Any] = field(default_factory=dict)
    frame: FrameType | None = None
    place: Place | None = None
    inner: list[FrameType] = field(default_factory=list)
    layer: Any = None
    path: str = ''
    within: list[str] = field(default_factory=list)
    symbolic: bool = False
    out: Any = None

    @property
    def hybrid(self) -> bool:
        """Whether a change has to work in a graph: it is one, or code that may become one."""
        return self.symbolic or (self.place is not None and self.place.function == 'hybrid_forward')


def of_error(raised: BaseException) -> Call:
    """The call of the engine that an exception came from, whatever it was wrapped in since."""
    call = Call()
    for frame, instruction, line in _frames(raised):
        if is_engine(frame.f_code):
            call.inner.append(frame)
        else:
            call.frame, call.place, call.inner = frame, place_of(frame, instruction, line), []
    in_graph = graphs.failed_in(call.inner)
    if in_graph is not None:
        _from_graph(call, in_graph)
    else:
        _from_frames(call)
    if call.layer is not None:
        call.path = path_to(call.layer, call.frame)
    return call


def _frames(raised: BaseException) -> Iterator[tuple[FrameType, int, int]]:
    """The frames of a traceback, and after the last one those of what the engine raised it from."""
    last = None
    for item in frames_of(raised.__traceback__):
        last = item
        yield item
    if last is not None and is_engine(last[0].f_code) and raised.__cause__ is not None:
        for item in frames_of(raised.__cause__.__traceback__):
            if item[0] is not last[0]:
                yield item


def _from_frames(call: Call) -> None:
    entry = call.inner[0] if call.inner else None
    call.layer = next((f.f_locals['self'] for f in reversed(call.inner)
                       if isinstance(f.f_locals.get('self'), Block)), None)
    for frame in call.inner:
        values = frame.f_locals
        if isinstance(values.get('op'), Operator) and isinstance(values.get('inputs'), (list, tuple)):
            inputs = [a for a in values['inputs'] if isinstance(a, NDArray)]
            if inputs:
                call.op, call.function, call.arrays = values['op'], values['op'].name, inputs
                call.params = dict(values.get('params') or values.get('given') or {})
                call.out = values.get('out') if isinstance(values.get('out'), NDArray) else None
                break
    else:
        if entry is not None:
            call.function = entry.f_code.co_name
            call.arrays = list(dict.fromkeys(handed_over(entry)))
    call.names = labels(call.frame, call.place, call.arrays, call.op, entry)


def handed_over(entry: FrameType) -> Iterator[Any]:
    """The arrays among the arguments of a function, in their order."""
    code = entry.f_code
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    for name in code.co_varnames[:count]:
        yield from _arrays(entry.f_locals.get(name))


def _arrays(value: Any) -> Iterator[Any]:
    if isinstance(value, NDArray):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _arrays(item)
    elif type(value) is dict:
        yield from _arrays(list(value.values()))


def _from_graph(call: Call, found: graphs.GraphCall) -> None:
    call.op, call.function, call.params, call.arrays = found.op, found.op.name, found.params, found.arrays
    call.symbolic = True
    call.layer = found.origin.layer or found.block
    names: Sequence[str] = found.origin.names or found.names
    call.names = [name if name.isidentifier() or found.origin.names else '' for name in names]
    owner = '' if found.block is None else f' of {type(found.block).__name__}'
    call.within.append(f'  in the compiled graph{owner}, as {found.node}')
    if found.origin.place is not None:
        if call.place is not None:
            first, *rest = call.place.shown()
            call.within += [f'  called from{first[1:]}', *rest]
        call.place = found.origin.place
