"""The HTML page without a browser: self-contained, valid, escaped, the same each time."""

from __future__ import annotations

import base64
import hashlib
import html.parser
import json
import re

import pytest
import runs

from reports import merge, parse
from reports.html import render
from reports.testing import case_record, footer, header, rule


class Reader(html.parser.HTMLParser):
    """Collects elements, and checks that they close in order."""

    VOID = {"meta", "link", "input", "br", "hr", "img", "col"}

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.raw, self.texts = [], [], {}, []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))  # inside svg

    def handle_endtag(self, tag):
        assert self.open[-1:] == [tag], (tag, self.open)
        self.open.pop()

    def handle_data(self, text):
        if self.open and self.open[-1] in ("script", "style"):
            self.raw.setdefault(self.open[-1], []).append(text)
        else:
            self.texts.append(text)


@pytest.fixture(scope="module", params=["demo", "hostile", "one"])
def page(request):
    report = {"demo": runs.report, "hostile": runs.hostile, "one": lambda: runs.report("acme")}[request.param]()
    return render(report)


def test_the_page_is_a_pure_function_of_the_report():
    assert render(runs.report()) == render(runs.report())


def test_elements_close_and_ids_are_unique(page):
    elements = Reader(page).elements
    ids = [attributes["id"] for _, attributes in elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in elements:
        for name in ("aria-labelledby", "aria-controls"):
            if name in attributes:
                assert attributes[name] in ids


def test_nothing_is_loaded_from_elsewhere(page):
    for tag, attributes in Reader(page).elements:
        for name in ("src", "srcset", "action", "formaction", "poster", "data", "ping"):
            assert name not in attributes, (tag, attributes)
        if "href" in attributes:
            assert attributes["href"].startswith(("#", "data:image/svg+xml,")), attributes
        assert not [name for name in attributes if name.startswith("on")]
    style = Reader(page).raw["style"][0]
    assert "@import" not in style
    assert re.findall(r"url\((?!\"data:image/svg\+xml,)", style) == []
    assert "@font-face" not in style


def test_the_policy_allows_only_our_scripts(page):
    reader = Reader(page)
    policy = next(a["content"] for tag, a in reader.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'")
    early, data, script = reader.raw["script"]
    for text in (early, script):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert "unsafe-inline" not in policy.split("script-src")[1]
    assert "unsafe-eval" not in policy
    json.loads(data)


def test_our_script_turns_no_text_into_markup():
    script = Reader(render(runs.report("ref"))).raw["script"][2]
    for name in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "new Function",
        "DOMParser",
    ):
        assert name not in script


def test_hostile_text_stays_text():
    page = render(runs.hostile())
    reader = Reader(page)
    allowed = {tag for tag, _ in Reader(render(runs.report())).elements}
    assert {tag for tag, _ in reader.elements} <= allowed
    assert len(reader.raw["script"]) == 3
    assert page.count("<script") == 3
    assert page.count("<!--") == 0
    data = reader.raw["script"][1]
    assert not set(data) & set("<>&\u2028\u2029")
    rules = json.loads(data)["rules"]
    statements = {rule["statement"] for rule in rules}
    assert "</script><script>window.hacked=1</script>" in statements
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", page)


def test_long_text_is_cut_and_says_so():
    page = render(runs.hostile())
    assert "characters left out" in page
    assert len(page) < 3_500_000


def test_a_page_about_the_whole_suite_is_of_modest_size():
    """1,800 rules on three engines: under 2 MB, most of it the inventory's own text."""
    results = []
    for engine in ("one", "two", "three"):
        rules, cases = [], []
        for number in range(1800):
            identifier = f"AREA{number // 900}-TOPIC-{number % 900 + 1:03d}"
            text = f"Rule {number} says what a Trainer does when it is asked to step, and what it does not do. " * 2
            rules.append(
                rule(identifier, f"area{number // 90}", "MUST", statement=text, cases=[f"{identifier}/observe"])
            )
            cases.append(case_record(f"{identifier}/observe", f"area{number // 90}", "MUST", "pass", engine))
        lines = [header(engine), *rules, *cases, footer({"pass": 1800}, 1800)]
        results.append(parse(runs.text_of(lines)))
    assert len(render(merge(results))) < 2_000_000


def test_cards_say_the_verdicts_in_words():
    text = " ".join(" ".join(Reader(render(runs.report())).texts).split())
    assert "does not conform" in text
    assert "2 surprises" in text
    assert "Every rule that was judged holds." in text
    assert "Held against the inventory of mxnet-1.9.1: 2 rules did not behave as recorded." in text
    assert "5 rules failed, 3 of them MUST." in text


def test_no_case_yet_is_shown_apart():
    text = " ".join(" ".join(Reader(render(runs.report())).texts).split())
    assert "No case yet in 1 area: ndarray 2" in text
    assert "are not passes" in text
