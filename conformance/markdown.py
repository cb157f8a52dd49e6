"""Text as it may stand in markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def cell(text: str) -> str:
    r"""A text as it may stand in a cell of a markdown table, shown as it is written.

    >>> print(cell("update_on_kvstore | __init__ <b>"))
    update_on_kvstore \| \_\_init\_\_ \<b>
    """
    escaped = re.sub(r"([\\`*\[\]<|])", r"\\\1", " ".join(text.split()))
    # An underscore within a word is no markup.
    return re.sub(r"(?<![A-Za-z0-9])_+|_+(?![A-Za-z0-9_])", lambda found: found.group().replace("_", r"\_"), escaped)


def table(heading: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """The lines of a table; numbers are set to the right. The cells are given as they shall stand there.

    >>> table(["a", "n"], [["x", 1]])
    ['| a | n |', '| --- | ---: |', '| x | 1 |']
    """
    rows = [list(row) for row in rows]
    right = [bool(rows) and all(isinstance(row[column], int) for row in rows) for column in range(len(heading))]
    lines = ["| " + " | ".join(heading) + " |", "| " + " | ".join("---:" if at else "---" for at in right) + " |"]
    return lines + ["| " + " | ".join(str(value) for value in row) + " |" for row in rows]
