"""Gradient compression: few bits per element on the way to a store, the rest kept for the next time.

A codec is a small class; ``create`` makes one from the parameters of ``KVStore.set_gradient_compression``.
"""

from __future__ import annotations

from typing import Any

from ..base import MXNetError
from .codec import Codec
from .one_bit import OneBit
from .two_bit import TwoBit

__all__ = ['CODECS', 'Codec', 'OneBit', 'TwoBit', 'create']

CODECS: dict[str, type[Codec]] = {codec.name: codec for codec in (TwoBit, OneBit)}


def create(params: Any) -> Codec:
    """A codec from a dict with ``type`` ('2bit' or '1bit') and perhaps ``threshold`` (0.5); other keys are ignored.

    AssertionError for anything but a dict; MXNetError for a missing or unknown type and a threshold that is no number
    or not positive with '2bit' (rules COMP-PARAM-001 to 006).

    >>> create({'type': '2bit', 'threshold': 2}).threshold
    2.0
    """
    assert isinstance(params, dict), f'unexpected type for param_dict: {type(params)}'
    if 'type' not in params:
        raise MXNetError('Required parameter type of string is not presented')
    text = params.get('threshold', 0.5)
    try:
        threshold = float(text)
    except (TypeError, ValueError):
        raise MXNetError(f"Invalid Parameter format for threshold expect float but value='{text}'") from None
    codec = CODECS.get(str(params['type']))
    if codec is None:
        raise MXNetError(f"Unknown type for gradient compression {params['type']}, known are "
                         f"{', '.join(sorted(CODECS))}")
    return codec(threshold)
