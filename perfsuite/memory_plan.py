"""What an engine's planner makes of a graph: bytes of all intermediate values, and bytes that it allocates for them.

Three numbers, of the graph of an executor (for training with its way back): every value in memory of its own; values
that are written over an operand that dies there, without other sharing; and the whole plan. Parameters, inputs and
gradients of parameters are no part of them, and neither is the scratch memory inside an operator.

Runs in the engine's interpreter: Python 3.8, standard library and numpy >= 1.20 only.
"""

import contextlib
import importlib
import importlib.util
import os
import re
import tempfile
from typing import List, Tuple

import numpy as np

MEGA = 1 << 20

#: Where the two larger numbers come from.
OWN_PLANNER = "the engine's own plan, in bytes"
PLANNERS_LOG = "the shapes in the planner's log"
INNER_SHAPES = "shapes inferred for the inner values of the symbol"


class NotObservable(Exception):
    """The engine does not tell what its planner does."""


@contextlib.contextmanager
def variables(**values):
    """Set variables of the process's environment in the block; engines read these when a graph is bound."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextlib.contextmanager
def written_to_stderr():
    """Collect what is written to the process's stderr in the block, also by compiled code; yields a list."""
    lines: List[str] = []
    kept = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield lines
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            file.seek(0)
            lines += file.read().decode(errors="replace").splitlines()


def symbol_of(mx, net, train):
    """The graph of a network, with its loss for training."""
    output = net(mx.sym.var("data"))
    if not train:
        return output
    return mx.sym.MakeLoss(mx.gluon.loss.SoftmaxCrossEntropyLoss()(output, mx.sym.var("label")))


def bind(mx, symbol, shapes, train):
    """An executor for these shapes, with gradients of all parameters when training."""
    names = symbol.list_arguments()
    wanted = {name: "write" if train and name not in shapes else "null" for name in names}
    return symbol.simple_bind(mx.cpu(), grad_req=wanted, **{n: s for n, s in shapes.items() if n in names})


def allocated(executor):
    """What the text of an executor says is allocated, in bytes; it counts whole MiB."""
    text = executor.debug_str() if hasattr(executor, "debug_str") else ""
    found = re.search(r"^Total (\d+) MB allocated$", text, re.MULTILINE)
    if found is None:
        raise NotObservable("its executors do not say what is allocated")
    return int(found.group(1)) * MEGA


def observe(mx, net, shapes, train):
    """The three numbers, as a dict with ``no_reuse``, ``in_place_only``, ``planned``, and ``planned_by``.

    NotObservable, with the reason, for an engine that has no planner or does not tell.
    """
    if not hasattr(mx.sym.Symbol, "simple_bind"):
        raise NotObservable("its symbols have no simple_bind, and so there is no executor to ask")
    symbol = symbol_of(mx, net, train)
    if importlib.util.find_spec(mx.__name__ + ".graph") and importlib.util.find_spec(mx.__name__ + ".graph.memory"):
        return _asked(mx, symbol, shapes, train)
    return _logged(mx, symbol, shapes, train)


def _asked(mx, symbol, shapes, train):
    """From a planner that can be called."""
    planner = importlib.import_module(mx.__name__ + ".graph.memory")
    given = {name: shape for name, shape in shapes.items() if name in symbol.list_arguments()}
    plan = planner.plan(symbol, given, train=train)
    alone = planner.plan(symbol, given, train=train, share=False)
    said = allocated(bind(mx, symbol, shapes, train))
    if not plan.planned_bytes <= said < plan.planned_bytes + MEGA:
        raise AssertionError("the planner plans %d bytes, but an executor says %d" % (plan.planned_bytes, said))
    return {"no_reuse": plan.unplanned_bytes, "in_place_only": alone.planned_bytes, "planned": plan.planned_bytes,
            "planned_by": OWN_PLANNER}


def _logged(mx, symbol, shapes, train):
    """From the text of an executor, and from what the planner logs while it is bound."""
    with variables(MXNET_SUBGRAPH_BACKEND="NONE", MXNET_MEM_PLAN_VERBOSE_LOGGING="1"):
        with written_to_stderr() as lines:
            executor = bind(mx, symbol, shapes, train)
        planned = allocated(executor)
    with variables(MXNET_SUBGRAPH_BACKEND="NONE", NNVM_EXEC_MATCH_RANGE="0"):
        in_place_only = allocated(bind(mx, symbol, shapes, train))
    values = logged_values(lines)
    if values:
        no_reuse, source = every_value(values, executor.debug_str(), len(symbol.list_outputs())), PLANNERS_LOG
    elif train:
        raise NotObservable("it does not log the values of the way back")
    else:
        no_reuse, source = sum(inner_values(symbol, shapes).values()), INNER_SHAPES
    return {"no_reuse": no_reuse, "in_place_only": in_place_only, "planned": planned, "planned_by": source}


_NODE = re.compile(r": node (\d+) (\S+)\s*$")
_OUTPUT = re.compile(r":\s+output \d+: \[([\d,]*)\] \((\d+) KB\)")


def logged_values(lines):
    """The nodes of the planner's log in their order: ``(operator, [bytes of each output])``; "var" is a variable."""
    nodes: List[Tuple[str, List[int]]] = []
    for line in lines:
        node, output = _NODE.search(line), _OUTPUT.search(line)
        if node:
            if int(node.group(1)) != len(nodes):
                raise AssertionError("expected node %d in the planner's log, got %r" % (len(nodes), line))
            nodes.append((node.group(2), []))
        elif output:
            elements = int(np.prod([int(n) for n in output.group(1).split(",") if n], dtype="int64"))
            kilobytes = int(output.group(2))
            # The log rounds bytes down to KiB and does not name the type: float32 unless the size says otherwise.
            nodes[-1][1].append(4 * elements if 4 * elements // 1024 == kilobytes else 1024 * kilobytes)
    return nodes


_HEAD = re.compile(r"^\toutput\[(\d+)\]=(\S+)\((\d+)\)$", re.MULTILINE)
_DESCRIBED = re.compile(r"^(?:Variable:(\S+)|Op:(\S+), Name=(\S+))$", re.MULTILINE)


def every_value(nodes, description, outputs):
    """The bytes of all values but those that go into the caller's gradients.

    nodes: from the planner's log;  description: the executor's text, which has the same nodes in the same order, and
    the heads of the graph: its own outputs first, then the gradients.
    """
    described = [("var", name) if name else (op, op_name) for name, op, op_name in _DESCRIBED.findall(description)]
    if [op for op, _ in described] != [op for op, _ in nodes]:
        raise AssertionError("the planner's log and the text of the executor show different graphs")
    index = {name: number for number, (_, name) in enumerate(described)}
    gradients = [(index[name], int(output)) for number, name, output in _HEAD.findall(description)
                 if int(number) >= outputs]
    outside = sum(nodes[node][1][output] for node, output in set(gradients) if nodes[node][0] != "var")
    return sum(sum(sizes) for _, sizes in nodes) - outside


def inner_values(symbol, shapes):
    """Name -> bytes of every value of a graph that no variable holds, by the shapes that the engine infers."""
    given = {name: shape for name, shape in shapes.items() if name in symbol.list_arguments()}
    inner = symbol.get_internals()
    variables_ = set(symbol.list_arguments()) | set(symbol.list_auxiliary_states())
    _, found, _ = inner.infer_shape(**given)
    return {name: 4 * int(np.prod(shape, dtype="int64")) for name, shape in zip(inner.list_outputs(), found)
            if name not in variables_}
