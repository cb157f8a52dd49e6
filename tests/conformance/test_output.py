"""Where results are written: never over what is no file, never into a folder that is not there, told before a run."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from commands import ROOT, conform

from conformance.errors import UsageFault
from conformance.exit_codes import ExitCode
from conformance.output import try_file, try_folder, write_file
from reports.files import write_atomically

REPRODUCE = ("reproduce", "TRAINER-STALE-001/message_of_the_error", "--engine", "refengine", "--to")


def read_in_background(pipe: Path, found: list[str]) -> threading.Thread:
    thread = threading.Thread(target=lambda: found.append(pipe.read_text()), daemon=True)
    thread.start()
    return thread


def test_a_pipe_is_written_into(tmp_path: Path) -> None:
    pipe, found = tmp_path / "pipe", list[str]()
    os.mkfifo(pipe)
    reader = read_in_background(pipe, found)
    done = conform(*REPRODUCE, pipe)
    reader.join(10)
    assert done.returncode == ExitCode.OK, done.stderr
    assert found[0].startswith("#!/usr/bin/env python")
    assert stat.S_ISFIFO(pipe.stat().st_mode), "it is still a pipe"
    assert list(tmp_path.iterdir()) == [pipe]


def test_a_link_stays_one_and_its_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    file, link = tmp_path / "real" / "file", tmp_path / "link"
    file.write_text("old")
    link.symlink_to(Path("real") / "file")
    write_file(link, "new")
    assert link.is_symlink()
    assert file.read_text() == "new"
    dangling = tmp_path / "dangling"
    dangling.symlink_to(tmp_path / "real" / "later")
    write_file(dangling, "made")
    assert (dangling.is_symlink(), (tmp_path / "real" / "later").read_text()) == (True, "made")


def test_an_open_file_named_by_its_descriptor_keeps_what_it_has(tmp_path: Path) -> None:
    """As ``--to /dev/stdout >> log`` does."""
    log, link = tmp_path / "log", tmp_path / "link"
    log.write_text("before\n")
    with log.open("a") as file:
        link.symlink_to(f"/proc/self/fd/{file.fileno()}")
        write_atomically(link, "after\n")
    assert log.read_text() == "before\nafter\n"


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    target = tmp_path / "missing" / "file"
    for act in (try_file, lambda path: write_file(path, "text")):
        with pytest.raises(UsageFault, match="there is no folder"):
            act(target)
    assert conform(*REPRODUCE, target).returncode == ExitCode.USAGE
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_written_is_told_beforehand(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("kept")
    for path in (tmp_path, file / "below", Path("/proc/no-such-file")):
        with pytest.raises(UsageFault, match="cannot be written"):
            try_file(path)
    with pytest.raises(UsageFault, match="cannot be written"):
        try_folder(Path("/proc/no-such-folder"))
    try_file(file)
    try_file(tmp_path / "new")
    try_folder(tmp_path / "new" / "folder")
    assert file.read_text() == "kept"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("arguments", [
    ("oracle", "refengine", "conformance.nulls.zeros", "--seconds", "60", "--output", "/proc/no-such-folder"),
    ("perf", "compare", "--engines", "refengine,conformance.nulls.zeros", "--output", "/proc/no-such-file"),
    ("perf", "compare", "--engines", "refengine,conformance.nulls.zeros", "--output", "missing/file"),
    ("perf", "memory", "--engines", "refengine", "--quick", "--output", "/proc/no-such-file"),
    ("perf", "memory", "--engines", "refengine", "--quick", "--picture", "missing/file"),
    ("run", "--engine", "refengine", "--output", "/proc/no-such-folder"),
], ids=lambda arguments: " ".join((*arguments[:2], *arguments[-2:])))
def test_commands_that_take_long_try_their_output_first(arguments: tuple[str, ...], tmp_path: Path) -> None:
    done = conform(*arguments, cwd=tmp_path)
    assert done.returncode == ExitCode.USAGE, done.stderr
    assert "cannot be written" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device that is always full")
@pytest.mark.parametrize("arguments", [("rules",), ("--help",), ("rules", "--format", "json"), ("engines",)],
                         ids=" ".join)
def test_a_full_standard_output_is_no_fault_of_the_harness(arguments: tuple[str, ...], tmp_path: Path) -> None:
    with open("/dev/full", "w") as full:  # opened as a shell would: it is written into, by a descriptor
        done = subprocess.run([sys.executable, "-m", "conformance", *arguments], stdout=full, stderr=subprocess.PIPE,
                              text=True, check=False, timeout=120, cwd=ROOT)
    assert done.returncode == ExitCode.USAGE, done.stderr
    assert done.stderr.startswith("Error: standard output cannot be written: ")
    assert "Traceback" not in done.stderr
    assert "ignored" not in done.stderr


def test_no_result_file_holds_a_number_that_json_does_not_know(tmp_path: Path) -> None:
    from conformance import result

    with pytest.raises(ValueError, match="not JSON compliant"):
        result.write(tmp_path / "x.jsonl", iter([{"record": "header", "timeout": float("inf")}]))
    assert list(tmp_path.iterdir()) == []
    result.write(tmp_path / "made" / "x.jsonl", iter([{"record": "header"}]))
    assert json.loads((tmp_path / "made" / "x.jsonl").read_text()) == {"record": "header"}
