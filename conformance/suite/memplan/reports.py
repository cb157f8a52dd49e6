"""MEMPLAN-CASE: what reports on whole systems rest on, as far as a program can see it."""

from conformance.case import case
from conformance.suite.memplan._tools import told


@case("MEMPLAN-CASE-001", timeout=120)
def half_precision_halves_the_memory(mx, check):
    found = told(check, """
def activations(dtype):
    def make():
        net = mx.gluon.nn.HybridSequential()
        for number in range(12):
            net.add(mx.gluon.nn.Activation("sigmoid" if number % 2 else "tanh"))
        net.hybridize(static_alloc=True)
        x = kit.array(mx, np.sin(np.arange(1 << 19)), dtype=dtype)
        x.attach_grad()
        def work():
            with mx.autograd.record():
                y = net(x)
            y.backward()
            found[:] = [str(np.dtype(y.dtype)), y.asnumpy()[:8].astype(float).tolist(),
                        x.grad.asnumpy()[:8].astype(float).tolist()]
        return work
    return make

found = []
for dtype in ("float32", "float16"):
    say(dtype, most(activations(dtype)))
    say("results " + dtype, found)
""")
    for dtype in ("float32", "float16"):
        check.equal(found["results " + dtype][0], dtype, "dtype of the result")
    for number, name in ((1, "results"), (2, "gradients")):
        check.close(found["results float16"][number], found["results float32"][number],
                    "%s in both precisions" % name, rtol=2e-2, atol=2e-3)
    check.that(found["float32"] >= 24, "MiB of twelve activations of 2 MiB in float32", ">= 24", str(found))
    check.that(0.3 <= found["float16"] / found["float32"] <= 0.6, "MiB in float16 and in float32",
               "ratio 0.3 ... 0.6", str(found))


LOADING = """
class Slow:
    def __len__(self):
        return 60
    def __getitem__(self, index):
        time.sleep(0.005)
        return np.full((2,), index, dtype="float32")

def seconds(**options):
    loader = mx.gluon.data.DataLoader(Slow(), batch_size=4, **options)
    seen, start = [], time.time()
    for batch in loader:
        time.sleep(0.02)
        seen += batch.asnumpy()[:, 0].tolist()
    assert seen == [float(i) for i in range(60)], seen
    return time.time() - start

say("one after the other", seconds())
say("ahead", min(seconds(num_workers=2, thread_pool=True) for _ in range(2)))
"""


@case("MEMPLAN-CASE-003", timeout=120)
def loading_ahead_hides_behind_the_work(mx, check):
    found = told(check, LOADING, {"MXNET_ENGINE_TYPE": None})
    check.that(found["one after the other"] >= 0.59, "seconds of 15 batches of 20 ms each and 20 ms of work", ">= 0.59",
               str(found))
    check.that(found["ahead"] <= 0.75 * found["one after the other"], "seconds with batches made ahead by two workers",
               "ratio <= 0.75", str(found))
