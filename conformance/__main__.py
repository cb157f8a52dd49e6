"""``python -m conformance``: the ``conform`` command."""

from conformance.cli import main

main(prog_name="conform")
