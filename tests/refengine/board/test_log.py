"""Scalar logs as programs write them."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refengine as mx
from refengine.board import ScalarLog
from refengine.board.runs import Board

from .conftest import environment


def lines(path: str) -> list[Any]:
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def test_a_line_is_there_as_soon_as_it_was_added(tmp_path: Path) -> None:
    log = ScalarLog(tmp_path / 'deep' / 'run')
    log.add('loss', 0.5, 3, wall_time=12.5)
    assert lines(log.path) == [{'tag': 'loss', 'step': 3, 'value': 0.5, 'wall_time': 12.5}]
    log.close()
    log.close()
    with pytest.raises(ValueError, match='this log is closed'):
        log.add('loss', 0.5, 4)


@pytest.mark.parametrize('value', [
    2, np.float32(2), np.array([2.0]), np.int64(2), mx.nd.array([2]), mx.nd.ones((1, 1)) * 2,
])
def test_values_are_numbers_or_arrays_of_one_element(tmp_path: Path, value: Any) -> None:
    with ScalarLog(tmp_path) as log:
        log.add('x', value, np.int32(1))
    assert [(line['step'], line['value']) for line in lines(log.path)] == [(1, 2.0)]


def test_what_is_not_finite_is_strict_json_and_comes_back(tmp_path: Path) -> None:
    with ScalarLog(tmp_path / 'run') as log:
        for step, value in enumerate([math.nan, math.inf, -math.inf]):
            log.add('x', value, step)
    assert [line['value'] for line in lines(log.path)] == ['NaN', 'Infinity', '-Infinity']
    found = Board(tmp_path).scalars('run', 'x')
    assert [value for _, _, value in found] == ['NaN', 'Infinity', '-Infinity']


@pytest.mark.parametrize(('arguments', 'kind', 'message'), [
    (('', 1, 0), ValueError, "tag: expected a text of 1 to 500 characters, got ''"),
    ((7, 1, 0), TypeError, 'tag: expected a text of 1 to 500 characters, got 7'),
    (('x' * 501, 1, 0), ValueError, 'tag: expected a text of 1 to 500 characters'),
    (('x', 'much', 0), TypeError, "value: expected a number, got 'much'"),
    (('x', None, 0), TypeError, 'value: expected a number, got None'),
    (('x', np.ones(2), 0), ValueError, 'value: expected a number or an array of one element, got the shape (2,)'),
    (('x', 1, 1.5), TypeError, 'step: expected an integer, got 1.5'),
    (('x', 1, 2**63), ValueError, 'step: expected an integer of 64 bits, got 9223372036854775808'),
    (('x', 1, 0, math.nan), ValueError, 'wall_time: expected seconds since 1970, got nan'),
    (('x', 1, 0, '12:00'), TypeError, "wall_time: expected seconds since 1970, got '12:00'"),
])
def test_what_is_wrong_is_named_and_nothing_is_written(tmp_path: Path, arguments: Any, kind: type[Exception],
                                                       message: str) -> None:
    with ScalarLog(tmp_path) as log:
        with pytest.raises(kind) as caught:
            log.add(*arguments)
        assert str(caught.value).startswith(message)
        assert lines(log.path) == []


def test_a_second_log_goes_on_after_a_line_that_was_cut_off(tmp_path: Path) -> None:
    path = tmp_path / 'run' / 'scalars.jsonl'
    path.parent.mkdir()
    path.write_text('{"tag": "x", "step": 1, "value": 1, "wall_time": 1}\n{"tag": "x", "st')
    with ScalarLog(tmp_path / 'run') as log:
        log.add('x', 2, 2)
    board = Board(tmp_path)
    assert [step for _, step, _ in board.scalars('run', 'x')] == [1, 2]
    assert board.overview()['problems'] == [
        {'file': 'run/scalars.jsonl', 'message': '1 line skipped; line 2: it is not JSON'}]


def test_several_processes_write_whole_lines_into_one_run(tmp_path: Path) -> None:
    code = ('import sys; from refengine.board import ScalarLog\n'
            'log = ScalarLog(sys.argv[1])\n'
            'for step in range(300): log.add(sys.argv[2] * 100, step, step)')
    writers = [subprocess.Popen([sys.executable, '-c', code, str(tmp_path), name], env=environment()) for name in 'abc']
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    found = lines(os.path.join(tmp_path, 'scalars.jsonl'))
    assert sorted((line['tag'][0], line['step']) for line in found) == [(n, s) for n in 'abc' for s in range(300)]
