"""One of the two engines: a worker that runs programs, and is replaced when a program ends it or never ends."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import time
from collections.abc import Callable, Sequence
from typing import Any

from conformance.engine import Engine
from conformance.engines.provision import interpreter_for
from conformance.errors import EngineFault
from conformance.oracle.answers import Answer
from conformance.oracle.program import Program
from conformance.process import Ended, Garbled, Late, WorkerProcess, start_worker
from conformance.session import check_smoke
from conformance.smoke import FOR_PROGRAMS

#: Programs sent at once: few enough that a worker which dies takes little with it.
BATCH = 100

#: Workers in a row that end on their first program before the engine is given up.
PATIENCE = 12

#: How long a child that was ended, and the next one, may take.
SECONDS_TO_END = 10.0

Note = Callable[[str], None]


class Side:
    """An engine that answers programs.

    seconds: how long one program may take;  note: called with a line of text about what had to be done.
    """

    def __init__(self, engine: Engine, note: Note, seconds: float = 20.0) -> None:
        self.engine, self._note, self._seconds = engine, note, seconds
        self._interpreter = interpreter_for(engine, note)
        self._worker: WorkerProcess | None = None
        self.version = ""
        self._child = 0
        self._fruitless = 0
        self._closed = False
        self._fresh = False
        self._tried = False
        self._first = self._next = 0

    # -- the worker -----------------------------------------------------------------------------------------

    def start(self) -> WorkerProcess:
        """The running worker, or a new one; programs run in a child of it, which is replaced in no time."""
        if self._closed:
            raise EngineFault(f"engine {self.engine.name}: the session has ended")
        if self._worker is None:
            config = {"module": self.engine.module, "setup": self.engine.setup, "describe": False}
            self._worker, ready = start_worker(self.engine, self._interpreter, config)
            self.version = str(ready.get("version", ""))
            self._child, self._fresh = self._ask({"oracle": "guard"})["child"], True
            if not self._tried:
                self._try(self._worker)
        return self._worker

    def _try(self, worker: WorkerProcess) -> None:
        """Once, in the child: does the engine do at all what every program stands on?"""
        try:
            check_smoke(self.engine, worker, FOR_PROGRAMS)
        except EngineFault:
            self._drop()
            raise
        self._tried = True

    def close(self) -> None:
        """End the worker, for good."""
        self._closed = True
        self._drop()

    def _drop(self) -> None:
        if self._worker is not None:
            self._worker.close()
            self._worker = None

    def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        worker = self.start()
        worker.send(message)
        reply = worker.receive(time.monotonic() + self.engine.timeouts.start)
        if not isinstance(reply, dict):
            words = worker.last_words()
            self._drop()
            raise EngineFault(f"engine {self.engine.name} did not answer {message['oracle']}: {reply}", "", words)
        return reply

    def operators(self) -> list[dict[str, Any]] | None:
        """The descriptions of operators that the engine offers, or None."""
        found = self._ask({"oracle": "describe"})["operators"]
        return found if isinstance(found, list) else None

    def which(self, paths: Sequence[str]) -> set[str]:
        """Which of these functions the engine has."""
        found: list[str] = self._ask({"oracle": "which", "paths": list(paths)})["which"]
        return set(found)

    def renew(self) -> None:
        """Go on in a child in which no program has run: an earlier one may have written to where it should not."""
        if self._worker is not None and not self._fresh:
            self._first = self._next
            self._end_child(self._worker, signal.SIGKILL)
            self._replace(self._worker, self._received(self._worker, SECONDS_TO_END))

    # -- programs -------------------------------------------------------------------------------------------

    def run(
        self, programs: Sequence[Program], seconds: float | None = None, until: float = math.inf
    ) -> list[Answer]:
        """An answer for each program, in order; *seconds* is another limit than usual for each.

        After *until*, by ``time.monotonic()``, no further program is waited for: then there are fewer answers.
        """
        answers: list[Answer] = []
        while len(answers) < len(programs) and time.monotonic() < until:
            answers += self._some(programs[len(answers):len(answers) + BATCH], seconds or self._seconds, until)
        return answers

    def _some(self, programs: Sequence[Program], seconds: float, until: float = math.inf) -> list[Answer]:
        """Answers to at least the first of these programs."""
        worker, fresh = self.start(), self._fresh
        self._first, self._next = self._next, self._next + len(programs)
        messages = [program.message(number) for number, program in enumerate(programs, self._first)]
        worker.send({"oracle": "run", "programs": messages})
        answers: list[Answer] = []
        for program in programs:
            if answers and time.monotonic() >= until:
                self._fresh = False
                self.renew()    # the child still has the rest before it
                return answers
            reply = self._received(worker, seconds)
            if isinstance(reply, dict) and "id" in reply:
                answers.append(Answer.of(reply))
                continue
            ended = self._replace(worker, reply)
            self._fruitless = 0 if answers else self._fruitless + 1
            if self._fruitless >= PATIENCE:
                self._check_alive(program, ended)
            return [*answers, ended if fresh and not answers else self._confirmed(program, ended, seconds)]
        self._fruitless = 0
        self._fresh = False
        return answers

    def _received(self, worker: WorkerProcess, seconds: float) -> dict[str, Any] | Ended | Late | Garbled:
        """The next message; answers to what an earlier child was asked, and the next one answered, are passed over."""
        while True:
            reply = worker.receive(time.monotonic() + seconds)
            if not (isinstance(reply, dict) and "id" in reply and reply["id"] < self._first):
                return reply

    def _replace(self, worker: WorkerProcess, reply: dict[str, Any] | Ended | Late | Garbled) -> Answer:
        """Get the next child, or let a new worker be made; returns how the old one ended."""
        if isinstance(reply, Late):
            words = self._end_child(worker, signal.SIGUSR1) + self._end_child(worker, signal.SIGKILL)
            again = self._received(worker, SECONDS_TO_END)
        else:
            words, again = worker.last_words(), reply
        worker.output.clear()
        child = self._received(worker, SECONDS_TO_END) if isinstance(again, dict) else again
        if isinstance(again, dict) and "died" in again and isinstance(child, dict) and "child" in child:
            self._child, self._fresh = child["child"], True
        else:
            self._drop()
        if isinstance(reply, dict):
            return Answer((), "crash", f"{Ended(reply.get('died', 0))}\n{words}")
        return Answer((), "hang" if isinstance(reply, Late) else "crash", f"{_reason(reply)}\n{words}")

    def _end_child(self, worker: WorkerProcess, number: int) -> str:
        """Signal the child: SIGUSR1 makes it print where it is."""
        if self._child > 1:  # 0 and -1 would mean the harness itself
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._child, number)
        time.sleep(0.3)
        return worker.last_words()

    def _check_alive(self, program: Program, ended: Answer) -> None:
        """Many programs in a row ended the engine: does it run anything at all?"""
        self._fruitless = -PATIENCE
        if self._some([Program(("a = mx.nd.ones((2,))", "b = a + a"))], self._seconds)[0].end is not None:
            raise EngineFault(f"engine {self.engine.name}: {PATIENCE} programs in a row ended its process, and so does "
                              f"an addition", "Look at the last one:", f"{program.text}\n{ended.words}")
        self._fruitless = 0

    def _confirmed(self, program: Program, ended: Answer, seconds: float) -> Answer:
        """What the program does in a fresh worker: an earlier one may have done the damage."""
        again = self._some([program], seconds)[0]
        if again.end is None:
            self._note(f"{self.engine.name}: the process ended ({ended.end}) at a program that runs well alone; "
                       f"an earlier one may have damaged it: {program.lines[-1]}")
        return again


def _reason(reply: Ended | Late | Garbled) -> str:
    if isinstance(reply, Late):
        return "no answer in time"
    return str(reply)
