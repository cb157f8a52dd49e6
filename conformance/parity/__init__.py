"""The public functions of ``mx.nd``: which there are in MXNet 1.9.1, and which of them an engine has."""
