"""The program as people call it, in processes of its own."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from refengine.board.command import main
from tests.contracts.sources import ROOT

from .conftest import command, environment, put, running, scalar


def test_the_command_is_installed_under_its_name() -> None:
    scripts = tomllib.loads((ROOT / 'pyproject.toml').read_text())['project']['scripts']
    assert scripts['mxnet-board'] == 'refengine.board.command:main'


def test_help_fits_a_screen(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv('COLUMNS', '80')
    with pytest.raises(SystemExit) as ended:
        main(['--help'])
    text, errors = capsys.readouterr()
    assert (ended.value.code, errors) == (0, '')
    assert len(text.splitlines()) <= 24
    assert max(map(len, text.splitlines())) <= 80
    assert 'Examples:' in text.splitlines()[-3]


@pytest.mark.parametrize(('arguments', 'fragment'), [
    (['--logdir=nowhere'], '--logdir: nowhere does not exist'),
    (['--logdir=no\x1b[31mwhere'], r'--logdir: no\x1b[31mwhere does not exist'),
    (['--logdir=file'], '--logdir: file is not a folder'),
    (['--port=65536'], "--port: expected a number from 0 to 65535, got '65536'"),
    (['--port=-1'], "--port: expected a number from 0 to 65535, got '-1'"),
    (['--port=6006.0'], "--port: expected a number from 0 to 65535, got '6006.0'"),
    (['--host=no.such.host.invalid'], '--host: no.such.host.invalid is no address of this machine'),
    (['--host=192.0.2.1'], '--host: 192.0.2.1 is no address of this machine'),
    (['--verbose'], 'unrecognized arguments: --verbose'),
])
def test_wrong_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
                   arguments: list[str], fragment: str) -> None:
    (tmp_path / 'logs').mkdir()
    (tmp_path / 'file').write_text('')
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    printed, errors = capsys.readouterr()
    assert (ended.value.code, printed) == (2, '')
    assert fragment in errors


def test_a_folder_that_is_missing_in_a_process_of_its_own(tmp_path: Path) -> None:
    done = subprocess.run(command(f'--logdir={tmp_path}/none', '--port=0'), capture_output=True, text=True, timeout=60,
                          env=environment())
    assert (done.returncode, done.stdout) == (2, '')
    assert f'{tmp_path}/none does not exist' in done.stderr


def test_a_port_in_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(('127.0.0.1', 0))
        taken.listen(1)
        port = taken.getsockname()[1]
        assert main([f'--logdir={tmp_path}', f'--port={port}']) == 1
    assert capsys.readouterr().err == (
        f'mxnet-board: port {port} of 127.0.0.1 is already in use; --port=0 takes a free one\n')


@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGINT])
def test_signals_end_it_well(tmp_path: Path, number: int) -> None:
    put(tmp_path, 'logs/run/a.jsonl', scalar('x', 1, 1))
    put(tmp_path, 'logs/run/bad\x1b.json', '{')
    with running(cwd=tmp_path) as program:
        assert program.get('/api/runs') == (200, ['run'])
        assert program.get('/api/runs') == (200, ['run'])
        status, errors = program.end(number)
    assert status == 0
    assert errors.splitlines() == [
        'Serving ./logs; Ctrl-C ends it.',
        'warning: run/bad\\x1b.json: skipped, it is not JSON: the document has no end']


def test_a_signal_that_comes_at_once_is_heard(tmp_path: Path) -> None:
    with running(f'--logdir={tmp_path}') as program:
        assert program.end(signal.SIGTERM)[0] == 0


def test_a_trace_in_the_folder_is_not_written_over(tmp_path: Path) -> None:
    """Where the variable is set for a whole shell, the program must not leave a profile of itself."""
    trace = put(tmp_path, 'profile.json', {'traceEvents': []})
    before = trace.read_bytes()
    with running(f'--logdir={tmp_path}', cwd=tmp_path, MXNET_PROFILER_AUTOSTART='1') as program:
        assert program.get('/api/runs') == (200, ['.'])
        assert program.end()[0] == 0
    assert trace.read_bytes() == before


def test_the_program_loads_nothing_heavy() -> None:
    code = ('import sys, refengine.board.command\n'
            'print([m for m in ("scipy", "numba", "click", "PIL") if m in sys.modules])')
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, timeout=60, env=environment(),
                          check=True)
    assert done.stdout == '[]\n'
