"""MEMPLAN-HW: what an engine does with the processor and with a gpu without being told."""

import json

from conformance.case import case
from conformance.suite.memplan._tools import told

KERNELS = """
import json
import numpy as np
if hasattr(mx, "npx") and hasattr(mx.npx, "reset_np"):
    mx.npx.reset_np()
def numbers(*shape):
    return mx.nd.array(np.sin(np.arange(int(np.prod(shape)))).reshape(shape))
x = numbers(2, 16, 12, 12)
y = mx.nd.Convolution(x, numbers(16, 16, 3, 3), numbers(16), kernel=(3, 3), num_filter=16)
z = mx.nd.FullyConnected(mx.nd.Activation(y, act_type="tanh"), numbers(8, 1600), numbers(8), num_hidden=8)
print("=" + json.dumps([y.asnumpy().reshape(-1).tolist(), mx.nd.softmax(z).asnumpy().tolist()]))
"""
OFF = {"MXNET_MKLDNN_ENABLED": "0", "MXNET_ONEDNN_ENABLED": "0"}
VERBOSE = {"MKLDNN_VERBOSE": "1", "DNNL_VERBOSE": "1", "ONEDNN_VERBOSE": "1"}


def _kernels(check, environment):
    """Numbers that layers give, and the lines in which oneDNN tells which of its kernels ran."""
    status, out, errors = check.python(KERNELS, environment)
    check.equal(status, 0, "exit status of the process, which wrote %s" % errors[-600:])
    (line,) = [line for line in out.splitlines() if line.startswith("=")]
    return json.loads(line[1:]), [line for line in out.splitlines() if "_verbose,exec," in line]


@case("MEMPLAN-HW-001", timeout=120)
def kernels_of_onednn_run_unasked(mx, check):
    features = mx.runtime.Features()
    check.that(any(name in features and features.is_enabled(name) for name in ("MKLDNN", "ONEDNN")),
               "feature MKLDNN or ONEDNN is on")
    cleared = dict.fromkeys(OFF)
    used, lines = _kernels(check, dict(VERBOSE, **cleared))
    check.that(any(",convolution," in line for line in lines), "a convolution of oneDNN ran", got=lines)
    other, none = _kernels(check, dict(VERBOSE, **OFF))
    check.equal(none, [], "kernels of oneDNN that ran while they were switched off")
    check.close(used[0], other[0], "convolution with and without", rtol=1e-5, atol=1e-5)
    check.close(used[1], other[1], "probabilities with and without", rtol=1e-5, atol=1e-5)


THREADS = """
def ticks():
    "Time that each thread of the process has worked, in ticks of the system."
    found = {}
    for thread in os.listdir("/proc/self/task"):
        try:
            with open("/proc/self/task/%s/stat" % thread) as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        found[thread] = int(fields[11]) + int(fields[12])
    return found

def busy(seconds=0.7):
    "The shares of the threads in the work of products of matrices, the largest first."
    a = mx.nd.ones((1200, 1200))
    mx.nd.dot(a, a).wait_to_read()
    before, start = ticks(), time.time()
    while time.time() - start < seconds:
        b = mx.nd.dot(a, a)
        b.wait_to_read()
    spent = sorted((after - before.get(thread, 0) for thread, after in ticks().items()), reverse=True)
    assert b.asnumpy()[7, 1199] == 1200.0
    return [ticks_ / float(sum(spent)) for ticks_ in spent if ticks_]

say("shares", busy())
say("cores", len(os.sched_getaffinity(0)))
"""


@case("MEMPLAN-HW-002", timeout=120, samples={"two": {"threads": "2"}})
def product_is_shared_between_threads(mx, check, threads):
    shares = told(check, THREADS, {"OMP_NUM_THREADS": threads, "MXNET_ENGINE_TYPE": None})["shares"]
    count = int(threads)
    check.that(len(shares) >= count and shares[count - 1] >= 0.5 / count and sum(shares[:count]) >= 0.85,
               "%s threads do a product together" % threads, "%s shares of about the same size" % threads, str(shares))


@case("MEMPLAN-HW-002", timeout=120)
def several_threads_without_being_told(mx, check):
    """Engines may leave out the second thread of each core, so that two cores of a system can mean one thread."""
    found = told(check, THREADS, {"OMP_NUM_THREADS": None, "OPENBLAS_NUM_THREADS": None, "MKL_NUM_THREADS": None,
                                  "MXNET_ENGINE_TYPE": None})
    busy = [share for share in found["shares"] if share >= 0.1]
    expected = 2 if found["cores"] >= 4 else 1
    check.that(expected <= len(busy) <= max(found["cores"], 1), "threads that do a product, by the cores there are",
               "%d or more" % expected, str(found))


@case("MEMPLAN-HW-004", timeout=120)
def threads_are_limited_by_hand(mx, check):
    shares = told(check, THREADS, {"OMP_NUM_THREADS": "1", "MXNET_ENGINE_TYPE": None})["shares"]
    check.that(shares[0] >= 0.9, "share of one thread in all the work with OMP_NUM_THREADS=1", ">= 0.9", str(shares))


@case("MEMPLAN-HW-004")
def no_switch_for_power_or_edge_devices(mx, check):
    features = [name.lower() for name in mx.runtime.Features()]
    public = [name.lower() for module in (mx, mx.context, mx.runtime, mx.util) for name in dir(module)
              if not name.startswith("_")]
    check.that("gpu" in public and "cuda" in features, "names of the engine and of its features are known",
               got=features)
    words = ("energy", "battery", "edge_mode", "low_power", "power_mode", "power_limit")
    check.equal([name for name in public + features if any(word in name for word in words)], [],
                "names that speak of power or of edge devices")


TUNING = """
import numpy as np
if hasattr(mx, "npx") and hasattr(mx.npx, "reset_np"):
    mx.npx.reset_np()
def numbers(*shape):
    return mx.nd.array(np.sin(np.arange(int(np.prod(shape)))).reshape(shape), ctx=mx.gpu(0))
y = mx.nd.Convolution(numbers(2, 8, 20, 20), numbers(8, 8, 3, 3), kernel=(3, 3), num_filter=8, no_bias=True)
print("sum %.4f" % float(np.abs(y.asnumpy()).sum()))
"""


@case("MEMPLAN-HW-003", timeout=120)
def algorithms_of_convolutions_are_tried_by_default(mx, check):
    """An engine that tries algorithms says so, and how to switch it off; results are the same in any case."""
    sums, told_of = {}, {}
    for value in (None, "0", "1", "2"):
        status, out, errors = check.python(TUNING, {"MXNET_CUDNN_AUTOTUNE_DEFAULT": value})
        check.equal(status, 0, "exit status with MXNET_CUDNN_AUTOTUNE_DEFAULT=%s: %s" % (value, errors[-400:]))
        (line,) = [line for line in out.splitlines() if line.startswith("sum ")]
        sums[value], told_of[value] = float(line.split()[1]), "MXNET_CUDNN_AUTOTUNE_DEFAULT" in errors
    check.equal((told_of[None], told_of["0"]), (told_of["1"], False), "whether tuning is told of, without and with 0")
    for value in ("0", "1", "2"):
        check.close(sums[value], sums[None], "sum of results with MXNET_CUDNN_AUTOTUNE_DEFAULT=%s" % value, rtol=1e-3)
