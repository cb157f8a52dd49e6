"""The numbers of element types and of storage types in files and attributes, as tables in both directions."""

from __future__ import annotations

from typing import Any

import numpy as np

_DTYPE_NP_TO_MX: dict[Any, int] = {
    None: -1, np.float32: 0, np.float64: 1, np.float16: 2, np.uint8: 3, np.int32: 4, np.int8: 5, np.int64: 6,
    np.bool_: 7}
_DTYPE_MX_TO_NP: dict[int, Any] = {number: kind for kind, number in _DTYPE_NP_TO_MX.items()}

_STORAGE_TYPE_UNDEFINED, _STORAGE_TYPE_DEFAULT, _STORAGE_TYPE_ROW_SPARSE, _STORAGE_TYPE_CSR = -1, 0, 1, 2
_STORAGE_TYPE_STR_TO_ID = {'undefined': -1, 'default': 0, 'row_sparse': 1, 'csr': 2}
_STORAGE_TYPE_ID_TO_STR = {number: name for name, number in _STORAGE_TYPE_STR_TO_ID.items()}
