"""A vocabulary: tokens and their numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any


class Vocabulary:
    """Numbers the unknown token, reserved tokens and the tokens of a counter, the most frequent first.

    ``min_freq`` and ``most_freq_count`` leave out rare tokens; tokens that occur equally often come in alphabetic
    order. Tokens that are not there get the number of the unknown token, 0.

    >>> vocabulary = Vocabulary(Counter('abbb'), reserved_tokens=['<pad>'])
    >>> vocabulary.idx_to_token
    ['<unk>', '<pad>', 'b', 'a']
    >>> vocabulary.to_indices(['a', 'z'])
    [3, 0]
    """

    def __init__(self, counter: Counter[Any] | None = None, most_freq_count: int | None = None, min_freq: int = 1,
                 unknown_token: Any = '<unk>', reserved_tokens: Sequence[Any] | None = None) -> None:
        assert min_freq > 0, '`min_freq` must be set to a positive value.'
        if reserved_tokens is not None:
            assert unknown_token not in reserved_tokens, '`reserved_token` cannot contain `unknown_token`.'
            assert len(set(reserved_tokens)) == len(reserved_tokens), \
                '`reserved_tokens` cannot contain duplicate reserved tokens.'
        self._unknown_token = unknown_token
        self._reserved_tokens = None if reserved_tokens is None else list(reserved_tokens)
        self._idx_to_token: list[Any] = [unknown_token, *(reserved_tokens or ())]
        if counter is not None:
            assert isinstance(counter, Counter), '`counter` must be an instance of collections.Counter.'
            self._idx_to_token += _frequent(counter, set(self._idx_to_token), most_freq_count, min_freq)
        self._token_to_idx: dict[Any, int] = {token: index for index, token in enumerate(self._idx_to_token)}

    def __len__(self) -> int:
        return len(self.idx_to_token)

    @property
    def token_to_idx(self) -> dict[Any, int]:
        """Numbers by token."""
        return self._token_to_idx

    @property
    def idx_to_token(self) -> list[Any]:
        """Tokens by number."""
        return self._idx_to_token

    @property
    def unknown_token(self) -> Any:
        """What stands for every token that is not there."""
        return self._unknown_token

    @property
    def reserved_tokens(self) -> list[Any] | None:
        """Tokens that are there whether they occur or not."""
        return self._reserved_tokens

    def to_indices(self, tokens: Any) -> Any:
        """The number of a token, or those of a list of tokens."""
        if isinstance(tokens, list):
            return [self.token_to_idx.get(token, 0) for token in tokens]
        return self.token_to_idx.get(tokens, 0)

    def to_tokens(self, indices: Any) -> Any:
        """The token of a number, or those of a list of numbers; ValueError for numbers that have none."""
        if not isinstance(indices, list):
            return self.to_tokens([indices])[0]
        for index in indices:
            if not isinstance(index, int) or index >= len(self.idx_to_token):
                raise ValueError(f'Token index {index} in the provided `indices` is invalid.')
        return [self.idx_to_token[index] for index in indices]


def _frequent(counter: Counter[Any], taken: set[Any], most: int | None, least: int) -> Iterable[Any]:
    """The tokens of a counter that get numbers, in order."""
    # The limit counts tokens that get a number here: those with one already cost nothing.
    ranked = sorted(counter.items(), key=lambda item: item[0])
    ranked.sort(key=lambda item: item[1], reverse=True)
    chosen = [token for token, times in ranked if times >= least and token not in taken]
    return chosen if most is None or most < 0 else chosen[:most]
