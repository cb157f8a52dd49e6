"""The numbers that options take: no command understands one that is not finite, or has no meaning there."""

from __future__ import annotations

import math

import click

from conformance.engine import MOST_SECONDS


class Seconds(click.ParamType[float]):
    """A length of time above 0."""

    name = "seconds"

    def convert(self, value: str | float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            found = float(value)
        except ValueError:
            found = math.nan
        if not 0 < found <= MOST_SECONDS:
            self.fail(f"expected a number of seconds above 0 and at most {MOST_SECONDS:.0f}, got {value!r}", param, ctx)
        return found


SECONDS = Seconds()

#: How many of something that there has to be one of at least; more than this is a slip of the finger.
COUNT = click.IntRange(1, 10**9)

#: Of what is started or held at once.
FEW = click.IntRange(1, 1024)
