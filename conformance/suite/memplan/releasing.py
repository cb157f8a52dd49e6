"""MEMPLAN-FREE, MEMPLAN-POOL, MEMPLAN-DOC: memory of dropped arrays, what a pool does with it, and what keeps it."""

from conformance.case import case
from conformance.suite.memplan._tools import told

THREADED = {"MXNET_ENGINE_TYPE": None}      # the engine as it is by default


@case("MEMPLAN-FREE-002", timeout=120)
def dropped_array_makes_room_at_once(mx, check):
    found = told(check, """
settle()
before = memory("VmRSS")
restart_peak()
peaks = []
for _ in range(40):
    a = mx.nd.ones((2048, 2048))
    read = a[2047].asnumpy()[3]
    del a
    mx.nd.waitall()
    peaks.append(memory("VmHWM") - before)
say("read", float(read))
say("peaks", peaks)
""", THREADED)
    peaks = found["peaks"]
    check.equal(found["read"], 1.0, "an element of the last array")
    check.that(peaks[0] >= 15, "MiB of the first array", ">= 15", str(peaks))
    grown = sum(peaks[i] > peaks[i - 1] + 4 for i in range(1, len(peaks)))
    check.that(grown <= 5, "arrays of 16 MiB, of 39, that found no room where the one before had been", "<= 5",
               str(peaks))


KEPT = """
def growth(make):
    settle()
    before, kept = memory("VmRSS"), []
    for _ in range(30):
        kept.append(make())
        mx.nd.waitall()
    settle()
    everything.append(kept)
    return memory("VmRSS") - before

def recorded():
    with mx.autograd.record():
        return x.tanh().tanh().tanh().tanh()

x = mx.nd.ones((512, 512))
x.attach_grad()
everything = []
recorded().wait_to_read()
say("kept", growth(recorded))
say("detached", growth(lambda: recorded().detach()))
"""


@case("MEMPLAN-FREE-004", timeout=120)
def waiting_frees_no_graph(mx, check):
    found = told(check, KEPT)
    check.that(found["kept"] >= 90, "MiB held by 30 results of four operators on 1 MiB each, with a wait after each",
               ">= 90", str(found))
    check.that(found["detached"] <= 50, "MiB held by 30 results that were detached", "<= 50", str(found))


POOL = """
def freed(shape):
    made = mx.nd.ones(shape)
    made.wait_to_read()
    del made
    mx.nd.waitall()
    time.sleep(0.1)

mx.nd.waitall()
time.sleep(0.1)
start = memory("VmRSS")
"""


@case("MEMPLAN-POOL-001", timeout=120, samples={"Naive": {}, "Round": {}, "Unpooled": {}})
def kind_of_pool(mx, check):
    kind = check.case_id.split("[")[1].rstrip("]")
    found = told(check, POOL + """
freed((2048, 2048))
first = memory("VmRSS") - start
for _ in range(20):
    freed((2048, 2048))
say("resting", [first, memory("VmRSS") - start])
say("most", memory("VmHWM") - start)
say("works", float(mx.nd.ones((3, 3)).sum().asscalar()))
""", {"MXNET_CPU_MEM_POOL_TYPE": kind, "MXNET_ENGINE_TYPE": None})
    check.equal(found["works"], 9.0, "a sum")
    first, last = found["resting"]
    check.that(abs(last - first) <= 6, "MiB after the first array of 16 MiB was dropped, and after 20 more", "as much",
               str(found))
    if kind == "Unpooled":
        check.that(last <= 6, "MiB kept by no pool", "<= 6", str(found))
    else:
        check.that(15 <= last <= 24, "MiB kept by a pool for the next array of 16 MiB", "15 ... 24", str(found))


@case("MEMPLAN-POOL-001")
def unknown_kind_of_pool(mx, check):
    status, _, errors = check.python("mx.nd.ones((300, 300)).wait_to_read()", {"MXNET_CPU_MEM_POOL_TYPE": "Bogus"})
    check.that(status != 0, "exit status with a kind that is not known", "not 0", str(status))
    check.contains(errors, "Unknown memory pool strategy specified: Bogus", doing="what the process wrote")


@case("MEMPLAN-POOL-002", timeout=120)
def freed_block_serves_smaller_arrays(mx, check):
    found = told(check, POOL + """
freed((4096, 4096))
restart_peak()
before = memory("VmHWM")
large = memory("VmRSS") - start
kept = [mx.nd.ones((1024, 1024)) + i for i in range(14)]
mx.nd.waitall()
say("more", memory("VmHWM") - start)
say("read", [float(array[1023, 1023].asscalar()) for array in kept])
del kept
mx.nd.waitall()
time.sleep(0.1)
freed((4096, 4096))
say("again", memory("VmHWM") - start)
""", THREADED)
    check.equal(found["read"], [1.0 + i for i in range(14)], "elements of the small arrays")
    check.that(found["more"] <= 72, "most MiB with 14 arrays of 4 MiB, after one of 64 MiB was dropped", "<= 72",
               str(found))
    check.that(found["again"] <= 72, "most MiB with an array of 64 MiB after those were dropped", "<= 72", str(found))


ACCUMULATE = """
inputs = np.sin(np.arange(65536 * 16)).reshape(65536, 16)

def training(parts):
    def make():
        net = mx.gluon.nn.HybridSequential()
        for _ in range(4):
            net.add(mx.gluon.nn.Dense(16, in_units=16, activation="tanh"))
        net.initialize(mx.init.One())
        net.hybridize()
        parameters = list(net.collect_params().values())
        for parameter in parameters:
            parameter.grad_req = "add"
        pieces = [kit.array(mx, piece) for piece in np.split(inputs, parts)]
        def work():
            for parameter in parameters:
                parameter.grad()[:] = 0
            for piece in pieces:
                with mx.autograd.record():
                    loss = (net(piece) ** 2).sum() / 65536
                loss.backward()
            found[:] = [parameter.grad().asnumpy().reshape(-1).tolist() for parameter in parameters]
        return work
    return make

found = []
for parts in (1, 2, 4):
    say(str(parts), most(training(parts)))
    say("gradients %d" % parts, found)
"""


@case("MEMPLAN-DOC-002", timeout=120)
def smaller_batches_whose_gradients_add_up(mx, check):
    found = told(check, ACCUMULATE)
    for parts in ("2", "4"):
        check.equal([len(one) for one in found["gradients " + parts]], [256, 16] * 4, "numbers of gradients")
        for number, (one, whole) in enumerate(zip(found["gradients " + parts], found["gradients 1"])):
            check.close(one, whole, "gradient %d of %s batches, and of one" % (number, parts), rtol=2e-3, atol=1e-4)
    check.that(found["2"] <= 0.8 * found["1"], "MiB of two batches of half the size, and of one", "ratio <= 0.8",
               str({parts: found[parts] for parts in "124"}))
    check.that(found["4"] <= 0.6 * found["1"], "MiB of four batches of a quarter, and of one", "ratio <= 0.6",
               str({parts: found[parts] for parts in "124"}))
