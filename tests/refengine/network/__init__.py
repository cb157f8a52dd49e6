"""Operators of neural networks, gluon's losses among them, against answers of MXNet 1.9.1."""
