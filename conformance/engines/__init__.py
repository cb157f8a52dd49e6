"""Environments of engines: finding an interpreter and building a virtual environment, once per machine."""

from __future__ import annotations

from conformance.engines.provision import interpreter_for

__all__ = ["interpreter_for"]
