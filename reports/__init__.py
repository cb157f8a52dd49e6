"""Result files in, artefacts out: terminal, markdown, HTML, JUnit, CTRF, badge and the comparison of two runs.

Every renderer is a pure function of loaded results: ``render(report) -> str``. Nothing here imports an engine or
another package of the project; result files are all that is shared with the harness.

>>> from reports import load, merge
>>> from reports.testing import sample
>>> report = merge([sample("one"), sample("two")])
>>> [engine.label for engine in report.engines]
['one', 'two']
"""

from __future__ import annotations

from reports.matrix import Cell, Engine, Report, Row, merge
from reports.model import Case, Failure, Result, ResultError, Rule, Surprise, load, parse

__all__ = [
    "Case",
    "Cell",
    "Engine",
    "Failure",
    "Report",
    "Result",
    "ResultError",
    "Row",
    "Rule",
    "Surprise",
    "load",
    "merge",
    "parse",
]
