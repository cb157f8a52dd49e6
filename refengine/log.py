"""Loggers with a short line: a letter for the level, time, process and place."""

from __future__ import annotations

import logging
import warnings
from logging import CRITICAL, DEBUG, ERROR, INFO, NOTSET, WARNING

__all__ = ['CRITICAL', 'DEBUG', 'ERROR', 'INFO', 'NOTSET', 'WARNING', 'getLogger', 'get_logger']

_COLOURS = ((WARNING, 31), (INFO, 32))
"""Levels from which a line is red or green; below it is blue."""


class _Formatter(logging.Formatter):
    """``W0131 12:00:00 4711 file.py:function:12] text``; the part before the text is coloured."""

    def __init__(self) -> None:
        super().__init__(datefmt='%m%d %H:%M:%S')

    def format(self, record: logging.LogRecord) -> str:
        head = f'{record.levelname[0] if record.levelno in (10, 20, 30, 40, 50) else "U"}%(asctime)s %(process)d ' \
               f'%(pathname)s:%(funcName)s:%(lineno)d]'
        colour = next((number for level, number in _COLOURS if record.levelno >= level), 34)
        self._style._fmt = f'\x1b[{colour}m{head}\x1b[0m %(message)s'
        return super().format(record)


def get_logger(name: str | None = None, filename: str | None = None, filemode: str | None = None,
               level: int = WARNING) -> logging.Logger:
    """A logger that writes to a file, or coloured lines to stderr; a second call gives it as it is.

    So does ``name`` None, which is the root logger.

    >>> get_logger('training', level=INFO).level == INFO
    True
    """
    logger = logging.getLogger(name)
    if name is not None and not getattr(logger, '_init_done', False):
        logger._init_done = True  # type: ignore[attr-defined]
        handler: logging.Handler
        if filename:
            handler = logging.FileHandler(filename, filemode or 'a')
        else:
            handler = logging.StreamHandler()
            handler.setFormatter(_Formatter())
        logger.addHandler(handler)
        logger.setLevel(level)
    return logger


def getLogger(name: str | None = None, filename: str | None = None, filemode: str | None = None,
              level: int = WARNING) -> logging.Logger:
    """The same, under a deprecated name."""
    warnings.warn('getLogger is deprecated, Use get_logger instead.', DeprecationWarning, stacklevel=2)
    return get_logger(name, filename, filemode, level)
