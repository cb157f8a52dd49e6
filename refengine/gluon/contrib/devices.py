"""Driving several devices at once, each by a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from ... import autograd
from ...ndarray.awaited import Team


def run_on_devices(function: Callable[..., Any], *parts: Sequence[Any]) -> list[Any]:
    """``[function(*args) for args in zip(*parts)]``, every call in a thread of its own and on the device of its array.

    The calls may wait for each other, as those of SyncBatchNorm do. They record, and are in training mode, as the
    caller. The first error of a call is raised when all are through. ValueError for parts of different lengths.

    >>> import refengine as mx
    >>> shards = mx.gluon.utils.split_and_load(mx.nd.arange(4), [mx.cpu(0), mx.cpu(1)])
    >>> [y.asnumpy().tolist() for y in run_on_devices(lambda x: x * 2, shards)]
    [[0.0, 2.0], [4.0, 6.0]]
    """
    calls = list(zip(*parts, strict=True))
    results: list[Any] = [None] * len(calls)
    errors: list[BaseException | None] = [None] * len(calls)
    recording, training = autograd.is_recording(), autograd.is_training()
    team = Team(len(calls))

    def work(number: int) -> None:
        team.join()
        try:
            scope = autograd.record if recording else autograd.pause
            first = calls[number][0]
            with first.context, scope(train_mode=training):
                results[number] = function(*calls[number])
        except BaseException as error:  # noqa: BLE001 - raised in the thread of the caller
            errors[number] = error
        finally:
            team.leave()

    threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for error in errors:
        if error is not None:
            raise error
    return results
