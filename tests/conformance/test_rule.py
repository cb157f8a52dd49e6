"""The inventory loads, quickly, and says where an entry is wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from conformance.pending import load_pending, pending_rules
from conformance.rule import (
    AREAS,
    LEVELS,
    RELEASES,
    RULES_FOLDER,
    STATUSES,
    VERDICTS,
    Rule,
    RuleError,
    load_rules,
    near_names,
    select,
)

SCHEMA = json.loads((RULES_FOLDER / "schema.json").read_text(encoding="utf-8"))

SOUND: dict[str, Any] = {
    "id": "AREA-TOPIC-001",
    "area": "trainer",
    "level": "MUST",
    "statement": "Something is so.",
    "source": "document.txt, section",
    "verdict": "spec",
    "api": ["gluon.Trainer"],
    "needs": [],
    "releases": {name: {"status": "holds", "observation": "as stated"} for name in RELEASES},
}


def write(folder: Path, *entries: object, name: str = "rules-x.yaml") -> Path:
    (folder / name).write_text("# A comment\n\n" + yaml.safe_dump(list(entries), sort_keys=False), encoding="utf-8")
    return folder


def test_every_file_is_as_the_schema_says() -> None:
    validator = jsonschema.Draft202012Validator(SCHEMA)
    for path in sorted(RULES_FOLDER.glob("rules-*.yaml")):
        entries = yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        found = [f"{path.name} {error.json_path}: {error.message[:300]}" for error in validator.iter_errors(entries)]
        assert not found, "\n".join(found)


def test_the_schema_and_the_loader_know_the_same_words() -> None:
    known = SCHEMA["items"]["properties"]
    assert known["area"]["enum"] == list(AREAS)
    assert known["level"]["enum"] == list(LEVELS)
    assert known["verdict"]["enum"] == list(VERDICTS)
    assert tuple(known["releases"]["required"]) == RELEASES
    assert SCHEMA["$defs"]["release"]["properties"]["status"]["enum"] == list(STATUSES)


def test_an_entry_becomes_a_rule_with_its_place(tmp_path: Path) -> None:
    rules = load_rules(write(tmp_path, SOUND, {**SOUND, "id": "AREA-TOPIC-002", "notes": "a\nb"}), cache=None)
    rule = rules["AREA-TOPIC-002"]
    assert isinstance(rule, Rule)
    assert (rule.file, rule.where) == ("rules-x.yaml", f"rules-x.yaml:{rule.line}")
    assert (tmp_path / "rules-x.yaml").read_text().split("\n")[rule.line - 1] == "- id: AREA-TOPIC-002"
    assert (rule.api, rule.needs, rule.check, rule.notes) == (("gluon.Trainer",), (), "", "a\nb")
    assert rule.status("mxnet-1.9.1") == "holds"
    assert rule.status("unknown engine") == "untested"
    with pytest.raises(AttributeError):
        rule.level = "MAY"  # type: ignore[misc]


WRONG = {
    "no id": ({"id": None}, "text under 'id'"),
    "faulty id": ({"id": "trainer-1"}, "AREA-TOPIC-NNN"),
    "unknown area": ({"area": "cooking"}, "area to be one of ndarray"),
    "unknown level": ({"level": "must"}, "level to be one of MUST, SHOULD, MAY"),
    "empty statement": ({"statement": " "}, "text under 'statement'"),
    "api is a text": ({"api": "gluon.Trainer"}, "list of texts under 'api'"),
    "needs twice": ({"needs": ["gpu", "gpu"]}, "each text under 'needs' once"),
    "needs in capitals": ({"needs": ["GPU"]}, "capabilities in lower case"),
    "unknown key": ({"levle": "MUST"}, "only the keys"),
    "a release is missing": ({"releases": {}}, "the releases mxnet-1.9.1 and mxnet-2.0.0b1"),
    "unknown status": (
        {"releases": {name: {"status": "works", "observation": "x"} for name in RELEASES}},
        "one of holds, differs, absent, untested",
    ),
    "no observation": ({"releases": {name: {"status": "holds"} for name in RELEASES}}, "'status' and 'observation'"),
    "erratum without the document": ({"verdict": "erratum"}, "'document_says' in an erratum"),
    "document without erratum": ({"document_says": "Otherwise."}, "'document_says' in an erratum"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_entry_is_named_with_file_and_line(tmp_path: Path, case: str) -> None:
    change, message = WRONG[case]
    entry = {**SOUND, "id": "AREA-TOPIC-002", **change}
    write(tmp_path, SOUND, entry)
    line = [n for n, text in enumerate((tmp_path / "rules-x.yaml").read_text().split("\n"), 1) if text[:2] == "- "][1]
    with pytest.raises(RuleError) as caught:
        load_rules(tmp_path, cache=None)
    assert str(caught.value).startswith(f"rules-x.yaml:{line}: ")
    assert message in str(caught.value)
    assert not jsonschema.Draft202012Validator(SCHEMA).is_valid([entry]), "the schema must refuse what the loader does"


def test_a_missing_key_is_named(tmp_path: Path) -> None:
    entry = {key: value for key, value in SOUND.items() if key != "level"}
    with pytest.raises(RuleError, match="expected the key 'level'"):
        load_rules(write(tmp_path, entry), cache=None)


def test_twice_the_same_id_names_both_places(tmp_path: Path) -> None:
    write(tmp_path, SOUND, name="rules-a.yaml")
    write(tmp_path, SOUND, name="rules-b.yaml")
    with pytest.raises(RuleError, match=r"rules-b.yaml:3: AREA-TOPIC-001 stands already at rules-a.yaml:3"):
        load_rules(tmp_path, cache=None)


def test_text_that_is_not_yaml(tmp_path: Path) -> None:
    (tmp_path / "rules-x.yaml").write_text("- id: A\n  b: [\n")
    with pytest.raises(RuleError, match=r"rules-x.yaml:\d: not readable as YAML"):
        load_rules(tmp_path, cache=None)
    (tmp_path / "rules-x.yaml").write_text("id: A\n")
    with pytest.raises(RuleError, match="expected a list of rules, got dict"):
        load_rules(tmp_path, cache=None)
    with pytest.raises(RuleError, match="found none"):
        load_rules(tmp_path / "nowhere", cache=None)


def test_the_cache_is_used_and_follows_the_files(tmp_path: Path) -> None:
    write(tmp_path, SOUND)
    cache = tmp_path / "cache"
    first = load_rules(tmp_path, cache=cache)
    (kept,) = cache.iterdir()
    assert load_rules(tmp_path, cache=cache) == first
    # The cache really is read: what stands in it under the right key is believed.
    content = json.loads(kept.read_text())
    content["entries"][0][2]["statement"] = "From the cache."
    kept.write_text(json.dumps(content))
    assert load_rules(tmp_path, cache=cache)["AREA-TOPIC-001"].statement == "From the cache."
    write(tmp_path, {**SOUND, "statement": "Changed."})
    assert load_rules(tmp_path, cache=cache)["AREA-TOPIC-001"].statement == "Changed."
    kept.write_text("{ cut off")
    assert load_rules(tmp_path, cache=cache)["AREA-TOPIC-001"].statement == "Changed."
    assert [path.name for path in cache.iterdir()] == [kept.name]


def test_a_cache_that_cannot_be_written_does_not_matter(tmp_path: Path) -> None:
    write(tmp_path, SOUND)
    (tmp_path / "file").write_text("")
    assert load_rules(tmp_path, cache=tmp_path / "file" / "below")


def test_the_whole_inventory_loads_in_under_three_tenths_of_a_second() -> None:
    load_rules()  # fills the cache
    code = (
        "import time, conformance.rule as rule\n"
        "spent = []\n"
        "for _ in range(3):\n"
        "    start = time.process_time(); rules = rule.load_rules(); spent.append(time.process_time() - start)\n"
        "print(len(rules), min(spent))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    count, seconds = done.stdout.split()
    assert int(count) > 1500
    assert float(seconds) < 0.3, f"{seconds} s of CPU time with a filled cache"


def test_selecting() -> None:
    rules = load_rules()

    def ids(**filters: Any) -> set[str]:
        return {rule.id for rule in select(rules.values(), **filters)}

    assert ids() == set(rules)
    assert ids(globs=["trainer-core-001"]) == {"TRAINER-CORE-001"}
    assert ids(globs=["TRAINER-CORE-00[12]"], levels=["MUST"]) == {"TRAINER-CORE-001", "TRAINER-CORE-002"}
    assert all(rules[i].area == "trainer" for i in ids(areas=["trainer"]))
    assert "TRAINER-SPARSE-001" in ids(needs=["sparse"])
    assert "TRAINER-SPARSE-001" not in ids(needs=["none"])
    assert "TRAINER-STALE-007" in ids(statuses=[("mxnet-1.9.1", "differs")])
    assert not ids(statuses=[("mxnet-1.9.1", "differs")]) & ids(statuses=[("mxnet-1.9.1", "holds")])
    assert ids(verdicts=["erratum"])


def test_near_names() -> None:
    assert near_names("TRAINER-CORE-1", load_rules())[0].startswith("TRAINER-CORE-")
    assert near_names("nothing like it", ["TRAINER-CORE-001"]) == []


def test_pending(tmp_path: Path) -> None:
    path = tmp_path / "pending.yaml"
    path.write_text("- {file: rules-amp.yaml, reason: later}\n- {rules: 'KV-*', reason: much later}\n")
    entries = load_pending(path)
    rules = load_rules()
    amp, store, trainer = rules["AMP-INIT-001"], rules["KV-TYPE-001"], rules["TRAINER-CORE-001"]
    found = pending_rules([amp, store, trainer], [store.id], entries)
    assert found == {amp.id: "later"}
    assert str(entries[1]) == "pending.yaml:2: KV-*"
    path.write_text("- {file: x}\n")
    with pytest.raises(RuleError, match=r"pending.yaml:1: expected 'file' or 'rules', and 'reason'"):
        load_pending(path)
