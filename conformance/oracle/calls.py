"""Programs around one operator: its samples in every dtype, and calls like its samples but for a few changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from conformance.oracle.maker import DTYPES, FLOATS, HEAD, RECORD, Maker
from conformance.oracle.operators import Operator, Sample, call, convert
from conformance.oracle.program import Literal, Program

SAMPLE_DTYPES = ("float32", "float64", "float16", "int32", "int64", "uint8", "int8", "bool")


def of_samples(operator: Operator) -> Iterator[Program]:
    """Every sample in every dtype, with gradients where they exist."""
    for sample in operator.ready:
        for dtype in SAMPLE_DTYPES:
            smooth = dtype in FLOATS and any(sample.differentiated) and not operator.random
            yield _sampled(operator, sample, dtype, smooth)


def _sampled(operator: Operator, sample: Sample, dtype: str, smooth: bool) -> Program:
    names = "abcdefghijklmn"
    arrays = sample.literals(dtype) if operator.inputs or operator.variadic else []
    lines = [f"{name} = {array.text}" for name, array in zip(names, arrays)]
    text = call(operator.path, list(names[:len(arrays)]), sample.params)
    if smooth:
        lines += [f"{name}.attach_grad()" for name, yes in zip(names, sample.differentiated) if yes]
        lines += [f"{RECORD}y = {text}",
                  f"mx.autograd.backward(y, [{HEAD.format('y')}] if isinstance(y, mx.nd.NDArray) else None)"]
    else:
        lines.append(f"y = {text}")
    return Program(tuple(lines), random=operator.random, origin=f"sample:{operator.path}")


@dataclass
class _Call:
    """A call that is being changed."""

    arrays: list[Literal]
    smooth: list[bool]
    params: dict[str, Any]
    texts: dict[int, str]       # arguments that are not plain arrays of their own
    special: bool = False
    views: bool = False
    out: str | None = None


def changed(maker: Maker, operator: Operator) -> Program:
    """A call of an operator like one of its samples, with a few things changed."""
    maker.random = operator.random
    samples = operator.ready
    sample = maker.choice(samples) if samples else Sample((), (), {})
    maker.np_shape = maker.chance(12)
    dtype = maker.choice(("float32", "float32", "float64", "float16", *DTYPES))
    has_arrays = bool(operator.inputs) or operator.variadic
    made = _Call(sample.literals(dtype) if has_arrays else [], list(sample.differentiated), dict(sample.params), {})
    if not samples:
        _invent(maker, operator, made, dtype)
    for _ in range(maker.integer(0, 3)):
        _change(maker, operator, made)
    return _written(maker, operator, made, dtype)


def _invent(maker: Maker, operator: Operator, made: _Call, dtype: str) -> None:
    """A first guess for an operator without a sample."""
    shape = maker.shape(3)
    count = maker.integer(1, 3) if operator.variadic else len(operator.inputs)
    made.arrays = [maker.values(shape, dtype) for _ in range(count)]
    made.smooth = [True] * count
    made.params = {name: maker.parameter(given) for name, given in operator.params.items() if given.required}


def _change(maker: Maker, operator: Operator, made: _Call) -> None:
    names = list(operator.params)
    kind = maker.integer(0, 23)
    place = maker.integer(0, len(made.arrays) - 1) if made.arrays else -1
    if kind < 8 and names:
        name = maker.choice(names)
        made.params[name] = maker.parameter(operator.params[name], made.params.get(name))
    elif kind == 8 and made.params:
        del made.params[maker.choice(sorted(made.params))]
    elif kind == 9 and maker.chance(30):
        made.params[maker.choice(("unknown", "axis", "dtype", "ctx"))] = maker.choice((1, "x", None))
    elif place < 0:
        return
    elif kind < 13:
        _resize(maker, made, place)
    elif kind == 13:
        made.arrays[place] = _cast(made.arrays[place], maker.choice(DTYPES))
    elif kind == 14:
        shape = maker.shape()
        made.arrays[place] = maker.values(shape, made.arrays[place].dtype)
    elif kind < 18:
        made.special = True
    elif kind == 18:
        made.views = True
    elif kind == 19:
        made.out = maker.choice(("same", "first", "wrong shape", "wrong dtype"))
    elif kind == 20 and place:
        made.texts[place] = "same"
    elif kind == 21:
        made.texts[place] = maker.choice(("None", "2.5", "np.array([1.0, 2.0])", "[1, 2]", "'a'"))
    elif kind == 22 and maker.chance(40):
        del made.arrays[place], made.smooth[place]
    elif kind == 23 and maker.chance(40):
        made.arrays.append(made.arrays[place])
        made.smooth.append(made.smooth[place])


def _cast(array: Literal, dtype: str) -> Literal:
    return Literal(array.shape, dtype, tuple(convert(array.values, dtype)))


def _resize(maker: Maker, made: _Call, place: int) -> None:
    """Another size for a dimension, in one array or in all that have a dimension of that size."""
    shape = made.arrays[place].shape
    if not shape:
        return
    axis = maker.integer(0, len(shape) - 1)
    size = maker.choice((0, 1, 2, 3, 5) if maker.np_shape else (1, 2, 3, 4, 5))
    together = maker.chance(60)
    for index, array in enumerate(made.arrays):
        new = list(array.shape)
        if together:
            new = [size if old == shape[axis] else old for old in new]
        elif index == place:
            new[axis] = size
        if tuple(new) != array.shape:
            made.arrays[index] = _repeated(array, tuple(new))


def _repeated(array: Literal, shape: tuple[int, ...]) -> Literal:
    """The elements of an array over again in another shape: what held for them (positive, small) still holds."""
    size = 1
    for length in shape:
        size *= length
    source = array.values or (1.0,)
    values = [source[i % len(source)] for i in range(size)]
    return Literal(shape, array.dtype, tuple(convert(values, array.dtype)))


def _written(maker: Maker, operator: Operator, made: _Call, dtype: str) -> Program:
    arguments: list[str] = []
    first: Literal | None = None
    for index, array in enumerate(made.arrays):
        text = made.texts.get(index)
        if text == "same" and arguments:
            arguments.append(arguments[0])
            continue
        if text is not None and text != "same":
            arguments.append(text)
            continue
        if made.special:
            lively = maker.values(array.shape, array.dtype, special=True)
            mixed = [new if number % 2 else old for number, (old, new) in enumerate(zip(array.values, lively.values))]
            array = replace(array, values=tuple(mixed))
        if made.smooth[index] or not array.shape:
            first = first or array
        arguments.append(maker.view(array) if made.views else maker.put(array))
    out = _target(maker, made, first, arguments)
    text = call(operator.path, arguments, made.params, out)
    smooth = [name for name, yes in zip(arguments, made.smooth) if yes and name.isidentifier() and name != "None"]
    if dtype in FLOATS and smooth and not operator.random and out is None and maker.chance(65):
        for name in dict.fromkeys(smooth):
            maker.attach(name)
        maker.lines += [f"{RECORD}y = {text}",
                        f"mx.autograd.backward(y, [{HEAD.format('y')}] if isinstance(y, mx.nd.NDArray) else None)"]
    else:
        maker.lines.append(f"y = {text}")
    return maker.program(f"changed:{operator.path}")


def _target(maker: Maker, made: _Call, first: Literal | None, arguments: list[str]) -> str | None:
    if made.out is None or first is None:
        return None
    if made.out == "first" and arguments[0].isidentifier() and arguments[0] != "None":
        return arguments[0]
    shape, dtype = first.shape, first.dtype
    if made.out == "wrong shape":
        shape = (*shape, 2)
    if made.out == "wrong dtype":
        dtype = "int32" if dtype != "int32" else "float32"
    return maker.array(shape, dtype)
