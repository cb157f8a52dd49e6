"""One object that stands for everything in an engine: module, class, array, context manager, exception.

A null engine goes as far with a case as it can, so that the case's own observations decide and not a missing name.
"""

import numpy as np


class Refusal(ValueError, TypeError, AttributeError, AssertionError, KeyError, RuntimeError, UserWarning):
    """An exception of every kind that cases expect, with nothing to say."""

    def __str__(self):
        return ""


class Style(object):
    """What a null engine answers; each engine overrides what makes it what it is."""

    def call(self, thing, args, keywords):
        """The answer of a call; *thing* is what was called."""
        return thing.child("()", value=filled(args, keywords, 0))

    def private(self, thing, name):
        """The answer to reading an attribute whose name starts with an underscore."""
        return thing.child(name)

    def attribute(self, thing, name):
        """The answer to reading any other attribute."""
        return thing.child(name)


def filled(args, keywords, fill):
    """An array filled with *fill*, of the shape that the arguments suggest; one element if they suggest none."""
    shape = keywords.get("shape")
    if shape is None:
        given = [item for item in args if isinstance(item, (Thing, np.ndarray, list, tuple))]
        try:
            shape = np.shape(given[0].value if isinstance(given[0], Thing) else given[0]) if given else ()
        except ValueError:
            shape = ()
    try:
        return np.full(shape or (1,), fill, dtype="float32")
    except (TypeError, ValueError):
        return np.full((1,), fill, dtype="float32")


class Thing(object):
    """Anything: it can be called, read, written, iterated, computed with, and used as a class."""

    __array_priority__ = 1000.0

    def __init__(self, style, path="mx", value=None, owner=None):
        state = self.__dict__
        state["_style"], state["_path"], state["_owner"] = style, path, owner
        state["value"] = np.zeros((1,), dtype="float32") if value is None else value

    def __new__(cls, *args, **keywords):
        if len(args) == 3 and isinstance(args[0], str) and isinstance(args[1], tuple):
            # ``class Mine(mx.Something)`` in a case: a plain class takes the place of the derived one.
            return type(args[0], (Base,), dict(args[2]))
        return object.__new__(cls)

    def child(self, name, value=None):
        """A further thing, below this one."""
        return Thing(self._style, "%s.%s" % (self._path, name), self.value if value is None else value, self)

    # -- names --------------------------------------------------------------------------------------------------

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name.endswith(("Error", "Warning")):
            return Refusal
        if name == "shape":
            return np.shape(self.value)
        if name == "dtype":
            return np.asarray(self.value).dtype.type
        if name in ("size", "ndim"):
            return int(getattr(np.asarray(self.value), name))
        if name == "asnumpy":
            return lambda: np.asarray(self.value)
        if name == "asscalar":
            return lambda: np.asarray(self.value).reshape(-1)[0]
        if name.startswith("_"):
            return self._style.private(self, name)
        return self._style.attribute(self, name)

    def __setattr__(self, name, value):
        self.__dict__[name] = value

    def __call__(self, *args, **keywords):
        return self._style.call(self, args, keywords)

    # -- classes and contexts -----------------------------------------------------------------------------------

    def __instancecheck__(self, instance):
        return True

    def __subclasscheck__(self, kind):
        return True

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return False

    # -- sequences and numbers ----------------------------------------------------------------------------------

    def __len__(self):
        return len(np.atleast_1d(self.value))

    def __iter__(self):
        return iter([self.child("[0]")])

    def __getitem__(self, key):
        return self.child("[]")

    def __setitem__(self, key, value):
        pass

    def __contains__(self, item):
        return True

    def __array__(self, dtype=None, copy=None):
        return np.array(self.value, dtype=dtype)

    def __bool__(self):
        return bool(np.asarray(self.value).any())

    def __float__(self):
        return float(np.asarray(self.value).reshape(-1)[0])

    def __int__(self):
        return int(float(self))

    __index__ = __int__

    def __eq__(self, other):
        return other is self or (isinstance(other, Thing) and np.array_equal(self.value, other.value))

    def __hash__(self):
        return hash(self._path)

    def __repr__(self):
        return "<%s>" % self._path


def _operator(name):
    def compute(self, *others):
        return self._style.call(self.child(name), (self,) + others, {})
    compute.__name__ = name
    return compute


_OPERATORS = """
    add radd iadd sub rsub isub mul rmul imul truediv rtruediv itruediv floordiv mod rmod pow rpow matmul
    neg pos abs lt le gt ge and or xor invert
"""

for _name in _OPERATORS.split():
    setattr(Thing, "__%s__" % _name, _operator("__%s__" % _name))


class Base(object):
    """What a class that a case derives from the engine's derives from instead."""

    def __init__(self, *args, **keywords):
        for name, value in keywords.items():
            setattr(self, name, value)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **keywords: None


def engine(style):
    """What a null engine's module needs: its ``__getattr__`` and its ``__version__``."""
    root = Thing(style)

    def attribute(name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(root, name)

    return attribute, "0"
