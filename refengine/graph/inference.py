"""Shapes and element types along a graph, forward and backward, as far as they are known."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import dispatch
from ..base import LateError, MXNetError
from ..context import Context
from ..op import Operator, check_same
from ..ops.shapes import completions, merge
from . import shape_rules
from .node import Node

Shape = tuple[int, ...] | None

_cache: dict[Any, Any] = {}


def stand_in(shape: Sequence[int], dtype: Any, value: int = 1) -> np.ndarray:
    """An array of a shape and dtype that takes no memory; only its description is meant."""
    return np.broadcast_to(np.full((), value, dtype), tuple(shape))


def check(op: Operator, arrays: Sequence[np.ndarray], params: dict[str, Any]) -> None:
    """The checks that a call of the operator would make; MXNetError with its wording."""
    if len(arrays) > 1 and not op.mixed:
        check_same(op.name, arrays, shapes=op.same_shape)
    if op.infer is not None:
        with contextlib.suppress(LateError):
            op.infer(arrays, params)


def outputs(op: Operator, params: dict[str, Any], shapes: Sequence[Sequence[int]], dtypes: Sequence[Any],
            is_train: bool = False) -> list[tuple[tuple[int, ...], np.dtype[Any]]]:
    """Shape and dtype of every output, hidden ones included; MXNetError when the operator refuses the inputs.

    Heavy operators have a rule; the others run once on stand-ins.
    """
    try:
        key = (op.name, tuple(map(tuple, shapes)), tuple(np.dtype(d).char for d in dtypes), is_train,
               tuple(sorted((k, str(v)) for k, v in params.items())))
    except TypeError:
        key = None
    if key is not None and key in _cache and op.name != 'Custom':
        return _cache[key]
    # Ones are good lengths and diagonals, zeros are good indices of regions: one of the two will do.
    try:
        result = _described(op, params, [stand_in(s, d, 1) for s, d in zip(shapes, dtypes, strict=True)], is_train)
    except MXNetError:
        if not shapes or shape_rules.find(op) is not None:
            raise
        first = sys.exc_info()[1]
        try:
            result = _described(op, params, [stand_in(s, d, 0) for s, d in zip(shapes, dtypes, strict=True)], is_train)
        except MXNetError:
            raise first from None  # type: ignore[misc]
    if len(_cache) > 4096:
        _cache.clear()
    if key is not None:
        _cache[key] = result
    return result


def _described(op: Operator, params: dict[str, Any], arrays: list[np.ndarray], is_train: bool) -> Any:
    check(op, arrays, params)
    rule = shape_rules.find(op)
    result: Any = shape_rules.tentative(op, arrays, params) if rule is None else rule(arrays, params)
    if result is None:
        result = [(a.shape, a.dtype) for a in _evaluate(op, arrays, params, is_train)]
    return result


def _evaluate(op: Operator, arrays: list[np.ndarray], params: dict[str, Any], is_train: bool) -> Sequence[Any]:
    call = dict(params)
    if 'is_train' in op.injected:
        call['is_train'] = is_train
    if 'rng' in op.injected:
        call['rng'] = np.random.default_rng(0)
    if 'ctx' in op.injected:
        call['ctx'] = Context('cpu', 0)
    for index in op.mutates:
        if index < len(arrays):
            arrays[index] = arrays[index].copy()
    return dispatch.compute(op, np, arrays, call)


class Known:
    """What is known about the outputs of the nodes of a graph: shapes (0 for an unknown dimension) and dtypes."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.nodes = nodes
        self.shapes: dict[int, list[Shape]] = {id(node): [None] * node.total for node in nodes}
        self.changed = True

    def shape(self, entry: tuple[Node, int]) -> Shape:
        """The shape of an output, None when nothing is known."""
        return self.shapes[id(entry[0])][entry[1]]

    def learn(self, entry: tuple[Node, int], shape: Any, reader: str = '') -> None:
        """Fill in what is new; MXNetError when it contradicts what is known."""
        if shape is None:
            return
        old = self.shape(entry)
        shape = tuple(int(n) if n > 0 else 0 for n in shape)
        if old is not None:
            if len(old) != len(shape) or any(a and b and a != b for a, b in zip(old, shape, strict=True)):
                raise MXNetError(f'Error in operator {reader or entry[0].name}: Shape inconsistent, Provided = '
                                 f'[{",".join(map(str, old))}], inferred shape={_tuple_text(shape)}')
            shape = merge(old, shape) or ()
        if shape != old:
            self.shapes[id(entry[0])][entry[1]] = shape
            self.changed = True


def _tuple_text(shape: Sequence[int]) -> str:
    return f'({shape[0]},)' if len(shape) == 1 else '(' + ','.join(map(str, shape)) + ')'


def complete(shape: Shape) -> bool:
    """Whether every dimension is known."""
    return shape is not None and all(n > 0 for n in shape)


def infer_shapes(nodes: Sequence[Node], given: Mapping[str, Sequence[int]],
                 dtypes: Mapping[int, Sequence[Any]]) -> Known:
    """Everything that follows from the shapes of some variables, by passing over the graph until nothing is new."""
    known = Known(nodes)
    for node in nodes:
        if node.op is None:
            shape = given.get(node.name)
            if shape is None and '__shape__' in node.attrs:
                from ast import literal_eval
                declared = literal_eval(node.attrs['__shape__'])
                shape = tuple(max(n, 0) for n in declared) if declared is not None else None
            if shape:
                known.learn((node, 0), shape)
    rounds = 0
    while known.changed and rounds < 2 * len(nodes) + 4:
        known.changed = False
        rounds += 1
        for node in nodes:
            if node.op is not None:
                _visit(node, known, dtypes)
        if known.changed:
            for node in reversed(nodes):
                if node.op is not None:
                    _backward(node, known)
    return known


def _visit(node: Node, known: Known, dtypes: Mapping[int, Sequence[Any]]) -> None:
    op, params = node.op, node.params
    assert op is not None
    shapes = [known.shape(entry) for entry in node.inputs]
    rule = shape_rules.completion(op) or completions.get(op.name)
    if rule is not None and shapes and any(not complete(s) for s in shapes):
        lead = shapes[0]
        if rule in shape_rules.ANY_LEADER or (lead is not None and (complete(lead) or rule in shape_rules.PARTIAL)):
            completed = rule(list(shapes), params)
            for entry, shape in zip(node.inputs, completed, strict=False):
                known.learn(entry, shape, node.name)
            shapes = [known.shape(entry) for entry in node.inputs]
    kinds = [dtypes[id(source)][index] for source, index in node.inputs]
    if op.name == 'Custom':
        found = _custom(node, known, shapes, kinds)
    elif all(complete(s) for s in shapes):
        if op.source and not complete(params.get('shape', (1,)) or (1,)):
            known.learn((node, 0), params['shape'])
            return
        try:
            found = [shape for shape, _ in outputs(op, params, shapes, kinds)]  # type: ignore[misc]
        except MXNetError as error:
            # In a graph the node is at fault: an operator may occur many times.
            start = f'Error in operator {op.name}:'
            if not str(error).startswith(start):
                raise
            raise MXNetError(f'Error in operator {node.name}:{str(error)[len(start):]}') from error
    else:
        found = _partial(op, params, shapes, kinds)
    for index, shape in enumerate(found or ()):
        if index < node.total:
            known.learn((node, index), shape, node.name)


def _custom(node: Node, known: Known, shapes: list[Shape], kinds: list[Any]) -> Any:
    """Ask a program's own operator: it completes the shapes of its other inputs too."""
    made = node.params['call']
    count = len(made.arguments)
    if shapes and not complete(shapes[0]):
        return None
    result = made.prop.infer_shape([list(s or ()) for s in shapes[:count]])
    ins, outs, aux = (*result, ())[:3]
    for entry, shape in zip(node.inputs, (*ins, *aux), strict=False):
        known.learn(entry, shape, node.name)
    return outs


def _partial(op: Operator, params: dict[str, Any], shapes: list[Shape], kinds: list[Any]) -> Any:
    """Outputs while dimensions are unknown: two runs with different values for them show which outputs depend."""
    told = shape_rules.PARTIAL_OUTPUTS.get(op.name)
    if told is not None:
        return told(shapes, params)
    if any(s is None for s in shapes):
        return None
    results = []
    for value in (3, 5):
        trial = [tuple(n or value for n in s) for s in shapes]  # type: ignore[union-attr]
        try:
            results.append([s for s, _ in outputs(op, params, trial, kinds)])
        except Exception:  # noqa: BLE001 - a guess that does not fit tells nothing
            return None
    if any(len(a) != len(b) for a, b in zip(*results, strict=True)):
        return None
    return [tuple(m if m == n else 0 for m, n in zip(a, b, strict=True)) for a, b in zip(*results, strict=True)]


def _backward(node: Node, known: Known) -> None:
    """What the outputs say about the inputs."""
    op = node.op
    assert op is not None
    rule = shape_rules.backward(op)
    if rule is None:
        return
    shapes = [known.shape(entry) for entry in node.inputs]
    out = known.shape((node, 0))
    if out is None:
        return
    for entry, shape in zip(node.inputs, rule(out, shapes, node.params), strict=False):
        if shape is not None:
            known.learn(entry, shape, node.name)
