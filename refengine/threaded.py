"""A queue of work and the thread behind it: the asynchronous engines.

Work runs in the order in which it was handed over, so that whatever reads and writes the same memory does so in program
order. The CPU contexts are one memory space and share one queue; a GPU works asynchronously by itself.

Nobody waits for a thread that will never come: where there is none, because it could not be started, because the
interpreter ends, or because the process is the child of a fork, whoever waits does the work.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from .base import MXNetError

LOOK = 1.0
"""Seconds after which somebody who waits looks whether the thread still lives."""

FORKED = ('The process was forked while this was being computed in another thread: the result exists in the parent '
          'process only. Call nd.waitall() before the fork.')
ITSELF = 'A computation waits for its own result, or for that of one which waits for it: it would wait for ever.'


class Task:
    """A piece of work, run once; an error is raised by whoever waits for it.

    ``done``: it has run;  ``past``: everything that came before it has run as well.
    """

    __slots__ = ('body', 'done', 'error', 'past')

    def __init__(self, body: Callable[[], None]) -> None:
        self.body: Callable[[], None] | None = body
        self.error: BaseException | None = None
        self.done = False
        self.past = False

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

    def give_up(self, error: BaseException) -> None:
        """Be done without a result."""
        self.body, self.error, self.done = None, error, True


class Queue:
    """Tasks in order, and one thread that runs them; the thread starts with the first task."""

    def __init__(self) -> None:
        self._waiting: deque[Task] = deque()        # handed over
        self._held: list[Task] = []                 # not yet handed over
        self._unfinished: deque[Task] = deque()     # both, and what runs, in the order in which they came
        self._closed = False
        self._begin()
        atexit.register(self.close)
        if hasattr(os, 'register_at_fork'):
            os.register_at_fork(before=self._before_fork, after_in_parent=self._after_fork,
                                after_in_child=self._in_child)

    def _begin(self) -> None:
        self._changed = threading.Condition()       # on a lock that its owner may take again: finalizers run anywhere
        self._thread: threading.Thread | None = None
        self._ident: int | None = None              # of whoever runs tasks now

    @property
    def busy(self) -> bool:
        """Whether anything is not done yet."""
        return bool(self._unfinished)

    def is_worker(self) -> bool:
        """Whether the caller is the one who runs the tasks."""
        return self._ident == threading.get_ident()

    def put(self, task: Task, hold: int = 0) -> None:
        """Hand a task over; with ``hold`` it may wait until so many are together, or until somebody waits."""
        with self._changed:
            self._unfinished.append(task)
            self._held.append(task)
            if len(self._held) >= hold:
                self._release()
        if self._closed:
            self.drain()

    def flush(self) -> None:
        """Hand over what is held."""
        with self._changed:
            self._release()

    # ---- running -----------------------------------------------------------------------------------------------

    def _release(self) -> None:
        held, self._held = self._held, []
        if held:
            self._waiting.extend(held)
        if self._waiting and self._thread is None and self._ident is None and not self._closed:
            self._start()
        if held:
            self._changed.notify_all()

    def _start(self) -> None:
        thread = threading.Thread(target=self._work, name='refengine', daemon=True)
        self._thread = thread       # first: the thread works as long as it stands here
        try:
            thread.start()
        except RuntimeError:        # no more threads: whoever waits does the work
            self._thread = None

    def _work(self) -> None:
        here = threading.current_thread()
        try:
            while True:
                with self._changed:
                    while not self._waiting and not self._closed and self._thread is here:
                        self._changed.wait()
                    if self._thread is not here or not self._waiting:
                        return
                    self._ident = threading.get_ident()
                    task = self._waiting.popleft()
                self._finish(task)
        finally:        # the system may give the number of this thread to another one
            if self._ident == threading.get_ident():
                self._ident = None

    def _finish(self, task: Task) -> None:
        task.run()
        with self._changed:
            self._settle()
            self._changed.notify_all()

    def _settle(self) -> None:
        while self._unfinished and self._unfinished[0].done:
            self._unfinished.popleft().past = True

    def _give_up(self, message: str) -> None:
        """Give up what was begun by somebody who is no more."""
        there = {*self._waiting, *self._held}
        for task in self._unfinished:
            if task not in there and not task.done:
                task.give_up(MXNetError(message))
        self._settle()

    def _attended(self) -> bool:
        """Whether somebody runs tasks, or will at once."""
        thread = self._thread
        if thread is None:
            return self._ident is not None
        if thread.is_alive():
            return True
        self._thread = self._ident = None
        self._give_up('The thread of the engine ended while this was being computed.')
        return False

    def _run_until(self, done: Callable[[], bool]) -> None:
        """Run tasks in order; the caller is the worker."""
        while not done():
            with self._changed:
                self._release()
                if not self._waiting:
                    raise MXNetError(ITSELF)
                task = self._waiting.popleft()
            self._finish(task)
            if isinstance(task.error, KeyboardInterrupt):
                raise task.error

    # ---- waiting -----------------------------------------------------------------------------------------------

    def _wait_until(self, done: Callable[[], bool]) -> None:
        """Wait until the worker has come so far; without a worker be the worker."""
        while True:
            with self._changed:
                self._release()
                while not done() and self._attended():
                    self._changed.wait(LOOK)
                if done():
                    return
                self._ident = threading.get_ident()
            try:
                self._run_until(done)
            finally:
                with self._changed:
                    self._ident = None
                    self._changed.notify_all()

    def wait(self, task: Task) -> None:
        """Wait until a task is done, and raise its error."""
        if not task.done:
            if self.is_worker():
                # Code of the program, run by a task, asks for something behind it: it is done now, in order.
                self._run_until(lambda: task.done)
            else:
                self._wait_until(lambda: task.done)
        if task.error is not None:
            raise task.error

    def drain(self) -> None:
        """Wait until everything is done that was handed over so far; nothing for the worker itself."""
        if not self._unfinished or self.is_worker():
            return
        with self._changed:
            if not self._unfinished:
                return
            last = self._unfinished[-1]     # others may go on handing over
        self._wait_until(lambda: last.past)

    # ---- the end of the interpreter, and forks -------------------------------------------------------------------

    def close(self) -> None:
        """Finish everything and let the thread end; what is handed over later is done at once."""
        self.drain()
        with self._changed:
            self._closed = True
            thread, self._thread = self._thread, None
            self._changed.notify_all()
        if thread is not None:
            thread.join(LOOK)
            with self._changed:
                if not self._unfinished:        # however slowly it ends, it runs nothing any more
                    self._ident = None

    def _before_fork(self) -> None:
        """Let the child find everything done: nobody hands anything over until the fork is made."""
        for _ in range(100):
            self.drain()
            self._changed.acquire()
            if not self._unfinished or self.is_worker():
                return
            self._changed.release()
        self._changed.acquire()     # others hand over faster than is worked off

    def _after_fork(self) -> None:
        with suppress(RuntimeError):        # an interrupted wait before the fork
            self._changed.release()

    def _in_child(self) -> None:
        """Start afresh: the thread is not in the child, and neither is what it was at."""
        self._begin()
        self._give_up(FORKED)
