"""What a benchmark is: a record of what is done, what one call of it amounts to, and how its result is checked.

A record is a function of the engine and a size that returns a :class:`Workload`::

    @record("bandwidth", unit="byte", amount=lambda megabytes: megabytes << 20,
            sizes={"1MB": {"megabytes": 1}, "64MB": {"megabytes": 64}}, quick="1MB")
    def copyto(mx, megabytes): ...

Runs in the engine's interpreter: Python 3.8, standard library and numpy >= 1.17 only.
"""

import importlib
import pkgutil
from typing import Any, Dict

#: Family -> what its numbers say.
FAMILIES = {
    "dispatch": "time of one small operation: what the engine adds to the arithmetic",
    "throughput": "training samples per second over batch sizes",
    "bandwidth": "bytes copied per second; a byte is counted once, though it is read once and written once",
    "compression": "gradient bytes per second through the codec, against the same exchange without it",
}

UNITS = {"call": "calls", "sample": "samples", "byte": "bytes"}


class Workload(object):
    """A benchmark made ready: ``call()`` does the timed work and waits for its result; ``verify()`` raises if the
    result is wrong (it is called before and after the timed loop); ``facts`` are measured properties to report."""

    __slots__ = ("call", "facts", "verify")

    def __init__(self, call, verify, facts=None):
        self.call, self.verify, self.facts = call, verify, dict(facts or {})


class WrongResult(AssertionError):
    """The engine computed something else than the independent numpy code; there is no number for a wrong result."""


class Record(object):
    """One benchmark: ``name``, ``family``, ``unit``, ``amount(**size)`` of units per call, ``sizes`` (label -> keyword
    arguments), the ``quick`` size, and the builders for engines and baselines."""

    def __init__(self, function, family, unit, amount, sizes, quick):
        if family not in FAMILIES or unit not in UNITS or quick not in sizes:
            raise ValueError("record %s: unknown family %r, unit %r or quick size %r" % (
                function.__name__, family, unit, quick))
        self.name, self.family, self.unit = function.__name__, family, unit
        self._amount, self.sizes, self.quick = amount, sizes, quick
        self.doc = (function.__doc__ or "").strip()
        self.builders = {"mx": function}

    def amount(self, size):
        """Units (samples, bytes, calls) that one call works through at the size of this label."""
        return self._amount(**self.sizes[size])

    def build(self, module, size, kind="mx"):
        """Make the workload with a loaded engine module; *kind* is ``mx`` or the name of a baseline."""
        return self.builders[kind](module, **self.sizes[size])


REGISTRY: Dict[str, Any] = {}


def record(family, unit, amount, sizes, quick):
    """Register the decorated function as a benchmark record."""

    def register(function):
        if function.__name__ in REGISTRY:
            raise ValueError("benchmark %s is defined twice" % function.__name__)
        REGISTRY[function.__name__] = Record(function, family, unit, amount, sizes, quick)
        return function

    return register


def baseline(kind, name):
    """Register the decorated function as the builder of record *name* for another kind of library, e.g. ``torch``."""

    def register(function):
        REGISTRY[name].builders[kind] = function
        return function

    return register


def load_records():
    """Import every module of ``perfsuite.records`` and return name -> Record, in order of family and name."""
    package = importlib.import_module("perfsuite.records")
    for info in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        importlib.import_module(info.name)
    order = list(FAMILIES)
    return {r.name: r for r in sorted(REGISTRY.values(), key=lambda r: (order.index(r.family), r.name))}
