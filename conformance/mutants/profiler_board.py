"""Mutants of PROF-BOARD. They break what every program that serves pages in Python stands on."""

import http.server
import json
import signal
import socket

from conformance.mutants import mutant, wrap


def handler(name, body):
    """Replace a method of the handler of requests by ``body(original, self, *arguments)``."""
    wrap(http.server.BaseHTTPRequestHandler, name,
         lambda original: lambda self, *args, **kwargs: body(original, self, *args, **kwargs))


@mutant("PROF-BOARD-001")
def page_is_plain_text(mx):
    def body(original, self, keyword, value):
        return original(self, keyword, "text/plain" if str(value).startswith("text/html") else value)

    handler("send_header", body)


@mutant("PROF-BOARD-002")
def points_are_ordered_by_time(mx):
    def is_point(item):
        return isinstance(item, (list, tuple)) and len(item) == 3 and isinstance(item[0], float)

    def make(original):
        def dumps(value, **kwargs):
            if isinstance(value, list) and value and all(is_point(item) for item in value):
                value = sorted(value)
            return original(value, **kwargs)

        return dumps

    wrap(json, "dumps", make)


@mutant("PROF-BOARD-003")
def what_is_missing_is_found(mx):
    handler("send_response", lambda original, self, code, *args: original(self, 200 if code == 404 else code, *args))


class _Open(socket.socket):
    def bind(self, address):
        if isinstance(address, tuple) and address[0] == "127.0.0.1":
            address = ("0.0.0.0",) + tuple(address[1:])
        return super(_Open, self).bind(address)


@mutant("PROF-BOARD-004")
def everybody_is_answered(mx):
    # In the process of the program alone: the cases have sockets of their own.
    import sys

    if sys.argv[:1] == ["-c"]:
        socket.socket = _Open


@mutant("PROF-BOARD-004")
def sigterm_is_not_waited_for(mx):
    import sys

    if sys.argv[:1] == ["-c"]:
        wrap(signal, "signal", lambda original: lambda number, action:
             None if number == signal.SIGTERM else original(number, action))
