"""Reading result files: what is whole is read, what is not is refused with its line."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
import runs

from reports import ResultError, load, parse
from reports.testing import case_record, footer, header, records, rule, sample


def refused(records_or_text, match, line=None):
    text = records_or_text if isinstance(records_or_text, str | bytes) else runs.text_of(records_or_text)
    with pytest.raises(ResultError, match=match) as caught:
        parse(text, "some.jsonl")
    assert str(caught.value).startswith("some.jsonl")
    if line is not None:
        assert caught.value.line == line
        assert f"line {line}: " in str(caught.value)
    return caught.value


def test_a_whole_file_is_read(tmp_path):
    path = tmp_path / "one.jsonl"
    path.write_text(runs.text_of(records("one")), encoding="utf-8")
    result = load(path)
    assert (result.name, result.version, result.python, result.numpy) == ("one", "1.0", "3.11.7", "2.3.0")
    assert result.path == str(path)
    assert result.rules[0].id == "TRAINER-CORE-001"
    assert [case.outcome for case in result.cases] == ["pass", "fail", "unsupported"]
    assert result.counts == {"pass": 1, "fail": 1, "unsupported": 1}
    assert result.cases[1].failure.expected == "array([-2., -2., -2.])"
    assert result.cases[1].failure.traceback == ""
    assert result.rules[0].releases["mxnet-1.9.1"].status == "holds"
    assert result.rules[3].pending


def test_records_are_frozen():
    result = sample()
    with pytest.raises(AttributeError):
        result.name = "other"
    with pytest.raises(AttributeError):
        result.cases[0].outcome = "pass"


def test_a_missing_file_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.jsonl")


def test_every_cut_is_refused():
    """A file cut anywhere, between lines or inside one, is refused."""
    text = runs.text_of(records())
    for length in range(len(text) - 1):
        with pytest.raises(ResultError):
            parse(text[:length])
    parse(text)


def test_a_cut_between_lines_says_so():
    refused(runs.text_of(records()[:-1]), "the file is cut off: no footer record after 3 case records")


def test_a_cut_inside_a_line_says_so():
    refused(runs.text_of(records())[:-30], "cut off in the middle of this line", line=9)


def test_a_lost_line_is_refused():
    """Taking any single line out of a file is noticed."""
    whole = records()
    for number in range(len(whole)):
        with pytest.raises(ResultError):
            parse(runs.text_of(whole[:number] + whole[number + 1 :]))


def test_a_doubled_line_is_refused():
    whole = records()
    for number in range(len(whole)):
        with pytest.raises(ResultError):
            parse(runs.text_of([*whole[: number + 1], *whole[number:]]))


def test_empty_and_binary_files():
    refused("", "is empty; expected a header record")
    refused("\n \n", "is empty")
    refused(b"\xff\xfe\x00", "is not UTF-8 text")
    refused("PK\x03\x04\n", "is not JSON", line=1)


@pytest.mark.parametrize("text", ["[]", "3", "null", '"x"'])
def test_a_line_that_is_no_object(text):
    refused(text + "\n", "expected a JSON object", line=1)


def test_nesting_is_bounded():
    refused("[" * 200_000 + "\n", "nested too deeply|is not JSON", line=1)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_json_does_not_have(number):
    text = runs.text_of(records()).replace('"seconds": 0.5', f'"seconds": {number}')
    refused(text, f"{number} is not a JSON number", line=9)


def test_numbers_beyond_floats():
    text = runs.text_of(records()).replace('"seconds": 0.5', '"seconds": 1' + "0" * 400)
    refused(text, "'seconds': expected a number of at least 0", line=9)


def test_the_header_comes_first():
    refused(records()[1:], "expected a header record first, got record 'rule'", line=1)


def test_other_formats_and_versions():
    other = records()
    other[0]["format"] = "pytest-report"
    refused(other, "expected format 'gluon-conformance-result', got 'pytest-report'", line=1)
    newer = records()
    newer[0]["version"] = 2
    refused(newer, "version 2 of the format is not known here; this program reads version 1", line=1)


def test_nothing_after_the_footer():
    refused([*records(), records()[1]], "there is more after the footer", line=10)


def test_an_unknown_record():
    whole = records()
    whole.insert(3, {"record": "remark"})
    refused(whole, "expected record 'rule', 'case' or 'footer', got 'remark'", line=4)


def test_miscounts_are_refused():
    total = records()
    total[-1]["total"] = 4
    refused(total, "miscounted: the footer counts 4 cases, the file has 3", line=9)
    swapped = records()
    swapped[-1]["counts"] = {"pass": 2, "unsupported": 1}
    refused(swapped, "miscounted: the footer counts 0 cases as 'fail', the file has 1", line=9)
    rules = records()
    rules[-1]["rules"] = 5
    refused(rules, "miscounted: the footer counts 5 rules, the file has 4", line=9)


def test_a_case_needs_its_rule():
    stray = [header("x"), case_record("A-B-001/c", "a", "MUST", "pass", "x"), footer({"pass": 1}, 0)]
    refused(stray, "names rule 'A-B-001', which has no rule record before it", line=2)


def test_a_case_agrees_with_its_rule():
    stray = [
        header("x"),
        rule("A-B-001", "a", "MUST"),
        case_record("A-B-001/c", "a", "MAY", "pass", "x"),
        footer({"pass": 1}, 1),
    ]
    refused(stray, "level 'MAY', but its rule says 'a' and 'MUST'", line=3)


def test_a_surprise_needs_its_rule():
    stray = records()
    stray[-1]["surprises"] = [{"rule": "NO-SUCH-001", "expected": "holds", "observed": "fail"}]
    refused(stray, "surprise about rule 'NO-SUCH-001'", line=9)


def test_wrong_types_are_named():
    wrong = records()
    wrong[5]["seconds"] = "fast"
    refused(wrong, "case record: 'seconds': expected a number of at least 0, got text 'fast'", line=6)
    wrong = records()
    del wrong[5]["outcome"]
    refused(wrong, "case record: 'outcome' is missing", line=6)
    wrong = records()
    wrong[1]["releases"]["mxnet-1.9.1"]["status"] = "maybe"
    refused(wrong, r"'status': expected one of holds, differs, absent, untested, got text 'maybe'", line=2)
    wrong = records()
    wrong[-1]["surprises"] = [{"rule": 3}]
    refused(wrong, "'surprises', item 1: 'rule': expected text, got the number 3", line=9)
    wrong = records()
    del wrong[0]["engine"]["capabilities"]
    refused(wrong, "header record: 'engine': 'capabilities' is missing", line=1)


def test_unknown_keys_are_ignored():
    more = records()
    for record in more:
        record["future"] = {"anything": [1, None]}
    assert parse(runs.text_of(more)).counts == sample().counts


def test_text_becomes_visible():
    result = parse(runs.text_of(runs.hostile_lines()), "x")
    for text in (result.name, result.cases[0].message, result.cases[0].failure.got, result.rules[15].statement):
        assert not any(character in text for character in "\x00\x07\x1b\r\u202e\u2028\ud800\ufffe")
    assert result.rules[15].statement == "␛[31mred␛[0m␛]0;title␇␍␈"
    assert result.rules[16].statement.startswith("⟨U+202E⟩gnp.exe")


def test_line_separators_inside_strings_are_no_line_ends():
    whole = copy.deepcopy(records())
    whole[1]["statement"] = "a\u2028b\x85c"
    text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in whole)
    assert parse(text).rules[0].statement == "a⟨U+2028⟩b⟨U+0085⟩c"


def test_files_of_the_size_of_the_whole_suite_are_read_fast(tmp_path):
    """1,800 rules and 5,400 cases cost well under a second of CPU time; the margin is wide, for slow machines."""
    import time

    rules, cases = [], []
    for number in range(1800):
        identifier = f"AREA-TOPIC{number // 900}-{number % 900 + 1:03d}"
        names = [f"{identifier}/case[{n}]" for n in range(3)]
        rules.append(rule(identifier, "area", "MUST", cases=names))
        cases += [case_record(name, "area", "MUST", "fail", "x") for name in names]
    text = runs.text_of([header("x"), *rules, *cases, footer({"fail": len(cases)}, len(rules))])
    path = Path(tmp_path / "big.jsonl")
    path.write_text(text)
    began = time.process_time()
    load(path)
    assert time.process_time() - began < 3
