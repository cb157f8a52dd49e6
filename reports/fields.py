"""Reading typed fields out of a JSON object, with errors that say what was expected and what was given."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from reports.text import one_line, visible

_MISSING = object()


class FieldsError(ValueError):
    """A field that is missing or of the wrong type; the reader adds the line."""


class Fields:
    """A JSON object whose fields are read by type. All text is made visible on the way in.

    >>> Fields({"record": "case", "seconds": "1"}).number("seconds")
    Traceback (most recent call last):
    reports.fields.FieldsError: case record: 'seconds': expected a number of at least 0, got text '1'
    """

    def __init__(self, values: Mapping[str, Any], where: str = "") -> None:
        self._values = values
        kind = values.get("record")
        self._where = where or (f"{kind} record" if isinstance(kind, str) else "record")

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def _get(self, key: str, default: object = _MISSING) -> Any:
        value = self._values.get(key, default)
        if value is _MISSING:
            raise FieldsError(f"{self._where}: {key!r} is missing")
        return value

    def _wrong(self, key: str, expected: str, value: object) -> FieldsError:
        return FieldsError(f"{self._where}: {key!r}: expected {expected}, got {_describe(value)}")

    def text(self, key: str, default: str | None = None, empty: bool = True) -> str:
        """Text; with a *default*, ``null`` and a missing key give it."""
        value = self._get(key, _MISSING if default is None else default)
        if value is None and default is not None:
            return default
        if not isinstance(value, str) or not (value or empty):
            raise self._wrong(key, "text" if empty else "text that is not empty", value)
        return visible(value)

    def choice(self, key: str, choices: tuple[str, ...]) -> str:
        """One of a fixed set of words."""
        value = self._get(key)
        if not isinstance(value, str) or value not in choices:
            raise self._wrong(key, "one of " + ", ".join(choices), value)
        return value

    def integer(self, key: str) -> int:
        """A whole number of at least 0."""
        value = self._get(key)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self._wrong(key, "a whole number of at least 0", value)
        return value

    def number(self, key: str) -> float:
        """A finite number of at least 0."""
        value = self._get(key)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= sys.float_info.max:
            raise self._wrong(key, "a number of at least 0", value)
        return float(value)

    def boolean(self, key: str) -> bool:
        """``true`` or ``false``."""
        value = self._get(key)
        if not isinstance(value, bool):
            raise self._wrong(key, "true or false", value)
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts."""
        value = self._get(key)
        if not isinstance(value, list):
            raise self._wrong(key, "a list of texts", value)
        for item in value:
            if not isinstance(item, str):
                raise self._wrong(key, "a list of texts", value)
        return tuple(visible(item) for item in value)

    def object(self, key: str) -> Fields:
        """An object."""
        value = self._get(key)
        if not isinstance(value, dict):
            raise self._wrong(key, "an object", value)
        return Fields(value, f"{self._where}: {key!r}")

    def object_or_none(self, key: str) -> Fields | None:
        """An object or ``null``."""
        return None if self._get(key) is None else self.object(key)

    def objects(self, key: str) -> list[Fields]:
        """A list of objects."""
        value = self._get(key)
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self._wrong(key, "a list of objects", value)
        return [Fields(item, f"{self._where}: {key!r}, item {number}") for number, item in enumerate(value, 1)]

    def items_as_objects(self) -> Iterator[tuple[str, Fields]]:
        """Key and object for each field of this object."""
        for key in self._values:
            yield visible(key), self.object(key)

    def counts(self, key: str, choices: tuple[str, ...]) -> dict[str, int]:
        """An object from words of a fixed set to whole numbers."""
        fields = self.object(key)
        for name in fields._values:
            if name not in choices:
                raise FieldsError(f"{fields._where}: expected keys of {', '.join(choices)}, got {_describe(name)}")
        return {name: fields.integer(name) for name in choices if name in fields}

    def plain(self, key: str) -> dict[str, Any]:
        """An object of anything, its text made visible."""
        plain = _plain(self.object(key)._values)
        assert isinstance(plain, dict)
        return plain

    def shown(self) -> dict[str, str]:
        """This object with every value as text; ``null`` values are left out."""
        return {
            visible(key): visible(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
            for key, value in self._values.items()
            if value is not None
        }


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {visible(key): _plain(item) for key, item in value.items()}
    return value


def _describe(value: object) -> str:
    if isinstance(value, str):
        return f"text {one_line(visible(value), 80)!r}"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, int | float):
        return f"the number {value!r}"
    if isinstance(value, dict):
        return "an object"
    return "a list"
