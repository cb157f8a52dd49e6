"""A queue of work and the thread behind it: the asynchronous engines.

Work runs in the order in which it was handed over, so that whatever reads and writes the same memory does so in program
order. The CPU contexts are one memory space and share one queue; a GPU works asynchronously by itself.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections import deque
from collections.abc import Callable


class Task:
    """A piece of work, run once; an error is raised by whoever waits for it."""

    __slots__ = ('body', 'done', 'error')

    def __init__(self, body: Callable[[], None]) -> None:
        self.body: Callable[[], None] | None = body
        self.error: BaseException | None = None
        self.done = False

    def run(self) -> None:
        """Do the work and forget what it needed."""
        body, self.body = self.body, None
        try:
            if body is not None:
                body()
        except BaseException as error:  # noqa: BLE001 - the thread must go on
            self.error = error
        finally:
            self.done = True


class Queue:
    """Tasks in order, and one thread that runs them; the thread starts with the first task."""

    def __init__(self) -> None:
        self._reset()
        atexit.register(self.drain)
        if hasattr(os, 'register_at_fork'):
            os.register_at_fork(before=self.drain, after_in_child=self._reset)

    def _reset(self) -> None:
        self._changed = threading.Condition()
        self._waiting: deque[Task] = deque()
        self._held: list[Task] = []
        self._outstanding = 0
        self._thread: threading.Thread | None = None
        self._ident: int | None = None

    @property
    def busy(self) -> bool:
        """Whether anything is not done yet."""
        return self._outstanding > 0

    def is_worker(self) -> bool:
        """Whether the caller runs on the thread of the queue."""
        return self._ident == threading.get_ident()

    def put(self, task: Task, hold: int = 0) -> None:
        """Hand a task over; with ``hold`` it may wait until so many are together, or until somebody waits."""
        with self._changed:
            self._outstanding += 1
            self._held.append(task)
            if len(self._held) >= hold:
                self._release()

    def flush(self) -> None:
        """Hand over what is held."""
        with self._changed:
            self._release()

    def _release(self) -> None:
        if not self._held:
            return
        self._waiting.extend(self._held)
        self._held.clear()
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name='refengine', daemon=True)
            self._thread.start()
        self._changed.notify_all()

    def _work(self) -> None:
        self._ident = threading.get_ident()
        while True:
            with self._changed:
                while not self._waiting:
                    self._changed.wait()
                task = self._waiting.popleft()
            self._finish(task)

    def _finish(self, task: Task) -> None:
        task.run()
        with self._changed:
            self._outstanding -= 1
            self._changed.notify_all()

    def wait(self, task: Task) -> None:
        """Wait until a task is done, and raise its error."""
        if not task.done:
            if self.is_worker():
                # Code of the program, run by a task, asks for something behind it: it is done now, in order.
                while not task.done:
                    with self._changed:
                        self._release()
                        following = self._waiting.popleft()
                    self._finish(following)
            else:
                with self._changed:
                    self._release()
                    while not task.done:
                        self._changed.wait()
        if task.error is not None:
            raise task.error

    def drain(self) -> None:
        """Wait until everything is done; nothing on the thread of the queue itself."""
        if self._outstanding and not self.is_worker():
            with self._changed:
                self._release()
                while self._outstanding:
                    self._changed.wait()
