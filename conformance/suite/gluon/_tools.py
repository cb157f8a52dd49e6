"""What the cases of gluon share: own blocks in the style of either generation, traces, devices.

In 1.x a hybrid block says ``hybrid_forward(self, F, x, **parameters)``; in 2.x, which starts in numpy array mode,
``forward(self, x)``. A *body* here is ``body(block, F, *inputs, **parameters)`` for both.

Runs in the engine's interpreter: Python 3.8, standard library and numpy >= 1.17 only.
"""

import re

from conformance.suite import kit


def forward_style(mx):
    """True where a hybrid block overrides ``forward`` and its own ``hybrid_forward`` is refused (2.x)."""
    return kit.numpy_mode(mx)


def hybrid(mx, body, parameters=None, children=None):
    """A HybridBlock that computes *body*.

    parameters: attribute name -> keyword arguments of the parameter;  children: attribute name -> block.
    """
    parameters = dict(parameters or {})
    new_style = forward_style(mx)

    class Own(mx.gluon.HybridBlock):
        def __init__(self):
            super(Own, self).__init__()
            for name, options in parameters.items():
                made = mx.gluon.Parameter(name, **options) if new_style else self.params.get(name, **options)
                setattr(self, name, made)
            for name, child in (children or {}).items():
                setattr(self, name, child)

        if new_style:
            def forward(self, *inputs):
                return body(self, mx.np, *inputs, **{name: getattr(self, name).data() for name in parameters})
        else:
            def hybrid_forward(self, F, x, *inputs, **values):
                return body(self, F, x, *inputs, **values)

    return Own()


def plain(mx, body, children=None):
    """A Block that is no HybridBlock and computes ``body(block, *inputs)``."""
    class Plain(mx.gluon.Block):
        def __init__(self):
            super(Plain, self).__init__()
            for name, child in (children or {}).items():
                setattr(self, name, child)

        def forward(self, *inputs):
            return body(self, *inputs)

    return Plain()


def counted(mx, body=None, **options):
    """A hybrid block and the list that gets one entry per run of its Python code; it doubles by default."""
    runs = []

    def counting(block, F, *inputs, **parameters):
        runs.append(inputs)
        return inputs[0] * 2 if body is None else body(block, F, *inputs, **parameters)

    return hybrid(mx, counting, **options), runs


def ones(mx, shape, ctx=None, dtype="float32"):
    """An array of ones of the kind that gluon works on."""
    import numpy as np

    return kit.array(mx, np.ones(shape), ctx, dtype)


def array_type(mx):
    """The class of the arrays that gluon works on."""
    return mx.np.ndarray if kit.numpy_mode(mx) else mx.nd.NDArray


def initialised(block, ctx=None, init=None):
    """The block, initialised; all weights 1 unless *init* says otherwise."""
    block.initialize(init="ones" if init is None else init, ctx=ctx)
    return block


def weight(block, name="weight", device=0):
    """A parameter of a block as a numpy array."""
    return getattr(block, name).list_data()[device].asnumpy()


def parameter_devices(parameter):
    """The devices that a parameter lives on, as text: 1.x calls them contexts."""
    listed = parameter.list_device() if hasattr(parameter, "list_device") else parameter.list_ctx()
    return [str(device) for device in listed]


def deferred_error(mx):
    """The class of the error about parameters whose shape is not known yet."""
    return mx.gluon.parameter.DeferredInitializationError


def network(mx):
    """Dense(4) of 3 - BatchNorm - Dense(2), named ``net_`` where blocks have prefixes; not initialised."""
    nn = mx.gluon.nn

    def fill(net):
        net.add(nn.Dense(4, in_units=3))
        net.add(nn.BatchNorm(in_channels=4))
        net.add(nn.Dense(2, in_units=4))
        return net

    if forward_style(mx):
        return fill(nn.HybridSequential())
    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        return fill(net)


def _by_number(item):
    """Names in the order of their numbers: dense9_weight comes before dense10_weight."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", item[0])]


def filled(mx, net, check, data=None):
    """The net with random parameters that depend on the case alone; *data* settles shapes that are open."""
    random = check.random()
    net.initialize()
    if data is not None:
        net(data)
    for _, parameter in sorted(net.collect_params().items(), key=_by_number):
        parameter.set_data(kit.array(mx, random.uniform(0.5, 1.5, parameter.shape)))
    return net


def load(mx, path):
    """The arrays of a file, name -> array."""
    return mx.npx.load(path) if kit.numpy_mode(mx) else mx.nd.load(path)


def save(mx, path, arrays):
    """Write arrays by name into a file that load_parameters reads."""
    if not kit.numpy_mode(mx):
        mx.nd.save(path, arrays)
    elif hasattr(mx.npx, "savez"):
        mx.npx.savez(path, **arrays)
    else:
        mx.npx.save(path, arrays)
