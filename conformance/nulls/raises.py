"""A null engine that refuses: it makes the objects that a case needs first, and raises on everything done with them."""

from conformance.nulls._thing import Refusal, Style, engine, filled


class Raises(Style):
    """Arrays, devices and parameters are given; whatever else is called raises an exception of every kind."""

    makes = ("cpu", "gpu", "array", "zeros", "ones", "full", "Parameter", "Constant", "initialize", "record")

    def call(self, thing, args, keywords):
        if thing._path.rsplit(".", 1)[-1] in self.makes:
            return thing.child("()", filled(args, keywords, 0))
        raise Refusal()


__getattr__, __version__ = engine(Raises())
