"""MEMPLAN-REUSE, MEMPLAN-SET: intermediate values of a graph that share memory, as the process shows it."""

from conformance.case import case
from conformance.suite.memplan._tools import told

EXECUTORS = """
def allocated(symbol, grad_req, **shapes):
    "MB that the executor of a symbol says that it allocated for what lies between its inputs and its results."
    executor = symbol.simple_bind(mx.cpu(), grad_req=grad_req, **shapes)
    lines = [line for line in executor.debug_str().splitlines() if line.endswith(" MB allocated")]
    (line,) = lines
    word, number = line.split()[:2]
    assert word == "Total", line
    return int(number)

def apart(symbol, grad_req, **shapes):
    "The same with every value at a place of its own."
    with settings(NNVM_EXEC_MATCH_RANGE="0", MXNET_EXEC_ENABLE_INPLACE="0"):
        return allocated(symbol, grad_req, **shapes)

def residual(blocks):
    "Convolutions with batch normalisation and shortcuts, as in a ResNet."
    def convolution(x, name, act=True):
        x = mx.sym.Convolution(x, num_filter=16, kernel=(3, 3), pad=(1, 1), no_bias=True, name=name)
        x = mx.sym.BatchNorm(x, name=name + "_bn")
        return mx.sym.Activation(x, act_type="relu") if act else x
    x = convolution(mx.sym.var("data"), "first")
    for number in range(blocks):
        y = convolution(x, "block%d_a" % number)
        x = mx.sym.Activation(convolution(y, "block%d_b" % number, False) + x, act_type="relu")
    x = mx.sym.Pooling(x, global_pool=True, pool_type="avg", kernel=(1, 1))
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.Flatten(x), num_hidden=4, name="last"), name="softmax")
"""

#: Activations of their own, one after the other: each needs its result on the way back, and costs little to repeat.
ACTIVATIONS = """
def activations(layers, batch=16384):
    def make():
        net = mx.gluon.nn.HybridSequential()
        for number in range(layers):
            net.add(mx.gluon.nn.Dense(32, in_units=32))
            for name in ("tanh", "sigmoid", "tanh"):
                net.add(mx.gluon.nn.Activation(name))
        net.initialize(mx.init.One())
        net.hybridize(static_alloc=True)
        x = kit.array(mx, np.sin(np.arange(batch * 32)).reshape(batch, 32) / 40)
        def work():
            with mx.autograd.record():
                y = net(x)
            y.backward()
            arrays = [y[:2]] + [p.grad()[:2] for p in net.collect_params().values()]
            found[:] = [array.asnumpy().tolist() for array in arrays]
        return work
    return make

found = []
"""


@case("MEMPLAN-REUSE-001", timeout=120)
def training_needs_a_third_less(mx, check):
    found = told(check, """
make = chain(16, batch=16384, train=True, static_alloc=True)
say("shared", most(make))
say("apart", sized(make, NNVM_EXEC_MATCH_RANGE="0"))
""")
    check.that(found["apart"] > 60, "MiB without sharing: 32 values of 2 MiB and more", "> 60", str(found))
    check.that(found["shared"] <= 0.7 * found["apart"], "memory with sharing and without, in MiB", "ratio <= 0.7",
               str(found))


@case("MEMPLAN-REUSE-002", timeout=120)
def executor_of_a_residual_net_tells_its_plan(mx, check):
    found = told(check, EXECUTORS + """
net = residual(8)
say("train", [allocated(net, "write", data=(8, 16, 64, 64)), apart(net, "write", data=(8, 16, 64, 64))])
say("infer", [allocated(net, "null", data=(8, 16, 64, 64)), apart(net, "null", data=(8, 16, 64, 64))])
""", {"MXNET_SUBGRAPH_BACKEND": "NONE"})
    for name, most in (("train", 0.6), ("infer", 0.2)):
        shared, apart = found[name]
        check.that(apart >= 40, "MB planned without sharing (%s)" % name, ">= 40", str(found))
        check.that(shared <= most * apart, "MB planned with sharing and without (%s)" % name, "ratio <= %s" % most,
                   str(found))


@case("MEMPLAN-REUSE-003", timeout=120)
def memory_grows_with_the_batch(mx, check):
    found = told(check, """
for batch in (16384, 32768, 65536):
    say(str(batch), most(chain(10, batch, train=True, static_alloc=True)))
""")
    for small, large in (("16384", "32768"), ("32768", "65536")):
        check.that(1.75 <= found[large] / found[small] <= 2.1, "MiB of batches of %s and %s" % (small, large),
                   "ratio 1.75 ... 2.1", str(found))


@case("MEMPLAN-REUSE-005", timeout=120)
def inference_does_not_grow_with_depth(mx, check):
    found = told(check, """
for layers in (4, 12, 24):
    say(str(layers), most(chain(layers, static_alloc=True)))
say("apart", sized(chain(12, static_alloc=True), NNVM_EXEC_MATCH_RANGE="0"))
""")
    check.that(8 <= found["4"] <= 22, "MiB of a chain of values of 4 MiB: its input, its result, two or three others",
               "8 ... 22", str(found))
    for layers in ("12", "24"):
        check.that(found[layers] <= found["4"] + 3, "MiB with %s layers, and with 4" % layers, "no more", str(found))
    check.that(found["apart"] >= found["12"] + 20, "MiB of 12 layers without sharing, and with", "20 MiB more",
               str(found))


@case("MEMPLAN-REUSE-006", timeout=120)
def eager_inference_needs_no_more(mx, check):
    found = told(check, """
say("eager", most(chain(12)))
say("hybridized", most(chain(12, active=True)))
say("static", most(chain(12, static_alloc=True)))
say("apart", sized(chain(12, static_alloc=True), NNVM_EXEC_MATCH_RANGE="0"))
""")
    check.that(found["eager"] <= found["static"] + 6, "MiB of eager inference, and with static_alloc",
               "no more, by 6 MiB at most", str(found))
    check.that(found["hybridized"] <= found["static"] + 2, "MiB of a hybridized net, without and with static_alloc",
               "no more", str(found))
    check.that(found["eager"] + 20 <= found["apart"], "MiB of eager inference, and of a graph that keeps every value",
               "20 MiB less", str(found))


@case("MEMPLAN-REUSE-007", timeout=120)
def results_over_operands_can_be_switched_off(mx, check):
    found = told(check, """
for word in ("1", "0"):
    say(word, sized(chain(12, static_alloc=True), MXNET_EXEC_ENABLE_INPLACE=word, NNVM_EXEC_MATCH_RANGE="0"))
""")
    check.that(found["1"] + 24 <= found["0"], "MiB of 12 layers, each with relu over its sum or beside it",
               "24 MiB more without", str(found))


@case("MEMPLAN-REUSE-008", timeout=120)
def values_that_are_computed_again_are_not_kept(mx, check):
    found = told(check, ACTIVATIONS + """
for word in ("0", "1"):
    say(word, sized(activations(8), MXNET_BACKWARD_DO_MIRROR=word))
    say("results " + word, found)
""")
    check.that(found["1"] <= 0.8 * found["0"], "MiB with recomputation and without", "ratio <= 0.8",
               str({word: found[word] for word in "01"}))
    check.equal(found["results 1"], found["results 0"], "results and gradients with and without")


@case("MEMPLAN-REUSE-008", timeout=120)
def computing_again_never_needs_more(mx, check):
    found = told(check, """
for name in ("relu", "tanh"):
    say(name, [sized(chain(12, 16384, train=True, activation=name, static_alloc=True), MXNET_BACKWARD_DO_MIRROR=word)
               for word in ("0", "1")])
""")
    for name, (plain, mirrored) in sorted(found.items()):
        check.that(mirrored <= plain + 2, "MiB of layers with %s, with and without recomputation" % name, "no more",
                   str(found))


@case("MEMPLAN-SET-002", timeout=120)
def graphs_built_under_the_switch_keep_their_buffers(mx, check):
    found = told(check, """
def resting(net):
    "MiB that a net holds between two calls for what lies between its input and its result."
    net(x).wait_to_read()
    gc.collect()
    mx.nd.waitall()
    return (mx.memory_pool_info("cpu")["in_use"] - before) / 2.0 ** 20

def built():
    net = mx.gluon.nn.HybridSequential()
    for layer in layers:
        net.add(layer)
    net.hybridize()
    for _ in range(2):
        net(x).wait_to_read()
    return net

layers = [mx.gluon.nn.Dense(32, in_units=32, activation="tanh") for _ in range(8)]
for layer in layers:
    layer.initialize(mx.init.Xavier())
x = kit.array(mx, np.ones((32768, 32)))
mx.nd.waitall()
before = mx.memory_pool_info("cpu")["in_use"]
plain = built()
say("plain", resting(plain))
mx.set_cpu_memory_optimize(True)
say("plain while it is on", resting(plain))
planned = built()
say("planned", resting(planned))
say("same", bool((planned(x).asnumpy() == plain(x).asnumpy()).all()))
mx.set_cpu_memory_optimize(False)
say("planned when it is off", resting(planned))
del planned
say("plain at last", resting(plain))
""", {"MXNET_ENGINE_TYPE": None})
    for name in ("plain", "plain while it is on", "plain at last"):
        check.that(found[name] < 1, "MiB held by graphs built while the switch was off (%s)" % name, "none", str(found))
    for name in ("planned", "planned when it is off"):
        check.that(4 <= found[name] <= 0.7 * 32, "MiB held by a graph built while it was on, of eight values of 4 MiB",
                   "4 ... 22", str(found))
    check.equal(found["same"], True, "whether both give the same, bit for bit")
