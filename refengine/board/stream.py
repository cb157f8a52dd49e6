"""The events of a trace, taken from its text piece by piece: neither the text nor the events are held as a whole.

A file may hold more than one document: Apache MXNet 1.9.1 writes what is dumped later behind the end of what is there,
as the rest of a list whose beginning is the first document.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable
from typing import Any

LONGEST_VALUE = 1 << 20
"""Characters of one event, or of another value of the document; what is longer cannot be read."""

MOST_OTHERS = 100
"""Documents that are no traces, after which no trace is expected any more."""

_SPACE = ' \t\n\r'
_HEAD = re.compile(r'\{\s{0,80}"traceEvents"')
_LIST = re.compile(r'traceEvents"\s{0,80}:\s{0,80}\[')
_LONGEST_HEAD = 200
_DECODE = json.JSONDecoder().raw_decode


_WORDS = ('true', 'false', 'null', 'NaN', 'Infinity', '-Infinity')
_DIGITS = '0123456789+-.eE'
_NUMBER = set(_DIGITS)


class Malformed(Exception):
    """The text is no JSON; the message says where."""


class EventStream:
    """Feed it bytes, and it hands over each element of the list ``traceEvents`` of every document.

    ``state`` is 'start', 'fields', 'events', 'end', 'other' for a document that is no trace, or 'lost' while it looks
    for the next document. ``documents`` is the number of the present one, ``open_ended`` are those without an end.
    """

    def __init__(self, take: Callable[[Any], None]) -> None:
        self._take = take
        self._decoder = codecs.getincrementaldecoder('utf-8-sig')('replace')
        self._text, self._at, self._passed = '', 0, 0
        self._part = 0              # where the part of the document begins that is being looked at
        self._retry = 0             # not before there is this much text is an unfinished value tried again
        self.state = 'start'
        self.found = False          # whether there was a list of events
        self.documents = 0
        self.ended = 0              # how many of them had an end
        self.open_ended: list[int] = []

    def feed(self, piece: bytes) -> None:
        """Take text in; ``Malformed`` when it cannot be JSON."""
        self._passed += self._at
        self._text = self._text[self._at:] + self._decoder.decode(piece)
        self._at = 0
        if len(self._text) >= self._retry:
            self.go_on()

    def go_on(self) -> None:
        """Look at all that came."""
        self._retry = 0
        while self.state != 'other' and self._step():
            pass

    def settle(self) -> None:
        """There is no more text for now: what looks like a long value may be a torn one, with a document behind it."""
        self.go_on()
        while self.found and self.state in ('fields', 'events'):
            head = _HEAD.search(self._text, self._at + 1)
            if head is None:
                break
            self._at = head.start()
            self._leave_open()
            self.go_on()

    def _step(self) -> bool:
        """Go on by one part of the document; False where more text is needed."""
        letter = self._next()
        if letter == '':
            return False
        self._part = self._at
        if self.state == 'start':
            return self._begin(letter)
        if self.state == 'events':
            return self._event(letter)
        if self.state == 'end':
            return self._after(letter)
        if self.state == 'lost':
            return self._look()
        return self._field(letter)

    def _next(self) -> str:
        """The next character that is no space, or nothing at the end of the text."""
        text, at, end = self._text, self._at, len(self._text)
        while at < end and text[at] in _SPACE:
            at += 1
        self._at = at
        return text[at] if at < end else ''

    def _begin(self, letter: str) -> bool:
        if letter == '{':
            self._document()
        elif letter == '[':
            self.state = 'other'
        else:
            raise self._broken('expected an object')
        return True

    def _document(self) -> None:
        self._at += 1
        self.state = 'fields'
        self.documents += 1
        if not self.found and self.documents > MOST_OTHERS:
            self.state = 'other'

    def _after(self, letter: str) -> bool:
        """What stands behind a document: another one, or more of its events."""
        if letter == '{':
            self._document()
        elif letter == ',' and self.found:
            self._at += 1
            self.state = 'events'
        else:
            raise self._broken('text after the end')
        return True

    def skip(self) -> None:
        """After ``Malformed``: go on with the next document that there is; a torn text may have swallowed its head."""
        self.state = 'lost'
        self._at = self._part

    def _look(self) -> bool:
        head = _LIST.search(self._text, self._at)      # what stands before it may belong to a torn text
        if head is None:
            self._at = max(self._at, len(self._text) - _LONGEST_HEAD)
            return False
        self._document()
        self._at = head.end()
        self.state, self.found = 'events', True
        return True

    def _event(self, letter: str) -> bool:
        if letter == '{' and _HEAD.match(self._text, self._at):
            self._leave_open()
        elif letter == ',':
            self._at += 1
        elif letter == ']':
            self._at += 1
            self.state = 'fields'
        else:
            done, value = self._value()
            if not done:
                return False
            self._take(value)
        return True

    def _leave_open(self) -> None:
        """Another document begins inside this one: whoever wrote this one did not come to its end."""
        if len(self.open_ended) < 10:
            self.open_ended.append(self.documents)
        self._document()

    def _field(self, letter: str) -> bool:
        """A name and its value between the braces of the document, or the end of it."""
        if letter == ',':
            self._at += 1
            return True
        if letter == '}':
            self._at += 1
            self.ended = self.documents
            self.state = 'end'
            return True
        if letter == '{' and self.found:
            if _HEAD.match(self._text, self._at):
                self._leave_open()
                return True
            if len(self._text) - self._at < _LONGEST_HEAD:
                return False
        if letter != '"':
            raise self._broken('expected a name in quotes')
        start = self._at
        done, name = self._value()
        if done:
            following = self._next()
            if following not in ('', ':'):
                raise self._broken('expected a colon')
            self._at += 1 if following else 0
            following = self._next() if following else ''
            if following and name == 'traceEvents':
                if following != '[':
                    raise self._broken('traceEvents: expected a list')
                self._at += 1
                self.state, self.found = 'events', True
                return True
            if following and self.found and _HEAD.match(self._text, self._at):
                self._leave_open()
                return True
            if following and self._value()[0]:
                return True
        self._at = start            # come again with more text
        return False

    def _value(self) -> tuple[bool, Any]:
        """Whether a whole JSON value stands here, and the value."""
        text, at = self._text, self._at
        if len(text) - at > LONGEST_VALUE:
            text = text[:at + LONGEST_VALUE]
        try:
            value, end = _DECODE(text, at)
        except json.JSONDecodeError as error:
            return self._unfinished(error, len(text)), None
        except (ValueError, RecursionError):
            raise self._broken('a number or a nesting without measure') from None
        if text[at] in _NUMBER and not text[end:end + 8].strip(_DIGITS):
            return False, None              # a number may go on
        self._at = end
        return True, value

    def _unfinished(self, error: json.JSONDecodeError, end: int) -> bool:
        """False if more text may make a value of it; else ``Malformed``."""
        inside = error.msg.startswith(('Unterminated', 'Invalid'))
        if not inside and not _may_go_on(self._text[error.pos:end]):
            raise self._broken('malformed', error.pos)
        length = end - self._at
        if length >= LONGEST_VALUE:
            if self.state == 'fields' and not self.found:
                self.state = 'other'        # a large document of another kind
                return False
            raise self._broken('one value is longer than 1 MiB, or malformed')
        if length > 1 << 16:
            self._retry = min(2 * length, LONGEST_VALUE)
        return False

    def _broken(self, what: str, at: int | None = None) -> Malformed:
        place = self._passed + (self._at if at is None else at)
        return Malformed(f'{what} at character {place + 1}')


def _may_go_on(tail: str) -> bool:
    """Whether the text from a fault to the end may be the beginning of something sound."""
    tail = tail.strip()
    return len(tail) < 40 and (set(tail) <= _NUMBER or any(word.startswith(tail) for word in _WORDS))
