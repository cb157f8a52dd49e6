"""The helpers of the Trainer cases: they must see what they claim to see."""

from __future__ import annotations

import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from conformance.suite.trainer import _tools


class Store:
    """A store whose pushpull calls its own push and pull, as stores do."""

    def push(self, key: int, value: Any, priority: int = 0) -> str:
        return f"pushed {key}"

    def pull(self, key: int, out: Any = None, priority: int = 0) -> None:
        return None

    def pushpull(self, key: int, value: Any, out: Any = None, priority: int = 0) -> str:
        self.pull(key, out)
        return self.push(key, value)


ENGINE = SimpleNamespace(__name__="engine", nd=SimpleNamespace(NDArray=Store))


def test_logged_store_keeps_what_the_caller_asked_for_and_nothing_else() -> None:
    store = Store()
    log = _tools.logged(store)
    assert store.pushpull(3, "gradient", priority=-3) == "pushed 3"
    store.pull(3, out="weight")
    assert [name for name, _, _ in log] == ["pushpull", "pull"]
    assert _tools.argument(log[0], 1, "value") == "gradient"
    assert _tools.argument(log[0], 3, "priority") == -3
    assert _tools.argument(log[0], 2, "out") is None
    assert _tools.argument(log[1], 1, "out") == "weight"


def test_logged_store_tells_before_the_call() -> None:
    store = Store()
    order: list[str] = []
    store.push = lambda *args, **kwargs: order.append("done")  # type: ignore[method-assign, assignment, return-value]
    _tools.logged(store, ("push",), lambda name, args, kwargs: order.append(f"{name} {args} {kwargs}"))
    store.push(1, "gradient", priority=2)
    assert order == ["push (1, 'gradient') {'priority': 2}", "done"]


class Array(np.ndarray):
    """A numpy array that answers like an engine's."""

    def asnumpy(self) -> np.ndarray:
        return np.array(self)


def test_memory_is_shared_by_views_and_not_by_equal_arrays() -> None:
    array = np.arange(3.0).view(Array)
    assert _tools.shares_memory(array, array)
    assert _tools.shares_memory(array, array[:])
    assert not _tools.shares_memory(array, array.copy())
    assert not _tools.shares_memory(array, array[:2])
    assert array.tolist() == [0.0, 1.0, 2.0]
    assert _tools.is_same_list([array], [array[:]])
    assert not _tools.is_same_list([array, array], [array])


def test_state_file_of_plain_values_is_read(tmp_path: Path) -> None:
    path = tmp_path / "states"
    path.write_bytes(pickle.dumps(({0: np.ones(2)}, None)))
    states, optimizer = _tools.read_states(ENGINE, str(path))
    assert states[0].tolist() == [1.0, 1.0]
    assert optimizer is None


class Evil:
    """An object whose pickle would run a command."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (print, ("run",))


def test_state_file_that_names_anything_else_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "states"
    path.write_bytes(pickle.dumps(Evil()))
    with pytest.raises(pickle.UnpicklingError, match=r"must not name builtins\.print"):
        _tools.read_states(ENGINE, str(path))
    assert capsys.readouterr().out == ""
