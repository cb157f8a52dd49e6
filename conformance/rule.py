"""The rule inventory: what a rule is, and loading all of them quickly from ``conformance/rules/*.yaml``.

The YAML files are the truth. Parsing them takes about a quarter of a second, so the parsed entries are kept as JSON in
the user's cache directory under a key made from the files' contents; a cache that cannot be read or written only costs
that time again.
"""

from __future__ import annotations

import contextlib
import difflib
import fnmatch
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from conformance.case import RULE_ID
from conformance.errors import HarnessFault

RULES_FOLDER = Path(__file__).with_name("rules")
LEVELS = ("MUST", "SHOULD", "MAY")
VERDICTS = ("spec", "erratum", "extension")
STATUSES = ("holds", "differs", "absent", "untested")
RELEASES = ("mxnet-1.9.1", "mxnet-2.0.0b1")
AREAS = (
    "ndarray", "broadcast", "context", "memory", "autograd", "graph", "gluon", "data", "trainer", "optimizer",
    "kvstore", "compression", "sparse", "amp", "quantization", "customop", "profiler", "io", "launch", "parallel",
    "tuning", "diagnostics", "env",
)  # fmt: skip

#: Change this when the cached form changes.
_CACHE_VERSION = 1
_REQUIRED = ("id", "area", "level", "statement", "source", "verdict", "api", "needs", "releases")
_OPTIONAL = ("document_says", "notes", "check")
_CAPABILITY = re.compile(r"^[a-z][a-z0-9_]*$")


class RuleError(HarnessFault):
    """An entry of the inventory is not as ``schema.json`` says; the message starts with file and line."""


@dataclass(frozen=True, slots=True)
class Release:
    """What one upstream release does: ``status`` (one of STATUSES) and the ``observation`` behind it."""

    status: str
    observation: str


@dataclass(frozen=True, slots=True)
class Rule:
    """One documented rule.

    statement: what is tested;  source: document and section;  document_says: the wording of a document that is wrong;
    needs: capabilities without which the rule cannot be observed;  check: the recipe of a case that is still to be
    written ("" once there is a case);  file, line: where the entry stands.
    """

    id: str
    area: str
    level: str
    statement: str
    source: str
    verdict: str
    api: tuple[str, ...]
    needs: tuple[str, ...]
    releases: Mapping[str, Release]
    notes: str
    check: str
    document_says: str
    file: str
    line: int

    @property
    def where(self) -> str:
        """``file:line`` of the entry, relative to the folder of the rules."""
        return f"{self.file}:{self.line}"

    def status(self, release: str) -> str:
        """The status of a release by its name; "untested" for one that the inventory does not know."""
        known = self.releases.get(release)
        return known.status if known else "untested"

    def as_record(self) -> dict[str, Any]:
        """The rule as plain JSON values, the way result files carry it."""
        return {
            "id": self.id,
            "area": self.area,
            "level": self.level,
            "statement": self.statement,
            "source": self.source,
            "verdict": self.verdict,
            "api": list(self.api),
            "needs": list(self.needs),
            "notes": self.notes,
            "document_says": self.document_says,
            "releases": {
                name: {"status": release.status, "observation": release.observation}
                for name, release in self.releases.items()
            },
        }


def load_rules(folder: Path | str | None = None, cache: Path | str | None = "user") -> dict[str, Rule]:
    """Load every rule of the inventory: id -> Rule, in the order of the files.

    folder: another folder with ``rules-*.yaml`` files;  cache: a folder for the cached form, "user" for the user's
    cache directory, None for no cache.  Raises RuleError, with file and line, for an entry against the schema.

    >>> load_rules()["TRAINER-CORE-001"].level
    'MUST'
    """
    folder = RULES_FOLDER if folder is None else Path(folder)
    texts = {path.name: path.read_bytes() for path in sorted(folder.glob("rules-*.yaml"))}
    if not texts:
        raise RuleError(f"{folder}: expected rules-*.yaml files, found none")
    key = _key(texts)
    kept = _cache_file(cache, folder)
    entries = _read_cache(kept, key)
    if entries is None:
        entries = [entry for name, text in texts.items() for entry in _parse(name, text)]
        _write_cache(kept, key, entries)
    rules: dict[str, Rule] = {}
    for name, line, entry in entries:
        rule = _rule(name, line, entry)
        if rule.id in rules:
            raise RuleError(f"{rule.where}: {rule.id} stands already at {rules[rule.id].where}")
        rules[rule.id] = rule
    return rules


def select(
    rules: Iterable[Rule],
    areas: Iterable[str] = (),
    levels: Iterable[str] = (),
    globs: Iterable[str] = (),
    verdicts: Iterable[str] = (),
    needs: Iterable[str] = (),
    statuses: Iterable[tuple[str, str]] = (),
) -> list[Rule]:
    """The rules that satisfy every given filter; within a filter any of the values will do.

    globs: over rule ids, without regard to case;  needs: rules that need any of these capabilities, "none" for those
    that need none;  statuses: pairs of release and status.
    """
    areas, levels, verdicts, needs = set(areas), set(levels), set(verdicts), set(needs)
    patterns = [glob.upper() for glob in globs]
    wanted = list(statuses)
    return [
        rule
        for rule in rules
        if (not areas or rule.area in areas)
        and (not levels or rule.level in levels)
        and (not verdicts or rule.verdict in verdicts)
        and (not patterns or any(fnmatch.fnmatchcase(rule.id, pattern) for pattern in patterns))
        and (not needs or needs & set(rule.needs) or ("none" in needs and not rule.needs))
        and (not wanted or any(rule.status(release) == status for release, status in wanted))
    ]


def near_names(name: str, known: Iterable[str], count: int = 5) -> list[str]:
    """The known names nearest to a mistyped one.

    >>> near_names("trainer-coer-001", ["TRAINER-CORE-001", "OPT-SGD-001"])
    ['TRAINER-CORE-001']
    """
    by_upper = {item.upper(): item for item in known}
    return [by_upper[item] for item in difflib.get_close_matches(name.upper(), by_upper, count, 0.6)]


# -- reading ---------------------------------------------------------------------------------------------------------

_Entry = tuple[str, int, Any]


def _parse(name: str, text: bytes) -> list[_Entry]:
    """Read one file: ``(file, line, entry)`` for each of its entries."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        entries = yaml.load(text, Loader=loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        raise RuleError(f"{name}:{line}: not readable as YAML: {getattr(error, 'problem', error)}") from error
    if not isinstance(entries, list):
        raise RuleError(f"{name}:1: expected a list of rules, got {type(entries).__name__}")
    lines = [number for number, line in enumerate(text.split(b"\n"), 1) if line.startswith(b"- ")]
    if len(lines) != len(entries):
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        assert isinstance(root, yaml.SequenceNode), "the entries were a list"
        lines = [node.start_mark.line + 1 for node in root.value]
    return [(name, line, entry) for line, entry in zip(lines, entries, strict=True)]


def _rule(name: str, line: int, entry: Any) -> Rule:
    """Turn an entry into a Rule; says what was expected and what was given if it is not one."""

    def wrong(expected: str, given: object) -> RuleError:
        identifier = entry.get("id", "entry") if isinstance(entry, dict) else "entry"
        return RuleError(f"{name}:{line}: {identifier}: expected {expected}, got {given!r}")

    def text(key: str, among: tuple[str, ...] = ()) -> str:
        value = entry[key]
        if not isinstance(value, str) or not value.strip():
            raise wrong(f"a text under {key!r}", value)
        if among and value not in among:
            raise wrong(f"{key} to be one of {', '.join(among)}", value)
        return value

    def texts(key: str) -> tuple[str, ...]:
        value = entry[key]
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            raise wrong(f"a list of texts under {key!r}", value)
        if len(set(value)) != len(value):
            raise wrong(f"each text under {key!r} once", value)
        return tuple(value)

    if not isinstance(entry, dict):
        raise wrong("a mapping", entry)
    for key in _REQUIRED:
        if key not in entry:
            near = [given for given in near_names(key, map(str, entry), 1) if given not in _OPTIONAL]
            raise wrong(f"the key {key!r}", near[0] if near else "no such key")
    for key in entry:
        if key not in _REQUIRED and key not in _OPTIONAL:
            raise wrong(f"only the keys {', '.join((*_REQUIRED, *_OPTIONAL))}", key)
    if not RULE_ID.match(text("id")):
        raise wrong("an id of the form AREA-TOPIC-NNN", entry["id"])
    needs = texts("needs")
    if not all(_CAPABILITY.match(need) for need in needs):
        raise wrong("capabilities in lower case under 'needs'", entry["needs"])
    verdict = text("verdict", VERDICTS)
    if (verdict == "erratum") != ("document_says" in entry):
        raise wrong("'document_says' in an erratum, and nowhere else", verdict)
    return Rule(
        id=entry["id"],
        area=text("area", AREAS),
        level=text("level", LEVELS),
        statement=text("statement"),
        source=text("source"),
        verdict=verdict,
        api=texts("api"),
        needs=needs,
        releases=_releases(entry["releases"], wrong),
        notes=text("notes") if "notes" in entry else "",
        check=text("check") if "check" in entry else "",
        document_says=text("document_says") if "document_says" in entry else "",
        file=name,
        line=line,
    )


def _releases(value: Any, wrong: Any) -> dict[str, Release]:
    if not isinstance(value, dict) or tuple(sorted(value)) != RELEASES:
        raise wrong(f"the releases {' and '.join(RELEASES)}", value)
    found = {}
    for release, entry in value.items():
        if not isinstance(entry, dict) or set(entry) != {"status", "observation"}:
            raise wrong(f"'status' and 'observation' under {release}", entry)
        status, observation = entry["status"], entry["observation"]
        if status not in STATUSES:
            raise wrong(f"the status of {release} to be one of {', '.join(STATUSES)}", status)
        if not isinstance(observation, str) or not observation.strip():
            raise wrong(f"a text as the observation of {release}", observation)
        found[release] = Release(status, observation)
    return found


# -- the cache -------------------------------------------------------------------------------------------------------


def _key(texts: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256(f"{_CACHE_VERSION}".encode())
    for name, text in texts.items():
        digest.update(f"\n{name} {len(text)}\n".encode())
        digest.update(text)
    return digest.hexdigest()


def _cache_file(cache: Path | str | None, folder: Path) -> Path | None:
    if cache is None:
        return None
    if cache == "user":
        import platformdirs

        cache = platformdirs.user_cache_dir("gluon-conformance", appauthor=False)
    place = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:12]
    return Path(cache) / f"rules-{place}.json"


def _read_cache(path: Path | None, key: str) -> list[_Entry] | None:
    if path is None:
        return None
    try:
        kept = json.loads(path.read_bytes())
        if kept["key"] == key:
            return [(str(name), int(line), entry) for name, line, entry in kept["entries"]]
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return None


def _write_cache(path: Path | None, key: str, entries: list[_Entry]) -> None:
    if path is None:
        return
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump({"key": key, "entries": entries}, file)
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
