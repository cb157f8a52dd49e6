"""Cases that sort before, at and after the one that the broken engines misbehave in."""

import numpy as np

from conformance.case import case

SHARED = np.array([1.0, 2.0, 3.0])


@case("MINI-ADD-001", samples={"small": {"values": [1, 2]}, "large": {"values": [3, 4, 5]}})
def adds_up(mx, check, values):
    check.equal(mx.total(values), sum(values), "total")
    check.equal(values, sorted(values), "the list that was given")


@case("MINI-ADD-002")
def adds_up_an_array(mx, check):
    check.equal(mx.total(SHARED), 6.0, "total")


@case("MINI-DOUBLE-001")
def doubles(mx, check):
    check.equal(mx.double(4), 8, "double")


@case("MINI-ERROR-001")
def refuses_text(mx, check):
    check.raises(ValueError, "expected a number", lambda: mx.double("four"))


@case("MINI-HALF-001", after=("MINI-DOUBLE-001",))
def halves_what_was_doubled(mx, check):
    check.equal(mx.half(mx.double(3)), 3, "half of the double")


@case("MINI-QUARTER-001", after=("MINI-HALF-001",))
def quarters(mx, check):
    check.equal(mx.half(mx.half(8)), 2, "half of the half")


@case("MINI-SPECIAL-001", needs=("gpu",))
def needs_what_few_have(mx, check):
    check.equal(mx.double(1), 2, "double")


@case("MINI-WAIT-001")
def waits(mx, check):
    check.equal(mx.wait(0.3), None, "value returned by wait")


@case("MINI-ZERO-001")
def is_zero(mx, check):
    check.equal(mx.double(0), 0, "double of nothing")
