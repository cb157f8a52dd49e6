"""The worker on the oldest interpreter and numpy that an engine may have: Python 3.8 with numpy 1.17."""

from __future__ import annotations

import pytest
from miniature import mini_engine, outcomes, run_mini

from conformance.engines import interpreter_for
from conformance.engines.interpreters import find_interpreter
from conformance.errors import EngineFault


@pytest.fixture(scope="module")
def oldest() -> str:
    """Its interpreter, from the user's cache; built there once."""
    if find_interpreter(["3.8"]) is None:
        pytest.skip("no Python 3.8 on this machine")
    try:
        return interpreter_for(mini_engine("numpy", name="oldest", requirements=("numpy==1.17.5",), python=("3.8",)))
    except EngineFault as fault:
        pytest.skip(f"numpy 1.17 cannot be installed here: {fault}")


@pytest.mark.slow
def test_miniature_suite_passes(oldest: str) -> None:
    run = run_mini("sound", engine=mini_engine("sound", interpreter=oldest))
    assert outcomes(run.results) == {}
    assert run.ready["python"].startswith("3.8.")
    assert run.ready["numpy"] == "1.17.5"


@pytest.mark.slow
def test_crash_is_charged_there_too(oldest: str) -> None:
    run = run_mini("segfaults", engine=mini_engine("segfaults", interpreter=oldest))
    assert outcomes(run.results)["MINI-DOUBLE-001/doubles"] == "crash"


@pytest.mark.slow
def test_whole_suite_loads(oldest: str) -> None:
    from conformance.process import start_worker
    from conformance.session import Options

    engine = mini_engine("sound", interpreter=oldest)
    worker, ready = start_worker(engine, oldest, Options().worker_config(engine, True))
    worker.close()
    assert len(ready["cases"]) > 100
