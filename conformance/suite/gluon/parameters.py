"""GLUON-PARAMS: collecting and naming parameters, their gradients, sharing, children, devices, dtypes."""

import re

import numpy as np

from conformance.case import case
from conformance.suite import kit
from conformance.suite.gluon import _tools
from conformance.suite.gluon._tools import initialised, ones

# structural name -> the part of its 1.x name behind the prefix of the net
NAMES = {
    "0.weight": "dense0_weight", "0.bias": "dense0_bias",
    "1.gamma": "batchnorm0_gamma", "1.beta": "batchnorm0_beta",
    "1.running_mean": "batchnorm0_running_mean", "1.running_var": "batchnorm0_running_var",
    "2.weight": "dense1_weight", "2.bias": "dense1_bias",
}


def _name(mx, structural):
    """The name under which collect_params of :func:`_tools.network` lists a parameter."""
    return structural if _tools.forward_style(mx) else "net_" + NAMES[structural]


@case("GLUON-PARAMS-001", samples={
    "weights": {"select": ".*weight", "ends": ("weight",), "count": 2},
    "alternatives": {"select": ".*bias|.*gamma", "ends": ("bias", "gamma"), "count": 3},
    "from_the_start": {"select": "weight", "ends": (), "count": 0}})
def select_is_a_regular_expression(mx, check, select, ends, count):
    net = _tools.network(mx)
    everything = list(net.collect_params())
    check.equal(len(everything), 8, "number of all parameters")
    found = list(net.collect_params(select))
    check.equal(sorted(found), sorted(name for name in everything if name.endswith(ends)), "names")
    check.equal(len(found), count, "number of parameters that were selected")


@case("GLUON-PARAMS-001")
def broken_expression_is_refused(mx, check):
    net = _tools.network(mx)
    check.raises(re.error, net.collect_params, "(")
    check.equal(len(list(net.collect_params(".*"))), 8, "number of all parameters")


@case("GLUON-PARAMS-002")
def names_of_parameters(mx, check):
    parameters = _tools.network(mx).collect_params()
    check.equal(sorted(parameters), sorted(_name(mx, name) for name in NAMES), "names")
    check.that(hasattr(parameters, "items") and hasattr(parameters, "values"), "what is given is a mapping")
    check.equal(parameters[_name(mx, "0.weight")].shape, (4, 3), "shape under the name of the first weight")


@case("GLUON-PARAMS-003")
def values_of_grad_req(mx, check):
    for allowed in ("write", "add", "null"):
        check.equal(mx.gluon.Parameter("w", shape=(2,), grad_req=allowed).grad_req, allowed, "grad_req")
    made = mx.gluon.Parameter("w", shape=(2,))
    check.equal(made.grad_req, "write", "default of grad_req")
    with check.raises(AssertionError, "grad_req must be one of"):
        made.grad_req = "foo"
    check.equal(made.grad_req, "write", "grad_req afterwards")
    check.raises(AssertionError, "grad_req must be one of",
                 lambda: mx.gluon.Parameter("w", shape=(2,), grad_req="foo"))


@case("GLUON-PARAMS-003")
def without_grad_req_there_is_no_gradient(mx, check):
    made = kit.parameter(mx, "w", value=3.0, shape=(2,), grad_req="null")
    check.raises(RuntimeError, "Cannot get gradient array", made.grad)
    check.equal(made.data(), [3, 3], "value")
    made.grad_req = "write"
    check.equal(made.grad(), [0, 0], "gradient when it is wanted")


@case("GLUON-PARAMS-004")
def constant_keeps_its_grad_req(mx, check):
    made = mx.gluon.Constant("c", kit.array(mx, [1.0, 2.0])) if not _tools.forward_style(mx) \
        else mx.gluon.Constant(kit.array(mx, [1.0, 2.0]))
    made.initialize()
    check.equal(made.grad_req, "null", "grad_req")
    with check.warns(UserWarning, 'does not support grad_req other than "null"'):
        made.grad_req = "write"
    check.equal(made.grad_req, "null", "grad_req afterwards")
    check.equal(made.data(), [1, 2], "value")


@case("GLUON-PARAMS-004")
def step_leaves_a_constant_alone(mx, check):
    new_style = _tools.forward_style(mx)

    class Own(mx.gluon.HybridBlock):
        def __init__(self):
            super(Own, self).__init__()
            value = kit.array(mx, [2.0, 2.0])
            self.c = mx.gluon.Constant(value) if new_style else self.params.get_constant("c", value)
            self.w = mx.gluon.Parameter("w", shape=(2,)) if new_style else self.params.get("w", shape=(2,))

        if new_style:
            def forward(self, x):
                return x * self.c.data() * self.w.data()
        else:
            def hybrid_forward(self, F, x, c, w):
                return x * c * w

    net = Own()
    net.initialize(init="ones")
    trainer = kit.trainer(mx, net.collect_params())
    with mx.autograd.record():
        out = net(ones(mx, (2,)))
    out.backward()
    trainer.step(1)
    check.equal(net.c.data(), [2, 2], "constant after a step")
    check.equal(net.w.data(), [-1, -1], "weight after a step: 1 - 2")


@case("GLUON-PARAMS-005")
def layers_share_their_parameters(mx, check):
    nn = mx.gluon.nn
    first = nn.Dense(2, in_units=3)
    if _tools.forward_style(mx):
        second = nn.Dense(2, in_units=3)
        second.share_parameters(first.collect_params())
    else:
        second = nn.Dense(2, in_units=3, params=first.params)
    check.same(second.weight, first.weight, "weight of the second layer")
    check.same(second.bias, first.bias, "bias of the second layer")
    first.initialize(init=mx.init.Uniform(1.0))
    x = kit.array(mx, [[1.0, 2.0, 3.0]])
    check.equal(second(x).asnumpy(), first(x).asnumpy(), "output of the second layer")
    first.weight.set_data(ones(mx, (2, 3)))
    check.equal(second(x), [[6, 6]], "output of the second layer after the first one was changed")


@case("GLUON-PARAMS-006")
def blocks_in_a_list_are_not_registered(mx, check):
    net = _tools.plain(mx, lambda block, x: x)
    net.layers = [mx.gluon.nn.Dense(2, in_units=3), mx.gluon.nn.Dense(2, in_units=3)]
    with check.warns(UserWarning, "is an unregistered container with Blocks"):
        found = net.collect_params()
    check.equal(list(found), [], "parameters found")
    net.first = net.layers[0]
    net.second = net.layers[1]
    with check.no_warning(UserWarning):
        check.equal(len(list(net.collect_params())), 4, "number of parameters when both are attributes too")


@case("GLUON-PARAMS-007")
def child_is_replaced_by_a_block_only(mx, check):
    net = _tools.plain(mx, lambda block, x: block.inner(x), children={"inner": mx.gluon.nn.Dense(2, in_units=2)})
    kept = net.inner
    with check.raises(TypeError, "Changing attribute type for inner"):
        net.inner = 3
    check.same(net.inner, kept, "child afterwards")
    net.inner = mx.gluon.nn.Dense(3, in_units=2)
    initialised(net)
    check.equal(len(list(net.collect_params())), 2, "number of parameters after a replacement")
    check.shape(net(ones(mx, (1, 2))), (1, 3), "output of the new child")


@case("GLUON-PARAMS-008")
def used_on_another_device(mx, check):
    made = kit.parameter(mx, "w", value=1.0)
    message = str(check.raises(RuntimeError, "was not initialized on", "cpu(1)", "It was only initialized on",
                               "cpu(0)", made.data, mx.cpu(1)))
    check.contains(message, "'w'", doing="message")
    check.equal(made.data(mx.cpu(0)), [1], "value on its own device")


@case("GLUON-PARAMS-008")
def layer_called_on_another_device(mx, check):
    net = initialised(mx.gluon.nn.Dense(2, in_units=2), ctx=mx.cpu(0))
    check.raises(RuntimeError, "was not initialized on", "cpu(1)", "It was only initialized on", "cpu(0)",
                 net, ones(mx, (1, 2), mx.cpu(1)))
    check.equal(net(ones(mx, (1, 2))), [[2, 2]], "output on its own device")


@case("GLUON-PARAMS-016")
def cast_changes_the_parameters(mx, check):
    net = _tools.network(mx)
    net.initialize(init="ones")
    net.cast("float64")
    for name, parameter in sorted(net.collect_params().items()):
        check.dtype(parameter.data(), "float64", "dtype of %s" % name)
    check.dtype(net(ones(mx, (2, 3), dtype="float64")), "float64", "dtype of the output")


@case("GLUON-PARAMS-016")
def cast_to_an_unknown_type(mx, check):
    net = initialised(mx.gluon.nn.Dense(2, in_units=2))
    check.raises(TypeError, "data type 'foo' not understood", net.cast, "foo")
    kept = net.weight.list_data()[0]
    check.dtype(kept, "float32", "dtype of the weight afterwards")
    check.equal(kept, [[1, 1], [1, 1]], "weight afterwards")


@case("GLUON-PARAMS-016")
def old_dtype_after_a_cast(mx, check):
    net = initialised(mx.gluon.nn.Dense(2, in_units=2))
    net.cast("float64")
    check.raises(mx.base.MXNetError, "Incompatible attr", lambda: net(ones(mx, (1, 2))).asnumpy())
    check.equal(net(ones(mx, (1, 2), dtype="float64")), [[2, 2]], "output for the new dtype")


@case("GLUON-PARAMS-017")
def parameters_move(mx, check):
    net = initialised(mx.gluon.nn.Dense(2, in_units=2), ctx=mx.cpu(0))
    net.weight.set_data(kit.array(mx, [[1.0, 2.0], [3.0, 4.0]]))
    moved = [mx.cpu(1), mx.cpu(2)]
    for where in (moved[:1], moved):
        net.weight.reset_ctx(where)
        check.equal(_tools.parameter_devices(net.weight), [str(device) for device in where], "devices of the weight")
        for replica in net.weight.list_data():
            check.equal(replica, [[1, 2], [3, 4]], "value on %s" % kit.device_of(replica))
    check.equal(_tools.parameter_devices(net.bias), ["cpu(0)"], "devices of the bias")


@case("GLUON-PARAMS-018")
def prefixes_of_a_parameter_dict(mx, check):
    net = mx.gluon.nn.Dense(2, in_units=3, prefix="d_")
    net.initialize(init=mx.init.Uniform(1.0))
    parameters, path = net.collect_params(), check.path("d.params")
    parameters.save(path, strip_prefix="d_")
    check.equal(sorted(mx.nd.load(path)), ["bias", "weight"], "names in the file")
    other = mx.gluon.nn.Dense(2, in_units=3, prefix="e_")
    other.collect_params().load(path, mx.cpu(0), restore_prefix="e_")
    check.equal(other.weight.data().asnumpy(), net.weight.data().asnumpy(), "weight that was loaded")
    check.raises(ValueError, "is to be striped before saving", lambda: parameters.save(path, strip_prefix="x_"))
    check.raises(AssertionError, "restore_prefix is",
                 lambda: other.collect_params().load(path, mx.cpu(0), restore_prefix="x_"))
    check.equal(sorted(mx.nd.load(path)), ["bias", "weight"], "names in the file afterwards")


@case("GLUON-PARAMS-019")
def get_with_other_attributes(mx, check):
    parameters = mx.gluon.ParameterDict("d_")
    made = parameters.get("weight", shape=(2, 3))
    check.same(parameters.get("weight", shape=(2, 3)), made, "parameter of the same attributes")
    check.raises(AssertionError, "desired attribute does not match with stored",
                 lambda: parameters.get("weight", shape=(9, 9)))
    check.equal((list(parameters.keys()), made.shape), (["d_weight"], (2, 3)), "names and shape afterwards")
    opened = parameters.get("open", shape=(0, 3))
    parameters.get("open", shape=(5, 3))
    check.equal(tuple(opened.shape), (5, 3), "shape whose open dimension was filled in")
    check.equal(np.prod(opened.shape), 15, "size")
