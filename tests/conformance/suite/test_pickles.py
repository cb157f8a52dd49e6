"""Pickles in cases: the objects of an engine are made, wherever it defines their classes, and no others."""

from __future__ import annotations

import os
import pickle
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from conformance.suite.ndarray import _tools as ndarray_tools
from conformance.suite.trainer import _tools as trainer_tools


class NDArray:
    """An array whose class lies in another package than the engine."""

    __module__ = "engine_behind.arrays"


class Bad:
    """Runs something when it is unpickled."""

    def __reduce__(self) -> Any:
        return os.getcwd, ()


@pytest.fixture
def mx(monkeypatch: pytest.MonkeyPatch) -> Any:
    """An engine ``engine_in_front`` that hands out the classes of ``engine_behind``."""
    for name in ("engine_behind", "engine_behind.arrays"):
        module = ModuleType(name)
        module.NDArray = NDArray  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, name, module)
    return SimpleNamespace(__name__="engine_in_front", nd=SimpleNamespace(NDArray=NDArray))


def read_states(mx: Any, value: Any, folder: Any) -> Any:
    path = folder / "states"
    path.write_bytes(pickle.dumps(value))
    return trainer_tools.read_states(mx, path)


def test_an_engine_may_define_its_classes_in_another_package(mx: Any, tmp_path: Any) -> None:
    assert type(ndarray_tools.through_pickle(mx, NDArray())) is NDArray
    assert type(read_states(mx, {0: NDArray()}, tmp_path)[0]) is NDArray


def test_nothing_else_is_made(mx: Any, tmp_path: Any) -> None:
    with pytest.raises(pickle.UnpicklingError, match="must not name posix"):
        ndarray_tools.through_pickle(mx, Bad())
    with pytest.raises(pickle.UnpicklingError, match="must not name posix"):
        read_states(mx, Bad(), tmp_path)
