"""Rules, cases and harness of the conformance suite for the MXNet/Gluon programming model.

The worker imports this package inside the engine's own interpreter, so nothing is imported here.
"""

__version__ = "0.1.0"
