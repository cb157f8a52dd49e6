"""GLUON-DEFER: parameters whose shape is not known until the first call."""

from conformance.case import case
from conformance.suite import kit
from conformance.suite.gluon import _tools
from conformance.suite.gluon._tools import initialised, ones


@case("GLUON-DEFER-001")
def initialised_at_the_first_call(mx, check):
    net = initialised(mx.gluon.nn.Dense(4))
    check.raises(_tools.deferred_error(mx), "has not been initialized yet because initialization was deferred",
                 net.weight.data)
    check.equal(net(ones(mx, (2, 3))), [[3] * 4] * 2, "output")
    check.equal(net.weight.data(), [[1] * 3] * 4, "weight after the first call")


@case("GLUON-DEFER-001")
def inner_layer_of_a_sequence(mx, check):
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(4))
    net.add(mx.gluon.nn.Dense(2))
    initialised(net)
    check.equal(net(ones(mx, (1, 3))), [[12, 12]], "output")
    check.equal((tuple(net[0].weight.shape), tuple(net[1].weight.shape)), ((4, 3), (2, 4)), "shapes of the weights")


@case("GLUON-DEFER-002", samples={"known_shape": {"options": {"in_units": 3}}, "open_shape": {"options": {}}})
def never_initialised(mx, check, options):
    net = mx.gluon.nn.Dense(4, **options)
    check.raises(RuntimeError, "has not been initialized", net, ones(mx, (2, 3)))
    check.equal(initialised(net)(ones(mx, (2, 3))), [[3] * 4] * 2, "output once it is initialised")


@case("GLUON-DEFER-003")
def infer_shape_fixes_the_shape_of_a_layer(mx, check):
    net = mx.gluon.nn.Dense(5)
    net.infer_shape(ones(mx, (2, 7)))
    check.equal(tuple(net.weight.shape), (5, 7), "shape of the weight")
    check.raises(RuntimeError, "has not been initialized", net.weight.data)


@case("GLUON-DEFER-003")
def infer_shape_goes_through_a_sequence(mx, check):
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(4))
    net.add(mx.gluon.nn.Dense(3))
    net.infer_shape(ones(mx, (2, 7)))
    check.equal([tuple(layer.weight.shape) for layer in net], [(4, 7), (3, 4)], "shapes of the weights")


def _product(mx):
    """x times a weight whose first dimension is open."""
    def body(block, F, x, w):
        return F.dot(x, w)

    open_shape = (-1, 3) if _tools.forward_style(mx) else (0, 3)
    return _tools.hybrid(mx, body, parameters={"w": {"shape": open_shape, "allow_deferred_init": True}})


@case("GLUON-DEFER-004")
def own_block_needs_shape_inference(mx, check):
    net = initialised(_product(mx))
    error = check.raises((RuntimeError, ValueError), net, ones(mx, (2, 5)))
    check.that("cannot be inferred" in str(error) or "unknown shape" in str(error),
               "the message says that the shape is not known", "'cannot be inferred' or 'unknown shape'", str(error))


@case("GLUON-DEFER-004")
def own_infer_shape_helps(mx, check):
    net = _product(mx)

    def infer_shape(self, x, *args):
        self.w.shape = (x.shape[-1], 3)

    type(net).infer_shape = infer_shape
    initialised(net)
    check.equal(net(ones(mx, (2, 5))), [[5] * 3] * 2, "output")
    check.equal(tuple(net.w.shape), (5, 3), "shape of the weight")


@case("GLUON-DEFER-005")
def open_shape_without_deferral(mx, check):
    open_shape = (-1, 3) if _tools.forward_style(mx) else (0, 3)
    made = mx.gluon.Parameter("w", shape=open_shape)
    check.raises(ValueError, "Cannot initialize Parameter 'w' because it has invalid shape", made.initialize)
    deferred = mx.gluon.Parameter("w", shape=open_shape, allow_deferred_init=True)
    deferred.initialize()
    check.raises(_tools.deferred_error(mx), deferred.data)


@case("GLUON-DEFER-006")
def trainer_before_the_shapes(mx, check):
    net = initialised(mx.gluon.nn.Dense(2))
    trainer = kit.trainer(mx, net.collect_params())
    with mx.autograd.record():
        loss = net(ones(mx, (1, 3))).sum()
    loss.backward()
    trainer.step(1)
    check.equal(net.weight.data(), [[0] * 3] * 2, "weight after a step: 1 - 1")
    check.equal(net.bias.data(), [-1, -1], "bias after a step: 0 - 1")


@case("GLUON-DEFER-007")
def second_initialize_is_ignored(mx, check):
    net = initialised(mx.gluon.nn.Dense(2, in_units=2))
    with check.warns(UserWarning, "is already initialized, ignoring. Set force_reinit=True to re-initialize.") as seen:
        net.initialize(init="zeros")
    check.equal(len([item for item in seen if "already initialized" in str(item.message)]), 2, "number of warnings")
    check.equal(net.weight.data(), [[1, 1], [1, 1]], "weight afterwards")


@case("GLUON-DEFER-007")
def forced_initialize_takes_effect(mx, check):
    net = initialised(mx.gluon.nn.Dense(2, in_units=2))
    with check.no_warning(UserWarning):
        net.initialize(init="zeros", force_reinit=True)
    check.equal(net.weight.data(), [[0, 0], [0, 0]], "weight afterwards")
