"""Arrays whose values others have to bring about, and waiting for them: never for ever."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np

from .. import dispatch
from ..base import MXNetError
from .ndarray import NDArray

PATIENCE = 30.0
"""Seconds that a thread waits for those that drive the other devices."""

changed = threading.Condition()
local = threading.local()


class Team:
    """Threads that drive one device each: when all of them wait or are through, nobody is left to wait for."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.idle = 0

    def join(self) -> None:
        """Be one of them."""
        local.team = self

    def leave(self) -> None:
        """Be through."""
        with changed:
            self.idle += 1
            changed.notify_all()


class Waiting:
    """Something that others have to bring about."""

    def __init__(self) -> None:
        self.done = False
        self.error = ''
        self.teams: list[Team] = []         # of those who wait

    def finish(self) -> None:
        """It is there: nobody waits any more."""
        self.done = True
        for team in self.teams:
            team.idle -= 1
        self.teams.clear()
        changed.notify_all()

    def complaint(self, why: str) -> MXNetError:
        """What is wrong for somebody who needs it now."""
        raise NotImplementedError

    def give_up(self, why: str) -> None:
        """Let all who wait go with an error."""
        self.error = self.error or why
        changed.notify_all()

    def wait(self) -> None:
        """Wait until it is there; MXNetError when it cannot come, or does not come in time."""
        team: Team | None = getattr(local, 'team', None)
        deadline = time.monotonic() + PATIENCE
        with changed:
            if team is not None and not self.done:
                team.idle += 1
                self.teams.append(team)
                changed.notify_all()
            why = ''
            while not self.done and not (why or self.error):
                if team is not None and team.idle >= team.size:
                    why = 'no other device is under way'
                elif team is None and threading.active_count() == 1:
                    why = 'there is no other thread that could bring one'
                elif time.monotonic() >= deadline:
                    why = f'the others did not come within {PATIENCE:g} s'
                else:
                    changed.wait(max(0.0, deadline - time.monotonic()))
            if not self.done:
                if team is not None:
                    team.idle -= 1
                    self.teams.remove(team)
                self.give_up(why)
                raise self.complaint(why or self.error)


class Promise:
    """What stands in an array as long as its value is not there; ``kept`` is the value that it had before."""

    __slots__ = ('dtype', 'kept', 'shape', 'waiting')

    def __init__(self, waiting: Waiting, shape: tuple[int, ...], dtype: Any, kept: Any = None) -> None:
        self.waiting = waiting
        self.shape = shape
        self.dtype = dtype
        self.kept = kept


read_slot: Any = NDArray.__dict__['_data'].__get__
write_slot: Any = NDArray.__dict__['_data'].__set__


class Awaited(NDArray):
    """An array whose value comes with the last device; then it is an ordinary one."""

    __slots__ = ()

    @property  # type: ignore[misc]
    def _data(self) -> Any:  # type: ignore[override]
        promise = read_slot(self)
        if isinstance(promise, Promise):
            promise.waiting.wait()
        return read_slot(self)

    shape = property(lambda self: read_slot(self).shape)  # type: ignore[assignment]
    dtype = property(lambda self: np.dtype(read_slot(self).dtype).type)  # type: ignore[assignment]
    ndim = property(lambda self: len(read_slot(self).shape))  # type: ignore[assignment]
    size = property(lambda self: int(np.prod(read_slot(self).shape)))  # type: ignore[assignment]


def promised(waiting: Waiting, shape: tuple[int, ...], dtype: Any, ctx: Any) -> Any:
    array = dispatch.wrap(Promise(waiting, shape, dtype), ctx, NDArray)
    array.__class__ = Awaited
    return array
