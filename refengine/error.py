"""Classes of errors and their register."""

from .base import InternalError, MXNetError, register_error

__all__ = ['InternalError', 'MXNetError', 'register', 'register_error']

register = register_error
