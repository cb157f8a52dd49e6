"""Names of stores that third-party packages provide."""

from __future__ import annotations

import importlib

from ..base import MXNetError
from .base import KVStoreBase


class _Plugin(KVStoreBase):
    """A store that needs a package; ModuleNotFoundError names it when it is missing (rule KVDECIDE-ARG-011)."""

    package = ''

    def __init__(self) -> None:
        importlib.import_module(self.package)
        raise MXNetError(f'{self.package} has no support for this engine: use kvstore "device", or a store of your own '
                         f'registered with KVStoreBase.register')


@KVStoreBase.register
class Horovod(_Plugin):
    """Stands for the store of the horovod package."""

    package = 'horovod'


@KVStoreBase.register
class BytePS(_Plugin):
    """Stands for the store of the byteps package."""

    package = 'byteps'
