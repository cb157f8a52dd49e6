"""The helpers of the memory cases: addresses and strides by way of DLPack, and the scan for live arrays."""

from __future__ import annotations

import gc
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import refengine
from conformance.suite.memory import _tools


def engine_of(version: tuple[int, int] | None) -> Any:
    """An engine whose arrays are numpy's and whose capsules are of one DLPack version."""
    options = {} if version is None else {"max_version": version}
    return SimpleNamespace(nd=SimpleNamespace(to_dlpack_for_read=lambda array: array.__dlpack__(**options)))


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_layout_of_old_and_new_capsules(version: tuple[int, int] | None) -> None:
    base = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert _tools.layout(engine_of(version), base)[0] == base.ctypes.data
    start, strides = _tools.layout(engine_of(version), base[1:, 1:].T)
    assert start == base.ctypes.data + 5 * 4
    assert strides == (1, 4)


def test_address_of_a_view_of_an_engine_array() -> None:
    array = refengine.nd.zeros((4, 4))
    assert _tools.address(refengine, array[2]) - _tools.address(refengine, array) == 32


def test_alive_finds_arrays_by_their_attributes() -> None:
    gc.collect()
    kept = refengine.nd.ones((2, 1, 5))
    assert [found is kept for found in _tools.alive(refengine, shape=(2, 1, 5))] == [True]
    assert _tools.alive(refengine, shape=(2, 1, 5), context=refengine.cpu(3)) == []


def test_code_in_a_process_prints_words_and_knows_its_memory() -> None:
    def python(code: str) -> tuple[int, str, str]:
        namespace: dict[str, Any] = {}
        exec(code, namespace)
        return 0, f"noise\nseen 1 {namespace['high']()}\n", ""

    check = SimpleNamespace(python=python, equal=lambda *values: None)
    ((first, high),) = _tools.seen(check, "x = 1\n")
    assert first == "1"
    assert int(high) > 10
