"""What the Trainer cases share: logged stores, state files, sparse parameters, layers that share weights.

Runs in the engine's interpreter: Python 3.8, standard library and numpy >= 1.17 only.
"""

import contextlib
import pickle

from conformance.suite import kit

NEAR = {"rtol": 2e-6, "atol": 1e-7}  # a few float32 roundings, for values that are read back as Python floats

# a Trainer on one device, on two with the updates on the store, on two with local updates
MODES = {"one_device": {"count": 1, "options": {}},
         "on_kvstore": {"count": 2, "options": {"update_on_kvstore": True}},
         "local": {"count": 2, "options": {"update_on_kvstore": False}}}
MOMENTUM = {"learning_rate": 1.0, "momentum": 0.5}

STORE_CALLS = ("init", "broadcast", "push", "pull", "pushpull", "row_sparse_pull", "set_optimizer",
               "set_gradient_compression")


def logged(store, names=STORE_CALLS, before=None):
    """Make a store log its calls; returns the list that fills with ``(name, positional, keywords)``.

    before: called with the name, the positional arguments and the keywords in front of every logged call.
    A call made by another logged method is not logged: what counts is what the Trainer asks for.
    """
    log = []
    inside = []

    def listen(name, method):
        def call(*args, **kwargs):
            if not inside:
                log.append((name, args, kwargs))
                if before is not None:
                    before(name, args, kwargs)
            inside.append(name)
            try:
                return method(*args, **kwargs)
            finally:
                inside.pop()
        return call

    for name in names:
        method = getattr(store, name, None)
        if method is not None:
            setattr(store, name, listen(name, method))
    return log


def argument(call, position, name, default=None):
    """An argument of a logged call, whether it was given by position or by name."""
    _, positional, keywords = call
    return positional[position] if len(positional) > position else keywords.get(name, default)


def is_same_list(got, want):
    """True if both are lists of the very same arrays, or arrays holding the very same memory."""
    got = list(got) if isinstance(got, (list, tuple)) else [got]
    want = list(want) if isinstance(want, (list, tuple)) else [want]
    return len(got) == len(want) and all(shares_memory(a, b) for a, b in zip(got, want))


def shares_memory(left, right):
    """True if a write into one array shows in the other; both are left as they were."""
    if left is right:
        return True
    if left.shape != right.shape:
        return False
    kept = left.asnumpy()
    left[:] = kept + 1
    seen = bool((right.asnumpy() == kept + 1).all())
    left[:] = kept
    return seen


def optimizer_order(trainer):
    """The parameters of a trainer in the order of their index."""
    table = trainer.optimizer.param_dict
    return [table[index] for index in sorted(table)]


def trained(mx, count, options, steps=2, value=0.0, parameters=None):
    """A parameter and its trainer (SGD, rate 1, momentum 0.5) after *steps* steps with the mean gradient 1."""
    x = kit.parameter(mx, value=value, ctx=kit.devices(mx, count))
    trainer = kit.trainer(mx, [x], options=dict(parameters or MOMENTUM), **options)
    for _ in range(steps):
        mean_step(mx, x, trainer)
    return x, trainer


def mean_step(mx, x, trainer, gradient=1.0):
    """One step whose mean gradient over the devices is *gradient*; the weight afterwards."""
    kit.backward(mx, (x, gradient))
    trainer.step(len(x.list_data()))
    return kit.value(x)


class _EngineUnpickler(pickle.Unpickler):
    """Unpickler that makes nothing but the engine's, numpy's and plain container objects."""

    roots = ("mxnet", "numpy", "collections")
    plain = (("builtins", "set"), ("builtins", "object"), ("builtins", "bytearray"), ("_codecs", "encode"),
             ("copyreg", "_reconstructor"))

    def __init__(self, file, mx):
        super(_EngineUnpickler, self).__init__(file)
        # An engine may be a package of its own in front of another one that defines its classes.
        self.engine = tuple(module.split(".")[0] for module in (mx.__name__, mx.nd.NDArray.__module__))

    def find_class(self, module, name):
        if module.split(".")[0] in self.roots + self.engine or (module, name) in self.plain:
            return super(_EngineUnpickler, self).find_class(module, name)
        raise pickle.UnpicklingError("a state file must not name %s.%s" % (module, name))


def read_states(mx, path):
    """What a file written by ``save_states`` holds."""
    with open(path, "rb") as file:
        return _EngineUnpickler(file, mx).load()


def saved_states(mx, check, trainer, name="states"):
    """The states dictionary that ``trainer.save_states`` writes: index -> state."""
    path = check.path(name)
    trainer.save_states(path)
    return read_states(mx, path)[0]


def dense(mx, units, shared=None, **options):
    """A Dense layer, sharing the parameters of another one if *shared* is given, as each release spells it."""
    if shared is None:
        return mx.gluon.nn.Dense(units, **options)
    if hasattr(mx.gluon.Block, "share_parameters"):
        return mx.gluon.nn.Dense(units, **options).share_parameters(shared.collect_params())
    return mx.gluon.nn.Dense(units, params=shared.params, **options)


def zero_gradients(net):
    """Clear the gradients of a block, as each release spells it."""
    if hasattr(net, "zero_grad"):
        net.zero_grad()
    else:
        net.collect_params().zero_grad()


@contextlib.contextmanager
def sparse_world(mx):
    """The array mode in which an engine has sparse parameters."""
    with kit.legacy_mode(mx):
        yield


@contextlib.contextmanager
def numpy_world(mx):
    """Numpy array mode, also in an engine that does not start in it."""
    if kit.numpy_mode(mx):
        yield
        return
    mx.npx.set_np()
    try:
        yield
    finally:
        mx.npx.reset_np()


def sparse_parameter(mx, name="x", value=0.0, shape=(4, 1), ctx=None, stype="row_sparse", grad_stype="row_sparse",
                     initialize=True):
    """A parameter with a sparse weight and/or a sparse gradient (legacy array mode)."""
    made = mx.gluon.Parameter(name, shape=shape, stype=stype, grad_stype=grad_stype)
    if initialize:
        made.initialize(init=mx.init.Constant(value), ctx=ctx if ctx is not None else mx.cpu(0))
    return made


def rows_of(parameter, rows):
    """The replicas of a sparse weight, as the arrays that hold *rows*."""
    return parameter.list_row_sparse_data(rows)
