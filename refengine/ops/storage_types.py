"""cast_storage: arrays in another storage type. Dense is the only one so far."""

from __future__ import annotations

from typing import Any

from ..base import MXNetError
from ..op import Enum, register


def _infer(arrays: Any, params: dict[str, Any]) -> None:
    if params['stype'] != 'default':
        raise MXNetError(f'storage type {params["stype"]} is not supported by this engine yet; only default is')


@register('cast_storage', infer=_infer,
          params={'stype': Enum(('default', 'row_sparse', 'csr'), doc='the storage type')},
          grad=lambda F, ograds, inputs, outputs, params: (ograds[0],), samples=((((2, 3),), {'stype': 'default'}),))
def _cast_storage(xp: Any, data: Any, stype: str = 'default') -> Any:
    """A copy in another storage type; MXNetError for those that are not supported."""
    return data.copy()
