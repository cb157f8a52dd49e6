"""The report as one self-contained HTML page: engines side by side, filters, search, every rule opens.

The page loads nothing: style, script and data are inlined, and its content security policy forbids everything else,
inline script other than its own included. Text from engines reaches the page in two ways only: through the template,
which escapes it, and as JSON that the script turns into text nodes.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files

import jinja2
from markupsafe import Markup

from reports.html.data import embed
from reports.html.view import page_view
from reports.matrix import Report

#: Parts of the script, in the order in which they are joined inside one function.
SCRIPTS = ("base.js", "state.js", "detail.js", "matrix.js", "keyboard.js", "start.js")
STYLES = ("tokens.css", "page.css", "matrix.css", "detail.css", "print.css")


def render(report: Report, title: str = "Gluon conformance") -> str:
    """Return the page; the same report gives the same text, byte for byte."""
    script = _script()
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; style-src 'unsafe-inline'; "
        f"script-src '{_digest(_early())}' '{_digest(script)}'"
    )
    return _template().render(
        title=title,
        policy=policy,
        style=Markup(_style()),
        early=Markup(_early()),
        script=Markup(script),
        data=Markup(embed(report)),
        page=page_view(report),
    )


def _asset(name: str) -> str:
    return (files("reports.html") / "assets" / name).read_text(encoding="utf-8")


@cache
def _script() -> str:
    return '(function () {\n"use strict";\n' + "\n".join(_asset(name) for name in SCRIPTS) + "}());"


@cache
def _early() -> str:
    """The few lines that choose light or dark before the first paint."""
    return _asset("theme.js")


@cache
def _style() -> str:
    return "\n".join(_asset(name) for name in STYLES)


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.DictLoader({"page.html.j2": _asset("page.html.j2")}),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("page.html.j2")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
