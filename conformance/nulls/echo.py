"""A null engine that gives back what it was given: the value of the first argument, or else its own."""

import numpy as np

from conformance.nulls._thing import Style, Thing, engine


class Echo(Style):
    """A call returns a thing with the value of its first argument."""

    def call(self, thing, args, keywords):
        for given in list(args) + list(keywords.values()):
            if isinstance(given, Thing):
                return thing.child("()", given.value)
            if isinstance(given, (int, float, list, tuple, np.ndarray)):
                try:
                    return thing.child("()", np.asarray(given, dtype="float32"))
                except (TypeError, ValueError):
                    continue
        return thing.child("()")


__getattr__, __version__ = engine(Echo())
