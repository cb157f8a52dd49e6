"""A badge for a README: the verdict about one engine, as a small SVG that needs nothing from elsewhere."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from reports.matrix import Report
from reports.outcomes import VERDICTS
from reports.summary import percent, tally
from reports.text import one_line, plural

_COLOURS = {
    "conforms": "#16794f",
    "does-not-conform": "#c23a30",
    "no-surprise": "#1c6ea4",
    "surprise": "#a66a00",
    "nothing-run": "#6b7280",
    "incomplete": "#6b7280",
}

#: Widths of a 11 px sans-serif by kind of letter; textLength makes the text fit whatever font is there.
_NARROW, _WIDE = set("iljft.,:;!'|()[] -1Ir"), set("mwMWQO@%")


def render(report: Report, *, label: str = "gluon conformance") -> str:
    """Return the badge of a report with exactly one engine; raises ``ValueError`` for more."""
    if len(report.engines) != 1:
        names = ", ".join(engine.label for engine in report.engines)
        raise ValueError(f"a badge speaks of one engine, got {len(report.engines)}: {names}")
    result = report.engines[0].result
    return draw(label, _message(report), _COLOURS[result.verdict])


def _message(report: Report) -> str:
    result = report.engines[0].result
    must = tally(report.states(0, level="MUST"))
    if result.verdict == "conforms":
        return f"conforms, {plural(tally(report.states(0)).passed, 'rule')}"
    if result.verdict == "does-not-conform":
        return f"does not conform, MUST {percent(must.rate)}"
    if result.verdict == "surprise":
        return plural(len(result.surprises), "surprise")
    if result.verdict == "no-surprise":
        return f"as documented, MUST {percent(must.rate)}"
    return VERDICTS[result.verdict]


def draw(label: str, message: str, colour: str) -> str:
    """Return the SVG for two words side by side.

    >>> "gluon" in draw("gluon", "conforms", "#16794f")
    True
    """
    label, message = one_line(label, 60), one_line(message, 60)
    left, right = _width(label) + 12, _width(message) + 12
    total = left + right
    title = f"{label}: {message}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{total}" height="20" role="img" '
        f"aria-label={quoteattr(title)}>\n"
        f"<title>{escape(title)}</title>\n"
        f'<clipPath id="r"><rect width="{total}" height="20" rx="4"/></clipPath>\n'
        f'<g clip-path="url(#r)"><rect width="{left}" height="20" fill="#3a4250"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{colour}"/></g>\n'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11">\n'
        f"{_text(6, left - 12, label)}{_text(left + 6, right - 12, message)}</g>\n</svg>\n"
    )


def _text(x: int, width: int, text: str) -> str:
    return f'<text x="{x}" y="14" textLength="{width}" lengthAdjust="spacingAndGlyphs">{escape(text)}</text>\n'


def _width(text: str) -> int:
    return round(sum(4.2 if letter in _NARROW else 10.0 if letter in _WIDE else 6.9 for letter in text))
