"""Arguments that have another name in one of the releases."""

from __future__ import annotations

import warnings
from typing import Any


def renamed(old: str, value: Any, new: str, current: Any) -> Any:
    """The value of an argument that may come under its old name; the old name warns (rule OPT-REG-005)."""
    if value is None:
        return current
    warnings.warn(f"parameter '{old}' is deprecated. Please use '{new}' instead...", DeprecationWarning, stacklevel=3)
    return value
