"""The asynchronous engines: program order, sync points, errors, hidden writers, the thread behind the queue."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

from refengine import lazy, samples
from refengine.dispatch import raw
from refengine.op import operators
from refengine.threaded import Queue, Task

PRELUDE = '''
import time
import numpy as np
import refengine as mx
from refengine import autograd, engine, lazy, nd
assert engine.queue is not None


class Gate:
    """Holds the thread of the queue back, so that what is queued behind it is certainly not done."""

    def __enter__(self):
        import threading
        from refengine.threaded import Task
        self.open = threading.Event()
        engine.queue.put(Task(lambda: self.open.wait(20)))

    def __exit__(self, *error):
        self.open.set()


def pending(*arrays):
    return [lazy._read(a).__class__ is lazy.Pending and not lazy._read(a).task.done for a in arrays]
'''


def run(code: str, kind: str = 'ThreadedEnginePerDevice') -> list[str]:
    done = subprocess.run([sys.executable, '-c', PRELUDE + textwrap.dedent(code)], capture_output=True, text=True,
                          env={**os.environ, 'MXNET_ENGINE_TYPE': kind, 'PYTHONPATH': ':'.join(sys.path)}, timeout=120,
                          check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split('\n')[:-1]


@pytest.mark.parametrize('kind', ['ThreadedEngine', 'ThreadedEnginePerDevice'])
def test_a_known_call_returns_before_it_is_done(kind):
    assert run('''
        x = nd.ones((3, 4))
        nd.dot(x, x.T) * 2
        t = x.T
        with Gate():
            y = nd.dot(x, t)
            print(y.shape, y.dtype.__name__, y.size, y.ndim, len(y), y.stride, y.context, pending(y))
            z = y * 2
            nd.debug_print(z)
        print(z.asnumpy()[0].tolist(), pending(y, z))
    ''', kind)[0] == '(3, 3) float32 9 2 3 (3, 1) cpu(0) [True]'


def test_writes_come_in_the_order_of_the_program():
    assert run('''
        x = nd.zeros(4)
        x * 1; (x + 1) * 1
        seen = []
        for i in range(50):
            y = x + 1
            x[:] = y
            x += 1
            x[0] = -i
            seen.append(x * 1)
        print([s.asnumpy()[1] for s in seen] == [2.0 * (i + 1) for i in range(50)], x.asnumpy()[0])
        a = np.ones(3, 'float32')
        b = nd.array(a)
        c = b * 2
        a[:] = 7
        print(c.asnumpy().tolist())
    ''') == ['True -49.0', '[2.0, 2.0, 2.0]']


def test_backward_is_queued_and_looks_done():
    assert run('''
        x = nd.array([1., 2.]); x.attach_grad()
        def forward():
            with autograd.record():
                return (x * x).sum()
        forward().backward()
        y = forward()
        with Gate():
            z = forward()
            before = x._fresh_grad; x._fresh_grad = False
            z.backward()
            print(before, x._fresh_grad, z._node.alive, x._node.alive)
            try:
                z.backward()
            except mx.MXNetError as error:
                print('not in a computational graph' in str(error))
        print(x.grad.asnumpy().tolist())
        y.backward(retain_graph=True); y.backward(nd.array([10.]))
        print(x.grad.asnumpy().tolist())
    ''') == ['True True False True', 'True', '[2.0, 4.0]', '[20.0, 40.0]']


def test_a_gradient_buffer_that_was_pending_is_waited_for():
    assert run('''
        x = nd.ones(2)
        for _ in range(3):
            buffer = nd.zeros(2) * 1
            alias = buffer.detach()
            autograd.mark_variables([x], [buffer])
            with autograd.record():
                y = x * 3
            with Gate():
                y.backward()
                pass
            print(alias.asnumpy().tolist(), buffer.asnumpy().tolist())
    ''') == ['[3.0, 3.0] [3.0, 3.0]'] * 3


def test_errors_come_at_the_wait_and_travel():
    assert run('''
        def bad(): return nd.take(nd.ones(2), nd.array([9]), mode='raise')
        def told(function):
            try:
                function()
                return 'nothing'
            except mx.MXNetError as error:
                return 'out of bound' in str(error)
        good = nd.take(nd.ones(2), nd.array([1]), mode='raise')
        for _ in range(2):
            y = bad()
            z = (y + 1) * 2
            print(told(z.asnumpy), told(z.asnumpy), told(nd.waitall), (nd.ones(2) + 1).asnumpy().tolist())
        a, b = bad(), bad()
        print(told(nd.waitall), told(nd.waitall))
        x = nd.array([1.]); x.attach_grad()
        with autograd.record():
            y = x * bad()
        y.backward()
        print(told(x.grad.asnumpy))
        try:
            nd.ones(2) + nd.ones(3)
        except mx.MXNetError:
            print('at the call')
    ''') == ['True nothing nothing [2.0, 2.0]'] * 2 + ['True nothing', 'True', 'at the call']


def test_functions_of_the_program_run_where_they_may_ask_for_anything():
    assert run('''
        class Doubling(autograd.Function):
            def forward(self, x):
                return x * 2
            def backward(self, dy):
                return dy * 2 * float((other * 1).asscalar())
        other = nd.ones(1)
        x = nd.ones(1); x.attach_grad()
        for _ in range(3):
            with autograd.record():
                y = Doubling()(x) * 3
            y.backward()
        print(x.grad.asscalar())
        @mx.operator.register('triple')
        class Triple(mx.operator.CustomOpProp):
            def create_operator(self, *args):
                class Body(mx.operator.CustomOp):
                    def forward(self, is_train, req, in_data, out_data, aux):
                        self.assign(out_data[0], req[0], in_data[0] * 3)
                    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
                        self.assign(in_grad[0], req[0], out_grad[0] * 3)
                return Body()
        for _ in range(3):
            with autograd.record():
                y = nd.Custom(x * 1, op_type='triple')
            y.backward()
        print(y.asscalar(), x.grad.asscalar())
    ''') == ['6.0', '3.0 3.0']


def test_a_bulk_is_handed_over_together_and_nobody_waits_for_its_end():
    assert run('''
        x = nd.ones(2)
        x + 1
        with engine.bulk(100):
            y = x
            for _ in range(20):
                y = y + 1
            print(pending(y))
            print(y.asnumpy().tolist())
            z = y + 1
            print(pending(z))
        print(z.asnumpy().tolist())
    ''') == ['[True]', '[21.0, 21.0]', '[True]', '[22.0, 22.0]']


def test_random_numbers_are_those_of_the_inline_engine():
    code = '''
        import refengine as mx
        from refengine import nd
        mx.random.seed(11)
        values = []
        for _ in range(4):
            values.append(nd.random.uniform(shape=(3,)))
            values.append(nd.Dropout(nd.ones(4), p=0.5, mode='always'))
            values.append(nd.random.shuffle(nd.arange(5)))
        print([v.asnumpy().tolist() for v in values])
    '''
    done = subprocess.run([sys.executable, '-c', textwrap.dedent(code)], capture_output=True, text=True, check=True,
                          env={**os.environ, 'MXNET_ENGINE_TYPE': '', 'PYTHONPATH': ':'.join(sys.path)}, timeout=120)
    assert run(code) == done.stdout.split('\n')[:-1]


def test_moving_statistics_and_training():
    code = '''
        import numpy as np
        import refengine as mx
        from refengine import autograd, nd
        mx.random.seed(1)
        net = mx.gluon.nn.HybridSequential()
        net.add(mx.gluon.nn.Dense(5, in_units=4), mx.gluon.nn.BatchNorm(in_channels=5), mx.gluon.nn.Dropout(0.3),
                mx.gluon.nn.Dense(1, in_units=5))
        net.initialize(mx.init.Xavier())
        trainer = mx.gluon.Trainer(net.collect_params(), 'adam', {'learning_rate': 0.05})
        x, t = nd.random.uniform(shape=(8, 4)), nd.random.uniform(shape=(8, 1))
        for _ in range(8):
            with autograd.record():
                loss = ((net(x) - t) ** 2).mean()
            loss.backward()
            trainer.step(8)
            print(repr(float(loss.asscalar())))
        print([p.data().asnumpy().tolist() for p in net.collect_params().values()])
    '''
    done = subprocess.run([sys.executable, '-c', textwrap.dedent(code)], capture_output=True, text=True, check=True,
                          env={**os.environ, 'MXNET_ENGINE_TYPE': '', 'PYTHONPATH': ':'.join(sys.path)}, timeout=120)
    assert run(code) == done.stdout.split('\n')[:-1]


def test_a_child_process_starts_afresh():
    assert run('''
        import os
        x = nd.ones(2); x + 1
        y = x + 1
        child = os.fork()
        if child == 0:
            ok = (x + 1).asnumpy().tolist() == [2, 2] and y.asnumpy().tolist() == [2, 2]
            os._exit(0 if ok else 1)
        print(os.waitpid(child, 0)[1], y.asnumpy().tolist())
    ''') == ['0 [2.0, 2.0]']


def test_memory_is_given_back_without_the_collector():
    assert run('''
        import gc
        gc.disable()
        def count(): return sum(type(o) is nd.NDArray for o in gc.get_objects())
        def work():
            x = nd.ones(3); x.attach_grad()
            with autograd.record():
                y = (x * 2).sum()
            y.backward()
            return x.grad.asnumpy()
        work(); work(); nd.waitall()
        before = count()
        for _ in range(20):
            work()
        nd.waitall()
        print(count() - before)
    ''') == ['0']


@pytest.mark.parametrize('op', [o for o in operators() if o.samples and not o.source], ids=lambda o: o.name)
def test_shapes_do_not_depend_on_values(op):
    """What the queue takes for granted of every operator but those it lists."""
    if op.name in lazy.VALUE_SHAPED:
        return
    F = raw(np)
    random = np.random.default_rng(0)
    for sample in samples.of(op):
        if 'rng' in op.injected or 'is_train' in op.injected:
            continue
        moved = [random.permutation(a.reshape(-1)).reshape(a.shape) if d else a
                 for a, d in zip(sample.arrays, sample.differentiated)]
        if op.name in ('_linalg_potrf', '_linalg_potri'):       # they take positive definite matrices only
            moved = [a + np.eye(a.shape[-1]) for a in sample.arrays]
        results = []
        for arrays in (sample.arrays, moved):
            params = op.parse(sample.params)
            result = getattr(F, op.name)(*[a.copy() for a in arrays], **params)
            outputs = result if isinstance(result, (tuple, list)) else (result,)
            results.append([(np.shape(o), np.asarray(o).dtype) for o in outputs])
        assert results[0] == results[1]


def test_what_the_inline_engine_refuses_at_the_call_is_refused_at_the_call():
    assert run('''
        x = nd.ones((2, 3)); x * 2
        def attempt():
            with autograd.record():
                y = x * 2
            y.backward()
        x.attach_grad(); attempt()
        autograd.mark_variables([x], [nd.zeros((3, 2))], ['write'])
        try:
            attempt(); print('nothing')
        except mx.MXNetError as error:
            print('Incompatible attr in node' in str(error))
        try:
            x.shape = (3, 2); print('nothing')
        except AttributeError as error:
            print('shape' in str(error))
    ''') == ['True', 'True']


def test_mixed_precision_may_be_switched_on_late():
    """What was learnt of a call before does not hold any more, and calls that are queued are not concerned."""
    assert run('''
        x, w = nd.ones((2, 3)), nd.ones((4, 3))
        call = lambda: nd.FullyConnected(x, w, no_bias=True, num_hidden=4)
        call(); call().wait_to_read()
        gate = Gate(); gate.__enter__()
        early = call()
        import threading
        threading.Timer(0.2, gate.open.set).start()
        mx.contrib.amp.init(target_dtype='float16')
        print(early.dtype.__name__, early.asnumpy().dtype, call().dtype.__name__, call().asnumpy().dtype)
    ''') == ['float32 float32 float16 float16']


def test_devices_that_meet_are_refused():
    """One queue cannot wait for itself: statistics over several devices need the inline engine, and say so."""
    assert run('''
        x, ones, zeros = nd.ones((2, 3, 2)), nd.ones(3), nd.zeros(3)
        try:
            with autograd.train_mode():
                nd.contrib.SyncBatchNorm(x, ones, zeros, zeros.copy(), ones.copy(), ndev=2, key='k')
            print('nothing')
        except mx.MXNetError as error:
            print(error)
    ''') == ['SyncBatchNorm over several devices runs under the engine without a queue only']


# ---- the queue by itself -------------------------------------------------------------------------------------------

def test_tasks_run_in_order_on_one_thread():
    queue, seen = Queue(), []
    tasks = [Task(lambda i=i: seen.append((i, threading.get_ident()))) for i in range(100)]
    for task in tasks:
        queue.put(task)
    queue.wait(tasks[-1])
    assert [i for i, _ in seen] == list(range(100))
    assert {thread for _, thread in seen} != {threading.get_ident()}
    assert len({thread for _, thread in seen}) == 1
    queue.drain()
    assert not queue.busy


def test_held_tasks_wait_for_company_or_for_somebody_who_waits():
    queue, seen = Queue(), []
    first, second = Task(lambda: seen.append(1)), Task(lambda: seen.append(2))
    queue.put(first, hold=3)
    queue.put(second, hold=3)
    assert queue.busy
    assert seen == []
    queue.wait(first)
    queue.drain()
    assert seen == [1, 2]


def test_a_task_may_wait_for_one_behind_it():
    queue, seen = Queue(), []
    later = Task(lambda: seen.append('later'))
    ready = threading.Event()

    def body():
        ready.wait(10)
        queue.wait(later)
        seen.append('first')

    first = Task(body)
    queue.put(first)
    queue.put(later)
    ready.set()
    queue.wait(first)
    assert seen == ['later', 'first']


def test_an_error_in_a_task_does_not_end_the_thread():
    queue, seen = Queue(), []
    broken = Task(lambda: 1 / 0)
    queue.put(broken)
    with pytest.raises(ZeroDivisionError):
        queue.wait(broken)
    queue.put(Task(lambda: seen.append(1)))
    queue.drain()
    assert seen == [1]
