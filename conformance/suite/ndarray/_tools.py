"""What the cases of legacy arrays share: values together with their dtype, errors that may come late, shared memory.

Runs in the engine's interpreter: Python 3.8, standard library and numpy >= 1.17 only.
"""

import io
import pickle

NAN, INF = float("nan"), float("inf")


def expect(check, got, want, dtype=None, doing="value"):
    """An array has exactly this shape, these values and, where a dtype is given, this dtype."""
    check.equal(got, want, doing)
    if dtype is not None:
        check.dtype(got, dtype, "dtype of %s" % doing)


def refused(check, kind, *fragments_and_function):
    """A computation fails, at the call or when its result is waited for; returns the exception."""
    fragments, function = fragments_and_function[:-1], fragments_and_function[-1]

    def waited():
        result = function()
        if hasattr(result, "wait_to_read"):
            result.wait_to_read()

    return check.raises(kind, *(fragments + (waited,)))


def fails_at_the_wait(check, kind, *fragments_and_function):
    """A call returns, and waiting for its result fails; returns the exception."""
    fragments, function = fragments_and_function[:-1], fragments_and_function[-1]
    return check.raises(kind, *(fragments + (function().wait_to_read,)))


def shows_in(view, base):
    """True if writing 77 into every element of *view* shows in *base*, which does not hold that number yet."""
    view[:] = 77.0
    return bool((base.asnumpy() == 77.0).any())


def number(array):
    """The value of an array with one element as a Python float, whether its shape is () or (1,)."""
    values = array.asnumpy().reshape(-1)
    if values.size != 1:
        raise ValueError("expected one element, got shape %s" % (array.shape,))
    return float(values[0])


class _Restricted(pickle.Unpickler):
    """Unpickler that makes nothing but the engine's, numpy's and plain objects."""

    roots = ("mxnet", "numpy")
    plain = (("builtins", "bytearray"), ("builtins", "object"), ("_codecs", "encode"), ("copyreg", "_reconstructor"))

    def __init__(self, file, mx):
        super(_Restricted, self).__init__(file)
        # An engine may be a package of its own in front of another one that defines its classes.
        self.engine = tuple(module.split(".")[0] for module in (mx.__name__, mx.nd.NDArray.__module__))

    def find_class(self, module, name):
        if module.split(".")[0] in self.roots + self.engine or (module, name) in self.plain:
            return super(_Restricted, self).find_class(module, name)
        raise pickle.UnpicklingError("the pickle must not name %s.%s" % (module, name))


def through_pickle(mx, value):
    """*value* pickled and restored."""
    return _Restricted(io.BytesIO(pickle.dumps(value)), mx).load()
