"""What the program calls arrays: the operands that its line writes, its variables, the paths to its blocks."""

from __future__ import annotations

import ast
import dis
import inspect
import types
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

from ..dispatch import NDArray
from ..op import Operator, registry
from .source import Place, is_engine

MISSING = object()
"""The value of an expression that only running it would tell."""


def parsed(text: str) -> ast.AST | None:
    """The expression or statement in a text; None if it is neither.

    >>> type(parsed('a + b')).__name__
    'BinOp'
    """
    try:
        body = ast.parse(text.strip()).body
    except (SyntaxError, ValueError):
        return None
    return (body[0].value if isinstance(body[0], ast.Expr) else body[0]) if body else None


def known_to(frame: FrameType | None) -> dict[str, Any]:
    """The variables that code of a frame sees, without those that are no names of the program."""
    if frame is None:
        return {}
    return {k: v for space in (frame.f_globals, frame.f_locals) for k, v in space.items() if k.isidentifier()}


def value_of(node: ast.AST, known: dict[str, Any]) -> Any:
    """What an expression stands for, as far as that can be told without running code of the program."""
    if isinstance(node, ast.Name):
        return known.get(node.id, MISSING)
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Attribute):
        return _attribute(value_of(node.value, known), node.attr)
    if isinstance(node, ast.Subscript):
        held, key = value_of(node.value, known), value_of(node.slice, known)
        if type(held) in (list, tuple, dict) and key is not MISSING:
            try:
                return held[key]
            except (LookupError, TypeError):
                return MISSING
    return MISSING


def _attribute(held: Any, name: str) -> Any:
    if held is MISSING or isinstance(held, NDArray):
        return MISSING
    if isinstance(held, types.ModuleType):
        return getattr(held, name, MISSING)
    found = getattr(held, '__dict__', {}).get(name, MISSING)
    if found is MISSING:
        static = inspect.getattr_static(held, name, MISSING)
        if isinstance(static, (types.FunctionType, type)):
            return getattr(held, name)
    return found


# ---- operands of a line --------------------------------------------------------------------------------------------

Written = tuple[str, ast.AST]
"""A keyword, or nothing, and what is written for it."""


def _elements(node: ast.AST, known: dict[str, Any]) -> list[ast.AST] | None:
    """What a list stands for, element by element: as it is written, or by index where it has a name."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return list(node.elts)
    value = value_of(node, known)
    if isinstance(value, (list, tuple)):
        return [ast.Subscript(node, ast.Constant(i), ast.Load()) for i in range(len(value))]
    return None


def _arguments(call: ast.Call, known: dict[str, Any]) -> list[Written] | None:
    """The arguments of a call with starred ones spread out; None if it cannot be told how many they are."""
    result: list[Written] = []
    for node in call.args:
        if isinstance(node, ast.Starred):
            spread = _elements(node.value, known)
            if spread is None:
                return None
            result += [('', part) for part in spread]
        else:
            result.append(('', node))
    if any(k.arg is None for k in call.keywords):
        return None
    return result + [(str(k.arg), k.value) for k in call.keywords]


def _may_be_array(node: ast.AST, known: dict[str, Any]) -> bool:
    value = value_of(node, known)
    return value is MISSING or isinstance(value, NDArray) or type(value).__name__ == 'Symbol'


def of_operator(node: ast.AST | None, known: dict[str, Any], op: Operator, count: int) -> list[ast.AST] | None:
    """What is written for each input of an operator, or None where the line is not a call of just this operator."""
    parts: list[ast.AST]
    if isinstance(node, (ast.BinOp, ast.AugAssign, ast.Compare)):
        if isinstance(node, ast.BinOp):
            parts = [node.left, node.right]
        elif isinstance(node, ast.AugAssign):
            parts = [node.target, node.value]
        else:
            parts = [node.left, *node.comparators]
        parts = [p for p in parts if not isinstance(p, ast.Constant) and _may_be_array(p, known)]
        return parts if len(parts) == count else None
    if not isinstance(node, ast.Call) or not isinstance(node.func, (ast.Attribute, ast.Name)):
        return None
    name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
    space = node.func.value if isinstance(node.func, ast.Attribute) else None
    within = getattr(space, 'attr', getattr(space, 'id', ''))
    if op not in (registry.get(name), registry.get(f'_{within}_{name}')):
        return None
    called = value_of(node.func, known)
    if called is not MISSING and not isinstance(called, types.FunctionType):
        return None         # something of the program's own that has the name of an operator
    given = _arguments(node, known)
    if given is None:
        return None
    if space is not None and _is_array(space, known):
        given.insert(0, ('', space))
    plain = [part for keyword, part in given if not keyword]
    if op.variadic:
        if (len(plain) == 1 and count != 1) or (plain and isinstance(plain[0], (ast.List, ast.Tuple))):
            plain = _elements(plain[0], known) or []
        return plain if len(plain) == count else None
    by_name = dict(zip(op.inputs, plain))
    by_name.update((keyword, part) for keyword, part in given if keyword in op.inputs)
    parts = [by_name[key] for key in op.inputs if key in by_name and _may_be_array(by_name[key], known)]
    return parts if len(parts) == count else None


def _is_array(node: ast.AST, known: dict[str, Any]) -> bool:
    """Whether what stands before a dot is an array and not a name space of operators."""
    value = value_of(node, known)
    if value is MISSING:
        return ast.unparse(node).partition('.')[0] not in ('nd', 'F', 'mx', 'sym')
    return isinstance(value, NDArray) or type(value).__name__ == 'Symbol'


def of_entry(node: ast.AST | None, known: dict[str, Any], entry: FrameType) -> Iterator[tuple[Any, ast.AST]]:
    """The arguments with which a line of the program entered the engine, and what is written for each."""
    if not isinstance(node, ast.Call) or not _enters(node, known, entry):
        return
    code, values = entry.f_code, entry.f_locals
    names = list(code.co_varnames[:code.co_argcount])
    changed = {i.argval for i in dis.get_instructions(code) if i.opname in ('STORE_FAST', 'DELETE_FAST')}
    if names[:1] == ['self']:
        names.pop(0)
        if isinstance(node.func, ast.Attribute):
            yield values.get('self'), node.func.value
    given = _arguments(node, known)
    if given is None:
        return
    plain = [part for keyword, part in given if not keyword]
    bound = list(zip(names, plain)) + [(k, part) for k, part in given if k in names or k in code.co_varnames]
    for name, part in bound:
        if name not in changed and name in values:
            yield from _spread(values[name], part)
    if code.co_flags & inspect.CO_VARARGS:
        rest = code.co_varnames[code.co_argcount + code.co_kwonlyargcount]
        if rest not in changed:
            for value, part in zip(values.get(rest, ()), plain[len(names):]):
                yield from _spread(value, part)


def _spread(value: Any, part: ast.AST) -> Iterator[tuple[Any, ast.AST]]:
    yield value, part
    if isinstance(value, (list, tuple)):
        parts = part.elts if isinstance(part, (ast.List, ast.Tuple)) else [
            ast.Subscript(part, ast.Constant(i), ast.Load()) for i in range(len(value))]
        if len(parts) == len(value):
            for inner, written in zip(value, parts):
                yield from _spread(inner, written)


def _enters(node: ast.Call, known: dict[str, Any], entry: FrameType) -> bool:
    """Whether it is this call that a frame of the engine belongs to, and not one that a function of Python made."""
    called, name = value_of(node.func, known), entry.f_code.co_name
    if called is MISSING:
        if isinstance(node.func, ast.Attribute):
            return node.func.attr == name or name in ('__call__', '__init__')
        return isinstance(node.func, ast.Call) and name == '__call__'
    if isinstance(called, type):
        return name == '__init__'
    code = getattr(getattr(called, '__func__', called), '__code__', None)
    if code is not None:
        return code is entry.f_code
    return name == '__call__' and not isinstance(called, types.BuiltinFunctionType)


# ---- labels --------------------------------------------------------------------------------------------------------

def labels(frame: FrameType | None, place: Place | None, arrays: Sequence[Any], op: Operator | None = None,
           entry: FrameType | None = None) -> list[str]:
    """What the program calls arrays: as its line writes them, by their variable, else ``''``.

    A text is taken only where it is certain to mean the array: because it stands for this very object, because the
    operator has it in this place, or because it was handed over as this argument.
    """
    known = known_to(frame)
    node = parsed(place.expression) if place is not None else None
    texts: dict[int, str] = {}

    def learn(array: Any, part: ast.AST) -> None:
        value = value_of(part, known)
        if value is MISSING or value is array:
            texts.setdefault(id(array), ast.unparse(part))

    written = _outermost(node, known)
    for array in arrays:
        for part in written:
            if value_of(part, known) is array:
                learn(array, part)
                break
    parts = of_operator(node, known, op, len(arrays)) if op is not None else None
    for array, part in zip(arrays, parts or ()):
        learn(array, part)
    if entry is not None:
        for value, part in (*of_entry(node, known, entry), *_of_assignment(place, entry)):
            if any(value is array for array in arrays):
                learn(value, part)
    for array in arrays:
        if id(array) not in texts:
            name = next((k for k, v in known.items() if v is array and not k.startswith('_')), None)
            if name is not None:
                texts[id(array)] = name
    return [as_written(texts.get(id(array), ''), place) for array in arrays]


def _outermost(node: ast.AST | None, known: dict[str, Any]) -> list[ast.AST]:
    """The parts of a line that stand for objects, larger ones first."""
    if node is None:
        return []
    found = []
    pending = [node]
    while pending:
        part = pending.pop(0)
        if isinstance(part, ast.expr) and value_of(part, known) is not MISSING:
            found.append(part)
        pending.extend(ast.iter_child_nodes(part))
    return found


def _of_assignment(place: Place | None, entry: FrameType) -> Iterator[tuple[Any, ast.AST]]:
    """The array and the value of ``a[key] = value``."""
    statement = None
    if place is not None and entry.f_code.co_name == 'setitem':
        try:
            statements = ast.parse(place.text).body
        except SyntaxError:
            return
        statement = next((s for s in statements if isinstance(s, ast.Assign) and len(s.targets) == 1
                          and ast.get_source_segment(place.text, s.targets[0]) == place.expression), None)
    if statement is not None and isinstance(statement.targets[0], ast.Subscript):
        yield entry.f_locals['self'], statement.targets[0].value
        yield entry.f_locals['value'], statement.value


def as_written(text: str, place: Place | None) -> str:
    """A text with the spaces that the program has in it."""
    if not text or place is None or text in place.expression:
        return text
    for line in (place.expression, place.text):
        root = parsed(line)
        for part in ast.walk(root) if root is not None else ():
            if isinstance(part, ast.expr) and ast.unparse(part) == text:
                return ast.get_source_segment(line.strip(), part) or text
    return text


def atom(name: str) -> str:
    """A text that keeps its meaning in front of a dot or beside a sign.

    >>> atom('a + b'), atom('f(x)')
    ('(a + b)', 'f(x)')
    """
    node = parsed(name)
    return name if isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)) or (name[:1] == '(' \
        and isinstance(node, ast.Tuple)) else f'({name})'


# ---- blocks and parameters -----------------------------------------------------------------------------------------

def path_to(target: Any, frame: FrameType | None) -> str:
    """How the program reaches a block or a parameter from its variables, as in ``net[0].weight``; or ``''``."""
    from ..gluon.block import Block
    seen: set[int] = set()
    own = ''
    while frame is not None:
        if not is_engine(frame.f_code):
            for name, value in known_to(frame).items():
                if isinstance(value, Block) and not name.startswith('_'):
                    found = _below(value, name, target, seen)
                    if found:
                        return found
                elif value is target:
                    own = own or name
        frame = frame.f_back
    return own


def _below(block: Any, path: str, target: Any, seen: set[int]) -> str:
    if block is target:
        return path
    if id(block) in seen:
        return ''
    seen.add(id(block))
    attributes = {id(value): name for name, value in vars(block).items() if not name.startswith('_')}
    if id(target) in attributes:
        return f'{path}.{attributes[id(target)]}'
    for name, child in block._children.items():
        step = f'.{attributes[id(child)]}' if id(child) in attributes else f'[{name}]'
        found = _below(child, path + step, target, seen)
        if found:
            return found
    return ''
