"""The public functions and classes of MXNet 1.9.1: which there are, and which of them an engine has."""
