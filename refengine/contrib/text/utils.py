"""Counting words."""

from __future__ import annotations

import re
from collections import Counter


def count_tokens_from_str(source_str: str, token_delim: str = ' ', seq_delim: str = '\n', to_lower: bool = False,
                          counter_to_update: Counter[str] | None = None) -> Counter[str]:
    r"""How often each token occurs; the two delimiters are regular expressions.

    A counter that is given is added to and returned.

    >>> sorted(count_tokens_from_str('a b\nA', to_lower=True).items())
    [('a', 2), ('b', 1)]
    """
    tokens = filter(None, re.split(f'{token_delim}|{seq_delim}', source_str.lower() if to_lower else source_str))
    counter = Counter() if counter_to_update is None else counter_to_update
    counter.update(tokens)
    return counter
