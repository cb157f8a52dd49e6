"""Dies when an array is made of a numpy array."""

import os

__version__ = "1.0"


class nd:
    @staticmethod
    def array(values):
        os._exit(5)
