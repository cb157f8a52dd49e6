"""Batches of programs: the samples of operators first, then what hypothesis chooses, the same for the same seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st

from conformance.oracle import calls
from conformance.oracle.families import FAMILIES
from conformance.oracle.maker import Maker
from conformance.oracle.methods import method
from conformance.oracle.operators import Operator
from conformance.oracle.program import Program, matches, operations

#: Programs of one batch that hypothesis makes.
BATCH = 300

_QUIET = settings(
    max_examples=BATCH, deadline=None, database=None, phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck), print_blob=False,
)


def samples(operators: Sequence[Operator]) -> Iterator[Program]:
    """Every sample of every operator, in every dtype."""
    for operator in operators:
        yield from calls.of_samples(operator)


def touches(program: Program, globs: Sequence[str]) -> bool:
    """True if the program is about an operation that one of the globs matches; all are where there is no glob."""
    return not globs or any(matches(operations(line), globs) for line in program.lines)


def batch(operators: Sequence[Operator], seed: int, globs: Sequence[str] = (), count: int = BATCH) -> list[Program]:
    """At most *count* programs of one batch, each once."""
    made: dict[tuple[tuple[str, ...], bool], Program] = {}
    families = [family for family, weight in (*FAMILIES, (method, 6)) for _ in range(weight)]
    # Families are about any operation: where only some are asked for, most programs come from their records.
    share = len(families) * (9 if globs else 1) if operators else 0

    @seeded(seed)
    @settings(_QUIET, max_examples=count)
    @given(st.data())
    def make(data: st.DataObject) -> None:
        maker = Maker(data.draw)
        number = maker.integer(0, len(families) + share - 1)
        if number < len(families):
            program = families[number](maker)
        else:
            program = calls.changed(maker, maker.choice(operators))
        if touches(program, globs):
            made[program.lines, program.np_shape] = program

    make()
    return list(made.values())
