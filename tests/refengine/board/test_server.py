"""What the server answers: to the page, to the curious and to the malicious."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from refengine.board import server as module
from refengine.board.runs import Board
from refengine.board.server import Server

from .conftest import pair, put, scalar

Ask = Callable[..., tuple[int, dict[str, str], bytes]]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Server]:
    put(tmp_path, 'secret/a.jsonl', scalar('x', 1, 1))
    put(tmp_path, 'logs/a & b/a.jsonl', ''.join(scalar('x/y', step, step) for step in range(1000)))
    put(tmp_path, 'logs/a & b/trace.json', {'traceEvents': pair('dot', 0, 1000)})
    with Server(Board(tmp_path / 'logs'), '127.0.0.1', 0) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.shutdown()
        thread.join(10)


@pytest.fixture
def ask(served: Server) -> Ask:
    def asked(path: str, method: str = 'GET', **headers: str) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection('127.0.0.1', served.server_port, timeout=20)
        try:
            connection.request(method, path, headers=headers)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    return asked


def value(answer: tuple[int, dict[str, str], bytes]) -> Any:
    status, headers, body = answer
    assert (status, headers['Content-Type']) == (200, 'application/json')
    return json.loads(body)


def error(answer: tuple[int, dict[str, str], bytes], status: int) -> str:
    assert (answer[0], answer[1]['Content-Type']) == (status, 'application/json')
    found = json.loads(answer[2])
    assert list(found) == ['error']
    return found['error']


def test_data(ask: Ask) -> None:
    assert value(ask('/api/runs')) == ['a & b']
    assert value(ask('/api/tags?run=a+%26+b')) == ['x/y']
    points = value(ask('/api/scalars?run=a+%26+b&tag=x%2Fy'))
    assert len(points) == 1000
    assert points[7] == [1700000000.0, 7, 7.0]
    assert len(value(ask('/api/scalars?run=a+%26+b&tag=x%2Fy&points=50&within=1'))) <= 54
    assert value(ask('/api/trace?run=a+%26+b'))['operators'] == [
        {'name': 'dot', 'category': 'operator', 'count': 1, 'total': 1.0, 'mean': 1.0, 'min': 1.0, 'max': 1.0}]
    assert value(ask('/api/timeline?run=a+%26+b'))['lanes'][0]['spans'] == [[0.0, 1.0, 0, 0]]


def test_page_may_do_nothing_but_ask_its_own_server(ask: Ask) -> None:
    status, headers, body = ask('/')
    assert status == 200
    assert headers['Content-Type'] == 'text/html; charset=utf-8'
    policy = headers['Content-Security-Policy']
    assert policy.startswith("default-src 'none'; ")
    assert "connect-src 'self'" in policy
    assert "script-src 'sha256-" in policy
    assert headers['X-Content-Type-Options'] == 'nosniff'
    assert headers['Cache-Control'] == 'no-store'
    text = body.decode()
    assert text.lower().startswith('<!doctype html>')
    assert 'https://' not in text
    assert 'http://' not in text.replace('http://www.w3.org/2000/svg', '')
    assert len(body) < 100_000


def test_errors_are_json(ask: Ask) -> None:
    assert error(ask('/api/scalars?run=none&tag=x'), 404).startswith("no run 'none' under ")
    assert error(ask('/api/scalars?run=a+%26+b&tag=none'), 404) == "no tag 'none' in the run 'a & b'"
    assert error(ask('/api/trace?run=none'), 404).startswith("no run 'none'")
    assert error(ask('/api/none'), 404) == 'no such page: /api/none'
    assert error(ask('/api/trace'), 400) == 'expected the parameter run, got none'
    assert error(ask('/api/scalars?run=a&points=3'), 400) == 'expected the parameter tag, got points, run'
    for wrong in ('0', '-1', 'x', '1e3', '9999999999', '%D9%A1'):
        found = error(ask(f'/api/scalars?run=a+%26+b&tag=x%2Fy&points={wrong}'), 400)
        assert found.startswith('points: expected a number from 1 to 1000000')
    assert error(ask('/api/trace?run=a+%26+b&within=61'), 400).startswith('within: expected a number from 1 to 60')
    assert error(ask('/api/runs?' + '&'.join(f'p{n}=1' for n in range(50))), 400) == 'expected at most 20 parameters'
    assert error(ask('/api/runs', 'POST'), 501)
    assert error(ask('/' + 'x' * 70_000), 414)
    assert error(ask('/' + 'x' * 5000), 404) == 'no such page: /' + 'x' * 199


@pytest.mark.parametrize('path', [
    '/../secret/a.jsonl', '/a%20&%20b/a.jsonl', '//etc/passwd', '/%2e%2e/%2e%2e/etc/passwd', '/api/../../etc/passwd',
    '/api/trace?run=../secret', '/api/scalars?run=../secret&tag=x', '/api/scalars?run=%2e%2e%2fsecret&tag=x',
    '/api/scalars?run=a+%26+b/../../secret&tag=x', '/api/scalars?run=/etc&tag=x', '/api/scalars?run=%00&tag=x',
    '/api/scalars?run=%FF%FE&tag=x',
])
def test_no_path_leads_out_of_the_folder(ask: Ask, path: str) -> None:
    assert error(ask(path), 404)


def test_head_has_no_body(ask: Ask) -> None:
    status, headers, body = ask('/', 'HEAD')
    assert (status, body) == (200, b'')
    assert int(headers['Content-Length']) > 1000


@pytest.mark.parametrize(('host', 'answered'), [
    ('localhost', True), ('', True), ('127.0.0.1:1234', True), ('[::1]:80', True), ('board.localhost:6006', True),
    ('127.1.2.3', True), ('evil.example', False),
    ('127.0.0.1.evil.example', False), ('192.168.0.1', False), ('[fe80::1]', False),
])
def test_other_names_for_this_machine_are_refused(ask: Ask, host: str, answered: bool) -> None:
    """Else a page of somebody else's could read the logs, through a name of its own that points here."""
    for path in ('/', '/api/runs'):
        assert ask(path, Host=host)[0] == (200 if answered else 403)


def test_whoever_listens_elsewhere_answers_to_every_name(tmp_path: Path) -> None:
    with Server(Board(tmp_path), '0.0.0.0', 0) as server:
        assert not server.local
        assert server.url == f'http://0.0.0.0:{server.server_port}'


def test_an_address_of_the_other_kind(tmp_path: Path) -> None:
    try:
        server = Server(Board(tmp_path), '::1', 0)
    except OSError:
        pytest.skip('this machine has no ::1')
    with server:
        assert (server.local, server.url) == (True, f'http://[::1]:{server.server_port}')


def test_a_fault_is_told_and_ends_nothing(ask: Ask, monkeypatch: pytest.MonkeyPatch,
                                          capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(module.ROUTES, '/api/runs', lambda board, given: 1 / 0)
    assert error(ask('/api/runs'), 500) == 'a fault of mxnet-board; its terminal shows where'
    assert 'ZeroDivisionError' in capsys.readouterr().err
    assert ask('/api/overview')[0] == 200


def test_readers_that_say_nothing_or_go_away_hold_nobody_up(served: Server, ask: Ask,
                                                            capfd: pytest.CaptureFixture[str]) -> None:
    silent = [socket.create_connection(('127.0.0.1', served.server_port)) for _ in range(60)]
    for rude in silent[:20]:
        rude.sendall(b'GET /api/overview HTTP/1.1\r\nHost: localhost\r\n\r\n')
        rude.close()
    for odd in silent[20:30]:
        odd.sendall(b'\x00\xff nonsense\r\n\r\n')
    assert value(ask('/api/runs')) == ['a & b']
    for rest in silent[20:]:
        rest.close()
    assert 'Traceback' not in capfd.readouterr().err


def test_many_at_once(ask: Ask) -> None:
    answers: list[int] = []
    path = '/api/scalars?run=a+%26+b&tag=x%2Fy'
    threads = [threading.Thread(target=lambda: answers.append(ask(path)[0])) for _ in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert answers == [200] * 40
