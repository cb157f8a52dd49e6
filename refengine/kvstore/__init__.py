"""Stores: how the devices of one or many processes share values by key."""

from . import plugins as _plugins  # noqa: F401 - registers the stores
from .base import KVStoreBase, create
from .kvstore import KVStore
from .test_store import TestStore

__all__ = ['KVStore', 'KVStoreBase', 'TestStore', 'create']
