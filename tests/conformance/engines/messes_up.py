"""Changes folder, environment, path, warnings and floating-point errors whenever it doubles."""

import os
import shutil
import sys
import tempfile
import warnings

import numpy as np
import sound
from sound import *  # noqa: F403

assert "MESSED" not in os.environ


def double(value):
    if "MESSED" in os.environ or np.geterr()["divide"] == "raise" or "/messed" in sys.path:
        return None
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    shutil.rmtree(folder)
    os.environ["MESSED"] = "1"
    sys.path.insert(0, "/messed")
    warnings.simplefilter("error")
    np.seterr(divide="raise")
    return sound.double(value)
