"""The command ``mxnet-board``."""

from __future__ import annotations

import argparse
import errno
import os
import signal
import socket
import sys
from collections.abc import Sequence
from types import FrameType

from .runs import Board
from .server import Server

DESCRIPTION = 'Show training runs in a browser: scalars, time per operator, and a timeline.'

EPILOG = """\
A run is a folder under DIR. In it lie traces of mx.profiler (*.json) and
scalar logs (*.jsonl), which refengine.board.ScalarLog writes. What programs
write while the page is open shows up by itself.

Exit codes: 0 ended by SIGTERM or Ctrl-C, 1 the port is in use, 2 wrong use.

Examples:
  mxnet-board                                  ./logs on http://127.0.0.1:6006
  mxnet-board --logdir=experiments --port=0    any free port
"""


class _Ended(BaseException):
    """A signal asks for the end."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until a signal comes; returns the exit code (rules PROF-BOARD-001, -003, -004)."""
    _profile_nothing()
    parser = _parser()
    given = parser.parse_args(arguments)
    folder = given.logdir
    if not os.path.isdir(folder):
        what = 'is not a folder' if os.path.exists(folder) else 'does not exist'
        parser.error(f'--logdir: {_printable(folder)} {what}')
    try:
        server = Server(Board(folder, _warn), given.host, given.port)
    except OSError as error:
        return _refused(parser, given.host, given.port, error)
    try:
        for name in ('SIGTERM', 'SIGINT'):
            signal.signal(getattr(signal, name), _end)
        sys.setswitchinterval(0.001)        # answers do not wait for long while a large file is read
        print(server.url, flush=True)
        print(f'Serving {_printable(str(folder))}; Ctrl-C ends it.', file=sys.stderr, flush=True)
        server.serve_forever()
    except _Ended:
        return 0
    finally:
        server.server_close()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser('mxnet-board', description=DESCRIPTION, epilog=EPILOG, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--logdir', metavar='DIR', default='./logs', help='folder with the runs (default: ./logs)')
    parser.add_argument('--port', metavar='N', type=_port, default=6006,
                        help='port; 0 takes a free one (default: 6006)')
    parser.add_argument('--host', metavar='NAME', default='127.0.0.1',
                        help='address to listen on; anything but the default\nlets others read the logs '
                             '(default: 127.0.0.1)')
    return parser


def _port(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or not int(text[:9]) <= 65535 or len(text) > 9:
        raise argparse.ArgumentTypeError(f'expected a number from 0 to 65535, got {text[:40]!r}')
    return int(text)


def _refused(parser: argparse.ArgumentParser, host: str, port: int, error: OSError) -> int:
    if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
        parser.error(f'--host: {_printable(host)} is no address of this machine')
    if error.errno == errno.EADDRINUSE:
        message = f'port {port} of {host} is already in use; --port=0 takes a free one'
    else:
        message = f'cannot listen on port {port} of {host}: {error.strerror}'
    print(f'mxnet-board: {message}', file=sys.stderr)
    return 1


def _end(number: int, frame: FrameType | None) -> None:
    for name in ('SIGTERM', 'SIGINT'):
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    raise _Ended


def _warn(file: str, message: str) -> None:
    print(f'warning: {_printable(file)}: {_printable(message)}', file=sys.stderr, flush=True)


def _printable(text: str) -> str:
    """A text without characters that would steer a terminal."""
    return ''.join(letter if letter.isprintable() else letter.encode('unicode_escape').decode() for letter in text)


def _profile_nothing() -> None:
    """MXNET_PROFILER_AUTOSTART is meant for programs that train; here it would write over their trace."""
    from ..profiler import hooks
    from ..profiler.session import session
    hooks.remove()
    session.forget()
