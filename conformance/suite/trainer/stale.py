"""TRAINER-STALE: gradients that backward has not refreshed since the last step."""

from conformance.case import case
from conformance.suite import kit
from conformance.suite.trainer import _tools

STALE = "has not been updated by backward since last `step`"
ADVICE = "ignore_stale_grad=True"


def _pair(mx, count, order="ab", value=0.0, options=None, **keywords):
    """Parameters a and b on *count* devices and a trainer that takes them in the given order."""
    named = {name: kit.parameter(mx, name, value=value, ctx=kit.devices(mx, count)) for name in "ab"}
    return named["a"], named["b"], kit.trainer(mx, [named[name] for name in order], options=options, **keywords)


@case("TRAINER-STALE-001", "TRAINER-ERR-002")
def message_of_the_error(mx, check):
    """The error is raised as an exception; it is not given to the warnings module."""
    x = kit.parameter(mx, "x", value=1.0)
    trainer = kit.trainer(mx, [x], options={"learning_rate": 1.0, "wd": 0.5})
    with check.no_warning(UserWarning):
        check.raises(UserWarning, "Gradient of Parameter `", "x`", "cpu(0)", STALE, ADVICE, trainer.step, 1)
    check.equal(kit.value(x), 1.0, "weight afterwards")
    kit.backward(mx, (x, 1.0))
    trainer.step(1)
    check.equal(kit.value(x), -0.5, "weight after backward and step")


@case("TRAINER-STALE-001", "TRAINER-ERR-002")
def parameter_is_named(mx, check):
    a, b, trainer = _pair(mx, 1)
    kit.backward(mx, (a, 1.0))
    check.raises(UserWarning, "Gradient of Parameter `b` on ", STALE, trainer.step, 1)
    kit.backward(mx, (b, 1.0))
    check.raises(UserWarning, "Gradient of Parameter `a` on ", STALE, trainer.step, 1)
    check.equal([kit.value(a), kit.value(b)], [0.0, 0.0], "weights")
    kit.backward(mx, (a, 1.0), (b, 1.0))
    trainer.step(1)
    check.equal([kit.value(a), kit.value(b)], [-1.0, -1.0], "weights when both are fresh")


@case("TRAINER-STALE-002", samples={"on_kvstore": {"on_kvstore": True}, "local": {"on_kvstore": False}})
def second_device_is_stale(mx, check, on_kvstore):
    x = kit.parameter(mx, "x", ctx=kit.devices(mx, 2))
    trainer = kit.trainer(mx, [x], update_on_kvstore=on_kvstore)
    kit.backward(mx, (x, [0.0, None]))
    check.raises(UserWarning, "Gradient of Parameter `x`", "cpu(1)", STALE, trainer.step, 1)
    check.equal(kit.values(x), [0.0, 0.0], "weights")
    kit.backward(mx, (x, [1.0, 2.0]))
    trainer.step(1)
    check.equal(kit.values(x), [-3.0, -3.0], "weights when both devices are fresh")


@case("TRAINER-STALE-003", samples={
    "one_device": {"count": 1, "options": {}}, "local": {"count": 2, "options": {"update_on_kvstore": False}}})
def stale_parameter_is_left_alone(mx, check, count, options):
    a, b, trainer = _pair(mx, count, value=1.0, options={"learning_rate": 1.0, "wd": 0.5, "momentum": 0.5}, **options)
    kit.backward(mx, (a, 1.0))
    trainer.step(count, ignore_stale_grad=True)
    check.equal(kit.values(a), [-0.5] * count, "fresh weight: 1 - (1 + 0.5)")
    check.equal(kit.values(b), [1.0] * count, "stale weight")
    check.equal(sorted(_tools.saved_states(mx, check, trainer)), [0], "indices that have optimizer states")


@case("TRAINER-STALE-003")
def momentum_of_a_stale_parameter_rests(mx, check):
    a, b, trainer = _pair(mx, 1, options={"learning_rate": 1.0, "momentum": 0.5})
    kit.backward(mx, (a, 1.0), (b, 1.0))
    trainer.step(1)
    kit.backward(mx, (a, 1.0))
    trainer.step(1, ignore_stale_grad=True)
    check.equal([kit.value(a), kit.value(b)], [-2.5, -1.0], "weights after the step that skipped b")
    kit.backward(mx, (a, 0.0), (b, 0.0))
    trainer.step(1)
    check.equal([kit.value(a), kit.value(b)], [-3.25, -1.5], "weights after a step by momentum alone")


@case("TRAINER-STALE-004")
def stale_parameter_on_the_store(mx, check):
    a, b, trainer = _pair(mx, 2, value=1.0, options={"learning_rate": 1.0, "wd": 0.5, "momentum": 0.5},
                          update_on_kvstore=True)
    kit.backward(mx, (a, 1.0))
    trainer.step(2, ignore_stale_grad=True)
    check.equal(kit.values(a), [-0.5, -0.5], "fresh weight")
    check.equal(kit.values(b), [0.5, 0.5], "stale weight: its zero gradient and the weight decay are applied")
    check.equal(sorted(_tools.saved_states(mx, check, trainer)), [0, 1], "indices that have optimizer states")


@case("TRAINER-STALE-005", samples={
    "one_device": {"count": 1, "options": {}}, "local": {"count": 2, "options": {"update_on_kvstore": False}}})
def second_step_without_backward(mx, check, count, options):
    x = kit.parameter(mx, "x", ctx=kit.devices(mx, count))
    trainer = kit.trainer(mx, [x], **options)
    kit.backward(mx, (x, 1.0))
    trainer.step(count)
    check.equal(kit.values(x), [-1.0] * count, "weights after the first step")
    check.raises(UserWarning, "Gradient of Parameter `x`", STALE, trainer.step, count)
    check.equal(kit.values(x), [-1.0] * count, "weights after the second step")


@case("TRAINER-STALE-006")
def second_step_on_the_store(mx, check):
    x = kit.parameter(mx, ctx=kit.devices(mx, 2))
    trainer = kit.trainer(mx, [x], update_on_kvstore=True)
    check.raises(UserWarning, STALE, trainer.step, 1)
    kit.backward(mx, (x, 1.0))
    trainer.step(1)
    check.equal(kit.values(x), [-2.0, -2.0], "weights after the first step")
    trainer.step(1)
    check.equal(kit.values(x), [-4.0, -4.0], "weights after a second step without backward")


@case("TRAINER-STALE-007")
def nothing_is_pushed_without_backward(mx, check):
    x = kit.parameter(mx, "x", value=1.0, ctx=kit.devices(mx, 2))
    trainer = kit.trainer(mx, [x], options={"learning_rate": 1.0, "wd": 0.5}, update_on_kvstore=True)
    check.raises(UserWarning, "Gradient of Parameter `x`", STALE, trainer.step, 1)
    check.equal(kit.values(x), [1.0, 1.0], "weights after the error")
    kit.backward(mx, (x, 1.0))
    trainer.step(2)
    check.equal(kit.values(x), [-0.5, -0.5], "weights after a proper step")


@case("TRAINER-STALE-007", samples={"fresh_first": {"order": "ab"}, "stale_first": {"order": "ba"}})
def nothing_is_pushed_beside_a_stale_parameter(mx, check, order):
    a, b, trainer = _pair(mx, 2, order, options={"learning_rate": 1.0, "momentum": 0.5}, update_on_kvstore=True)
    kit.backward(mx, (a, 1.0))
    check.raises(UserWarning, "Gradient of Parameter `b`", STALE, trainer.step, 2)
    check.equal(kit.values(a) + kit.values(b), [0.0] * 4, "weights after the error")
    check.equal(_tools.saved_states(mx, check, trainer), {}, "optimizer states")


@case("TRAINER-STALE-008")
def freshness_before_the_stale_parameter_is_lost(mx, check):
    a, b, trainer = _pair(mx, 1)
    kit.backward(mx, (a, 1.0))
    check.raises(UserWarning, "Gradient of Parameter `b`", STALE, trainer.step, 1)
    check.equal([kit.value(a), kit.value(b)], [0.0, 0.0], "weights after the error")
    trainer.step(1, ignore_stale_grad=True)
    check.equal([kit.value(a), kit.value(b)], [0.0, 0.0], "weights after the retry")
    check.equal(trainer.optimizer.num_update, 0, "number of updates")


@case("TRAINER-STALE-008")
def freshness_behind_the_stale_parameter_is_kept(mx, check):
    a, b, trainer = _pair(mx, 1, "ba")
    kit.backward(mx, (a, 1.0))
    check.raises(UserWarning, "Gradient of Parameter `b`", STALE, trainer.step, 1)
    check.equal([kit.value(a), kit.value(b)], [0.0, 0.0], "weights after the error")
    trainer.step(1, ignore_stale_grad=True)
    check.equal([kit.value(a), kit.value(b)], [-1.0, 0.0], "weights after the retry")


@case("TRAINER-STALE-009", samples={
    "local": {"on_kvstore": False, "expected": [-1.0, 0.0]},
    "on_kvstore": {"on_kvstore": True, "expected": [-1.0, -1.0]}})
def one_stale_replica(mx, check, on_kvstore, expected):
    x = kit.parameter(mx, ctx=kit.devices(mx, 2))
    trainer = kit.trainer(mx, [x], update_on_kvstore=on_kvstore)
    kit.backward(mx, (x, [1.0, None]))
    trainer.step(1, ignore_stale_grad=True)
    check.equal(kit.values(x), expected, "weights")


@case("TRAINER-STALE-010")
def cleared_gradient_stays_fresh(mx, check):
    x = kit.parameter(mx, value=1.0)
    trainer = kit.trainer(mx, [x], options={"learning_rate": 1.0, "wd": 0.5})
    kit.backward(mx, (x, 1.0))
    x.grad()[:] = 0.0
    trainer.step(1)
    check.equal(kit.value(x), 0.5, "weight: decay alone")


@case("TRAINER-STALE-010")
def zero_grad_keeps_the_freshness(mx, check):
    net = mx.gluon.nn.Dense(1, in_units=1, use_bias=False)
    net.initialize(mx.init.Constant(1.0))
    trainer = kit.trainer(mx, net.collect_params(), options={"learning_rate": 1.0, "wd": 0.5})
    kit.backward(mx, (net.weight, 1.0))
    _tools.zero_gradients(net)
    trainer.step(1)
    check.equal(kit.value(net.weight), 0.5, "weight: decay alone")


@case("TRAINER-STALE-010")
def gradient_written_by_hand_is_stale(mx, check):
    x = kit.parameter(mx)
    trainer = kit.trainer(mx, [x])
    x.grad()[:] = 3.0
    check.raises(UserWarning, STALE, trainer.step, 1)
    trainer.step(1, True)
    check.equal(kit.value(x), 0.0, "weight after step(1, True)")
    check.equal(kit.gradient(x), [3.0], "gradient written by hand")
    kit.backward(mx, (x, 3.0))
    trainer.step(1)
    check.equal(kit.value(x), -3.0, "weight after backward and step")


@case("TRAINER-STALE-011")
def layer_not_used_in_forward(mx, check):
    used, unused = (mx.gluon.nn.Dense(1, in_units=1) for _ in range(2))
    net = mx.gluon.nn.Sequential()
    net.add(used, unused)
    net.initialize(mx.init.Constant(1.0))
    trainer = kit.trainer(mx, net.collect_params())
    names = [p.name for p in (unused.weight, unused.bias)]

    def backward():
        with mx.autograd.record():
            loss = used(kit.array(mx, [[1.0], [3.0]]))
        loss.backward()

    backward()
    error = check.raises(UserWarning, "Gradient of Parameter `", STALE, trainer.step, 2)
    check.that(any("`%s`" % name in str(error) for name in names), "a parameter of the unused layer is named",
               " or ".join(names), str(error))
    check.equal(kit.value(used.weight), 1.0, "weight of the used layer after the error")
    backward()
    trainer.step(2, True)
    check.equal([kit.value(used.weight), kit.value(unused.weight)], [-1.0, 1.0], "weights after step(2, True)")


@case("TRAINER-STALE-012", samples={
    "one_device": {"count": 1, "options": {}}, "local": {"count": 2, "options": {"update_on_kvstore": False}}})
def loading_states_does_not_refresh(mx, check, count, options):
    x = kit.parameter(mx, ctx=kit.devices(mx, count))
    trainer = kit.trainer(mx, [x], options={"learning_rate": 1.0, "momentum": 0.5}, **options)
    kit.backward(mx, (x, 1.0))
    trainer.step(count)
    trainer.save_states(check.path("states"))
    trainer.load_states(check.path("states"))
    check.raises(UserWarning, STALE, trainer.step, count)
    check.equal(kit.values(x), [-1.0] * count, "weights")
    kit.backward(mx, (x, 1.0))
    trainer.step(count)
    check.equal(kit.values(x), [-2.5] * count, "weights after backward and step")
