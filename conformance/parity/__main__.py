"""Write the table and its page: ``python -m conformance.parity [--from-release]``.

With ``--from-release`` the list of functions is taken from MXNet 1.9.1, which must be provided on this machine.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from conformance.parity.document import PAGE, page
from conformance.parity.table import FUNCTIONS, load_exceptions, load_functions, survey, text_of
from reports.files import write_atomically


def main(arguments: Sequence[str] | None = None) -> None:
    """Write what is generated."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--from-release", action="store_true", help="take the list from MXNet 1.9.1 again")
    if parser.parse_args(arguments).from_release:
        from conformance.engine import find_engine

        write_atomically(FUNCTIONS, text_of(survey(find_engine("mxnet-1.9.1"))))
    write_atomically(PAGE, page(load_functions(), load_exceptions()))


if __name__ == "__main__":
    main()
