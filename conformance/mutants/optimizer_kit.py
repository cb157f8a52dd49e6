"""Ways to break an optimizer through its public names; no mutants live here.

Runs in the engine's interpreter: Python 3.8, standard library and numpy >= 1.17 only.
"""

import contextlib

from conformance.mutants import wrap


def always(self):
    """The condition of a mutant that breaks every instance of its class."""
    del self
    return True


@contextlib.contextmanager
def changed(instance, attributes):
    """Give an instance other attribute values for the block."""
    before = {name: getattr(instance, name) for name in attributes}
    try:
        for name, value in attributes.items():
            setattr(instance, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(instance, name, value)


def break_update(mx, name, make):
    """Replace the update of one optimizer class by ``make(update)``, where the updater enters it."""
    wrap(getattr(mx.optimizer, name), "update_multi_precision", make)


def options_during_update(mx, name, change, when=always):
    """Have an optimizer class work with other attributes: ``change(self)`` gives name -> value."""

    def make(update):
        def broken(self, index, weight, grad, state):
            with changed(self, change(self) if when(self) else {}):
                return update(self, index, weight, grad, state)
        return broken

    break_update(mx, name, make)


def gradients_before_update(mx, name, change, when=always):
    """Hand ``change(self, weight, gradient)`` instead of each gradient to an optimizer class."""

    def make(update):
        def broken(self, index, weight, grad, state):
            if when(self):
                if isinstance(grad, (list, tuple)):
                    grad = [change(self, w, g) for w, g in zip(weight, grad)]
                else:
                    grad = change(self, weight, grad)
            return update(self, index, weight, grad, state)
        return broken

    break_update(mx, name, make)


def weights_after_update(mx, name, change, when=always):
    """Write ``change(self, before, after)`` (numpy arrays) into each weight after an update."""

    def make(update):
        def broken(self, index, weight, grad, state):
            arrays = list(weight) if isinstance(weight, (list, tuple)) else [weight]
            before = [array.asnumpy().copy() for array in arrays]
            result = update(self, index, weight, grad, state)
            if when(self):
                for array, old in zip(arrays, before):
                    array[:] = _like(mx, array, change(self, old, array.asnumpy()))
            return result
        return broken

    break_update(mx, name, make)


def _like(mx, array, values):
    """An array of the same kind, dtype and device as *array*."""
    module = mx.nd if type(array) is mx.nd.NDArray else mx.np
    return module.array(values, dtype=array.dtype, ctx=array.ctx)


def default_argument(mx, name, **defaults):
    """Give constructor arguments of one optimizer class other defaults."""

    def make(init):
        def broken(self, *args, **kwargs):
            init(self, *args, **dict(defaults, **kwargs))
        return broken

    wrap(getattr(mx.optimizer, name), "__init__", make)
