"""The web server: one page and its data as JSON, for people on this machine."""

from __future__ import annotations

import http.server
import ipaddress
import json
import socket
import socketserver
import sys
import threading
import traceback
import urllib.parse
from collections.abc import Callable
from typing import Any

from .page import PAGE_POLICY, page
from .runs import MOST_SECONDS, Board, Unknown

MOST_REQUESTS = 32
"""Requests that are answered at the same time; the others wait."""

_HEADERS = {
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Resource-Policy': 'same-origin',
}


class BadRequest(Exception):
    """A parameter is missing or wrong; the text says what was expected."""


class Server(http.server.ThreadingHTTPServer):
    """Serves one board. ``OSError`` when the address cannot be used."""

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = sys.platform != 'win32'       # there it would share a port that is in use
    request_queue_size = 64

    def __init__(self, board: Board, host: str, port: int) -> None:
        self.board = board
        self.busy = threading.BoundedSemaphore(MOST_REQUESTS)
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        self.address_family = family
        self.local = _is_loopback(str(address[0]))
        super().__init__(address[:2], Handler)      # type: ignore[arg-type]
        shown = f'[{host}]' if ':' in host else host
        self.url = f'http://{shown}:{self.server_address[1]}'

    def server_bind(self) -> None:
        """Bind without asking a name server who we are."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A reader that goes away is no error."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers one reader."""

    server: Server
    protocol_version = 'HTTP/1.1'
    server_version, sys_version = 'mxnet-board', ''
    timeout = 60

    def do_GET(self) -> None:
        """Answer with the page or with data."""
        if self.server.local and not _names_this_machine(self.headers.get('Host', '')):
            # Else a page of somebody else's could read the logs, under a name that it has point here.
            self._send_json(403, {'error': 'this board answers under localhost only; start it with --host for others'})
            return
        path, _, query = self.path.partition('?')
        if path in ('/', '/index.html'):
            self._send(200, 'text/html; charset=utf-8', page(), {'Content-Security-Policy': PAGE_POLICY})
            return
        answer = ROUTES.get(path)
        if answer is None:
            self._send_json(404, {'error': f'no such page: {path[:200]}'})
            return
        try:
            with self.server.busy:
                self._send_json(200, answer(self.server.board, _parameters(query)))
        except Unknown as error:
            self._send_json(404, {'error': str(error)})
        except BadRequest as error:
            self._send_json(400, {'error': str(error)})
        except OSError:
            raise
        except Exception:       # noqa: BLE001 - one request must not end the server
            sys.stderr.write(traceback.format_exc())
            self._send_json(500, {'error': 'a fault of mxnet-board; its terminal shows where'})

    do_HEAD = do_GET

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Errors of the protocol, as JSON like all others."""
        self.close_connection = True
        self._send_json(code, {'error': message or self.responses.get(code, ('error',))[0]})

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are not worth a line each."""

    def _send_json(self, status: int, value: Any) -> None:
        self._send(status, 'application/json', json.dumps(value, allow_nan=False).encode(), {})

    def _send(self, status: int, kind: str, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**_HEADERS, 'Content-Type': kind, 'Content-Length': str(len(body)), **headers}.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header('Connection', 'close')
        self.end_headers()
        if self.command != 'HEAD':
            self.wfile.write(body)


def _scalars(board: Board, given: dict[str, str]) -> Any:
    points = _whole(given, 'points', 10**6)
    return board.scalars(_given(given, 'run'), _given(given, 'tag'), points or None, _seconds(given))


ROUTES: dict[str, Callable[[Board, dict[str, str]], Any]] = {
    '/api/runs': lambda board, given: board.runs(),
    '/api/overview': lambda board, given: board.overview(),
    '/api/tags': lambda board, given: board.tags(_given(given, 'run')),
    '/api/scalars': _scalars,
    '/api/trace': lambda board, given: board.trace(_given(given, 'run'), _seconds(given)),
    '/api/timeline': lambda board, given: board.timeline(_given(given, 'run'), _seconds(given)),
}
"""Path -> what answers it."""


def _parameters(query: str) -> dict[str, str]:
    try:
        return dict(urllib.parse.parse_qsl(query, keep_blank_values=True, max_num_fields=20))
    except ValueError:
        raise BadRequest('expected at most 20 parameters') from None


def _given(parameters: dict[str, str], name: str) -> str:
    if name not in parameters:
        raise BadRequest(f'expected the parameter {name}, got {", ".join(sorted(parameters)) or "none"}')
    return parameters[name]


def _whole(given: dict[str, str], name: str, most: int) -> int:
    """A parameter that is a number; 0 where it is not given."""
    text = given.get(name, '0')
    if name in given and not (len(text) < 10 and text.isascii() and text.isdecimal() and 0 < int(text) <= most):
        raise BadRequest(f'{name}: expected a number from 1 to {most}, got {text[:40]!r}')
    return int(text)


def _seconds(given: dict[str, str]) -> float:
    """How long the answer may read files: the parameter ``within``; what is not given is the most."""
    return _whole(given, 'within', int(MOST_SECONDS)) or MOST_SECONDS


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address.partition('%')[0]).is_loopback
    except ValueError:
        return False


def _names_this_machine(host: str) -> bool:
    if not host:
        return True         # no browser asks without
    name = host[1:].partition(']')[0] if host.startswith('[') else host.partition(':')[0]
    return name.lower() == 'localhost' or name.lower().endswith('.localhost') or _is_loopback(name)
