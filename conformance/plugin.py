"""The suite under pytest: ``pytest --pyargs conformance --engine NAME`` collects each case as an item.

An item stands under the file of its case. The cases run in a worker in the engine's own interpreter, as always; what
the engine cannot do is skipped, and a failure that the inventory records of a release is an expected one. Without
``--engine`` the plugin does nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conformance.outcome import CaseResult
    from conformance.selection import CaseInfo

SUITE = Path(__file__).parent / "suite"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Two options of our own."""
    group = parser.getgroup("conformance", "cases of gluon-conformance")
    group.addoption("--engine", metavar="NAME", help="collect the cases of the suite and run them on this engine")
    group.addoption("--engines-file", metavar="FILE", help="TOML file with more engines")


def pytest_configure(config: pytest.Config) -> None:
    """One bench of workers for the whole run."""
    if config.getoption("--engine", None):
        config.stash[_BENCH] = Bench(config.getoption("--engine"), config.getoption("--engines-file"))


def pytest_sessionstart(session: pytest.Session) -> None:
    """Start the engine; that it does not start is told once, and not by every file."""
    bench = session.config.stash.get(_BENCH, None)
    if bench is not None:
        bench.start()


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the worker."""
    bench = config.stash.get(_BENCH, None)
    if bench is not None:
        bench.close()


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say which engine it is."""
    bench = config.stash.get(_BENCH, None)
    return None if bench is None else f"conformance engine: {bench.name}"


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A file of the suite holds its cases."""
    bench = parent.config.stash.get(_BENCH, None)
    if bench is None or file_path.suffix != ".py" or SUITE not in file_path.parents:
        return None
    module = ".".join(("conformance", "suite", *file_path.relative_to(SUITE).with_suffix("").parts))
    if module.endswith(".__init__"):
        return None
    return CaseFile.from_parent(parent, path=file_path, bench=bench, module=module)


@dataclass
class Bench:
    """The engine, started when the first case needs it, and started again when a case took it down."""

    name: str
    engines_file: str | None = None
    _state: dict[str, Any] = field(default_factory=dict)

    def cases(self, module: str) -> list[CaseInfo]:
        """The cases of one module of the suite, in order."""
        found: list[CaseInfo] = self._state["modules"].get(module, [])
        return found

    def run(self, case: CaseInfo) -> tuple[CaseResult, bool]:
        """What became of the case, and whether that is known of the engine already."""
        from conformance import judge
        from conformance.lane import Lane
        from conformance.schedule import Schedule

        engine, session = self._state["engine"], self._state["session"]
        explained = judge.explained(engine, session.rules, ())
        aside = session.unsupported(case, self._state["able"])
        if aside is not None:
            return aside, False
        schedule = Schedule([case], explained, lambda result: None)
        if "lane" not in self._state:
            self._state["lane"] = Lane(schedule, session.starter(self._state["interpreter"]), session.limit,
                                       session.convert, lambda text: None, self._state.pop("worker"))
        lane = self._state["lane"]
        lane.serve(schedule)
        result = schedule.results()[0]
        return result, explained(result)

    def statement(self, case: CaseInfo) -> str:
        """The rule of a case, in words."""
        return str(self._state["session"].rules[case.rule].statement)

    def close(self) -> None:
        """End the worker, if there is one."""
        for key in ("lane", "worker"):
            if key in self._state:
                self._state.pop(key).close()

    def start(self) -> None:
        """Provide and start the engine, and learn its cases."""
        from conformance.engine import find_engine
        from conformance.engines import interpreter_for
        from conformance.errors import ConformError
        from conformance.process import start_worker
        from conformance.rule import load_rules
        from conformance.selection import CaseInfo, check_suite
        from conformance.session import Session, check_smoke

        try:
            engine = find_engine(self.name, Path(self.engines_file) if self.engines_file else None)
            session = Session(engine, load_rules())
            interpreter = interpreter_for(engine)
            worker, ready = start_worker(engine, interpreter, session.options.worker_config(engine, True))
            self._state["worker"] = worker
            check_smoke(engine, worker)
            cases = [CaseInfo.of(described) for described in ready["cases"]]
            check_suite(cases, session.rules)
        except ConformError as fault:
            raise pytest.UsageError(str(fault)) from None
        modules: dict[str, list[CaseInfo]] = {}  # by the module of the suite
        for case in cases:
            modules.setdefault(case.module, []).append(case)
        self._state.update(engine=engine, session=session, interpreter=interpreter, modules=modules,
                           able=engine.able(ready["declared"], ready["detected"]))


_BENCH = pytest.StashKey[Bench]()


class CaseFile(pytest.File):
    """A file of the suite."""

    def __init__(self, *, bench: Bench, module: str, **keywords: Any) -> None:
        super().__init__(**keywords)
        self.bench, self.module = bench, module

    def collect(self) -> Iterator[pytest.Item]:
        """An item for each case."""
        for case in self.bench.cases(self.module):
            yield CaseItem.from_parent(self, name=case.id, case=case)


class CaseItem(pytest.Item):
    """One case."""

    def __init__(self, *, case: CaseInfo, **keywords: Any) -> None:
        super().__init__(**keywords)
        self.case = case

    def runtest(self) -> None:
        """Run the case; skipped if unsupported, expected to fail if the inventory records it."""
        from conformance.outcome import Outcome

        assert isinstance(self.parent, CaseFile)
        result, known = self.parent.bench.run(self.case)
        if result.outcome is Outcome.PASS:
            return
        if result.outcome is Outcome.UNSUPPORTED:
            pytest.skip(result.message or "unsupported")
        if known:
            pytest.xfail(f"recorded in the inventory: {result.message}")
        raise CaseFailed(result, self.parent.bench.statement(self.case), self.parent.bench.name)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Rule and statement, what was done, expected, got, and the command that runs it again."""
        if isinstance(excinfo.value, CaseFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the case stands."""
        return self.path, max(0, self.case.line - 1), self.case.id


class CaseFailed(Exception):
    """A case that did not pass, shown the way a person reads it."""

    def __init__(self, result: CaseResult, statement: str, engine: str) -> None:
        super().__init__(result.id)
        self.result, self.statement, self.engine = result, statement, engine

    def __str__(self) -> str:
        from conformance.result import replay

        result, failure = self.result, self.result.failure
        lines = [f"{result.rule}: {self.statement}", f"{result.outcome}: {result.message}"]
        if failure is not None:
            shown = ("doing", "expected", "got", "tolerance", "traceback", "output")
            lines += [f"{name}: {getattr(failure, name)}" for name in shown if getattr(failure, name)]
        return "\n".join([*lines, f"replay: {replay(self.engine, result.id)}"])
