"""Vectors of words: from files, for a vocabulary, several joined. Files are looked for here: nothing is downloaded."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ... import ndarray as nd
from ... import registry
from ...base import data_dir
from .vocab import Vocabulary

__all__ = ['CompositeEmbedding', 'CustomEmbedding', 'FastText', 'GloVe', 'create', 'get_pretrained_file_names',
           'register']


class _TokenEmbedding(Vocabulary):
    """Base of embeddings: a vocabulary with a vector for each token, that of the unknown token first.

    Derived classes call ``_load_embedding`` and, if they are given a vocabulary, ``_build_embedding_for_vocabulary``.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._vec_len = 0
        self._idx_to_vec: Any = None

    @property
    def vec_len(self) -> int:
        """The length of each vector."""
        return self._vec_len

    @property
    def idx_to_vec(self) -> Any:
        """The vectors, one row for each token."""
        return self._idx_to_vec

    def _load_embedding(self, pretrained_file_path: str, elem_delim: str,
                        init_unknown_vec: Callable[..., Any], encoding: str = 'utf8') -> None:
        """Add the tokens of a file, with their vectors; a line is a token and numbers."""
        path = os.path.expanduser(pretrained_file_path)
        if not os.path.isfile(path):
            raise ValueError('`pretrained_file_path` must be a valid path to the pre-trained token embedding file.')
        logging.info('Loading pre-trained token embedding vectors from %s', path)
        unknown, tokens, vectors = _read(path, elem_delim, encoding, self.unknown_token)
        if not vectors:
            raise ValueError(f'{path} has no vectors of more than one number')
        self._vec_len = len(vectors[0])
        for token in tokens:
            self._token_to_idx[token] = len(self._idx_to_token)
            self._idx_to_token.append(token)
        table = np.zeros((len(self._idx_to_token), self._vec_len), np.float32)
        table[len(table) - len(vectors):] = vectors
        table[0] = unknown if unknown is not None else init_unknown_vec(shape=self._vec_len).asnumpy()
        self._idx_to_vec = nd.array(table)

    def _build_embedding_for_vocabulary(self, vocabulary: Vocabulary | None) -> None:
        """Keep the tokens of a vocabulary, with the vectors that are known, and no others."""
        if vocabulary is not None:
            assert isinstance(vocabulary, Vocabulary), \
                'The argument `vocabulary` must be an instance of contrib.text.vocab.Vocabulary.'
            self._take_over(vocabulary, [self.get_vecs_by_tokens(list(vocabulary.idx_to_token))])

    def _take_over(self, vocabulary: Vocabulary, parts: Sequence[Any]) -> None:
        self._idx_to_token = list(vocabulary.idx_to_token)
        self._token_to_idx = dict(vocabulary.token_to_idx)
        self._unknown_token, self._reserved_tokens = vocabulary.unknown_token, vocabulary.reserved_tokens
        self._idx_to_vec = nd.concat(*parts, dim=1)
        self._vec_len = self._idx_to_vec.shape[1]

    def get_vecs_by_tokens(self, tokens: Any, lower_case_backup: bool = False) -> Any:
        """The vector of a token, or one row for each of a list; ``lower_case_backup`` tries lower case too."""
        names = tokens if isinstance(tokens, list) else [tokens]
        if lower_case_backup:
            names = [name if name in self.token_to_idx else name.lower() for name in names]
        rows = nd.take(self.idx_to_vec, nd.array(self.to_indices(names), dtype='int32'))
        return rows if isinstance(tokens, list) else rows[0]

    def update_token_vectors(self, tokens: Any, new_vectors: Any) -> None:
        """Change the vector of a token, or those of a list; ValueError for tokens that are not there."""
        assert self.idx_to_vec is not None, 'there are no vectors yet'
        names = tokens if isinstance(tokens, list) else [tokens]
        axes = new_vectors.ndim if isinstance(new_vectors, nd.NDArray) else 0
        if len(names) == 1:
            assert axes in (1, 2), '`new_vectors` must be a 1-D or 2-D NDArray if `tokens` is a singleton.'
            new_vectors = new_vectors.reshape((1, -1))
        else:
            assert axes == 2, '`new_vectors` must be a 2-D NDArray if `tokens` is a list of multiple strings.'
        assert new_vectors.shape == (len(names), self.vec_len), \
            f'`new_vectors` must have the shape {(len(names), self.vec_len)}, got {new_vectors.shape}'
        for name in names:
            if name not in self.token_to_idx:
                raise ValueError(f'Token {name} is unknown. To update the embedding vector for an unknown token, '
                                 f'please specify it explicitly as the `unknown_token` {self.unknown_token} in '
                                 f'`tokens`. This is to avoid unintended updates.')
        for name, row in zip(names, new_vectors, strict=True):
            self.idx_to_vec[self.token_to_idx[name]] = row


def _read(path: str, delimiter: str, encoding: str, unknown_token: Any) -> tuple[Any, list[str], list[Any]]:
    """The vector of the unknown token or None, and the other tokens with theirs."""
    unknown, vectors = None, {}
    with open(path, encoding=encoding) as file:
        for number, line in enumerate(file, 1):
            token, *rest = line.rstrip().split(delimiter)
            place = f'At line {number} of the pre-trained token embedding file'
            assert rest, f'{place}: the data format of {path} is unexpected.'
            vector = [float(text) for text in rest]
            if token == unknown_token and unknown is None:
                unknown = vector
            elif token in vectors or token == unknown_token:
                warnings.warn(f'{place}: the embedding vector for token {token} has been loaded and a duplicate '
                              f'embedding for the same token is seen and skipped.', stacklevel=2)
            elif len(vector) == 1:
                warnings.warn(f'{place}: token {token} with 1-dimensional vector {vector} is likely a header and is '
                              f'skipped.', stacklevel=2)
            else:
                first = next(iter(vectors.values()), vector)
                assert len(vector) == len(first), \
                    f'{place}: the dimension of token {token} is {len(vector)} but the dimension of previous tokens ' \
                    f'is {len(first)}. Dimensions of all the tokens must be the same.'
                vectors[token] = vector
    return unknown, list(vectors), list(vectors.values())


_register = registry.get_register_func(_TokenEmbedding, 'token embedding')
_create = registry.get_create_func(_TokenEmbedding, 'token embedding')


def register(embedding_cls: type[_TokenEmbedding]) -> type[_TokenEmbedding]:
    """A decorator that lets ``create`` make embeddings of a class, by its name in lower case."""
    registered: type[_TokenEmbedding] = _register(embedding_cls)
    return registered


def create(embedding_name: str, **kwargs: Any) -> Any:
    """An embedding of a class that is registered; AssertionError for others."""
    return _create(embedding_name, **kwargs)


def default_root() -> str:
    """The folder of files of vectors: ``embeddings`` below MXNET_HOME, which is ~/.mxnet if unset."""
    return str(Path(data_dir()) / 'embeddings')


class _Published(_TokenEmbedding):
    """Vectors that others have published, from a file in a folder with the name of the class."""

    def __init__(self, pretrained_file_name: str, embedding_root: str | None,
                 init_unknown_vec: Callable[..., Any], vocabulary: Vocabulary | None, **kwargs: Any) -> None:
        path = self._folder(embedding_root) / pretrained_file_name
        if not path.is_file():
            raise FileNotFoundError(f'{path} is not there, and nothing is downloaded: put the file of vectors there, '
                                    f'or give embedding_root=FOLDER or use CustomEmbedding.')
        super().__init__(**kwargs)
        self._load_embedding(str(path), ' ', init_unknown_vec)
        self._build_embedding_for_vocabulary(vocabulary)

    @classmethod
    def _folder(cls, root: str | None = None) -> Path:
        return Path(root or default_root()).expanduser() / cls.__name__.lower()


@register
class GloVe(_Published):
    """Vectors of the GloVe project, from ``ROOT/glove/NAME``."""

    def __init__(self, pretrained_file_name: str = 'glove.840B.300d.txt', embedding_root: str | None = None,
                 init_unknown_vec: Callable[..., Any] = nd.zeros, vocabulary: Vocabulary | None = None,
                 **kwargs: Any) -> None:
        super().__init__(pretrained_file_name, embedding_root, init_unknown_vec, vocabulary, **kwargs)


@register
class FastText(_Published):
    """Vectors of the fastText project, from ``ROOT/fasttext/NAME``."""

    def __init__(self, pretrained_file_name: str = 'wiki.simple.vec', embedding_root: str | None = None,
                 init_unknown_vec: Callable[..., Any] = nd.zeros, vocabulary: Vocabulary | None = None,
                 **kwargs: Any) -> None:
        super().__init__(pretrained_file_name, embedding_root, init_unknown_vec, vocabulary, **kwargs)


def get_pretrained_file_names(embedding_name: str | None = None) -> Any:
    """The files of vectors on this machine, for one class or as a dict for all; KeyError for an unknown name."""
    found = {name: sorted(path.name for path in cls._folder().glob('*') if path.is_file())
             for name, cls in registry.get_registry(_TokenEmbedding).items() if issubclass(cls, _Published)}
    if embedding_name is None:
        return found
    if embedding_name not in found:
        raise KeyError(f'Cannot find `embedding_name` {embedding_name}. Use '
                       f'`get_pretrained_file_names(embedding_name=None).keys()` to get all the valid embedding names.')
    return found[embedding_name]


class CustomEmbedding(_TokenEmbedding):
    """Vectors from a file of lines ``token 0.1 0.2 …``, for all its tokens or those of a vocabulary.

    The unknown token has the vector of the file, if it is in there, else that of ``init_unknown_vec``.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, 'vectors.txt')
    ...     with open(path, 'w') as file:
    ...         _ = file.write('hello 1 2\\nworld 3 4\\n')
    ...     words = CustomEmbedding(path)
    >>> words.get_vecs_by_tokens(['world', 'moon']).asnumpy().tolist()
    [[3.0, 4.0], [0.0, 0.0]]
    """

    def __init__(self, pretrained_file_path: str, elem_delim: str = ' ', encoding: str = 'utf8',
                 init_unknown_vec: Callable[..., Any] = nd.zeros, vocabulary: Vocabulary | None = None,
                 **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._load_embedding(pretrained_file_path, elem_delim, init_unknown_vec, encoding)
        self._build_embedding_for_vocabulary(vocabulary)


class CompositeEmbedding(_TokenEmbedding):
    """The vectors of one or more embeddings, side by side, for the tokens of a vocabulary."""

    def __init__(self, vocabulary: Vocabulary, token_embeddings: Any) -> None:
        assert isinstance(vocabulary, Vocabulary), \
            'The argument `vocabulary` must be an instance of contrib.text.vocab.Vocabulary.'
        parts = token_embeddings if isinstance(token_embeddings, list) else [token_embeddings]
        for part in parts:
            assert isinstance(part, _TokenEmbedding), \
                f'The argument `token_embeddings` must be an embedding or a list of embeddings, got {part!r}'
        super().__init__()
        self._take_over(vocabulary, [part.get_vecs_by_tokens(list(vocabulary.idx_to_token)) for part in parts])
