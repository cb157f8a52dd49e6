"""``conform report`` as people run it, and the package's independence."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
import runs
from click.testing import CliRunner

import reports
from conformance.cli import main
from reports.files import write_atomically
from reports.testing import records


@pytest.fixture
def results(tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    for engine in ("ref", "mx", "acme"):
        (folder / f"{runs.NAMES[engine]}.jsonl").write_text(runs.text_of(runs.lines(engine)))
    return folder


def invoke(*arguments):
    return CliRunner().invoke(main, ["report", *map(str, arguments)])


def test_every_format_on_standard_output(results):
    files = sorted(results.glob("*.jsonl"))
    assert invoke("html", *files).output.startswith("<!doctype html>")
    assert invoke("markdown", *files).output.startswith("## Gluon conformance")
    assert ElementTree.fromstring(invoke("junit", *files).stdout).tag == "testsuites"
    assert json.loads(invoke("ctrf", *files).stdout)["reportFormat"] == "CTRF"
    assert "acme-gluon 3.1.4: does not conform" in invoke("terminal", *files).output
    assert invoke("badge", files[0]).output.startswith("<svg")


def test_a_folder_stands_for_its_files_and_output_is_written(results, tmp_path):
    (tmp_path / "new").mkdir()
    target = tmp_path / "new" / "report.html"
    done = invoke("html", results, "--output", target, "--title", "Nightly")
    assert (done.exit_code, done.stdout) == (0, "")
    assert str(target) in done.stderr
    text = target.read_text(encoding="utf-8")
    assert "<h1>Nightly</h1>" in text
    assert text.count('<article class="card') == 3
    names = re.findall('<article class="card [^"]*" aria-label="([^"]*)"', text)
    assert names == ["acme-gluon", "refengine", "mxnet-1.9.1"], "engines with an inventory come last"
    assert os.listdir(target.parent) == ["report.html"]


def test_a_faulty_file_is_wrong_use(results, tmp_path):
    cut = tmp_path / "cut.jsonl"
    cut.write_text(runs.text_of(records()[:-1]))
    done = invoke("html", cut)
    assert done.exit_code == 2
    assert "cut.jsonl, line 8: the file is cut off: no footer record" in done.stderr
    assert done.stdout == ""
    done = invoke("terminal", tmp_path / "none.jsonl")
    assert done.exit_code == 2
    assert "none.jsonl: No such file or directory" in done.stderr
    empty = tmp_path / "empty"
    empty.mkdir()
    done = invoke("terminal", empty)
    assert done.exit_code == 2
    assert "expected a folder with result files" in done.stderr
    assert invoke("html").exit_code == 2


def test_a_badge_of_several_engines_is_wrong_use(results):
    done = invoke("badge", results)
    assert done.exit_code == 2
    assert "a badge speaks of one engine, got 3" in done.stderr


def test_a_faulty_file_leaves_an_earlier_artefact_alone(tmp_path):
    target = tmp_path / "report.html"
    target.write_text("earlier")
    (tmp_path / "bad.jsonl").write_text("{}\n")
    assert invoke("html", tmp_path / "bad.jsonl", "-o", target).exit_code == 2
    assert target.read_text() == "earlier"


def test_output_that_cannot_be_written(results, tmp_path):
    (tmp_path / "file").write_text("")
    done = invoke("html", results, "-o", tmp_path / "file" / "x.html")
    assert done.exit_code == 2
    assert "cannot be written" in done.stderr


def test_compare_ends_with_one_when_something_was_lost(results):
    better, worse = results / "refengine.jsonl", results / "acme-gluon.jsonl"
    assert invoke("compare", better, better).exit_code == 0
    done = invoke("compare", better, worse)
    assert done.exit_code == 1
    assert "OPT-ADAM-001/observe[b] (MUST): pass -> fail" in done.output
    assert invoke("compare", worse, better).exit_code == 0
    assert json.loads(invoke("compare", better, worse, "--format", "json").stdout)["worse"] is True


def test_standard_output_is_utf8_whatever_the_locale(results):
    environment = dict(
        os.environ, LC_ALL="C", PYTHONIOENCODING="ascii", PYTHONPATH=str(Path(reports.__file__).parents[1])
    )
    code = "from conformance.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "report", "markdown", str(results)],
        env=environment,
        capture_output=True,
        check=True,
    )
    assert "“unsupported”" in done.stdout.decode("utf-8")


def test_files_are_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "a.txt"
    write_atomically(path, "one\r\ntwo")
    assert path.read_bytes() == b"one\r\ntwo"
    with pytest.raises(UnicodeEncodeError):
        write_atomically(path, "\ud800")
    assert path.read_bytes() == b"one\r\ntwo"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_reports_imports_no_other_package_of_ours():
    root = Path(reports.__file__).parent
    checked = 0
    for path in root.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{path}:{node.lineno}: relative import"
                names = [node.module]
            for name in names:
                checked += 1
                assert name.split(".")[0] not in ("refengine", "conformance", "perfsuite"), (
                    f"{path}:{node.lineno}: {name}"
                )
    assert checked > 50
