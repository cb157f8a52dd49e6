"""Null engines: engines without content, which must not pass a single MUST rule.

``zeros`` answers every question with zeros, ``echo`` gives back what it was given, ``nothing`` does nothing, and
``raises`` refuses every call with an exception that is of every kind at once. Each can be run like any engine::

    conform run --engine conformance.nulls.zeros

A rule that one of them passes has cases that prove nothing; ``conform mutants`` names it.

Run in the harness's interpreter, but kept to the worker's rules: standard library and numpy only.
"""

NULL_ENGINES = ("zeros", "echo", "nothing", "raises")
