"""Classes of errors and their register."""

from __future__ import annotations

from .base import MXNetError, register_error
from .base import InternalError as _InternalError

__all__ = ['MXNetError', 'register']

register = register_error


@register
class InternalError(_InternalError):
    """A broken promise inside the engine; the message says so.

    >>> str(InternalError('no plan')).startswith('no plan\\n')
    True
    """

    def __init__(self, msg: str) -> None:
        super().__init__(f'{msg}\nMXNet hint: this is an internal error of the engine, never of the program; please '
                         f'report it.')
