"""Families of programs that no record of an operator describes: Python's operators, methods, indexing, chains."""



from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from conformance.oracle.maker import DTYPES, FLOATS, RECORD, Maker
from conformance.oracle.program import Program

UNARY = (
    "relu", "sigmoid", "softsign", "negative", "reciprocal", "abs", "sign", "round", "rint", "ceil", "floor", "trunc",
    "fix", "square", "sqrt", "rsqrt", "cbrt", "rcbrt", "exp", "expm1", "log", "log10", "log2", "log1p", "sin", "cos",
    "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "degrees",
    "radians", "erf", "erfinv", "gamma", "gammaln", "logical_not", "softmax", "log_softmax",
)
BINARY = (
    "broadcast_add", "broadcast_sub", "broadcast_mul", "broadcast_div", "broadcast_mod", "broadcast_power",
    "broadcast_maximum", "broadcast_minimum", "broadcast_hypot", "broadcast_equal", "broadcast_not_equal",
    "broadcast_greater", "broadcast_greater_equal", "broadcast_lesser", "broadcast_lesser_equal",
    "broadcast_logical_and", "broadcast_logical_or", "broadcast_logical_xor", "add", "subtract", "multiply", "divide",
    "modulo", "power", "maximum", "minimum", "equal", "not_equal", "greater", "greater_equal", "lesser",
    "lesser_equal", "logical_and", "logical_or", "logical_xor", "elemwise_add", "elemwise_sub", "elemwise_mul",
    "elemwise_div",
)
REDUCTIONS = ("sum", "mean", "prod", "max", "min", "nansum", "nanprod", "norm", "argmax", "argmin")
OPERATORS = ("+", "-", "*", "/", "%", "**", "==", "!=", "<", "<=", ">", ">=")
SCALARS = ("2", "-2", "1.5", "0", "-1", "0.5", "True", "np.float32(2.5)", "np.int32(3)", "np.float64(0.1)", "3.7", "1")
SMOOTH = ("sin", "cos", "exp", "tanh", "sigmoid", "square", "arctan", "softsign", "log1p", "relu", "abs", "erf")

Family = Callable[[Maker], Program]


def unary(maker: Maker) -> Program:
    """One function, element by element, over any dtype and shape, special values and views."""
    maker.np_shape = maker.chance(15)
    name, dtype = maker.choice(UNARY), maker.choice(DTYPES)
    domain = maker.choice(("any", "positive", "unit"))
    array = maker.values(maker.shape(), dtype, special=maker.chance(30), domain=domain)
    a = maker.view(array) if maker.chance(20) else maker.put(array)
    text = f"{a}.{name}()" if maker.chance(20) else f"mx.nd.{name}({a})"
    return recorded(maker, [a], text, dtype, f"unary:{name}")


def recorded(maker: Maker, arrays: list[str], text: str, dtype: str, origin: str, percent: int = 45) -> Program:
    """The last line, with the gradient now and then."""
    if dtype in FLOATS and maker.chance(percent):
        for name in dict.fromkeys(arrays):
            maker.attach(name)
        maker.lines.append(f"{RECORD}y = {text}")
        maker.backward("y")
    else:
        maker.lines.append(f"y = {text}")
    return maker.program(origin)


def binary(maker: Maker) -> Program:
    """A function of two arrays that broadcast, or nearly."""
    maker.np_shape = maker.chance(15)
    name, dtype = maker.choice(BINARY), maker.choice(DTYPES)
    other = dtype if not maker.chance(8) else maker.choice(DTYPES)
    shape = maker.shape()
    special = maker.chance(20)
    a = maker.array(shape, dtype, special=special)
    partner = maker.partner(shape) if not name.startswith("elemwise") or maker.chance(10) else shape
    b = maker.array(partner, other, special=special) if not maker.chance(5) else a
    if maker.chance(15):
        a, b = b, a
    if not name.startswith(("broadcast", "elemwise")) and maker.chance(25):
        b = maker.choice(SCALARS)
    return recorded(maker, [n for n in (a, b) if n.isidentifier() and n != "True"], f"mx.nd.{name}({a}, {b})", dtype,
                     f"binary:{name}")


def operator(maker: Maker) -> Program:
    """Python's operators between arrays and numbers, in place as well."""
    maker.np_shape = maker.chance(10)
    symbol, dtype = maker.choice(OPERATORS), maker.choice(DTYPES)
    shape = maker.shape()
    array = maker.values(shape, dtype, special=maker.chance(15))
    a = maker.view(array) if maker.chance(15) else maker.put(array)
    kind = maker.integer(0, 9)
    b = maker.choice(SCALARS) if kind < 5 else maker.array(maker.partner(shape), dtype if kind < 9 else None)
    arrays = [name for name in (a, b) if name.isidentifier() and name != "True"]
    if symbol in ("+", "-", "*", "/", "%") and maker.chance(30):
        maker.lines.append(f"{a} {symbol}= {b}")
        return maker.program(f"inplace:{symbol}")
    if maker.chance(5):
        return recorded(maker, [a], maker.choice((f"-{a}", f"abs({a})")), dtype, "operator:unary")
    left, right = (b, a) if maker.chance(35) else (a, b)
    return recorded(maker, arrays, f"{left} {symbol} {right}", dtype, f"operator:{symbol}")


def reduction(maker: Maker) -> Program:
    """A reduction with every form of axis, keepdims and exclude."""
    maker.np_shape = maker.chance(15)
    name, dtype = maker.choice(REDUCTIONS), maker.choice(DTYPES)
    shape = maker.shape()
    a = maker.array(shape, dtype, special=maker.chance(20))
    parts = []
    if maker.chance(75):
        parts.append(f"axis={_axes(maker, len(shape), name.startswith('arg'))!r}")
    if maker.chance(40):
        parts.append(f"keepdims={maker.choice((True, False, 1, 'True'))!r}")
    if maker.chance(15) and name not in ("norm", "argmax", "argmin"):
        parts.append("exclude=True")
    if name == "norm" and maker.chance(40):
        parts.append(f"ord={maker.choice((1, 2, 2, 3))}")
    text = f"{a}.{name}({', '.join(parts)})" if maker.chance(30) else f"mx.nd.{name}({', '.join([a, *parts])})"
    return recorded(maker, [a], text, dtype, f"reduction:{name}")


def _axes(maker: Maker, ndim: int, single: bool) -> Any:
    kind = maker.integer(0, 9)
    if kind == 0:
        return None
    if kind == 1:
        return maker.integer(-ndim - 1, ndim)
    if kind < 6 or single:
        return maker.integer(-ndim, max(ndim - 1, 0))
    if kind == 6:
        return ()
    return tuple(maker.integer(-ndim if kind == 9 else 0, max(ndim - 1, 0)) for _ in range(maker.integer(1, 3)))


def indexing(maker: Maker) -> Program:
    """Reading by a key, the gradient of it, and what shares memory with the array."""
    maker.np_shape = maker.chance(15)
    dtype = maker.choice(DTYPES)
    shape = maker.shape()
    a = maker.array(shape, dtype)
    text = f"{a}[{maker.key(shape)}]"
    if maker.chance(15):
        maker.lines += [f"y = {text}", f"y[:] = {maker.choice(('1', '7', '0'))}"]  # shared memory shows in the array
        return maker.program("indexing:shared")
    return recorded(maker, [a], text, dtype, "indexing:get", 35)


def assignment(maker: Maker) -> Program:
    """Writing by a key: numbers, arrays that broadcast, numpy arrays, lists, and mistakes."""
    maker.np_shape = maker.chance(12)
    dtype = maker.choice(DTYPES)
    shape = maker.shape()
    a = maker.array(shape, dtype)
    key = maker.key(shape)
    kind = maker.integer(0, 9)
    if kind < 4:
        value = maker.choice((*SCALARS, "None", "'x'"))
    elif kind < 8:
        value = maker.array(maker.partner(shape), dtype if kind < 7 else None)
    else:
        value = maker.choice(("np.array([1, 2])", "[1, 2]", "np.float32(2)", "[[1.5]]", "(3,)"))
    maker.lines.append(f"{a}[{key}] = {value}")
    return maker.program("indexing:set")


def chain(maker: Maker) -> Program:
    """A few operations one after another, recorded, and the gradients of all arrays at their start."""
    dtype = maker.choice(("float32", "float32", "float64", "float16"))
    shape = tuple(maker.choice((2, 3, 1, 4)) for _ in range(maker.integer(1, 3)))
    pool: dict[str, tuple[int, ...]] = {}
    for _ in range(maker.integer(1, 2)):
        pool[maker.array(shape, dtype, domain=maker.choice(("unit", "any", "positive")))] = shape
    leaves = list(pool)
    for name in leaves:
        maker.attach(name)
    last = leaves[-1]
    for _ in range(maker.integer(2, 5)):
        last = _link(maker, pool, last)
    if maker.chance(12):
        maker.lines.append(f"{last}.backward(retain_graph=True)")
    if maker.chance(12):
        maker.lines.append(f"{last}.backward(train_mode=False)")
    maker.backward(last)
    if maker.chance(8):
        maker.backward(last)
    return maker.program("chain")


def _link(maker: Maker, pool: dict[str, tuple[int, ...]], last: str) -> str:
    shape = pool[last]
    other = maker.choice(list(pool))
    kind = maker.integer(0, 15)
    axis = maker.integer(0, max(len(shape) - 1, 0))
    if kind < 4:
        text, new = f"mx.nd.{maker.choice(SMOOTH)}({last})", shape
    elif kind < 6:
        text, new = f"{last} {maker.choice('+-*/')} {maker.choice(('2', '0.5', '-1.5', '3'))}", shape
    elif kind < 9 and pool[other] == shape:
        text, new = f"{last} {maker.choice('+-*')} {other}", shape
    elif kind == 9 and len(shape) > 1:
        text, new = f"{last}.sum(axis={axis})", (*shape[:axis], *shape[axis + 1:])
    elif kind == 10 and len(shape) > 1:
        text, new = f"{last}.mean(axis={axis}, keepdims=True)", (*shape[:axis], 1, *shape[axis + 1:])
    elif kind == 11:
        text, new = f"{last}.T", shape[::-1]
    elif kind == 12:
        text, new = f"{last}.reshape((-1,))", (int(np.prod(shape)),)
    elif kind == 13 and len(shape) > 1:
        text, new = f"{last}[0]", shape[1:]
    elif kind == 14:
        text, new = f"mx.nd.concat({last}, {last}, dim={axis})", (*shape[:axis], 2 * shape[axis], *shape[axis + 1:])
    else:
        text, new = f"mx.nd.softmax({last}, axis={axis})", shape
    name = maker.name()
    stop = maker.chance(4)
    maker.lines.append(f"{RECORD}{name} = {f'mx.nd.BlockGrad({text})' if stop else text}")
    pool[name] = new
    return name


#: The families, and how often each is taken.
FAMILIES: tuple[tuple[Family, int], ...] = (
    (unary, 3), (binary, 3), (operator, 4), (reduction, 3), (indexing, 3), (assignment, 3), (chain, 3),
)
