"""AMP-LS: switching mixed precision on, and the loop of the releases."""

from conformance.case import case
from conformance.suite import kit
from conformance.suite.amp._tools import IMPORT, amp, number


def _answers(check, program):
    """What a program prints on lines that start with "=", in a process of its own."""
    _, out, error = check.python(IMPORT + program)
    lines = [line[1:] for line in out.split("\n") if line.startswith("=")]
    check.that(bool(lines), "the program answers", "lines that start with =", "%s %s" % (out[-300:], error[-300:]))
    return lines


@case("AMP-LS-001")
def module_of_mixed_precision(mx, check):
    found = amp(mx)
    for name in ("init", "init_trainer", "scale_loss", "unscale"):
        check.that(callable(getattr(found, name)), "%s is a function" % name)
    with check.raises(AssertionError):
        found.init_trainer("x")
    major = int(mx.__version__.split(".")[0])
    check.same(found, mx.amp if major >= 2 else mx.contrib.amp, "module, reached from the package")


@case("AMP-LS-002", timeout=120)
def switching_on(mx, check):
    lines = _answers(check, """
def kinds():
    x = mx.np.ones((2, 3)) if hasattr(mx, "np") and mx.__version__[0] == "2" else mx.nd.ones((2, 3))
    y = layer(x)
    try:
        y.wait_to_read()
    except mx.base.MXNetError:
        pass  # not every build computes in float16 on the cpu
    return str(np.dtype(y.dtype))
import numpy as np
layer = mx.gluon.nn.Dense(4, in_units=3)
layer.initialize()
before = kinds()
amp.init(target_dtype="float16")
once = kinds()
amp.init()
print("=" + " ".join((before, once, kinds())))
""")
    check.equal(lines, ["float32 float16 float16"], "dtypes of a Dense layer before init, after it, after a second")


LOOP = """
amp.init()
w = mx.gluon.Parameter("w", shape=(2,))
w.initialize(mx.init.One())
trainer = mx.gluon.Trainer({"w": w} if mx.__version__[0] == "2" else [w], "sgd", {"learning_rate": 1.0})
amp.init_trainer(trainer)
def step(factor, unscale=False):
    with mx.autograd.record():
        loss = (w.data() * factor).sum()
        with amp.scale_loss(loss, trainer) as scaled:
            mx.autograd.backward(scaled)
    gradients = [w.grad().asnumpy().tolist()[0]]
    if unscale:
        amp.unscale(trainer)
        gradients.append(w.grad().asnumpy().tolist()[0])
    trainer.step(1)
    print("=" + str((gradients, w.data().asnumpy().tolist()[0])))
"""


@case("AMP-LS-012", timeout=120)
def scaled_steps(mx, check):
    lines = _answers(check, LOOP + "step(3.0)\nstep(3.0, True)\n")
    check.equal(lines, ["([196608.0], -2.0)", "([196608.0, 3.0], -5.0)"],
                "gradients and weight: scaled by 2**16; then also unscaled by hand")


@case("AMP-LS-012", timeout=120)
def step_after_an_overflow(mx, check):
    lines = _answers(check, LOOP + "step(float('inf'))\nstep(3.0)\nstep(3.0)\n")
    check.equal(lines, ["([inf], 1.0)", "([196608.0], -2.0)", "([98304.0], -5.0)"],
                "gradients and weight: the first step is skipped, and the scale is halved at the check after it")


@case("AMP-LS-013", timeout=120)
def other_objects_are_refused(mx, check):
    lines = _answers(check, """
def attempt(given):
    try:
        amp.init_trainer(given)
        print("=accepted")
    except Exception as error:
        print("=" + type(error).__name__)
w = mx.gluon.Parameter("w", shape=(2,))
w.initialize()
trainer = mx.gluon.Trainer({"w": w} if mx.__version__[0] == "2" else [w], "sgd")
attempt(trainer)
amp.init()
attempt("x")
attempt(mx.optimizer.SGD())
attempt(trainer)
""")
    check.equal(lines, ["AssertionError", "TypeError", "TypeError", "accepted"],
                "a Trainer before init; a string, an optimizer and a Trainer after it")


@case("AMP-LS-009")
def loss_of_a_batch_has_one_value_per_sample(mx, check):
    loss = mx.gluon.loss.L2Loss()(kit.array(mx, [[1.0] * 3] * 4), kit.array(mx, [[2.0] * 3] * 4))
    check.close(loss, [0.5] * 4, "losses")
    check.raises((ValueError, AttributeError), "scalar", lambda: loss.asscalar())
    check.close(number(loss.mean()), 0.5, "mean of the losses", rtol=1e-6)


@case("AMP-LS-009")
def backward_differentiates_the_sum_over_the_batch(mx, check):
    net = mx.gluon.nn.Dense(1, in_units=1, use_bias=False)
    net.initialize(mx.init.Constant(1.0))
    trainer = kit.trainer(mx, net.collect_params())
    with mx.autograd.record():
        loss = mx.gluon.loss.L2Loss()(net(kit.array(mx, [[1.0], [2.0]])), kit.array(mx, [[0.0], [0.0]]))
    loss.backward()
    check.close(net.weight.grad(), [[5.0]], "gradient: 1 * 1 + 2 * 2")
    trainer.step(2)
    check.close(net.weight.data(), [[-1.5]], "weight after step(2): 1 - 5 / 2")


@case("AMP-LS-018")
def clipping_before_unscaling_clips_too_much(mx, check):
    scaled = kit.array(mx, [3.0, 4.0]) * 1024
    norm = mx.gluon.utils.clip_global_norm([scaled], 1.0)
    check.close(float(norm), 5 * 1024.0, "norm of the scaled gradient", rtol=1e-5)
    check.close(scaled / 1024, [0.6 / 1024, 0.8 / 1024], "gradient clipped first, then unscaled", rtol=1e-4, atol=0)


@case("AMP-LS-018")
def clipping_after_unscaling(mx, check):
    gradient = kit.array(mx, [3.0, 4.0]) * 1024 / 1024
    mx.gluon.utils.clip_global_norm([gradient], 1.0)
    check.close(gradient, [0.6, 0.8], "gradient unscaled first, then clipped", rtol=1e-4)
