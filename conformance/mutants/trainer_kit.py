"""What the Trainer mutants share: changed constructors, exchanged errors, trainers' parameters.

Runs in the engine's interpreter: Python 3.8, standard library and numpy >= 1.17 only.
"""

import pickle

from conformance.mutants import wrap
from conformance.suite.trainer import _tools

NAMES = ("params", "optimizer", "optimizer_params", "kvstore", "compression_params", "update_on_kvstore")


def constructor(mx, before=None, after=None):
    """Change Trainer's constructor: ``before(arguments)`` may change or refuse what the caller gave.

    after: called as ``after(trainer, arguments)`` when the trainer is made. arguments: name -> value.
    """

    def make(original):
        def broken(self, *args, **kwargs):
            arguments = dict(zip(NAMES, args))
            arguments.update(kwargs)
            if before is not None:
                before(arguments)
            original(self, **arguments)
            if after is not None:
                after(self, arguments)
        return broken

    wrap(mx.gluon.Trainer, "__init__", make)


def method(mx, name, body):
    """Replace a method of Trainer by ``body(original, trainer, *arguments)``."""
    def make(original):
        def broken(self, *args, **kwargs):
            return body(original, self, *args, **kwargs)
        return broken

    wrap(mx.gluon.Trainer, name, make)


def step(mx, body):
    """Replace Trainer.step by ``body(step, trainer, batch_size, ignore_stale_grad)``."""
    def make(original):
        def broken(self, batch_size, ignore_stale_grad=False):
            return body(original, self, batch_size, ignore_stale_grad)
        return broken

    wrap(mx.gluon.Trainer, "step", make)


def other_error(owner, name, kind, fragment, other=None):
    """Make ``owner.name`` raise *other* where it raised *kind* with a fragment in its message; None: return None."""
    def make(original):
        def broken(*args, **kwargs):
            try:
                return original(*args, **kwargs)
            except kind as error:
                if fragment not in str(error):
                    raise
                if other is None:
                    return None
                raise other("something is wrong") from error
        return broken

    wrap(owner, name, make)


def listed(params):
    """The parameters among what was given to a constructor; an empty list if it is nothing it takes."""
    items = params.values() if hasattr(params, "values") else params
    if not isinstance(params, (list, tuple)) and not hasattr(params, "values"):
        return []
    return [item for item in items if hasattr(item, "grad_req")]


def parameters(trainer):
    """The parameters of a trainer in order."""
    return _tools.optimizer_order(trainer)


def device_count(parameter):
    """On how many devices a parameter lives."""
    return len(parameter.list_device() if hasattr(parameter, "list_device") else parameter.list_ctx())


def devices(trainer):
    """On how many devices a trainer trains."""
    return device_count(parameters(trainer)[0])


def is_sparse(parameter):
    """True if the weight is stored sparsely."""
    return getattr(parameter, "_stype", "default") != "default"


def has_sparse_gradient(parameter):
    """True if the weight is dense and its gradient is stored sparsely."""
    return not is_sparse(parameter) and getattr(parameter, "_grad_stype", "default") != "default"


def snapshot(trainer):
    """The weights of every dense parameter, as numpy arrays per replica."""
    return [[replica.asnumpy().copy() for replica in p.list_data()] for p in parameters(trainer) if not is_sparse(p)]


def write(array, values):
    """Write numpy values into an engine array."""
    array[:] = values if values.ndim else float(values)


def change_file(mx, path, change):
    """Rewrite a state file: ``change(states, optimizer)`` returns what it is to hold."""
    states, optimizer = _tools.read_states(mx, path)
    changed = change(states, optimizer)
    with open(path, "wb") as file:
        pickle.dump(changed, file)


def on_store(mx, name, make):
    """Replace a method of a store that was given to a trainer as an object, while the trainer steps."""
    stores = {}
    constructor(mx, after=lambda trainer, arguments: stores.__setitem__(trainer, arguments.get("kvstore")))

    def body(original, trainer, batch_size, ignore_stale_grad):
        store = stores.get(trainer)
        if not hasattr(store, name):
            return original(trainer, batch_size, ignore_stale_grad)
        kept = getattr(store, name)
        setattr(store, name, make(store, kept))
        try:
            return original(trainer, batch_size, ignore_stale_grad)
        finally:
            setattr(store, name, kept)

    step(mx, body)
