"""Back ends of graphs: names under which a graph is changed in ways that may change the last digits of results.

The names are those of the releases, whose back end for CPUs was renamed. Here both mean one pass: in inference,
BatchNorm is multiplied into the weight of the Convolution or FullyConnected before it.
"""

from __future__ import annotations

from .. import env
from ..base import MXNetError

NAMES = frozenset({'MKLDNN', 'ONEDNN'})


def require(name: str) -> None:
    """MXNetError for a back end that is not there (rule GRAPH-FUSE-002); AssertionError for what is no name."""
    if not isinstance(name, str):
        raise AssertionError(f'backend must be a name, one of {sorted(NAMES)}, got {name!r} of type {type(name)}')
    if name not in NAMES:
        raise MXNetError(f"Error optimizing for backend '{name}': it cannot be found; there are {sorted(NAMES)}")


def folds(name: str | None) -> bool:
    """Whether graphs built now fold BatchNorm into weights: asked for by name, or by MXNET_SUBGRAPH_BACKEND."""
    return (name or env.get('MXNET_SUBGRAPH_BACKEND')) in NAMES
