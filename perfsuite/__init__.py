"""Benchmarks of the MXNet/Gluon programming model: records, a measuring kit, asv history and side-by-side comparison.

The measuring worker imports this package inside the engine's own interpreter, so nothing is imported here.
"""
