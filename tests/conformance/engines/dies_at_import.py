"""Ends the process while it is imported."""

import os

os.write(2, b"cannot find the device\n")
os._exit(9)
