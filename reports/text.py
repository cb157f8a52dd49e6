"""Making text from outside safe to show: control, ANSI, bidirectional and unpaired characters become visible."""

from __future__ import annotations

import re

# Everything that acts on the medium instead of being shown: C0 but tab and newline, DEL, C1, unpaired surrogates,
# bidirectional marks and overrides, invisible operators, line and paragraph separators, non-characters, tags.
_ACTIVE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """Replace every character that would act on a terminal or a page by one that only shows it.

    Tabs and newlines stay; ``\\r\\n`` becomes a newline.

    >>> visible("\\x1b[31mred\\x07")
    '␛[31mred␇'
    >>> visible("user\\u202egnp.exe")
    'user⟨U+202E⟩gnp.exe'
    """
    if text.isascii() and text.isprintable():
        return text
    return _ACTIVE.sub(_show, text.replace("\r\n", "\n"))


def _show(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    return f"\u27e8U+{code:04X}\u27e9"


def shorten(text: str, limit: int) -> str:
    """Cut a long text in the middle and say how much was left out.

    >>> shorten("a" * 30, 10)
    'aaaaa … 20 characters left out … aaaaa'
    """
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]} … {len(text) - 2 * half:,} characters left out … {text[-half:]}"


def one_line(text: str, limit: int = 0) -> str:
    """Collapse white space into single blanks; with *limit*, cut the end.

    >>> one_line("a\\n   b", limit=0)
    'a b'
    """
    line = " ".join(text.split())
    return line if not limit or len(line) <= limit else line[: limit - 1] + "…"


def plural(number: int, noun: str) -> str:
    """Number and noun that agree, with a thousands separator.

    >>> plural(1, "case"), plural(1200, "case")
    ('1 case', '1,200 cases')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def duration(seconds: float) -> str:
    """A span of time for people.

    >>> duration(0.0004), duration(3.21), duration(75.0), duration(7260.0)
    ('0.4 ms', '3.2 s', '1 min 15 s', '2 h 1 min')
    """
    if 0.1 <= seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 0.1:
        return f"{seconds * 1000:.1f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
