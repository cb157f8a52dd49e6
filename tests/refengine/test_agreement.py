"""The reference engine answers as MXNet 1.9.1 does, except where ``differences`` says why not."""

from __future__ import annotations

import json
import math
import warnings
from fnmatch import fnmatchcase

import pytest

import refengine as mx
from tests.refengine.expressions import differences, evaluate, record, tables

RELEASE = json.loads(record.ANSWERS.read_text())
TOLERANCE = {'float16': 2e-3, 'float32': 2e-5, 'float64': 2e-6}


@pytest.fixture(scope='module')
def answers():
    """What the reference engine answers."""
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')       # copying an array to itself and the like warn on purpose
        return evaluate.answer(mx, tables.PRELUDE, tables.expressions())


def _close(expected: float, given: float, dtype: str) -> bool:
    if math.isnan(expected) or math.isnan(given):
        return math.isnan(expected) and math.isnan(given)
    if math.isinf(expected) or math.isinf(given):
        return expected == given
    return abs(expected - given) <= TOLERANCE.get(dtype, 0) * (1 + abs(expected))


def agree(expected: list, given: list) -> bool:
    """Whether two answers say the same; an error may be of a class derived from the expected one."""
    if expected[0] != given[0]:
        return False
    if expected[0] == 'array':
        return expected[1:3] == given[1:3] and all(
            _close(e, g, expected[2]) for e, g in zip(expected[3], given[3], strict=True))
    if expected[0] == 'list':
        return len(expected[1]) == len(given[1]) and all(agree(e, g) for e, g in zip(expected[1], given[1]))
    if expected[0] == 'number':
        return expected[1] == given[1] and _close(expected[2], given[2], expected[1])
    if expected[0] == 'error':
        return expected[1][0] in given[1]
    return expected == given


def reason(expression: str) -> str | None:
    """Why the reference engine may answer otherwise."""
    for pattern, why in differences.DIFFERENCES.items():
        if expression == pattern or fnmatchcase(expression, pattern.replace('[', '[[]')):
            return why
    return None


def test_every_expression_was_asked():
    """The file of answers belongs to these expressions."""
    assert sorted(RELEASE) == sorted(tables.expressions())


@pytest.mark.parametrize('expression', tables.expressions())
def test_answer(answers, expression):
    """Same shape, dtype, values, or class of error."""
    expected, given = RELEASE[expression], answers[expression]
    if not agree(expected, given):
        assert reason(expression) is not None, f'{expression}: expected {expected}, got {given}'


def test_every_difference_is_real(answers):
    """A difference that has gone must leave the table."""
    used = {reason(e) for e, expected in RELEASE.items() if not agree(expected, answers[e])}
    idle = [p for p, why in differences.DIFFERENCES.items() if why not in used]
    assert idle == []


def test_disagreement_is_noticed():
    """The comparison itself: values, shapes, types and errors that differ are told apart."""
    one = ['array', [1], 'float32', [1.0]]
    assert agree(one, ['array', [1], 'float32', [1.0]])
    for other in (['array', [1], 'float32', [1.001]], ['array', [1, 1], 'float32', [1.0]],
                  ['array', [1], 'float64', [1.0]], ['error', ['MXNetError']], ['list', [one]]):
        assert not agree(one, other)
    assert agree(['error', ['MXNetError']], ['error', ['ReshapeError', 'MXNetError']])
    assert not agree(['error', ['ValueError']], ['error', ['MXNetError', 'RuntimeError']])
