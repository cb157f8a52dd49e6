"""What an engine said to a program, and the first thing in which two answers differ."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from conformance.oracle.program import Program, assigned, subject
from conformance.tolerance import tolerance_for

#: How much farther than the table allows two results may lie apart after each further statement.
STEPS_WIDEN = 1.0

#: What an error is about, by words of its message: wording differs between engines, the subject must not.
TOPICS: dict[str, tuple[str, ...]] = {
    "shape": ("shape", "dim", "broadcast", "size", "axis", "axes", "element", "reshape", "index", "bound", "range",
              "length", "scalar", "rank", "ndim", "square", "input", "channel",
              "expected ["),
    "dtype": ("dtype", "type", "boolean", "integer", "float", "kind", "int8", "int32", "int64", "bool"),
    "argument": ("argument", "parameter", "param", "keyword", "required", "expect", "attribute", "value", "positional",
                 "parsed"),
    "recording": ("record", "gradient", "grad", "graph", "backward", "inplace"),
}


@dataclass(frozen=True)
class Answer:
    """What became of one program: what each statement did, or how the engine ended."""

    steps: tuple[Mapping[str, Any], ...] = ()
    end: str | None = None      # "crash" or "hang"
    words: str = ""             # what was printed on the way out

    @classmethod
    def of(cls, message: Mapping[str, Any]) -> Answer:
        return cls(tuple(message["steps"]))


@dataclass(frozen=True)
class Difference:
    """The first difference of two answers.

    kind: crash, hang, error, meaning, type, dtype, shape, value, gradient, state or flags;  step: the statement;
    name: the variable;  first, second: what the two engines did, shown;  close: how far two numbers are apart in units
    of what is allowed, or None where the difference is not one of numbers.
    """

    kind: str
    step: int
    name: str
    first: str
    second: str
    close: float | None = None


@dataclass
class _Side:
    """What is known of the variables of one engine while its answer is read."""

    values: dict[str, Any] = field(default_factory=dict)

    def read(self, step: Mapping[str, Any]) -> set[str]:
        changed: dict[str, Any] = step.get("v", {})
        self.values.update(changed)
        return set(changed)


def array_of(told: Sequence[Any]) -> np.ndarray[Any, Any] | None:
    """The numpy array of an observation, or None where only its beginning was sent."""
    _, dtype, shape, data = told[:4]
    try:
        flat = np.frombuffer(base64.b64decode(data), np.dtype(dtype))
    except (TypeError, ValueError):
        return None
    return flat.reshape(tuple(shape)) if flat.size == int(np.prod(shape)) else None


def show(told: Any) -> str:
    """An observation as a person reads it, on one line."""
    if told is None:
        return "nothing"
    kind = told[0]
    if kind in "an":
        array = array_of(told)
        text = np.array2string(array, threshold=12, separator=", ") if array is not None else "..."
        shown = f"{told[1]} {tuple(told[2])} {' '.join(text.split())}"
        return shown + (f" {told[4]}" if len(told) > 4 else "") + (" (numpy)" if kind == "n" else "")
    if kind == "g":
        return f"{show(told[1])}, gradient {show(told[2])}"
    if kind == "l":
        return f"{told[1]} of {len(told[2])}: " + "; ".join(show(item) for item in told[2][:4])
    if kind == "x":
        return f"raises {told[1][0] if told[1] else 'Exception'}: {' '.join(told[2].split())[:200]}"
    return str(told[-1])


def error_text(step: Mapping[str, Any]) -> str:
    """The error of a step as differences show it: its class, and the beginning of its message on one line."""
    name = step["e"][0] if step["e"] else "Exception"
    return f"{name}: {' '.join(step.get('m', '').split())[:300]}"


def topics(message: str) -> set[str]:
    """What a message is about.

    >>> sorted(topics("Check failed: axis < ndim"))
    ['shape']
    """
    low = message.lower()
    return {topic for topic, words in TOPICS.items() if any(word in low for word in words)}


def related(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether one of two error classes is derived from the other.

    >>> related(["MXNetError", "RuntimeError"], ["ReshapeError", "MXNetError", "RuntimeError"])
    True
    >>> related(["ValueError"], ["TypeError"]), related(["MXNetError", "RuntimeError"], ["RuntimeError"])
    (False, True)
    """
    return (not first and not second) or bool(first and second and (first[0] in second or second[0] in first))


def compare(first: Answer, second: Answer, program: Program) -> Difference | None:
    """The first difference, or None."""
    if first.end or second.end:
        if first.end == second.end:
            return None
        ended = first if first.end else second
        assert ended.end is not None
        texts = [f"{side.end}: {side.words.strip()[-300:]}" if side.end else _last(side) for side in (first, second)]
        return Difference(ended.end, len(program.lines) - 1, "", texts[0], texts[1])
    if first.steps == second.steps:
        return None
    sides = _Side(), _Side()
    for index, (one, two) in enumerate(zip(first.steps, second.steps, strict=True)):
        changed = sides[0].read(one) | sides[1].read(two)
        found = _errors(one, two, index)
        if found is None:
            failed = "e" in one
            for name in sorted(changed, key=lambda key: (key != _target(program, index), key)):
                found = _variable(sides[0].values.get(name), sides[1].values.get(name), index, name, program)
                if found is not None:
                    if failed:
                        found = Difference("state", index, name, found.first, found.second, found.close)
                    break
        if found is None and one.get("flags") != two.get("flags"):
            found = Difference("flags", index, "", f"recording, training = {one.get('flags', [False, False])}",
                               f"recording, training = {two.get('flags', [False, False])}")
        if found is not None:
            return found
    return None


def _last(answer: Answer) -> str:
    step = answer.steps[-1] if answer.steps else {}
    if "e" in step:
        return error_text(step)
    values = step.get("v", {})
    return show(values[sorted(values)[-1]]) if values else "no change"


def _target(program: Program, index: int) -> str | None:
    return assigned(program.lines[index])


def _errors(one: Mapping[str, Any], two: Mapping[str, Any], index: int) -> Difference | None:
    if "e" not in one and "e" not in two:
        return None
    if "e" in one and "e" in two:
        if not related(one["e"], two["e"]):
            return Difference("error", index, "", error_text(one), error_text(two))
        about = topics(one.get("m", "")), topics(two.get("m", ""))
        if all(about) and not about[0] & about[1]:
            return Difference("meaning", index, "", error_text(one), error_text(two))
        return None
    texts = []
    for step in (one, two):
        new = step.get("v", {})
        texts.append(error_text(step) if "e" in step else
                     "no error: " + ("; ".join(f"{n} = {show(new[n])}" for n in sorted(new)) or "no change"))
    return Difference("error", index, "", texts[0], texts[1])


def _variable(one: Any, two: Any, index: int, name: str, program: Program) -> Difference | None:
    if one == two:
        return None

    def differ(kind: str, close: float | None = None) -> Difference:
        return Difference(kind, index, name, show(one), show(two), close)

    if one is None or two is None:
        return differ("type")
    if one[0] == two[0] == "x":
        return None if related(one[1], two[1]) else differ("error")
    if "x" in (one[0], two[0]):
        return differ("error")
    if "g" in (one[0], two[0]):
        if one[0] != two[0]:
            return differ("gradient")
        found = _variable(one[1], two[1], index, name, program)
        if found is not None:
            return found
        inside = _variable(one[2], two[2], index, name, program)
        return differ("gradient", inside.close) if inside is not None else None
    if one[0] != two[0]:
        return differ("type")
    if one[0] == "l":
        if one[1] != two[1] or len(one[2]) != len(two[2]):
            return differ("type")
        for left, right in zip(one[2], two[2]):
            inside = _variable(left, right, index, name, program)
            if inside is not None:
                return differ(inside.kind, inside.close)
        return None
    if one[0] == "f":
        distance = apart(np.array(float(one[1])), np.array(float(two[1])), "float32", index)
        return differ("value", distance) if distance > 1 else None
    if one[0] in "an":
        if one[1] != two[1]:
            return differ("dtype")
        if one[2] != two[2]:
            return differ("shape")
        if one[4:] != two[4:]:
            return differ("type")
        left, right = array_of(one), array_of(two)
        if left is None or right is None:
            return differ("value") if one[3] != two[3] else None
        if program.random:
            return None
        distance = apart(left, right, one[1], index)
        return differ("value", distance) if distance > 1 else None
    return differ("value")


def apart(left: np.ndarray[Any, Any], right: np.ndarray[Any, Any], dtype: str, steps: int = 0) -> float:
    """How far two arrays of one shape are apart, in units of what the table of tolerances allows; inf for NaN and inf.

    What is allowed grows with the largest number in the arrays, since sums lose the digits of their smallest terms, and
    with the number of statements before.

    >>> apart(np.array([1.0]), np.array([1.0]), "float32"), apart(np.array([1]), np.array([2]), "int32")
    (0.0, inf)
    """
    rtol, atol, _ = tolerance_for(dtype)
    if not left.size:
        return 0.0
    if not rtol:
        return 0.0 if np.array_equal(left, right) else float("inf")
    with np.errstate(all="ignore"):
        one: np.ndarray[Any, Any] = left.astype(np.float64)
        two: np.ndarray[Any, Any] = right.astype(np.float64)
        finite = np.isfinite(one) & np.isfinite(two)
        if not np.array_equal(one[~finite], two[~finite], equal_nan=True):
            return float("inf")
        if not finite.any():
            return 0.0
        one, two = one[finite], two[finite]
        scale = max(float(np.abs(one).max()), float(np.abs(two).max()))
        allowed = (atol + rtol * scale) * (1 + STEPS_WIDEN * steps)
        return float(np.abs(one - two).max() / allowed)


def signature(difference: Difference, program: Program) -> tuple[str, ...]:
    """What makes two differences alike: the operations, the kind, and how either side ended."""

    def outcome(text: str) -> str:
        if difference.kind in ("error", "meaning"):
            return text.split(":")[0] if re.match(r"\w*(Error|Exception|no error)\b", text) or text.startswith((
                "raises", "no error")) else "a value"
        if difference.kind == "dtype":
            return text.split(" ")[0].rstrip("0123456789").removeprefix("u")
        return ("nan " if "nan" in text else "") + ("inf" if "inf" in text else "")

    names = sorted(set(subject(program, difference.step)))
    return ("+".join(names), difference.kind, outcome(difference.first), outcome(difference.second))
