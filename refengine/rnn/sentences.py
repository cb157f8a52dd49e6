"""Sentences as numbers, and batches of sentences of about the same length."""

from __future__ import annotations

import bisect
import logging
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..io import DataBatch, DataDesc, DataIter


def encode_sentences(sentences: Sequence[Sequence[Any]], vocab: dict[Any, int] | None = None, invalid_label: int = -1,
                     invalid_key: Any = '\n', start_label: int = 0,
                     unknown_token: Any = None) -> tuple[list[list[int]], dict[Any, int]]:
    """Sentences with a number for each word, and the vocabulary: word to number.

    A vocabulary that is given is used; a word that it lacks is ``unknown_token``, or an AssertionError without one.
    Else words are numbered from ``start_label`` on as they come; ``invalid_label`` is left out and stands for
    ``invalid_key``.

    >>> encode_sentences([['a', 'b'], ['b', 'c']])
    ([[0, 1], [1, 2]], {'\\n': -1, 'a': 0, 'b': 1, 'c': 2})
    """
    made = vocab is None
    words = {invalid_key: invalid_label} if vocab is None else vocab
    number = start_label
    encoded = []
    for sentence in sentences:
        row = []
        for word in sentence:
            if word not in words:
                assert made or unknown_token, f'Unknown token {word}'
                if unknown_token:
                    word = unknown_token
                if word not in words:
                    if number == invalid_label:
                        number += 1
                    words[word] = number
                    number += 1
            row.append(words[word])
        encoded.append(row)
    return encoded, words


class BucketSentenceIter(DataIter):
    """Batches of encoded sentences, each batch of one length; the label of a word is the word after it.

    buckets: the lengths, by default every length that fills a batch; a sentence goes into the shortest bucket that
    holds it, filled up with ``invalid_label``; longer ones and incomplete batches are left out.  layout: 'NT' or 'TN'.
    A batch says in ``bucket_key`` which length it has. ValueError for another layout or without any bucket.

    >>> batches = BucketSentenceIter([[1, 2, 3], [4, 5, 6]], batch_size=2, buckets=[4])
    >>> batch = batches.next()
    >>> batch.bucket_key, batch.data[0].shape
    (4, (2, 4))
    """

    def __init__(self, sentences: Sequence[Sequence[int]], batch_size: int, buckets: Sequence[int] | None = None,
                 invalid_label: int = -1, data_name: str = 'data', label_name: str = 'softmax_label',
                 dtype: Any = 'float32', layout: str = 'NT') -> None:
        super().__init__(batch_size)
        if sorted(layout) != ['N', 'T']:
            raise ValueError(f'Invalid layout {layout}: must be NT (batch major) or TN (time major)')
        if not buckets:
            counts = np.bincount([len(sentence) for sentence in sentences])
            buckets = [length for length, count in enumerate(counts) if count >= batch_size]
        self.buckets = sorted(buckets)
        if not self.buckets:
            raise ValueError(f'no bucket: no length of the {len(sentences)} sentences fills a batch of {batch_size}')
        self.invalid_label, self.data_name, self.label_name = invalid_label, data_name, label_name
        self.dtype, self.layout = dtype, layout
        self.major_axis = layout.find('N')
        self.default_bucket_key = max(self.buckets)
        rows: list[list[np.ndarray]] = [[] for _ in self.buckets]
        left_out = 0
        for sentence in sentences:
            bucket = bisect.bisect_left(self.buckets, len(sentence))
            if bucket == len(self.buckets):
                left_out += 1
                continue
            row = np.full((self.buckets[bucket],), invalid_label, dtype=dtype)
            row[:len(sentence)] = sentence
            rows[bucket].append(row)
        if left_out:
            logging.getLogger(__name__).warning('%d sentences longer than the largest bucket, %d, are left out',
                                                left_out, self.buckets[-1])
        self.data = [np.asarray(same, dtype=dtype).reshape(len(same), length)
                     for same, length in zip(rows, self.buckets, strict=True)]
        self.idx = [(bucket, start) for bucket, same in enumerate(self.data)
                    for start in range(0, len(same) - batch_size + 1, batch_size)]
        self.provide_data = [self._described(data_name, self.default_bucket_key)]
        self.provide_label = [self._described(label_name, self.default_bucket_key)]
        self.curr_idx = 0
        self.nddata: list[Any] = []
        self.ndlabel: list[Any] = []
        self.reset()

    def _described(self, name: str, length: int) -> DataDesc:
        shape = (self.batch_size, length) if self.major_axis == 0 else (length, self.batch_size)
        return DataDesc(name, shape, layout=self.layout)

    def reset(self) -> None:
        """Begin again, with sentences and batches in another order (drawn from ``random`` and ``numpy.random``)."""
        from ..ndarray import array
        self.curr_idx = 0
        random.shuffle(self.idx)
        self.nddata, self.ndlabel = [], []
        for same in self.data:
            np.random.shuffle(same)
            label = np.full_like(same, self.invalid_label)
            label[:, :-1] = same[:, 1:]
            self.nddata.append(array(same, dtype=self.dtype))
            self.ndlabel.append(array(label, dtype=self.dtype))

    def next(self) -> DataBatch:
        """The next batch; StopIteration after the last."""
        if self.curr_idx == len(self.idx):
            raise StopIteration
        bucket, start = self.idx[self.curr_idx]
        self.curr_idx += 1
        data = self.nddata[bucket][start:start + self.batch_size]
        label = self.ndlabel[bucket][start:start + self.batch_size]
        if self.major_axis == 1:
            data, label = data.T, label.T
        length = self.buckets[bucket]
        return DataBatch([data], [label], pad=0, bucket_key=length,
                         provide_data=[self._described(self.data_name, length)],
                         provide_label=[self._described(self.label_name, length)])
