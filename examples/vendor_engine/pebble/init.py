"""Initialisers."""


class Constant:
    """Fills with one value."""

    def __init__(self, value=0.0):
        self.value = value

    def __call__(self, array):
        array[...] = self.value
