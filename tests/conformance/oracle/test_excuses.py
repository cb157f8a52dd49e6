"""Differences that no engine is to blame for, and those that only look like them."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from conformance.oracle import excuses
from conformance.oracle.answers import Answer, Difference, compare
from conformance.oracle.excuses import Both
from conformance.oracle.program import Program

Engine = Callable[[Program], Any]


def both(first: Engine, second: Engine) -> Both:
    """Two engines, each a function from a program to a number for its last statement, or an error."""

    def answer(engine: Engine, program: Program) -> Answer:
        steps: list[dict[str, Any]] = [{} for _ in program.lines]
        try:
            value = np.asarray(engine(program))
            steps[-1] = {"v": {"y": ["a", value.dtype.name, list(value.shape),
                                     base64.b64encode(value.tobytes()).decode()]}}
        except (TypeError, ValueError) as error:
            steps[-1] = {"e": ["MXNetError", "RuntimeError"], "m": str(error)}
        return Answer(tuple(steps))

    def run(programs: Sequence[Program]) -> list[tuple[Answer, Answer]]:
        return [(answer(first, program), answer(second, program)) for program in programs]

    return run


def differ(program: Program, run: Both) -> Difference:
    ((first, second),) = run([program])
    found = compare(first, second, program)
    assert found is not None
    return found


HALF = Program(("a = mx.nd.array([1.0], dtype='float16')", "y = mx.nd.rsqrt(a)"))


def rounded(error: float, wide_error: float = 0.0) -> Engine:
    """An engine that is off by so much in float16, and by so much in float32."""
    def run(program: Program) -> Any:
        half = "float16" in program.text
        return np.array(1 + (error if half else wide_error), np.float16 if half else np.float32)
    return run


@pytest.mark.parametrize(("second", "excused"), [
    (rounded(0.02), True),              # the same in float32
    (rounded(0.02, 0.02), False),       # another function
    (rounded(0.2), False),              # no rounding is so large
    (rounded(float("nan")), False),
])
def test_float16_is_rounding_where_float32_agrees(second: Engine, excused: bool) -> None:
    run = both(rounded(0.0), second)
    assert excuses.rounding(HALF, differ(HALF, run), run) is excused


def test_other_types_are_not_widened() -> None:
    program = Program((HALF.lines[0].replace("float16", "float32"), HALF.lines[1]))
    run = both(rounded(0.0), rounded(0.0, 0.0005))
    assert not excuses.rounding(program, differ(program, run), run)


TWICE = Program(("a = mx.nd.array([1.0], dtype='int32')", "y = mx.nd.pick(a, axis=7, mode='x')"))


def checks(*order: str, silent: Sequence[str] = ()) -> Engine:
    """An engine that looks at these parts of a call in this order, and lets some faults through."""
    words = {"axis": "axis 7 is out of range of the shape", "mode": "unknown argument value of mode",
             "dtype": "the type int32 is not supported"}

    def run(program: Program) -> Any:
        wrong = {"axis": "axis=7" in program.text, "mode": "mode=" in program.text, "dtype": "int32" in program.text}
        for part in order:
            if wrong[part] and part not in silent:
                raise ValueError(words[part])
        return np.float32(1)
    return run


def nothing_known(difference: Difference, program: Program) -> bool:
    return False


def test_two_faults_of_which_each_engine_names_another() -> None:
    for order in (("axis", "mode"), ("mode", "axis")):
        run = both(checks(*order), checks(*order[::-1]))
        found = differ(TWICE, run)
        assert found.kind == "meaning"
        assert excuses.faults(TWICE, found, run, nothing_known)


def test_a_third_fault_that_hides_the_second() -> None:
    """Without the axis, which only one engine minds, both look at the mode before the type: that has to go as well."""
    def first(program: Program) -> Any:
        return (checks("dtype") if "axis=7" in program.text else checks("mode", "dtype"))(program)

    def any_axis_goes(difference: Difference, program: Program) -> bool:
        return difference.kind == "error" and "axis 7" in difference.second

    run = both(first, checks("axis", "mode", "dtype"))
    found = differ(TWICE, run)
    assert found.kind == "meaning"
    assert excuses.faults(TWICE, found, run, any_axis_goes)
    assert not excuses.faults(TWICE, found, run, nothing_known)


def test_a_fault_of_another_operation_is_no_excuse() -> None:
    """What is left of a call without the call may be refused as well, for something else."""
    def first(program: Program) -> Any:
        return checks("axis")(program) if "pick" in program.text else checks("mode")(TWICE)

    run = both(first, lambda program: checks("mode")(TWICE))
    program = TWICE.with_lines((TWICE.lines[0], "y = mx.nd.pick(a, axis=7)"))
    assert not excuses.faults(program, differ(program, run), run, nothing_known)


def test_a_fault_that_one_engine_does_not_see_is_no_excuse() -> None:
    run = both(checks("axis", "mode"), checks("mode", "axis", silent=("axis",)))
    found = differ(TWICE, run)
    assert found.kind == "meaning"
    assert not excuses.faults(TWICE, found, run, nothing_known)
    assert excuses.faults(TWICE, found, run, lambda difference, program: True)  # unless that is known


def test_one_fault_named_in_two_ways_is_no_excuse() -> None:
    program = TWICE.with_lines((TWICE.lines[0].replace("int32", "float32"), "y = mx.nd.pick(a, axis=7)"))
    run = both(checks("axis"), lambda program: checks("mode")(TWICE) if "axis=7" in program.text else np.float32(1))
    found = differ(program, run)
    assert found.kind == "meaning"
    assert not excuses.faults(program, found, run, nothing_known)


def test_only_errors_have_faults() -> None:
    run = both(rounded(0.0), rounded(0.2))
    assert not excuses.faults(HALF, differ(HALF, run), run, nothing_known)
