"""The pool lends a buffer to one array at a time, and gets it back only when the last view has died."""

import gc
import os
import subprocess
import sys

import numpy as np
import pytest

import refengine as mx
from refengine import storage

SIZE = storage.LARGE // 4


@pytest.fixture(autouse=True)
def _empty_pool():
    gc.collect()
    storage.empty_cache()


def test_two_live_arrays_never_share_a_buffer():
    first, second = storage.empty((SIZE,), "float32"), storage.empty((SIZE,), "float32")
    assert not np.shares_memory(first, second)
    original = mx.nd.array(np.arange(SIZE, dtype="float32"))
    assert not np.shares_memory(original._data, original.copy()._data)


@pytest.mark.parametrize("view", [lambda a: a[3:9], lambda a: a.reshape(2, -1).T, lambda a: a.view("int32")[::2]])
def test_a_view_keeps_the_buffer_lent(view):
    array = storage.empty((SIZE,), "float32")
    array[:] = 7
    kept = view(array)
    before = kept.copy()
    del array
    gc.collect()
    assert storage.kept_bytes() == 0
    storage.empty((SIZE,), "float32")[:] = 8
    np.testing.assert_array_equal(kept, before)


def test_a_buffer_returns_when_the_last_view_dies_and_is_lent_again():
    array = storage.empty((SIZE,), "float32")
    address = array.ctypes.data
    part = array[5:]
    del array
    assert storage.kept_bytes() == 0
    del part
    assert storage.kept_bytes() >= SIZE * 4
    assert storage.empty((SIZE,), "float32").ctypes.data == address


def test_used_bytes_count_what_is_lent():
    before = storage.used_bytes()
    arrays = [storage.empty((SIZE,), "float32") for _ in range(3)]
    assert storage.used_bytes() - before >= 3 * SIZE * 4
    part = arrays[0][3:]
    del arrays
    assert SIZE * 4 <= storage.used_bytes() - before < 2 * SIZE * 4
    del part
    assert storage.used_bytes() == before


def test_a_lease_that_ends_while_the_pool_is_locked_ends_without_a_deadlock():
    array = storage.empty((SIZE,), "float32")
    with storage._lock:
        del array
    assert storage.kept_bytes() >= SIZE * 4


def test_a_forked_process_finds_the_pool_free():
    """Whatever another thread of its parent was doing at that moment."""
    code = """if True:
        import os, threading, time
        from refengine import storage
        taken = threading.Event()
        def hold():
            with storage._lock:
                taken.set()
                time.sleep(0.3)
        threading.Thread(target=hold).start()
        taken.wait()
        child = os.fork()
        if child == 0:
            storage.empty((storage.LARGE,), 'uint8')
            os._exit(7)
        for _ in range(200):
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                break
            time.sleep(0.05)
        else:
            os.kill(child, 9)
        print(ended == child and os.waitstatus_to_exitcode(status))
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert done.stdout.strip() == "7", done.stderr
