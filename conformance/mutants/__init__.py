"""Mutants: engines broken on purpose in one way, each naming the rules that it breaks.

A mutant is a function that receives the loaded engine module and breaks one thing in it::

    @mutant("TRAINER-STEP-002")
    def step_forgets_the_batch_size(mx):
        wrap(mx.gluon.Trainer, "step", lambda step: lambda self, batch_size, *a, **k: step(self, 1, *a, **k))

Its id is ``module.function``, e.g. ``trainer_step.step_forgets_the_batch_size``. It lives in the worker's process
only. It should break what its rules say and as little else as possible, through public names where there are any,
so that it works on every engine.

Runs in the engine's interpreter: Python 3.8, standard library and numpy >= 1.17 only.
"""

import functools
import importlib
import pkgutil
from typing import Any, Dict

from conformance.case import RULE_ID


class Mutant(object):
    """One registered mutant: ``id``, the ``rules`` it breaks, the ``function`` that breaks the engine, its ``doc``."""

    __slots__ = ("doc", "function", "id", "module", "rules")

    def __init__(self, function, rules):
        self.function, self.rules = function, tuple(rules)
        self.module = function.__module__
        self.id = "%s.%s" % (function.__module__.rsplit(".", 1)[-1], function.__name__)
        self.doc = (function.__doc__ or function.__name__.replace("_", " ")).strip()

    def __repr__(self):
        return "<Mutant %s>" % self.id


REGISTRY: Dict[str, Any] = {}


def mutant(*rules):
    """Register the decorated function as a mutant that breaks *rules*."""
    for identifier in rules:
        if not RULE_ID.match(identifier):
            raise ValueError("not a rule id: %r (expected AREA-TOPIC-NNN)" % (identifier,))
    if not rules:
        raise ValueError("a mutant names at least one rule that it breaks")

    def register(function):
        made = Mutant(function, rules)
        if made.id in REGISTRY:
            raise ValueError("mutant %s is defined twice" % made.id)
        REGISTRY[made.id] = made
        return function

    return register


def wrap(owner, name, make):
    """Replace ``owner.name`` by ``make(original)``, keeping its signature; properties and class methods included.

    For a property, *make* receives the getter and returns a new one.
    """
    changed: Any
    original = owner.__dict__.get(name) if isinstance(owner, type) else None
    if original is None:
        original = getattr(owner, name)
    if isinstance(original, property):
        changed = property(make(original.fget), original.fset, original.fdel, original.__doc__)
    elif isinstance(original, staticmethod):
        changed = staticmethod(functools.wraps(original.__func__)(make(original.__func__)))
    elif isinstance(original, classmethod):
        changed = classmethod(functools.wraps(original.__func__)(make(original.__func__)))
    else:
        changed = make(original)
        if not isinstance(changed, type):
            changed = functools.wraps(original)(changed)
    setattr(owner, name, changed)
    return changed


def load_mutants(package="conformance.mutants"):
    """Import every module below *package* and return the registry, mutant id -> Mutant, in order of the ids."""
    root = importlib.import_module(package)
    for info in pkgutil.walk_packages(root.__path__, package + "."):
        if not info.name.rsplit(".", 1)[-1].startswith("_"):
            importlib.import_module(info.name)
    return {identifier: REGISTRY[identifier] for identifier in sorted(REGISTRY)}
