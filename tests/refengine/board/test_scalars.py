"""Scalar logs as they are read: while they grow, when they are wrong, and when they are very long."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from refengine.board.runs import Board, Unknown, thinned
from refengine.board.scalars import ScalarFile

from .conftest import put, scalar


def read(path: Path, file: ScalarFile | None = None) -> ScalarFile:
    file = file or ScalarFile(path, path.name)
    file.refresh(time.monotonic() + 20)
    return file


def steps(file: ScalarFile, tag: str = 'x') -> list[int]:
    return [step for _, step, _ in file.series[tag].points()]


def test_only_what_was_added_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, 'a.jsonl', scalar('x', 1, 1))
    file = read(path)
    fed: list[int] = []
    original = file.feed
    monkeypatch.setattr(file, 'feed', lambda piece: fed.append(len(piece)) or original(piece))
    read(path, file)
    assert fed == []
    with path.open('a') as stream:
        stream.write(scalar('x', 2, 2))
    read(path, file)
    assert fed == [len(scalar('x', 2, 2))]
    assert steps(file) == [1, 2]


def test_a_line_that_is_still_being_written_waits_for_its_end(tmp_path: Path) -> None:
    line = scalar('x', 2, 2)
    path = put(tmp_path, 'a.jsonl', scalar('x', 1, 1) + line[:20])
    file = read(path)
    assert (steps(file), file.problems) == ([1], [])
    with path.open('a') as stream:
        stream.write(line[20:-1])       # whole, but without its end of line
    assert steps(read(path, file)) == [1, 2]
    with path.open('a') as stream:
        stream.write('\n' + scalar('x', 3, 3) + 'nothing\n')
    assert steps(read(path, file)) == [1, 2, 3]
    assert file.problems == ['1 line skipped; line 4: it is not JSON']


@pytest.mark.parametrize('again', [
    scalar('x', 7, 7),                                          # shorter
    scalar('x', 7, 7) + scalar('x', 8, 8) + scalar('x', 9, 9),  # longer, with another beginning
])
def test_a_file_that_is_written_anew_is_read_anew(tmp_path: Path, again: str) -> None:
    path = put(tmp_path, 'a.jsonl', scalar('x', 1, 1) + scalar('x', 2, 2))
    file = read(path)
    path.write_text(again)
    assert steps(read(path, file))[0] == 7
    assert len(steps(file)) == again.count('\n')
    other = put(tmp_path, 'other', scalar('x', 5, 5))
    os.replace(other, path)
    assert steps(read(path, file)) == [5]


@pytest.mark.parametrize(('line', 'why'), [
    ('{', 'it is not JSON'),
    ('[1]', 'expected an object with tag, step, value and wall_time'),
    ('{"tag": "x", "value": 1}', 'it has no step and no wall_time'),
    ('{"tag": "x", "step": true, "value": 1, "wall_time": 1}', 'expected a text as tag'),
    ('{"tag": "x", "step": 1.5, "value": 1, "wall_time": 1}', 'expected a text as tag'),
    ('{"tag": "x", "step": 99999999999999999999, "value": 1, "wall_time": 1}', 'expected a text as tag'),
    ('{"tag": "x", "step": 1, "value": "much", "wall_time": 1}', 'expected a text as tag'),
    ('{"tag": "x", "step": 1, "value": 1' + '0' * 400 + ', "wall_time": 1}', 'expected a text as tag'),
    ('{"tag": "x", "step": 1, "value": 1, "wall_time": NaN}', 'expected a text as tag'),
    ('{"tag": "' + 'x' * 501 + '", "step": 1, "value": 1, "wall_time": 1}', 'expected a text as tag'),
    ('[' * 60_000, 'it is not JSON'),
    ('1' * 70_000, 'it is longer than 64 KiB'),
    ('1' * 700_000, 'it is longer than 64 KiB'),
])
def test_a_line_of_another_form_is_skipped_and_told(tmp_path: Path, line: str, why: str) -> None:
    path = put(tmp_path, 'a.jsonl', scalar('x', 1, 1) + line + '\n' + scalar('x', 2, 2))
    file = read(path)
    assert steps(file) == [1, 2]
    assert len(file.problems) == 1
    assert file.problems[0].startswith(f'1 line skipped; line 2: {why}')


def test_bytes_that_are_no_text_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / 'a.jsonl'
    path.write_bytes(b'\xff\xfe\x00\n' + scalar('x', 1, 1).encode() +
                     b'{"tag": "\xe9", "step": 1, "value": 1, "wall_time": 1}\n'
                     b'{"tag": "\\ud800", "step": 1, "value": 1, "wall_time": 1}\n')
    file = read(path)
    assert sorted(file.series) == ['\\ud800', 'x', '\ufffd']


def test_a_file_of_something_else_is_left_alone_soon(tmp_path: Path) -> None:
    path = put(tmp_path, 'a.jsonl', 'no scalar\n' * 100_000)
    file = read(path)
    assert file.problems == ['skipped, no line of it is a scalar; line 1: it is not JSON']
    assert file.given_up
    assert file.offset < path.stat().st_size / 2
    assert file.unread == 0


def test_memory_is_bounded_by_thinning(tmp_path: Path) -> None:
    text = ''.join(scalar('x', step, step) for step in range(10_000)) + scalar('y', 1, 1)
    file = ScalarFile(put(tmp_path, 'a.jsonl', text), 'a.jsonl')
    file.most_points = 1000
    read(file.path, file)
    found = steps(file)
    assert sum(len(series.steps) for series in file.series.values()) <= 1000
    assert len(found) >= 400
    assert (found[0], found[-1], file.series['x'].count) == (0, 9999, 10_000)
    assert found == sorted(set(found))
    assert steps(file, 'y') == [1]
    assert 'of the longest series every 16th point is kept' in file.problems[0]


def test_tags_are_bounded(tmp_path: Path) -> None:
    file = ScalarFile(put(tmp_path, 'a.jsonl', ''.join(scalar(f't{n}', 1, 1) for n in range(50))), 'a.jsonl')
    file.most_tags = 20
    read(file.path, file)
    assert len(file.series) == 20
    assert file.problems == ['only the first 20 tags are shown']


def test_several_files_of_a_run_are_one_series(tmp_path: Path) -> None:
    put(tmp_path, 'run/b.jsonl', scalar('x', 1, 1) + scalar('x', 4, 4))
    put(tmp_path, 'run/a.jsonl', scalar('x', 3, 3) + scalar('z', 0, 0))
    board = Board(tmp_path)
    assert [step for _, step, _ in board.scalars('run', 'x')] == [1, 3, 4]
    assert board.tags('run') == ['x', 'z']
    with pytest.raises(Unknown, match="no tag 'w' in the run 'run'"):
        board.scalars('run', 'w')


def test_thinned_keeps_ends_extremes_and_what_is_not_finite() -> None:
    points = [(0.0, step, 0.5) for step in range(5000)]
    points[1234] = (0.0, 1234, 9.0)
    points[2345] = (0.0, 2345, -9.0)
    points[3456] = (0.0, 3456, float('nan'))
    found = thinned(points, 100)
    assert len(found) <= 104
    kept = [step for _, step, _ in found]
    assert {0, 1234, 2345, 3456, 4999} <= set(kept)
    assert kept == sorted(set(kept))
    assert thinned(points[:100], 100) == points[:100]


def test_the_answer_is_strict_json(tmp_path: Path) -> None:
    put(tmp_path, 'run/a.jsonl', '{"tag": "x", "step": 1, "value": NaN, "wall_time": 1}\n')
    assert json.dumps(Board(tmp_path).scalars('run', 'x'), allow_nan=False) == '[[1.0, 1, "NaN"]]'
