"""Mutants that break what they say."""

import os
import time

from conformance.mutants import mutant, wrap


@mutant("MINI-ADD-001", "MINI-ADD-002")
def total_forgets_the_first(mx):
    """The first item is left out of the total."""
    wrap(mx, "total", lambda total: lambda values: total(values[1:]))


@mutant("MINI-DOUBLE-001")
def double_dies(mx):
    mx.double = lambda value: os._exit(3)


@mutant("MINI-WAIT-001")
def wait_never_ends(mx):
    mx.wait = lambda seconds: time.sleep(1000)


@mutant("MINI-SPECIAL-001")
def special_is_broken(mx):
    mx.special = None
