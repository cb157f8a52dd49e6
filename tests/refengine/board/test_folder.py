"""Which runs there are, and that nothing outside the folder is ever reached."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from refengine.board import folder
from refengine.board.runs import Board, Unknown

from .conftest import put, scalar


def test_folders_are_runs_in_an_order_that_people_expect(tmp_path: Path) -> None:
    for name in ('run-10', 'run-2', 'sweep/deep/one', 'sweep/bare'):
        put(tmp_path, f'{name}/a.jsonl' if 'bare' not in name else f'{name}/notes.txt', scalar('x', 1, 1))
    assert Board(tmp_path).runs() == ['run-2', 'run-10', 'sweep', 'sweep/deep/one']
    put(tmp_path, 'here.jsonl', scalar('x', 1, 1))
    assert Board(tmp_path).runs()[0] == '.'
    assert Board(tmp_path).scalars('.', 'x') == [[1700000000.0, 1, 1.0]]


@pytest.mark.parametrize('name', [
    '..', '../secret', '/etc', 'run/..', 'run/', './run', '', 'run\0', '%2e%2e', 'run/../../secret',
])
def test_names_that_lead_elsewhere_are_unknown(tmp_path: Path, name: str) -> None:
    put(tmp_path, 'secret/a.jsonl', scalar('x', 1, 1))
    put(tmp_path, 'logs/run/a.jsonl', scalar('x', 1, 1))
    with pytest.raises(Unknown, match='no run'):
        Board(tmp_path / 'logs').scalars(name, 'x')


def test_links_are_not_followed(tmp_path: Path) -> None:
    put(tmp_path, 'secret/a.jsonl', scalar('x', 1, 1))
    put(tmp_path, 'logs/run/b.jsonl', scalar('y', 1, 1))
    (tmp_path / 'logs' / 'out').symlink_to(tmp_path / 'secret')
    (tmp_path / 'logs' / 'run' / 'a.jsonl').symlink_to(tmp_path / 'secret' / 'a.jsonl')
    board = Board(tmp_path / 'logs')
    seen = board.overview()
    assert [(run['name'], run['tags']) for run in seen['runs']] == [('run', [['y', 1]])]
    assert seen['problems'] == [{'file': 'out', 'message': 'skipped, links are not followed'},
                                {'file': 'run/a.jsonl', 'message': 'skipped, links are not followed'}]


def test_a_file_that_becomes_a_link_is_not_followed(tmp_path: Path) -> None:
    secret = put(tmp_path, 'secret.jsonl', scalar('secret', 1, 1))
    path = put(tmp_path, 'logs/run/a.jsonl', scalar('x', 1, 1))
    board = Board(tmp_path / 'logs')
    assert board.tags('run') == ['x']
    file = board._runs['run'].scalars['run/a.jsonl']
    path.unlink()
    path.symlink_to(secret)
    file.refresh(float('inf'))          # as if it had been swapped between the walk and the look
    assert file.series == {}
    assert file.problems[0].startswith('cannot be read: ')


def test_pipes_and_folders_with_the_name_of_a_log_do_no_harm(tmp_path: Path) -> None:
    (tmp_path / 'run' / 'x.json').mkdir(parents=True)
    os.mkfifo(tmp_path / 'run' / 'pipe.jsonl')
    put(tmp_path, 'run/a.jsonl', scalar('x', 1, 1))
    seen = Board(tmp_path).overview()
    assert seen['problems'] == [{'file': 'run/pipe.jsonl', 'message': 'cannot be read: it is no plain file'}]
    assert seen['runs'][0]['tags'] == [['x', 1]]


def test_names_that_are_no_text_can_be_asked_for(tmp_path: Path) -> None:
    odd = os.fsencode(tmp_path) + b'/caf\xe9\n<b>'
    try:
        os.mkdir(odd)
    except OSError:
        pytest.skip('this file system takes text only')
    with open(odd + b'/a.jsonl', 'w') as file:
        file.write(scalar('x', 1, 1))
    board = Board(tmp_path)
    assert board.runs() == ['caf\\xe9\n<b>']
    assert board.tags('caf\\xe9\n<b>') == ['x']


def test_what_is_too_much_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in 'abcdef':
        put(tmp_path, f'{name}/a.jsonl', scalar('x', 1, 1))
    monkeypatch.setattr(folder, 'MOST_RUNS', 3)
    found = folder.walk(tmp_path)
    assert list(found.runs) == ['a', 'b', 'c']
    assert 'too much in this folder' in found.problems[0][1]
    monkeypatch.setattr(folder, 'MOST_ENTRIES', 2)
    assert folder.walk(tmp_path).full


def test_runs_come_and_go(tmp_path: Path) -> None:
    board = Board(tmp_path)
    assert board.runs() == []
    path = put(tmp_path, 'a/x.jsonl', scalar('x', 1, 1))
    assert board.scalars('a', 'x') == [[1700000000.0, 1, 1.0]]
    path.unlink()
    assert board.tags('a') == []
    path.parent.rmdir()
    assert board.runs() == []
    tmp_path.rmdir()
    assert board.overview()['problems'] == [
        {'file': '.', 'message': 'this folder cannot be read: No such file or directory'}]
