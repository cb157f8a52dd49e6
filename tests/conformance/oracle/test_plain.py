"""The independent evaluation: it agrees with the reference engine wherever it has an opinion, and has many."""

from __future__ import annotations

import importlib
from collections import Counter
from typing import Any

import pytest

from conformance.oracle import generate, operators, plain
from conformance.oracle.answers import Answer, compare
from conformance.oracle.engine_side import Interpreter
from conformance.oracle.judge import Judge, _agrees
from conformance.oracle.program import Program, assigned, subject

#: Operators of which numpy has a plain counterpart.
COVERED = ("sign", "round", "cumsum", "sort", "argsort", "norm", "nanprod", "log_softmax", "dot", "batch_dot", "tile",
           "repeat", "reverse", "squeeze", "slice_axis", "elemwise_add", "elemwise_mul", "broadcast_mod",
           "broadcast_logical_xor", "add_n", "abs", "sqrt", "sum", "max", "broadcast_add", "clip", "transpose")


@pytest.fixture(scope="module")
def interpreter() -> Interpreter:
    import refengine

    return Interpreter(refengine)


def described() -> list[operators.Operator]:
    import refengine

    module, _, name = refengine.__conformance__["operators"].partition(":")
    found = getattr(importlib.import_module(module), name)()
    return operators.read(found, set(operators.paths_of(found)), ())


def answer(interpreter: Interpreter, program: Program) -> Answer:
    return Answer.of(interpreter.run(program.message(0)))


def test_it_agrees_with_the_reference_engine(interpreter: Interpreter) -> None:
    """On programs as a session makes them: samples of every operator, and two batches."""
    usable = described()
    programs = [*generate.samples(usable), *generate.batch(usable, 11), *generate.batch([], 12)]
    opinions: Counter[str] = Counter()
    wrong = []
    for program in programs:
        index = next((i for i in reversed(range(len(program.lines))) if assigned(program.lines[i]) == "y"), None)
        if index is None or program.random:
            continue
        told = answer(interpreter, program).steps[index]
        try:
            value = plain.scope_at(program, index).get("y")
        except plain.NoOpinion:
            continue
        except plain.Refused:
            if "e" not in told:
                wrong.append(f"expected an error: {program.text}")
            continue
        if not isinstance(value, plain.Plain) or (program.np_shape and value.shape == (1,)):
            continue
        opinions[subject(program, index)[0]] += 1
        if "e" in told:
            wrong.append(f"expected {value.data}: {program.text}\n{told['e'][0]}: {told.get('m')}")
        elif not _agrees(told["v"].get("y"), value):
            wrong.append(f"expected {value.dtype} {value.data}: {program.text}")
    assert not wrong, f"{len(wrong)} of {sum(opinions.values())}\n" + "\n\n".join(wrong)
    silent = [name for name in COVERED if not opinions[f"nd.{name}"] + opinions[f"NDArray.{name}"]]
    assert not silent, f"no opinion about {silent}"


@pytest.mark.parametrize(("lines", "first", "second", "wrong"), [
    (("a = mx.nd.array([0.0], dtype='float32')", "y = mx.nd.sign(a)"), "mx.nd.zeros((1,))", "mx.nd.ones((1,))", "two"),
    (("a = mx.nd.array([[1.0]], dtype='float32')", "y = mx.nd.cumsum(a, axis=1)"),
     "mx.nd.ones((1, 1), dtype='float64')", "mx.nd.ones((1, 1))", "one"),
    (("a = mx.nd.array([2, 1], dtype='int32')", "y = mx.nd.sort(a)"), "mx.nd.array([2, 1], dtype='int32')",
     "mx.nd.array([1, 2], dtype='int32')", "one"),
])
def test_a_difference_is_judged(
    interpreter: Interpreter, lines: tuple[str, ...], first: str, second: str, wrong: str
) -> None:
    """Two engines that gave these; a value and an element type are told apart."""
    program = Program(lines)
    given = [answer(interpreter, program.with_lines((lines[0], f"y = {text}"))) for text in (first, second)]
    difference = compare(*given, program)
    assert difference is not None
    verdict = Judge(("one", "two")).verdict(program, difference, (given[0], given[1]))
    assert (verdict.wrong, "numpy gives" in verdict.why) == (wrong, True)


@pytest.mark.parametrize("line", [
    "mx.nd.argsort(mx.nd.array([1.0, 1.0], dtype='float32'))", "mx.nd.sign(mx.nd.array([nan], dtype='float32'))",
    "mx.nd.square(mx.nd.array([100], dtype='int8'))", "mx.nd.array([1.0], dtype='float32') % 0",
    "mx.nd.cumsum(mx.nd.array([1.5], dtype='float32'), dtype='int32')",
    "mx.nd.sort(mx.nd.array([1.0], dtype='float32'), is_ascend='False')",
    "mx.nd.erfinv(mx.nd.array([0.5], dtype='float32'))", "mx.nd.clip(mx.nd.array([3], dtype='int32'), 0.5, 1.5)",
])
def test_what_the_rules_decide_otherwise_is_left_open(line: str) -> None:
    with pytest.raises(plain.NoOpinion):
        plain.scope_at(Program((f"y = {line}",)), 0)


def scope(text: str) -> Any:
    return plain.scope_at(Program((f"y = {text}",)), 0)["y"].data.tolist()


def test_a_few_by_hand() -> None:
    assert scope("mx.nd.round(mx.nd.array([-0.5, 0.5, 2.5], dtype='float32'))") == [-1, 1, 3]
    assert scope("mx.nd.cumsum(mx.nd.array([[1, 2], [3, 4]], dtype='int32'))") == [1, 3, 6, 10]
    assert scope("mx.nd.sort(mx.nd.array([1.0, 3.0, 2.0], dtype='float32'), is_ascend=False)") == [3, 2, 1]
    assert scope("mx.nd.array([-3.0], dtype='float32') % 2") == [1]
