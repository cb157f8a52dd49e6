"""Standard output that cannot be written, as on a full disk, is told as that, and not as a fault of a command."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import Any

from conformance.errors import UsageFault


class _Descriptor(io.FileIO):
    """The descriptor of standard output; what the system refuses to write becomes a UsageFault."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())  # what is still buffered must not fail again when Python ends
            os.close(nowhere)
            if isinstance(error, BrokenPipeError):
                raise  # whoever reads has seen enough
            raise UsageFault(f"standard output cannot be written: {error.strerror or error}",
                             "Make room, or redirect it to where there is some.") from None


@contextlib.contextmanager
def told() -> Iterator[None]:
    """Within the block, a standard output that cannot be written raises UsageFault."""
    own = sys.__stdout__
    if own is None or own is not sys.stdout:  # none, or one of a program that calls the command as a function
        yield
        return
    with contextlib.suppress(BrokenPipeError):
        own.flush()
    raw = _Descriptor(own.fileno(), "wb", closefd=False)
    sys.stdout = io.TextIOWrapper(io.BufferedWriter(raw), encoding=own.encoding, errors=own.errors,
                                  line_buffering=own.isatty())
    try:
        yield
    finally:
        try:
            sys.stdout.flush()
        finally:
            sys.stdout = own
