"""What a case is: a plain function ``(mx, check)`` that observes one rule, and its registration.

A module of the suite registers its cases by decorating them::

    @case("TRAINER-CORE-001")
    def one_iteration(mx, check): ...

    @case("OPT-SGD-001", samples={"plain": {"options": {}}, "decay": {"options": {"wd": 0.01}}})
    def two_updates(mx, check, options): ...

The id of a case is ``RULE/function`` or ``RULE/function[sample]``. One sample is one case.

Runs in the engine's interpreter: Python 3.8, standard library and numpy >= 1.17 only.
"""

import importlib
import pkgutil
import re
from typing import Any, Dict

RULE_ID = re.compile(r"^[A-Z][A-Z0-9]*(-[A-Z0-9]+)+-[0-9]{3}$")


class Case(object):
    """One registered case.

    rule, name, sample: parts of its id;  needs: capabilities beside those of its rule;
    after: ids of the rules it stands on (when one of those failed, this case is "blocked");
    timeout: seconds, if the suite's default is too short;  module, line: where it stands.
    """

    __slots__ = ("after", "function", "id", "line", "module", "name", "needs", "rule", "sample", "timeout", "values")

    def __init__(self, rule, function, sample, values, needs, after, timeout):
        self.rule = rule
        self.function = function
        self.name = function.__name__
        self.sample = sample
        self.values = values
        self.needs = tuple(needs)
        self.after = tuple(after)
        self.timeout = timeout
        self.module = function.__module__
        self.line = function.__code__.co_firstlineno
        self.id = "%s/%s" % (rule, self.name) + ("[%s]" % sample if sample is not None else "")

    def __repr__(self):
        return "<Case %s>" % self.id

    def run(self, mx, check):
        """Call the function with the engine module and a checker."""
        return self.function(mx, check, **self.values)

    def describe(self):
        """What the harness needs to know, as plain JSON values."""
        return {
            "id": self.id,
            "rule": self.rule,
            "needs": list(self.needs),
            "after": list(self.after),
            "timeout": self.timeout,
            "module": self.module,
            "line": self.line,
            "doc": (self.function.__doc__ or "").strip(),
        }


REGISTRY: Dict[str, Any] = {}


def case(rule, *more_rules, samples=None, needs=(), after=(), timeout=None):
    """Register the decorated function as a case of *rule*.

    more_rules: further rules that the very same observation settles; each gets a case of its own.
    samples: name -> keyword arguments; one case per sample.
    """

    def register(function):
        for identifier in (rule,) + more_rules:
            if not RULE_ID.match(identifier):
                raise ValueError("not a rule id: %r (expected AREA-TOPIC-NNN)" % (identifier,))
            for sample, values in samples.items() if samples else [(None, {})]:
                made = Case(identifier, function, sample, values, needs, after, timeout)
                if made.id in REGISTRY:
                    other = REGISTRY[made.id]
                    raise ValueError("case %s is defined twice: %s:%d and %s:%d" % (
                        made.id, other.module, other.line, made.module, made.line))
                REGISTRY[made.id] = made
        return function

    return register


def load_suite(package="conformance.suite"):
    """Import every module below *package* and return its cases, case id -> Case, in order of the ids."""
    root = importlib.import_module(package)
    for info in pkgutil.walk_packages(root.__path__, package + "."):
        if not info.name.rsplit(".", 1)[-1].startswith("_"):
            importlib.import_module(info.name)
    own = {name: made for name, made in REGISTRY.items() if (made.module + ".").startswith(package + ".")}
    return {identifier: own[identifier] for identifier in sorted(own)}
