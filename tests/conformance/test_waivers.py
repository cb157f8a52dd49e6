"""Waivers are dated, reasoned and exact; what is not is an error with its line."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from conformance.errors import UsageFault
from conformance.waivers import check_against, read_waivers

TODAY = datetime.date(2025, 6, 1)

GOOD = """\
# What we know about.

[[waiver]]
id = "MINI-DOUBLE-001"
reason = "doubling is off by one, TICKET-7"
since = 2025-05-01
expires = 2025-07-01

[[waiver]]
id = "MINI-ADD-001/adds_up[small]"
reason = "short lists are emptied, TICKET-8"
since = 2025-05-01
expires = 2025-06-01
engine_version = "1.0"
"""


def read(folder: Path, text: str) -> tuple[str, ...]:
    path = folder / "waivers.toml"
    path.write_text(text)
    return tuple(waiver.id for waiver in read_waivers(path, TODAY))


def faults(folder: Path, text: str) -> list[str]:
    with pytest.raises(UsageFault) as caught:
        read(folder, text)
    assert caught.value.exit_code == 2
    return [line.replace(str(folder) + "/", "") for line in caught.value.message.splitlines()[1:]]


def entry(**changed: str | None) -> str:
    lines = {"id": '"MINI-DOUBLE-001"', "reason": '"off by one, TICKET-7"', "since": "2025-05-01",
             "expires": "2025-07-01", **changed}
    return "[[waiver]]\n" + "".join(f"{key} = {value}\n" for key, value in lines.items() if value is not None)


def test_good_file(tmp_path: Path) -> None:
    path = tmp_path / "waivers.toml"
    path.write_text(GOOD)
    first, second = read_waivers(path, TODAY)
    assert (first.id, first.where) == ("MINI-DOUBLE-001", f"{path}:4")
    assert second.engine_version == "1.0"
    assert first.covers("MINI-DOUBLE-001", "MINI-DOUBLE-001/anything")
    assert second.covers("MINI-ADD-001", "MINI-ADD-001/adds_up[small]")
    assert not second.covers("MINI-ADD-001", "MINI-ADD-001/adds_up[large]")
    assert second.as_record()["expires"] == "2025-06-01"


def test_empty_file_has_no_waivers(tmp_path: Path) -> None:
    assert read(tmp_path, "") == ()


@pytest.mark.parametrize(
    ("changed", "line", "told"),
    [
        ({"expires": "2025-05-31"}, 5, "MINI-DOUBLE-001: expired on 2025-05-31"),
        ({"reason": None}, 1, "unexplained: expected a reason of at least ten characters, got None"),
        ({"reason": '"  todo   "'}, 3, "unexplained"),
        ({"since": None}, 1, "since: expected a date such as 2025-07-01 (without quotes), got None"),
        ({"since": '"2025-05-01"'}, 4, "since: expected a date"),
        ({"since": "2025-05-01T10:00:00"}, 4, "since: expected a date"),
        ({"since": "2025-06-02"}, 4, "lies in the future"),
        ({"since": "2025-05-01", "expires": "2025-04-01"}, 4, "since 2025-05-01 is after expires 2025-04-01"),
        ({"id": '"MINI-*"'}, 2, "expected one rule or case, exactly (no pattern), got 'MINI-*'"),
        ({"id": "7"}, 2, "expected one rule or case"),
        ({"engine_version": "1.0"}, 6, "engine_version: expected a version string, got 1.0"),
        ({"expiers": "2025-07-01"}, 6, "unknown key 'expiers'; did you mean 'expires'?"),
    ],
)
def test_fault_is_told_with_its_line(tmp_path: Path, changed: dict[str, str], line: int, told: str) -> None:
    found = faults(tmp_path, entry(**changed))
    assert any(fault.startswith(f"waivers.toml:{line}: ") and told in fault for fault in found), found


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    found = faults(tmp_path, entry(reason=None) + "\n" + entry(id='"MINI-ADD-001"', expires="2025-05-02"))
    assert [fault.split(": ")[0] for fault in found] == ["waivers.toml:1", "waivers.toml:10"]


def test_waived_twice(tmp_path: Path) -> None:
    assert faults(tmp_path, entry() + entry()) == [
        "waivers.toml:7: MINI-DOUBLE-001 is waived twice; first in line 2"]


@pytest.mark.parametrize("text", ["[waiver]\n", "waivers = []\n", "= nonsense"])
def test_other_documents_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageFault, match=r"waivers.toml"):
        read(tmp_path, text)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(UsageFault, match="cannot be read"):
        read_waivers(tmp_path / "none.toml", TODAY)


def test_what_does_not_exist_cannot_be_waived(tmp_path: Path) -> None:
    path = tmp_path / "waivers.toml"
    path.write_text(GOOD)
    waivers = read_waivers(path, TODAY)
    rules, cases = ["MINI-DOUBLE-001", "MINI-ADD-001"], ["MINI-ADD-001/adds_up[small]"]
    check_against(waivers, rules, cases, "1.0")
    with pytest.raises(UsageFault, match=r":4: MINI-DOUBLE-001 does not exist; did you mean MINI-DOUBLES-001"):
        check_against(waivers, ["MINI-DOUBLES-001"], cases, "1.0")
    with pytest.raises(UsageFault, match=r":10: .* is waived for version 1.0 of the engine, and this is 2.0"):
        check_against(waivers, rules, cases, "2.0")
