"""What the cases of this area share: a recording custom store, a trainer on two devices, a look at the decision taken.

Runs in the engine's interpreter: Python 3.8, standard library and numpy >= 1.17 only.
"""

import itertools

from conformance.suite import kit

_numbers = itertools.count(1)


def fresh_name(stem):
    """A class name that no store was registered under before, also when a case runs twice in one process."""
    return "%s%d" % (stem, next(_numbers))


def recording_class(mx, kind="mystore", optimizer=False, name="RecordingStore"):
    """A new custom store class, working and complete for dense training.

    kind: its ``type``;  optimizer: whether it reports the capability and runs the optimizer itself. Each instance
    logs its calls as tuples in ``calls``; the class counts its instances in ``made``.
    """

    class RecordingStore(mx.kvstore.KVStoreBase):
        made = 0

        def __init__(self):
            type(self).made += 1
            self.calls, self.weights, self.updater = [], {}, None

        @property
        def type(self):
            return kind

        @staticmethod
        def is_capable(capability):
            return optimizer and capability.lower() == "optimizer"

        def broadcast(self, key, value, out, priority=0):
            self.calls.append(("broadcast", key, value, out, priority))
            self.weights[key] = value.copy()
            for replica in out:
                if replica is not value:
                    value.copyto(replica)

        def pushpull(self, key, value, out=None, priority=0):
            self.calls.append(("pushpull", key, value, out, priority))
            device = kit.device_of(self.weights[key])
            total = value[0].copyto(device)
            for gradient in value[1:]:
                total += gradient.copyto(device)
            if self.updater is not None:
                self.updater(int(key), total, self.weights[key])
                total = self.weights[key]
            for replica in value if out is None else out:
                total.copyto(replica)

        if optimizer:
            def set_optimizer(self, optimizer_):
                self.calls.append(("set_optimizer", optimizer_))
                self.updater = mx.optimizer.get_updater(optimizer_)

    RecordingStore.__name__ = RecordingStore.__qualname__ = name
    return RecordingStore


def names(store):
    """The names of the calls that a recording store logged."""
    return [call[0] for call in store.calls]


def two_replicas(mx, **options):
    """A parameter of value 0 on two devices."""
    return kit.parameter(mx, ctx=kit.devices(mx, 2), **options)


def stepped(mx, kvstore="device", optimizer="sgd", options=None, gradient=(1.0, 2.0), devices=2, **keywords):
    """A trainer after one step(1) with these gradients on its devices: ``(parameter, trainer)``."""
    x = kit.parameter(mx, ctx=kit.devices(mx, devices))
    trainer = kit.trainer(mx, [x], optimizer, options, kvstore=kvstore, **keywords)
    kit.backward(mx, (x, list(gradient)[:devices]))
    trainer.step(1)
    return x, trainer


def check_decision(mx, check, wanted, kvstore="device", **keywords):
    """One step of plain SGD on two devices takes this decision, and acts on it.

    The weights are the same either way; with updates on the store the gradients stay as they were, with local
    updates they hold the sum.
    """
    x, trainer = stepped(mx, kvstore, **keywords)
    check.equal(bool(kit.update_on_kvstore(trainer)), wanted, "update_on_kvstore after the step")
    check.equal(kit.values(x), [-3.0, -3.0], "weights after the step")
    gradients = [float(kit.gradient(x, device)[0]) for device in range(2)]
    check.equal(gradients, [1.0, 2.0] if wanted else [3.0, 3.0], "gradients after the step")
    return trainer


def sparse_parameter(mx, weight="row_sparse", devices=2, rows=3, value=1.0):
    """A parameter with sparse gradient and, unless *weight* is "default", sparse weight. Call it in legacy mode."""
    made = mx.gluon.Parameter("table", shape=(rows, 1), stype=weight, grad_stype="row_sparse")
    made.initialize(init=mx.init.Constant(value), ctx=kit.devices(mx, devices))
    return made


def sparse_backward(mx, parameter, row):
    """Write a gradient of 1 for one row on every device."""
    losses = []
    with mx.autograd.record():
        for device in parameter.list_ctx():
            ids = mx.nd.array([row], ctx=device)
            if parameter._stype == "row_sparse":
                weight = parameter.row_sparse_data(ids)
            else:
                weight = parameter.data(device)
            rows, width = parameter.shape
            losses.append(mx.nd.Embedding(ids, weight, input_dim=rows, output_dim=width, sparse_grad=True).sum())
    mx.autograd.backward(losses)
