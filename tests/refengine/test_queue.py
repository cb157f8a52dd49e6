"""The queue of the asynchronous engines where threads do not do as one hopes: nobody waits for ever."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

import pytest

from refengine import MXNetError, threaded
from refengine.threaded import Queue, Task
from tests.refengine.test_threaded import run

LIMIT = 20.0


def in_time(function: Callable[[], object]) -> None:
    """Call a function; a failed test, not a hang, when it does not come back."""
    errors: list[BaseException] = []

    def body() -> None:
        try:
            function()
        except BaseException as error:  # noqa: BLE001 - raised below
            errors.append(error)

    thread = threading.Thread(target=body, daemon=True)
    thread.start()
    thread.join(LIMIT)
    assert not thread.is_alive(), f'waited for {LIMIT} seconds'
    if errors:
        raise errors[0]


@pytest.fixture
def queue():
    made = Queue()
    yield made
    in_time(made.close)


def numbered(queue: Queue, count: int, seen: list[int]) -> list[Task]:
    tasks = [Task(lambda i=i: seen.append(i)) for i in range(count)]
    for task in tasks:
        queue.put(task)
    return tasks


@pytest.fixture
def no_threads(monkeypatch):
    """Threads of the queue cannot be started."""
    plain = threading.Thread.start

    def start(thread: threading.Thread) -> None:
        if thread.name == 'refengine':
            raise RuntimeError("can't start new thread")
        plain(thread)

    monkeypatch.setattr(threading.Thread, 'start', start)
    return monkeypatch


class TestWithoutAThread:
    def test_who_waits_does_the_work(self, queue, no_threads):
        seen: list[int] = []
        tasks = numbered(queue, 5, seen)
        assert seen == []
        in_time(lambda: queue.wait(tasks[2]))
        assert seen == [0, 1, 2]
        in_time(queue.drain)
        assert seen == [0, 1, 2, 3, 4]
        assert not queue.busy

    def test_a_thread_takes_over_as_soon_as_it_can(self, queue, no_threads):
        seen: list[int] = []
        numbered(queue, 2, seen)
        no_threads.undo()
        threads: list[int] = []
        task = Task(lambda: threads.append(threading.get_ident()))
        queue.put(task)
        in_time(queue.drain)
        assert seen == [0, 1]
        assert threads != [threading.get_ident()]

    def test_several_who_wait(self, queue, no_threads):
        seen: list[int] = []
        tasks = numbered(queue, 200, seen)
        waiting = [threading.Thread(target=queue.wait, args=(task,), daemon=True) for task in tasks[::20]]
        for thread in waiting:
            thread.start()
        for thread in waiting:
            thread.join(LIMIT)
            assert not thread.is_alive()
        assert seen[:181] == list(range(181))

    def test_an_error_comes_to_who_waits(self, queue, no_threads):
        task = Task(lambda: 1 / 0)
        queue.put(task)
        with pytest.raises(ZeroDivisionError):
            in_time(lambda: queue.wait(task))

    def test_work_that_hands_over_work(self, queue, no_threads):
        seen: list[str] = []
        inner = Task(lambda: seen.append('inner'))

        def body() -> None:
            queue.put(inner)
            queue.wait(inner)
            queue.drain()       # nothing for the worker itself
            seen.append('outer')

        queue.put(Task(body))
        in_time(queue.drain)
        assert seen == ['inner', 'outer']

    def test_an_interrupt_is_not_swallowed(self, queue, no_threads):
        def interrupted() -> None:
            raise KeyboardInterrupt

        seen: list[int] = []
        queue.put(Task(interrupted))
        numbered(queue, 1, seen)
        with pytest.raises(KeyboardInterrupt):
            queue.drain()
        in_time(queue.drain)
        assert seen == [0]


def test_a_thread_that_dies_is_noticed(queue, monkeypatch):
    monkeypatch.setattr(threaded, 'LOOK', 0.05)
    plain, seen = queue._finish, []
    lost, later = Task(lambda: seen.append('lost')), Task(lambda: seen.append('later'))

    def finish(task: Task) -> None:
        if task is lost:
            task.body = None
            raise SystemExit
        plain(task)

    monkeypatch.setattr(queue, '_finish', finish)
    monkeypatch.setattr(threading, 'excepthook', lambda args: None)     # pytest would report the end of the thread
    queue.put(lost)
    queue.put(later)
    in_time(lambda: queue.wait(later))
    assert seen == ['later']
    with pytest.raises(MXNetError, match='The thread of the engine ended while this was being computed'):
        in_time(lambda: queue.wait(lost))
    in_time(queue.drain)
    again: list[int] = []
    in_time(lambda: queue.wait(numbered(queue, 3, again)[-1]))
    assert again == [0, 1, 2]


def test_the_number_of_a_dead_thread_may_be_that_of_another(queue, monkeypatch):
    """A thread that the system gave the number of the worker is not taken for it."""
    monkeypatch.setattr(threading, 'excepthook', lambda args: None)

    def ends(task: Task) -> None:
        task.body = None
        raise SystemExit

    monkeypatch.setattr(queue, '_finish', ends)
    queue.put(Task(lambda: None))
    deadline = time.monotonic() + LIMIT
    while queue._thread is not None and queue._thread.is_alive() and time.monotonic() < deadline:
        time.sleep(0.001)
    found: list[bool] = []
    for _ in range(20):
        thread = threading.Thread(target=lambda: found.append(queue.is_worker()))
        thread.start()
        thread.join(LIMIT)
    assert found == [False] * 20
    monkeypatch.undo()
    in_time(queue.drain)


def test_who_waits_for_himself_is_told(queue):
    tasks: list[Task] = []
    task = Task(lambda: queue.wait(tasks[0]))
    tasks.append(task)
    queue.put(task)
    with pytest.raises(MXNetError, match='waits for its own result'):
        in_time(lambda: queue.wait(task))


def test_a_wait_for_all_ends_although_others_go_on(queue):
    stop = threading.Event()

    def feed() -> None:
        while not stop.is_set():
            queue.put(Task(lambda: time.sleep(0.001)))
            time.sleep(0.0002)

    feeder = threading.Thread(target=feed, daemon=True)
    feeder.start()
    try:
        while not queue.busy:
            time.sleep(0.001)
        for _ in range(3):
            in_time(queue.drain)
        assert feeder.is_alive()
    finally:
        stop.set()
        feeder.join(LIMIT)


def test_what_is_handed_over_after_the_end_is_done_at_once(queue):
    seen: list[int] = []
    numbered(queue, 3, seen)
    in_time(queue.close)
    assert seen == [0, 1, 2]
    assert not any(t.name == 'refengine' and t is queue._thread for t in threading.enumerate())
    queue.put(Task(lambda: seen.append(9)), hold=5)
    assert seen == [0, 1, 2, 9]


@pytest.mark.skipif(not hasattr(os, 'fork'), reason='no fork on this system')
class TestForks:
    def test_from_a_busy_process(self):
        """Other threads hand over work all the time; each child finds everything done and can go on."""
        assert run('''
            import os, threading, warnings
            warnings.simplefilter('ignore')
            x = nd.ones(4); y = x * 3; y.wait_to_read()
            stop = threading.Event()
            def feed():
                while not stop.is_set():
                    (x * 3).wait_to_read()
            feeders = [threading.Thread(target=feed, daemon=True) for _ in range(2)]
            for f in feeders: f.start()
            codes = []
            for _ in range(10):
                z = x * 3
                child = os.fork()
                if child == 0:
                    os._exit(0 if (z * 3).asnumpy().tolist() == [9] * 4 and not engine.queue._closed else 1)
                codes.append(os.waitpid(child, 0)[1])
            stop.set()
            for f in feeders: f.join(20)
            print(codes == [0] * 10, (x * 3).asnumpy().tolist())
        ''') == ['True [3.0, 3.0, 3.0, 3.0]']

    def test_from_the_thread_of_the_queue(self):
        """What runs at the fork cannot be had in the child, and says so; what is behind it can."""
        assert run('''
            import os, warnings
            from refengine.threaded import Task
            warnings.simplefilter('ignore')
            codes = []
            def body():
                child = os.fork()
                if child == 0:
                    try:
                        engine.queue.wait(mine)
                        os._exit(1)
                    except mx.MXNetError as error:
                        if 'forked while this was being computed' not in str(error):
                            os._exit(2)
                    engine.queue.wait(behind)
                    os._exit(0 if (nd.ones(2) + 1).asnumpy().tolist() == [2, 2] else 3)
                codes.append(os.waitpid(child, 0)[1])
            gate = Gate()
            with gate:
                mine, behind = Task(body), Task(lambda: None)
                engine.queue.put(mine); engine.queue.put(behind)
            nd.waitall()
            print(codes)
        ''') == ['[0]']


class TestTheEndOfTheInterpreter:
    def test_handlers_and_finalizers_may_compute(self):
        """Those that come after the engine was closed too, and objects that die with their modules."""
        assert run('''
            import atexit, sys
            import refengine
            x = nd.ones(3)
            x + 1
            class Late:
                def __init__(self): self.x, self.out = x, sys.stdout
                def __del__(self):
                    self.out.write(f'{(self.x + 1).asnumpy().tolist()} late\\n')
                    self.out.flush()
            refengine.kept_to_the_end = Late()
            atexit.unregister(engine.queue.close)
            atexit.register(lambda: print((x + 1).asnumpy().tolist(), engine.queue._closed))
            atexit.register(engine.queue.close)
        ''') == ['[2.0, 2.0, 2.0] True', '[2.0, 2.0, 2.0] late']

    def test_work_is_finished(self):
        assert run('''
            import time
            from refengine.threaded import Task
            engine.queue.put(Task(lambda: (time.sleep(0.3), print('done'))))
        ''') == ['done']

    def test_an_error_in_the_program_does_not_hang(self):
        with pytest.raises(AssertionError, match='ZeroDivisionError'):
            run('x = nd.ones(2); x + 1; y = x + 1; 1 / 0')


class TestErrors:
    def test_the_end_of_the_program_is_not_decided_by_an_operator(self):
        assert run('''
            from refengine import op
            x, leave, record = nd.ones(2), [], op.get('sin')
            plain = record.forward
            def leaves(*args, **params):
                if leave: raise SystemExit(3)
                return plain(*args, **params)
            record.forward = leaves
            nd.sin(x), x * 2
            leave.append(True)
            for wait in (lambda y: y.asnumpy(), lambda y: nd.waitall(), lambda y: (y * 2).asnumpy()):
                try:
                    wait(nd.sin(x)); print('nothing')
                except mx.MXNetError as error:
                    print(error)
        ''') == ['SystemExit in the thread of the engine: 3'] * 3

    def test_gradients_of_failed_results_fail_with_their_error(self):
        assert run('''
            def attempt():
                x = nd.ones((2, 2)); x.attach_grad()
                with autograd.record():
                    y = (x * nd.random.normal(0, scale, shape=(2, 2))).sum()
                y.backward()
                return x.grad
            scale = 1
            attempt().asnumpy(); attempt().asnumpy()
            scale = -1
            grad = attempt()
            try:
                grad.asnumpy(); print('nothing')
            except mx.MXNetError as error:
                print('scale' in str(error))
            nd.waitall()
        ''') == ['True']

    def test_who_asks_for_numbers_of_memory_does_not_get_the_errors_of_others(self):
        assert run('''
            from refengine.runtime import Runtime
            failed = nd.random.normal(0, -1, shape=(2, 2))
            print(Runtime().get_memory_info(mx.cpu(0))['total'] > 0)
            try:
                failed.asnumpy(); print('nothing')
            except mx.MXNetError as error:
                print('scale' in str(error))
        ''') == ['True', 'True']
