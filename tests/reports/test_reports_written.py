"""What the harness writes is what the reports read, whatever an engine says."""

from __future__ import annotations

import json

import runs

from conformance.result import write
from reports import load


def test_text_that_no_encoding_holds_survives_the_result_file(tmp_path):
    """Unpaired surrogates and line separators in an engine's messages neither lose the run nor split a line."""
    path = tmp_path / "hostile.jsonl"
    write(path, iter(runs.hostile_lines()))
    result = load(path)
    assert len(result.cases) == len(runs.HOSTILE)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["record"] for line in lines][-1] == "footer"
