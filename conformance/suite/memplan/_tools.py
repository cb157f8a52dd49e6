"""How much memory a process of its own uses for a piece of work, as the kernel counts it: the same on every engine.

Runs in the engine's interpreter: Python 3.8, standard library and numpy >= 1.17 only.
"""

import json

#: Code for a process of its own. ``most(make)`` is the most memory, in MiB, that the process takes while the work runs
#: that ``make()`` gives, beyond what it took before ``make()``: parameters, inputs and what the engine keeps included.
#: The work runs twice before, so that what an engine builds at first does not count.
MEASURE = """
import contextlib, gc, json, os, time
import numpy as np
from conformance.suite import kit

def memory(name):
    with open("/proc/self/status") as file:
        for line in file:
            if line.startswith(name):
                return int(line.split()[1]) / 1024.0

def settle():
    for _ in range(2):
        gc.collect()
        mx.nd.waitall()
        time.sleep(0.05)    # an engine may free in the background
    mx.cpu().empty_cache()

def restart_peak():
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")

def most(make):
    settle()
    before = memory("VmRSS")
    work = make()
    for _ in range(2):
        work()
        mx.nd.waitall()
    settle()
    restart_peak()
    for _ in range(2):
        work()
        mx.nd.waitall()
    return memory("VmHWM") - before

@contextlib.contextmanager
def settings(**variables):
    "Environment variables for a block."
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value

def sized(make, **variables):
    "What most() says with environment variables set."
    with settings(**variables):
        return most(make)

def chain(layers, batch=32768, train=False, activation="relu", width=32, **flags):
    "Equal layers; each makes results of batch x width numbers, 4 MiB unless told otherwise."
    def make():
        net = mx.gluon.nn.HybridSequential()
        for _ in range(layers):
            net.add(mx.gluon.nn.Dense(width, in_units=width, activation=activation))
        net.initialize(mx.init.Xavier())
        if flags:
            net.hybridize(**flags)
        x = kit.array(mx, np.ones((batch, width)))
        def work():
            if not train:
                return net(x).wait_to_read()
            with mx.autograd.record():
                y = net(x)
            y.backward()
        return work
    return make

def say(name, value):
    print("=" + json.dumps([name, value]))

mx.nd.ones((2, 2)).wait_to_read()
most(chain(2, batch=64, train=True))
"""

#: Freed blocks of the C library go back at once, however large blocks were before; so do those of the engine, which
#: otherwise may free in the background.
_ENVIRONMENT = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536", "OMP_NUM_THREADS": "1",
                "MXNET_ENGINE_TYPE": "NaiveEngine"}


def told(check, code, environment=None, timeout=110):
    """What *code* says in a process of its own, name -> value; it has the functions of ``MEASURE``."""
    status, out, errors = check.python(MEASURE + code, dict(_ENVIRONMENT, **(environment or {})), timeout)
    check.equal(status, 0, "exit status of the process, which wrote %s" % errors[-600:])
    return dict(json.loads(line[1:]) for line in out.splitlines() if line.startswith("="))
