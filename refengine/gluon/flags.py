"""The options of ``hybridize`` and ``optimize_for``: which there are, and what is refused.

The releases differ. 1.9.1 takes any keyword as an option of the back end, and without a back end passes it over;
2.0.0b1 has a fixed list. Here the options of both are taken, those of older 1.x releases too, and any keyword beside a
back end; what no release has ever had is most likely a typing mistake, and is refused (rule GLUON-HYBRID-008).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..fields import Bool, Int

_STATIC, _LIMIT, _BULK = Bool(False), Int(2, low=0), Int(None, low=0, none=True)

PASSED_OVER = frozenset({'partition_if_dynamic', 'backend_opts', 'flags', 'data_indices', 'param_indices', 'subgraph',
                         'is_dynamic'})
"""Options that are taken and change nothing here, as without a back end in 1.9.1.

``partition_if_dynamic`` splits graphs at operators whose shapes depend on values: here they run where they stand.
``backend_opts`` are for a back end's own passes. The others are what a block says to its graph by itself: which inputs
are data and which parameters, and how it is to run.
"""

NAMED = ('active', 'backend', 'clear', 'static_alloc', 'static_shape', 'inline_limit', 'forward_bulk_size',
         'backward_bulk_size')


def refuse_unknown(given: Mapping[str, Any], backend: str | None) -> None:
    """TypeError for a keyword that no release knows, unless it is an option of a back end.

    >>> refuse_unknown({'partition_if_dynamic': True}, None)
    >>> refuse_unknown({'static_aloc': True}, 'MKLDNN')
    >>> try:
    ...     refuse_unknown({'static_aloc': True}, None)
    ... except TypeError as error:
    ...     print(str(error)[:61])
    hybridize() got an unexpected keyword argument 'static_aloc';
    """
    unknown = [] if backend is not None else [name for name in given if name not in PASSED_OVER]
    if unknown:
        known = ', '.join((*NAMED, *sorted(PASSED_OVER)))
        raise TypeError(f"hybridize() got an unexpected keyword argument '{unknown[0]}'; there are {known}")


def parsed(static_alloc: Any, static_shape: Any, inline_limit: Any, forward_bulk_size: Any,
           backward_bulk_size: Any) -> dict[str, Any]:
    """The options as values; MXNetError for flags that are neither true nor false and sizes that are no numbers."""
    found = {'static_alloc': _STATIC.parse(static_alloc, 'static_alloc', 'hybridize'),
             'static_shape': _STATIC.parse(static_shape, 'static_shape', 'hybridize'),
             'inline_limit': _LIMIT.parse(inline_limit, 'inline_limit', 'hybridize')}
    for name, value in (('forward_bulk_size', forward_bulk_size), ('backward_bulk_size', backward_bulk_size)):
        if value is not None:
            found[name] = _BULK.parse(value, name, 'hybridize')
    return found
