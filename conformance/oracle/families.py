"""Families of programs that no record of an operator describes: Python's operators, methods, indexing, chains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from conformance.oracle.maker import DTYPES, FLOATS, RECORD, Maker
from conformance.oracle.program import Program

UNARY = (
    "relu sigmoid softsign negative reciprocal abs sign round rint ceil floor trunc fix square sqrt rsqrt cbrt rcbrt "
    "exp expm1 log log10 log2 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh degrees "
    "radians erf erfinv gamma gammaln logical_not softmax log_softmax").split()  # noqa: SIM905
BINARY = (
    "broadcast_add broadcast_sub broadcast_mul broadcast_div broadcast_mod broadcast_power broadcast_maximum "
    "broadcast_minimum broadcast_hypot broadcast_equal broadcast_not_equal broadcast_greater broadcast_greater_equal "
    "broadcast_lesser broadcast_lesser_equal broadcast_logical_and broadcast_logical_or broadcast_logical_xor add "
    "subtract multiply divide modulo power maximum minimum equal not_equal greater greater_equal lesser lesser_equal "
    "logical_and logical_or logical_xor elemwise_add elemwise_sub elemwise_mul elemwise_div").split()  # noqa: SIM905
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
    return _recorded(maker, [a], text, dtype, f"unary:{name}")


def _recorded(maker: Maker, arrays: list[str], text: str, dtype: str, origin: str, percent: int = 45) -> Program:
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
    return _recorded(maker, [n for n in (a, b) if n.isidentifier() and n != "True"], f"mx.nd.{name}({a}, {b})", dtype,
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
    if len(symbol) <= 2 and symbol in ("+", "-", "*", "/", "%") and maker.chance(30):
        maker.lines.append(f"{a} {symbol}= {b}")
        return maker.program(f"inplace:{symbol}")
    if maker.chance(5):
        return _recorded(maker, [a], maker.choice((f"-{a}", f"abs({a})")), dtype, "operator:unary")
    left, right = (b, a) if maker.chance(35) else (a, b)
    return _recorded(maker, arrays, f"{left} {symbol} {right}", dtype, f"operator:{symbol}")


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
    return _recorded(maker, [a], text, dtype, f"reduction:{name}")


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
    return _recorded(maker, [a], text, dtype, "indexing:get", 35)


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


_SHAPED = (
    "reshape", "flatten", "squeeze", "expand_dims", "transpose", "swapaxes", "flip", "tile", "repeat", "slice_axis",
    "split", "broadcast_to", "clip", "sort", "argsort", "topk", "one_hot", "take", "pick", "slice", "diag", "T", "astype",
    "asscalar", "float", "int", "bool", "len", "copy", "asnumpy", "size", "round", "zeros_like", "ones_like", "norm",
    "stack", "concat", "where", "dot", "cumsum", "reshape_function", "shape_array", "abs", "reverse", "at", "iterate",
    "contains", "repr", "hash", "asnumpy", "copyto", "broadcast_axes", "broadcast_like", "reshape_like", "slice_like",
    "depth", "pad", "argmax_channel", "gather", "scatter", "linspace", "arange", "full", "eye", "split_v2", "isnan",
)


def method(maker: Maker) -> Program:
    """Methods, conversions, and functions that change shapes."""
    maker.np_shape = maker.chance(12)
    dtype = maker.choice(DTYPES)
    shape = maker.shape()
    array = maker.values(shape, dtype, special=maker.chance(10))
    name = maker.choice(_SHAPED)
    a = maker.view(array) if maker.chance(15) else maker.put(array)
    text = _method_text(maker, a, name, shape, dtype)
    return _recorded(maker, [a], text, dtype, f"method:{name}", 30)


def _method_text(maker: Maker, a: str, name: str, shape: tuple[int, ...], dtype: str) -> str:
    ndim = len(shape)
    axis = maker.integer(-ndim - maker.chance(5), max(ndim - 1, 0) + maker.chance(5))
    if name in ("reshape", "reshape_function"):
        return _reshape(maker, a, shape, name)
    axes = list(range(ndim))
    other = maker.integer(-ndim, max(ndim - 1, 0))
    kept = maker.choice(("True", "False"))
    texts: dict[str, Callable[[], str]] = {
        "flatten": lambda: f"{a}.flatten()",
        "squeeze": lambda: maker.choice((f"{a}.squeeze()", f"{a}.squeeze(axis={axis})", f"{a}.squeeze(({axis}, {other}))")),
        "expand_dims": lambda: f"{a}.expand_dims({maker.integer(-ndim - 2, ndim + 1)})",
        "transpose": lambda: maker.choice((
            f"{a}.transpose()", f"{a}.transpose({tuple(reversed(axes))})", f"{a}.transpose({tuple(axes[1:] + axes[:1])})",
            f"mx.nd.transpose({a}, axes={tuple(axes[::-1])})", f"{a}.transpose({(0, *axes[:-1])})")),
        "swapaxes": lambda: f"{a}.swapaxes({axis}, {other})",
        "flip": lambda: f"{a}.flip(axis={axis})",
        "reverse": lambda: f"mx.nd.reverse({a}, axis={maker.choice((axis, (axis, other)))})",
        "tile": lambda: f"{a}.tile(reps={tuple(maker.integer(0 if maker.np_shape else 1, 3) for _ in range(maker.integer(1, 3)))})",
        "repeat": lambda: f"{a}.repeat({maker.integer(0 if maker.np_shape else 1, 3)}" + maker.choice(("", f", axis={axis}")) + ")",
        "slice_axis": lambda: f"{a}.slice_axis(axis={axis}, begin={maker.integer(-3, 3)}, end={maker.choice((None, 1, 2, -1, 3, 9))})",
        "slice": lambda: f"{a}.slice(begin={_bounds(maker, ndim)}, end={_bounds(maker, ndim)}" + maker.choice(
            ("", f", step={_bounds(maker, ndim)}")) + ")",
        "split": lambda: f"{a}.split(num_outputs={maker.integer(1, 3)}, axis={axis}, squeeze_axis={kept})",
        "split_v2": lambda: f"mx.nd.split_v2({a}, {maker.choice((1, 2, 3, (1,), (1, 2), (0, 2), ()))}, axis={axis}, squeeze_axis={kept})",
        "broadcast_to": lambda: f"{a}.broadcast_to({tuple(n if n != 1 or maker.chance(30) else 3 for n in shape)})",
        "broadcast_axes": lambda: f"{a}.broadcast_axes(axis={axis}, size={maker.integer(1, 3)})",
        "broadcast_like": lambda: f"{a}.broadcast_like(mx.nd.ones({maker.partner(shape)}))",
        "reshape_like": lambda: f"{a}.reshape_like(mx.nd.ones({maker.choice((shape[::-1], (int(np.prod(shape)),), (2, 3)))}))",
        "slice_like": lambda: f"mx.nd.slice_like({a}, mx.nd.ones({maker.partner(shape)}), axes={maker.choice(((), (0,), (axis,)))})",
        "clip": lambda: f"{a}.clip({maker.choice(('-1', '0', '0.5', '3'))}, {maker.choice(('1', '0', '2.5', '-2'))})",
        "sort": lambda: f"{a}.sort(axis={maker.choice((axis, None))}, is_ascend={kept})",
        "argsort": lambda: f"{a}.argsort(axis={maker.choice((axis, None))}, is_ascend={kept}" + maker.choice(
            ("", ", dtype='int32'", ", dtype='float64'")) + ")",
        "topk": lambda: f"{a}.topk(k={maker.integer(1, 3)}, axis={maker.choice((axis, None))}, ret_typ="
                        f"{maker.choice(('indices', 'value', 'mask', 'both'))!r}, is_ascend={kept})",
        "one_hot": lambda: f"{a}.one_hot({maker.integer(1, 4)}" + maker.choice(("", ", on_value=2, off_value=-1", ", dtype='int32'")) + ")",
        "take": lambda: f"{a}.take(mx.nd.array({[maker.integer(-2, 4) for _ in range(2)]}), axis={axis}, mode={maker.choice(('clip', 'wrap'))!r})",
        "pick": lambda: f"{a}.pick(mx.nd.array({[maker.integer(0, 2) for _ in range(shape[0] if shape else 1)]}), axis={axis}, keepdims={kept})",
        "diag": lambda: f"mx.nd.diag({a}, k={maker.integer(-2, 2)})",
        "T": lambda: f"{a}.T",
        "astype": lambda: f"{a}.astype({maker.choice(DTYPES)!r}" + maker.choice(("", ", copy=False")) + ")",
        "float": lambda: f"float({a})", "int": lambda: f"int({a})", "bool": lambda: f"bool({a})", "len": lambda: f"len({a})",
        "size": lambda: maker.choice((f"{a}.size", f"{a}.ndim", f"{a}.shape", f"{a}.dtype", f"{a}.stype", f"{a}.context.device_type")),
        "stack": lambda: f"mx.nd.stack({a}, {a}, axis={maker.integer(-ndim - 1, ndim)})",
        "concat": lambda: f"mx.nd.concat({a}, {a}, dim={axis})",
        "where": lambda: f"mx.nd.where({a}, {a} * 2, {a})",
        "dot": lambda: f"mx.nd.dot({a}, {maker.choice((a, f'{a}.T'))}" + maker.choice(("", ", transpose_a=True", ", transpose_b=True")) + ")",
        "cumsum": lambda: f"mx.nd.cumsum({a}" + maker.choice(("", f", axis={axis}", f", axis={axis}, dtype='float64'")) + ")",
        "at": lambda: f"{a}[{axis}]",
        "iterate": lambda: f"[i for i in {a}]",
        "contains": lambda: f"{maker.choice(('1', '2.5', '0'))} in {a}",
        "repr": lambda: f"repr({a})",
        "hash": lambda: f"hash({a}) == hash({a})",
        "copyto": lambda: f"{a}.copyto({maker.choice((f'mx.nd.zeros({shape}, dtype={dtype!r})', f'mx.nd.zeros({shape})', 'mx.cpu(1)', 'mx.nd.zeros((7,))'))})",
        "depth": lambda: f"mx.nd.{maker.choice(('depth_to_space', 'space_to_depth'))}({a}, {maker.integer(1, 2)})",
        "pad": lambda: f"mx.nd.pad({a}, mode={maker.choice(('constant', 'edge', 'reflect'))!r}, pad_width={(0, 0) * 2 + (1, maker.integer(0, 2)) * max(ndim - 2, 0)}, constant_value=2)",
        "argmax_channel": lambda: f"mx.nd.argmax_channel({a})",
        "gather": lambda: f"mx.nd.gather_nd({a}, mx.nd.array([[0, {maker.integer(0, 1)}]]))",
        "scatter": lambda: f"mx.nd.scatter_nd({a}, mx.nd.array([{list(range(shape[0] if shape else 1))}]), shape={maker.choice(((5,), (6, *shape[1:])))})",
        "linspace": lambda: f"mx.nd.linspace({maker.integer(-2, 2)}, {maker.integer(-2, 5)}, {maker.integer(1, 5)}, endpoint={kept}, dtype={dtype!r})",
        "arange": lambda: f"mx.nd.arange({maker.choice(('5', '1, 4', '0, 3, 0.5', '5, 1, -2', '0.5, 2.5', '3, None', '0'))}, repeat={maker.integer(1, 2)}, dtype={dtype!r})",
        "full": lambda: f"mx.nd.full({maker.shape(2)}, {maker.choice(('2', '1.5', 'True', '-1', '300'))}, dtype={dtype!r})",
        "eye": lambda: f"mx.nd.eye({maker.integer(1, 3)}, {maker.integer(0, 3)}, {maker.integer(-2, 2)}, dtype={dtype!r})",
        "isnan": lambda: f"mx.nd.contrib.{maker.choice(('isnan', 'isinf', 'isfinite'))}({a})",
        "norm": lambda: f"{a}.norm({maker.choice(('', 'ord=1', f'axis={axis}', f'axis={axis}, keepdims={kept}'))})",
        "shape_array": lambda: f"mx.nd.{maker.choice(('shape_array', 'size_array'))}({a})",
    }
    made = texts.get(name)
    return made() if made is not None else f"{a}.{name}()"


def _bounds(maker: Maker, ndim: int) -> tuple[Any, ...]:
    return tuple(maker.choice((None, 0, 1, -1, 2, 3, -2)) for _ in range(maker.integer(1, max(ndim, 1))))


def _reshape(maker: Maker, a: str, shape: tuple[int, ...], name: str) -> str:
    total = int(np.prod(shape))
    options: list[tuple[int, ...]] = [(-1,), (total,), (0, -1), (-1, 0), (-2,), (1, -1), (*shape, 1), shape[::-1], (-3, -2),
                                      (-1, 1), (0, 0, -1), (-2, 1), (1, *shape), (-4, 1, -1, -2), (2, -1), (-3,), (0, -3)]
    if total % 2 == 0:
        options += [(2, total // 2), (total // 2, 2)]
    chosen = maker.choice(options) if not maker.chance(25) else tuple(
        maker.choice((0, 1, -1, -2, 2, 3, -3, -4)) for _ in range(maker.integer(0, 4)))
    back = maker.choice(("", "", ", reverse=True"))
    return f"mx.nd.reshape({a}, shape={chosen}{back})" if name == "reshape_function" else f"{a}.reshape({chosen}{back})"


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


FAMILIES: tuple[tuple[str, Family, int], ...] = (
    ("unary", unary, 3), ("binary", binary, 3), ("operator", operator, 4), ("reduction", reduction, 3),
    ("indexing", indexing, 3), ("assignment", assignment, 3), ("method", method, 6), ("chain", chain, 3),
)
