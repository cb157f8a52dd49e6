"""A drawing of a run: for every model and engine a bar for no reuse, for the plan, and for the measured peak.

The bars of one model share a scale, since models differ by orders of magnitude; the sizes stand beside them. The
drawing has a background of its own, light or dark as the reader's system asks for: it is readable on any page.
"""

from __future__ import annotations

from xml.sax.saxutils import escape

from perfsuite.memory import MODES, MemoryRecord, MemoryRun, mebibytes
from perfsuite.memory_page import conditions, of_mode

SERIES = (("no_reuse", "no reuse"), ("planned", "planned"), ("peak", "measured peak"))

_WIDTH, _MARGIN, _LABEL, _VALUE = 1000, 20, 150, 52
_BAR, _STEP, _BETWEEN_ENGINES, _BETWEEN_MODELS, _TOP = 9, 11, 6, 14, 92

_STYLE = """
.paper { fill: #ffffff } text { fill: #1f2328; font: 12px system-ui, sans-serif }
.quiet { fill: #59636e } .small { font-size: 10px } .head { font-size: 14px; font-weight: 600 }
.no_reuse { fill: #b1bac4 } .planned { fill: #1f6feb } .peak { fill: #d4781c } .rule { stroke: #d1d9e0 }
@media (prefers-color-scheme: dark) {
.paper { fill: #0d1117 } text { fill: #e6edf3 } .quiet { fill: #9198a1 }
.no_reuse { fill: #59636e } .planned { fill: #4493f8 } .peak { fill: #f0a04b } .rule { stroke: #3d444d }
}
"""


def svg(run: MemoryRun) -> str:
    """The drawing as one SVG file; inference on the left, training on the right."""
    models = list(dict.fromkeys(record.model for record in run.records))
    engines = [entry["name"] for entry in run.engines]
    engine_height = len(SERIES) * _STEP + _BETWEEN_ENGINES
    model_height = len(engines) * engine_height + _BETWEEN_MODELS
    height = _TOP + len(models) * model_height + _MARGIN
    column = (_WIDTH - 2 * _MARGIN) / len(MODES)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" '
        f'height="{height}">',
        "<title>Memory of networks: no reuse, planned, measured peak</title>",
        f"<desc>{escape(conditions(run))}</desc>",
        f"<style>{_STYLE}</style>",
        f'<rect class="paper" width="{_WIDTH}" height="{height}" rx="6"/>',
        *_legend(),
    ]
    for number, mode in enumerate(MODES):
        left = _MARGIN + number * column
        parts.append(_text(left, 62, f"{mode.capitalize()}, MiB", "head"))
        records = {(r.model, r.engine): r for r in of_mode(run, mode)}
        for place, model in enumerate(models):
            top = _TOP + place * model_height
            found = [records[model, engine] for engine in engines if (model, engine) in records]
            scale = max((getattr(r, key) or 0 for r in found for key, _ in SERIES), default=0)
            parts.append(f'<line class="rule" x1="{left:g}" x2="{left + column - _MARGIN:g}" y1="{top - 9}" '
                         f'y2="{top - 9}"/>')
            for row, record in enumerate(found):
                parts += _bars(record, row == 0, left, top + row * engine_height, column, scale)
    return "\n".join([*parts, "</svg>", ""])


def _legend() -> list[str]:
    parts, x = [], float(_MARGIN)
    for key, name in SERIES:
        parts += [f'<rect class="{key}" x="{x:g}" y="20" width="12" height="12" rx="2"/>', _text(x + 18, 30, name)]
        x += 40 + 7 * len(name)
    return [*parts, _text(x + 12, 30, "the bars of one model share a scale", "quiet")]


def _bars(record: MemoryRecord, first: bool, left: float, top: float, column: float, scale: int) -> list[str]:
    """The label and the bars of one model on one engine; a dash where there is no number."""
    parts = []
    if first:
        parts.append(f'<text x="{left:.1f}" y="{top + 9:g}">{escape(record.title)} <tspan class="quiet small">batch '
                     f"{record.batch}</tspan></text>")
    parts.append(_text(left, top + (22 if first else 9), record.engine, "quiet small"))
    room = column - _LABEL - _VALUE - _MARGIN
    for number, (key, name) in enumerate(SERIES):
        size = getattr(record, key)
        y = top + number * _STEP
        length = room * (size or 0) / scale if scale else 0.0
        if size is not None:
            parts.append(f'<rect class="{key}" x="{left + _LABEL:g}" y="{y:g}" width="{max(length, 1):.1f}" '
                         f'height="{_BAR}" rx="1"><title>{escape(record.title)} on {escape(record.engine)}, {name}: '
                         f"{mebibytes(size)} MiB</title></rect>")
        parts.append(_text(left + _LABEL + length + 5, y + 8, mebibytes(size), "quiet small"))
    return parts


def _text(x: float, y: float, text: str, kind: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:g}"{f" class={kind!r}" if kind else ""}>{escape(text)}</text>'
