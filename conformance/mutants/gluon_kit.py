"""What the mutants of gluon share: changed calls, changed hybridizing, exchanged errors; no mutants live here.

Runs in the engine's interpreter: Python 3.8, standard library and numpy >= 1.17 only.
"""

import warnings

from conformance.mutants import wrap
from conformance.suite import kit


def is_array(mx, value):
    """True for an array, false for a symbol."""
    return isinstance(value, mx.np.ndarray if kit.numpy_mode(mx) else mx.nd.NDArray)


def replace(owner, name, body):
    """Replace a function or method by ``body(original, *arguments)``."""
    def make(original):
        def broken(*args, **kwargs):
            return body(original, *args, **kwargs)
        return broken

    wrap(owner, name, make)


def call(mx, body, owner=None):
    """Replace the call of hybrid blocks (or of another class) by ``body(original, block, *inputs)``."""
    replace(mx.gluon.HybridBlock if owner is None else owner, "__call__", body)


def hybridized(mx):
    """A function that gives the flags of a hybridized block, and None for any other."""
    kept = {}

    def body(original, block, active=True, **flags):
        result = original(block, active, **flags)
        kept[id(block)] = (block, flags if active else None)
        return result

    replace(mx.gluon.HybridBlock, "hybridize", body)
    return lambda block: kept.get(id(block), (None, None))[1]


def outside(mx):
    """A function that tells whether no hybrid block is being called at the moment."""
    entered = []

    def body(original, block, *inputs):
        entered.append(block)
        try:
            return original(block, *inputs)
        finally:
            entered.pop()

    call(mx, body)
    return lambda: not entered


def signature(mx, inputs):
    """Shapes and dtypes of the inputs, and the mode; None if there is something else than arrays."""
    if not inputs or not all(is_array(mx, item) for item in inputs):
        return None
    return [(tuple(item.shape), str(item.dtype)) for item in inputs] + [mx.autograd.is_recording()]


def other_error(owner, name, kinds, fragment, other=None):
    """Raise *other* where ``owner.name`` raised one of *kinds* with a fragment in its message; None: return None."""
    def body(original, *args, **kwargs):
        try:
            return original(*args, **kwargs)
        except kinds as error:
            if fragment not in str(error):
                raise
            if other is None:
                return None
            raise other("something is wrong") from error

    replace(owner, name, body)


def silent(owner, name):
    """Have a method issue no warnings."""
    def body(original, *args, **kwargs):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return original(*args, **kwargs)

    replace(owner, name, body)


def change_file(mx, path, change):
    """Rewrite a file of named arrays: ``change(arrays)`` returns what it is to hold."""
    arrays = change(dict((mx.npx if kit.numpy_mode(mx) else mx.nd).load(path)))
    if kit.numpy_mode(mx) and hasattr(mx.npx, "savez"):
        mx.npx.savez(path, **arrays)
    else:
        (mx.npx if kit.numpy_mode(mx) else mx.nd).save(path, arrays)
