"""The page: one document with its style and its script inside. It loads nothing but data of its own server.

What comes from files reaches the page as JSON only, and its script makes text nodes of it.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files

STYLES = ('tokens.css', 'page.css', 'charts.css')

SCRIPTS = ('base.js', 'data.js', 'chart.js', 'scalars.js', 'operators.js', 'timeline.js', 'start.js')
"""Parts of the script, joined inside one function in this order."""


def _asset(name: str) -> str:
    return (files(__package__) / name).read_text(encoding='utf-8')


@cache
def _parts() -> dict[str, str]:
    return {
        'style': '\n'.join(map(_asset, STYLES)),
        'early': _asset('theme.js'),
        'script': '(function () {\n"use strict";\n' + '\n'.join(map(_asset, SCRIPTS)) + '}());',
    }


@cache
def page() -> bytes:
    """The document."""
    text = _asset('page.html')
    for name, part in _parts().items():
        text = text.replace(f'/*{name}*/', part)
    return text.encode()


def _digest(name: str) -> str:
    return base64.b64encode(hashlib.sha256(_parts()[name].encode()).digest()).decode()


PAGE_POLICY = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; connect-src 'self'; "
    f"img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{_digest('early')}' 'sha256-{_digest('script')}'"
)
"""What the page may do: run its own script, and ask its own server."""
