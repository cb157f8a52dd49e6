"""Mutants that do not do what they say."""

import os

from conformance.mutants import mutant


@mutant("MINI-HALF-001")
def half_stays_sound(mx):
    half = mx.half
    mx.half = lambda value: half(value)


@mutant("MINI-HALF-001")
def half_cannot_be_broken(mx):
    mx.no_such_thing.half = None


@mutant("MINI-HALF-001")
def half_dies_at_once(mx):
    os._exit(4)


@mutant("MINI-NORULE-001", "MINI-NOCASE-001")
def breaks_what_is_not_there(mx):
    mx.nothing = None
