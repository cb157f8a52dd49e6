"""Shared by all tests: which outside things must be there.

Tests marked ``needs_mxnet`` install a real release by themselves; they are skipped only where no interpreter for it
exists. Tests marked ``needs_chromium`` need a browser. The variable
GLUON_CONFORMANCE_REQUIRE=mxnet,chromium turns a skip into a failure.
"""

import os
import signal

import pytest

# What runs in the background of a shell inherits that Ctrl-C is ignored, and so would every command that a test starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

REQUIRED = set(filter(None, os.environ.get("GLUON_CONFORMANCE_REQUIRE", "").split(",")))


@pytest.fixture(autouse=True)
def _needs_mxnet(request):
    """Skip (or, where required, fail) what needs a real release on a machine without a Python for its wheels."""
    if request.node.get_closest_marker("needs_mxnet") is None:
        return
    from conformance.engine import find_engine
    from conformance.engines.provision import interpreter_for
    from conformance.errors import EngineFault

    try:
        interpreter_for(find_engine("mxnet-1.9.1"))
    except EngineFault as fault:
        if "mxnet" in REQUIRED:
            raise
        pytest.skip(f"no Apache MXNet here: {fault}")
