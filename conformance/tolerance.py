"""How close is close: one table of tolerances by dtype.

Runs in the engine's interpreter: Python 3.8, standard library and numpy >= 1.17 only.
"""

import numpy as np

#: dtype name -> (rtol, atol, why). Integers and booleans are compared exactly.
TABLE = {
    "float16": (2e-3, 1e-4, "about two units of the 10-bit mantissa"),
    "float32": (2e-5, 1e-6, "a few hundred rounding errors, for sums in another order"),
    "float64": (1e-7, 1e-12, "float64 results may pass through float32 constants"),
}

EXACT = (0.0, 0.0, "exact")


def tolerance_for(*dtypes):
    """Return ``(rtol, atol, why)`` of the least precise of *dtypes*; exact if none is a float.

    >>> tolerance_for("int32")[0]
    0.0
    >>> tolerance_for("float64", "float16")[0]
    0.002
    """
    names = [np.dtype(dtype).name for dtype in dtypes]
    for name in ("float16", "float32", "float64"):
        if name in names:
            return TABLE[name]
    return EXACT
