"""Vocabularies and vectors of words."""

from . import embedding, utils, vocab

__all__ = ['embedding', 'utils', 'vocab']
