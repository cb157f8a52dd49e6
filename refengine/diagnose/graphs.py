"""Calls inside compiled graphs: which operator of a hybridized block failed, on what, and which line asked for it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from .. import autograd, dispatch
from ..context import cpu
from ..gluon import compiled, tracing
from ..gluon.block import Block
from ..graph import inference, plan
from ..graph.node import Node
from ..op import Operator
from .naming import as_written, known_to, of_operator, parsed
from .source import Place, is_engine, place_of
from .trials import like


@dataclass
class Origin:
    """Where an operator of a graph comes from: a line of the program, its words for the inputs, the innermost block."""

    place: Place | None = None
    names: list[str] = field(default_factory=list)
    layer: Any = None


@dataclass
class GraphCall:
    """A call in a graph: operator, parameters, its inputs as arrays and as the graph calls them."""

    op: Operator
    node: str
    params: dict[str, Any]
    arrays: list[Any]
    names: list[str]
    block: Any = None
    origin: Origin = field(default_factory=Origin)


def failed_in(frames: Sequence[FrameType]) -> GraphCall | None:
    """The call of a graph that raised, in the frames of a traceback; None where no graph was at work."""
    for frame in reversed(frames):
        values = frame.f_locals
        if frame.f_code is plan.run_step.__code__ and isinstance(values['step'].op, Operator):
            found = _of_step(frame, frames)
        elif frame.f_code is inference._visit.__code__ and all(map(inference.complete, values.get('shapes', (None,)))):
            found = _of_inference(values)
        else:
            continue
        trace = next((f for f in frames if f.f_code.co_filename == compiled.__file__), None)
        if trace is not None:
            found.block = next((f.f_locals['self'].block for f in frames if isinstance(
                f.f_locals.get('self'), (compiled.Cache, compiled.Compiled))), None)
            found.origin = origin_of(found, frames)
        return found
    return None


def _of_step(frame: FrameType, frames: Sequence[FrameType]) -> GraphCall:
    step, operands = frame.f_locals['step'], frame.f_locals['operands']
    ctx = frame.f_locals.get('ctx') or cpu(0)
    names = [''] * len(operands)
    owner = next((f.f_locals['self'] for f in frames if isinstance(f.f_locals.get('self'), plan.Plan)), None)
    if owner is not None:
        program = owner.program
        made = {slot: s.name for s in program.steps for slot in s.outputs}
        made.update(zip(program.inputs, program.names))
        names = [made.get(slot, '') for slot in step.inputs]
    return GraphCall(step.op, step.name, dict(step.params), [dispatch.wrap(a, ctx) for a in operands], names)


def _of_inference(values: dict[str, Any]) -> GraphCall:
    node = values['node']
    kinds = values.get('kinds') or ['float32'] * len(values['shapes'])
    return GraphCall(node.op, node.name, dict(node.params), [like(s, k) for s, k in zip(values['shapes'], kinds)],
                     [source.name for source, _ in node.inputs])


# ---- back to the line ----------------------------------------------------------------------------------------------

def origin_of(call: GraphCall, frames: Sequence[FrameType]) -> Origin:
    """Where the operator was put into the graph: the block is traced once more, and its operators are watched for."""
    cache = next((f for f in frames if isinstance(f.f_locals.get('self'), compiled.Cache)
                  and f.f_code is compiled.Cache.call.__code__), None)
    if cache is None or call.block is None or call.block._traced_with_arrays():
        return Origin()
    arrays, form = cache.f_locals.get('arrays'), cache.f_locals.get('form')
    found: list[tuple[Node, Origin]] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == 'return' and frame.f_code is Node.__init__.__code__ and frame.f_locals['op'] is not None:
            found.append((frame.f_locals['self'], _origin(frame)))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        with autograd.pause(train_mode=autograd.is_training()):
            tracing.with_symbols(call.block, form, len(arrays or ()))
    except Exception:  # noqa: BLE001 - then the line is not known
        return Origin()
    finally:
        sys.setprofile(before)
    return next((origin for node, origin in found if node.name == call.node and node.op is call.op), Origin())


def _origin(frame: FrameType) -> Origin:
    node, result = frame.f_locals['self'], Origin()
    above = frame.f_back
    while above is not None and above.f_code is not origin_of.__code__:
        names = above.f_code.co_varnames
        holder = above.f_locals.get(names[0]) if names else None
        if result.layer is None and isinstance(holder, Block):
            result.layer = holder
        if not is_engine(above.f_code):
            result.place = place_of(above)
            parts = of_operator(parsed(result.place.expression), known_to(above), node.op, len(node.inputs))
            if parts is not None:
                result.names = [as_written(ast.unparse(part), result.place) for part in parts]
            return result
        above = above.f_back
    return result
