"""What makes two answers differ although neither engine is wrong: rounding, and calls with more than one fault."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from conformance.oracle.answers import Answer, Difference, compare, error_text
from conformance.oracle.program import Literal, Program, literal, subject
from conformance.oracle.shrink import size, smaller

#: Runs programs on both engines.
Both = Callable[[Sequence[Program]], list[tuple[Answer, Answer]]]

#: Numbers that are farther apart than this, in units of the tolerance, are never put down to rounding.
ROUNDING = 1e5

#: The same for results in float16 of which only the agreement in float32 is known: about 5 parts in 100.
HALF = 25.0

#: Simplifications of a call that are tried to take its other faults away: how many one after another, how many programs
#: are made still simpler, and how many are tried at a time.
DEPTH, BREADTH, TRIES = 2, 4, 400


def rounding(program: Program, difference: Difference, both: Both) -> bool:
    """True if rounding explains how far apart two results are.

    Either a tiny change of the arrays moves the result of one engine as much as the two are apart, or the results are
    close, something is float16, and the same program in float32 gives the same on both: then the engines compute one
    thing and round at different steps of it.
    """
    if difference.close is None or difference.close > ROUNDING or difference.kind not in ("value", "gradient"):
        return False
    moved = [jittered(program, seed) for seed in (1, 2, 3)]
    if moved[0].lines != program.lines:
        base, *others = both([program, *moved])
        for which in (0, 1):
            for other in others:
                found = compare(base[which], other[which], program)
                if found is not None and found.close is not None and found.step <= difference.step \
                        and found.close * 4 >= difference.close:
                    return True
    wide = widened(program)
    if difference.close > HALF or wide.lines == program.lines:
        return False
    ((first, second),) = both([wide])
    found = compare(first, second, wide)
    return not (first.end or second.end) and (found is None or found.step > difference.step)


def faults(
    program: Program, difference: Difference, both: Both, excused: Callable[[Difference, Program], bool]
) -> bool:
    """True if the program has two faults, of which each engine names one.

    There are simpler programs then: in one, both refuse what the first engine complains of here, in the other, both
    refuse what the second one does, or that it alone does so is known.  excused: whether a difference is a known one.
    """
    if difference.kind not in ("error", "meaning"):
        return False
    wanted = [_complaint(difference.first), _complaint(difference.second)]
    if None in wanted:
        return False
    missing = {0, 1}
    level = [program.with_lines(program.lines[:difference.step + 1])]
    for _ in range(DEPTH):
        simpler = _simpler(level, difference.step)
        level = []
        for some, answers in zip(simpler, both(simpler)):
            if any(answer.end for answer in answers):
                continue
            found = compare(*answers, some)
            named = {which for which in missing if "e" in (last := answers[which].steps[-1])
                     and _complaint(error_text(last)) == wanted[which]}
            if found is None or excused(found, some):
                missing -= named
            elif named:    # a third fault hides that the other engine refuses this as well
                level.append(some)
        if not missing:
            return True
    return False


def _simpler(programs: Sequence[Program], step: int) -> list[Program]:
    """The same call with one thing less, for the smallest of these programs."""
    found = {some: None for program in sorted(programs, key=size)[:BREADTH] for some in smaller(program)
             if len(some.lines) == len(program.lines) and subject(some, step) == subject(program, step)}
    return list(found)[:TRIES]


def _complaint(shown: str) -> str | None:
    """An error without what changes from array to array; None for what is no error.

    >>> _complaint("MXNetError: axis 5 of 2"), _complaint("no error: y = 2")
    ('MXNetError: axis 0 of 0', None)
    """
    if not re.match(r"\w*(Error|Exception): ", shown):
        return None
    shown = shown.partition(", in operator ")[0]    # what follows repeats every parameter
    words = re.sub(r'Traceback \(most recent call last\): File "[^"]*", line \d+ ', "", shown)
    return re.sub(r"[\[(]?(-?\d(?:[\d., -]*\d)?|unknown)[\])]?", "0", words)[:120].rstrip()


def widened(program: Program) -> Program:
    """The same program with float32 in place of float16.

    >>> widened(Program(("a = mx.nd.array([1.5], dtype='float16')", "y = a.astype('float16')"))).lines[1]
    "y = a.astype('float32')"
    """
    return replace(program, lines=tuple(line.replace("'float16'", "'float32'") for line in program.lines))


def jittered(program: Program, seed: int) -> Program:
    """The same program with every fractional element moved by a few units in its last place.

    Whole numbers stay: they may be positions, and an engine may be wrong at them alone, which is no rounding. In a
    chain they are moved as well: its functions are smooth, and what they make of a whole number is no longer one.

    >>> p = Program(("a = mx.nd.array([1.5, 2.0], dtype='float32')",))
    >>> jittered(p, 1).lines == p.lines, "2.0]" in jittered(p, 1).text
    (False, True)
    >>> "2.0]" in jittered(replace(p, origin="chain"), 1).text
    False
    """
    step = {"float16": 1e-3, "float32": 2e-7, "float64": 4e-16}
    whole = program.origin == "chain"
    lines = []
    for line in program.lines:
        found = literal(line)
        if found is not None and found[1].dtype in step:
            name, array = found
            factors = (1 + step[array.dtype], 1 - step[array.dtype])
            values = tuple(value * factors[(index * seed + seed) % 2] if value == value and abs(value) < 1e300
                           and (whole or value != int(value)) else value for index, value in enumerate(array.values))
            line = f"{name} = {Literal(array.shape, array.dtype, values).text}"
        lines.append(line)
    return replace(program, lines=tuple(lines))
