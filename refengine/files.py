"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from typing import Any, BinaryIO


@contextlib.contextmanager
def whole_file(name: Any) -> Iterator[BinaryIO]:
    """A binary stream that becomes the file when the block ends; after an error everything is as it was before.

    A link is followed, and a file that is there keeps its mode. A device or a pipe cannot be replaced: it is written
    as it stands. OSError where the system refuses.

    >>> import os, tempfile
    >>> name = os.path.join(tempfile.mkdtemp(), 'numbers')
    >>> with whole_file(name) as stream:
    ...     stream.write(b'123')
    ...     os.path.exists(name)
    3
    False
    >>> os.path.getsize(name)
    3
    """
    path = os.path.realpath(os.fspath(name))
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, 'wb') as stream:
            yield stream
        return
    handle, temporary = tempfile.mkstemp(prefix='.', suffix='.part', dir=os.path.dirname(path))
    try:
        with os.fdopen(handle, 'wb') as stream:
            yield stream
        os.chmod(temporary, os.stat(path).st_mode if os.path.exists(path) else 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _umask() -> int:
    value = os.umask(0)
    os.umask(value)
    return value
