"""Record files: many small pieces of data one after the other, each found again by its key.

The format is that of dmlc: a mark, the length, the data, padded to four bytes. Data that contain the mark are cut there
and written in parts.
"""

from __future__ import annotations

import os
import struct
from typing import Any, NamedTuple

import numpy as np

from .base import MXNetError

_MARK = 0xced7230a
_MARK_BYTES = struct.pack('<I', _MARK)
_LENGTH = (1 << 29) - 1


class MXRecordIO:
    """A record file that is read (flag ``r``) or written (flag ``w``) from beginning to end.

    MXNetError for a file that cannot be opened or is no record file; ValueError for another flag.
    """

    def __init__(self, uri: str, flag: str) -> None:
        self.uri = str(uri)
        self.flag = flag
        self.is_open = False
        self._file: Any = None
        self.open()

    def open(self) -> None:
        """Open the file."""
        if self.flag not in ('r', 'w'):
            raise ValueError(f'Invalid flag {self.flag}')
        self.writable = self.flag == 'w'
        try:
            self._file = open(self.uri, 'wb' if self.writable else 'rb')  # noqa: SIM115 - open until close
        except OSError as error:
            raise MXNetError(f'cannot open the record file {self.uri}: {error}') from None
        self.is_open = True
        self.pid = os.getpid()

    def close(self) -> None:
        """Close the file; again does nothing."""
        if self.is_open:
            self._file.close()
            self.is_open = False

    def __del__(self) -> None:
        if getattr(self, 'is_open', False):
            self.close()

    def __getstate__(self) -> dict[str, Any]:
        """The state for another process, which opens the file for itself."""
        is_open = self.is_open
        self.close()
        state = {**self.__dict__, 'is_open': is_open}
        del state['_file']
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._file, is_open, self.is_open = None, self.is_open, False
        if is_open:
            self.open()

    def _own(self) -> None:
        """A process that was forked has a place in the file of its own."""
        if self.pid != os.getpid():
            if self.writable:
                raise RuntimeError('Forbidden operation in multiple processes')
            self.reset()

    def reset(self) -> None:
        """Begin again: an open file is closed and opened."""
        self.close()
        self.open()

    def write(self, buf: bytes) -> None:
        """Append a record."""
        assert self.writable, f'{self.uri} is open for reading'
        self._own()
        if len(buf) > _LENGTH:
            raise MXNetError(f'a record has {len(buf)} bytes, expected at most {_LENGTH}')
        parts, start = [], 0
        for place in range(0, len(buf) // 4 * 4, 4):
            if buf[place:place + 4] == _MARK_BYTES:
                parts.append(buf[start:place])
                start = place + 4
        parts.append(buf[start:])
        for number, part in enumerate(parts):
            kind = 0 if len(parts) == 1 else 1 if number == 0 else 3 if number == len(parts) - 1 else 2
            self._file.write(struct.pack('<II', _MARK, kind << 29 | len(part)))
            self._file.write(part + bytes(-len(part) % 4))

    def read(self) -> bytes | None:
        """The next record, None at the end of the file."""
        assert not self.writable, f'{self.uri} is open for writing'
        self._own()
        parts: list[bytes] = []
        while True:
            head = self._file.read(8)
            if not head and not parts:
                return None
            mark, word = struct.unpack('<II', head) if len(head) == 8 else (0, 0)
            if mark != _MARK:
                raise MXNetError(f'{self.uri} is no record file, or is damaged before byte {self._file.tell()}')
            length, kind = word & _LENGTH, word >> 29
            data = self._file.read(length + -length % 4)
            if len(data) < length:
                raise MXNetError(f'{self.uri} ends inside a record')
            parts.append(data[:length])
            if kind in (0, 3):
                return _MARK_BYTES.join(parts)


class MXIndexedRecordIO(MXRecordIO):
    """A record file with a second file that says where each key is.

    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> names = [os.path.join(folder, name) for name in ('a.idx', 'a.rec')]
    >>> written = MXIndexedRecordIO(*names, 'w')
    >>> for key in range(3): written.write_idx(key, b'record %d' % key)
    >>> written.close()
    >>> MXIndexedRecordIO(*names, 'r').read_idx(2)
    b'record 2'
    """

    def __init__(self, idx_path: str, uri: str, flag: str, key_type: Any = int) -> None:
        self.idx_path = str(idx_path)
        self.idx: dict[Any, int] = {}
        self.keys: list[Any] = []
        self.key_type = key_type
        self._index: Any = None
        super().__init__(uri, flag)

    def open(self) -> None:
        """Open both files."""
        super().open()
        self.idx, self.keys = {}, []
        if self.writable:
            self._index = open(self.idx_path, 'w', encoding='utf-8')  # noqa: SIM115 - open until close
            return
        with open(self.idx_path, encoding='utf-8') as file:
            for number, line in enumerate(file, 1):
                try:
                    text, place = line.strip().split('\t')
                    key, start = self.key_type(text), int(place)
                except ValueError:
                    self.close()
                    raise MXNetError(f'{self.idx_path}: line {number} is {line.strip()!r}, expected a key of type '
                                     f'{self.key_type.__name__}, a tab and a place') from None
                self.idx[key] = start
                self.keys.append(key)

    def close(self) -> None:
        """Close both files."""
        if self._index is not None:
            self._index.close()
            self._index = None
        super().close()

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), '_index': None}

    def seek(self, idx: Any) -> None:
        """Go to the record of a key; KeyError for one that is not there, MXNetError for a place outside the file."""
        assert not self.writable, f'{self.uri} is open for writing'
        self._own()
        size = os.fstat(self._file.fileno()).st_size
        if not 0 <= self.idx[idx] < size:
            raise MXNetError(f'{self.idx_path} says that {idx!r} begins at byte {self.idx[idx]} of {self.uri}, which '
                             f'has {size}')
        self._file.seek(self.idx[idx])

    def tell(self) -> int:
        """Where the next record will be written."""
        assert self.writable, f'{self.uri} is open for reading'
        return int(self._file.tell())

    def read_idx(self, idx: Any) -> bytes | None:
        """The record of a key; KeyError for one that is not there."""
        self.seek(idx)
        return self.read()

    def write_idx(self, idx: Any, buf: bytes) -> None:
        """Append a record under a key."""
        key, place = self.key_type(idx), self.tell()
        self.write(buf)
        self._index.write(f'{key}\t{place}\n')
        self.idx[key] = place
        self.keys.append(key)


# ---- records with a label ----------------------------------------------------------------------------------------

class IRHeader(NamedTuple):
    """What stands before the data of a record: ``flag`` counts further labels, ``id`` names the sample."""

    flag: int
    label: Any
    id: int
    id2: int


_FORMAT = '<IfQQ'


def pack(header: Any, s: bytes) -> bytes:
    """A record of a header and data; several labels come between the two.

    >>> unpack(pack(IRHeader(0, 4.0, 2574, 0), b'data'))
    (IRHeader(flag=0, label=4.0, id=2574, id2=0), b'data')
    """
    _, label, number, second = header
    if isinstance(label, int | float | np.number):
        return struct.pack(_FORMAT, 0, label, number, second) + s
    labels = np.asarray(label, np.float32)
    return struct.pack(_FORMAT, labels.size, 0, number, second) + labels.tobytes() + s


def unpack(s: bytes) -> tuple[IRHeader, bytes]:
    """Header and data of a record; several labels are a float32 array. MXNetError for one that is too short."""
    size = struct.calcsize(_FORMAT)
    if len(s) < size:
        raise MXNetError(f'a record with a header has at least {size} bytes, got {len(s)}')
    header = IRHeader(*struct.unpack(_FORMAT, s[:size]))
    s = s[size:]
    if header.flag * 4 > len(s):
        raise MXNetError(f'a record says that {header.flag} labels follow its header, there are {len(s)} bytes')
    if header.flag > 0:
        header = header._replace(label=np.frombuffer(s, np.float32, header.flag))
        s = s[header.flag * 4:]
    return header, s


def pack_img(header: Any, img: np.ndarray, quality: int = 95, img_fmt: str = '.jpg') -> bytes:
    """A record of a header and an image (height, width, channels), blue first, as .jpg or .png.

    ``quality`` is that of a JPEG (1 … 100), or how hard a PNG is compressed (0 … 9).
    """
    from .image.decode import encoded
    pixels = np.asarray(img)
    return pack(header, encoded(pixels[..., ::-1] if pixels.ndim == 3 and pixels.shape[2] == 3 else pixels, img_fmt,
                                quality))


def unpack_img(s: bytes, iscolor: int = -1) -> tuple[IRHeader, np.ndarray]:
    """Header and pixels of a record, blue first; ``iscolor`` 0 gives grey, 1 colours, -1 what the file has."""
    from .image.decode import pixels_of
    header, data = unpack(s)
    pixels = pixels_of(data, {0: 1, 1: 3}.get(iscolor))
    return header, pixels[:, :, ::-1] if pixels.shape[2] == 3 else pixels[:, :, 0]
