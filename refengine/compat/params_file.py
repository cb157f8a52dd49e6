"""MXNet's binary file of arrays (``.params``, ``.nd``): dense arrays, in both directions, byte for byte.

Little endian throughout. A file is a header (magic 0x112, reserved, number of arrays), the arrays, then the number of
names (0 for a list) and each name with its length. An array is a magic number that tells its version, storage type,
shape, context, element type and raw row-major data (rule ND-SAVE-005). Older versions, which MXNet still reads, lack
the storage type or even the magic number.

Whatever the bytes are, reading ends with arrays or with MXNetError, and never takes more memory than the file is long.
"""

from __future__ import annotations

import io
import math
import os
import re
import struct
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np

from .. import util
from ..base import MXNetError
from ..context import cpu
from ..files import whole_file

FILE_MAGIC = 0x112
V1 = 0xF993FAC8
"""Arrays without storage type (releases before 0.12)."""
V2 = 0xF993FAC9
"""Arrays of legacy shape semantics: no dimension is 0."""
V3 = 0xF993FACA
"""Arrays of numpy shape semantics."""

DTYPES = ('float32', 'float64', 'float16', 'uint8', 'int32', 'int8', 'int64', 'bool')
"""Element types by their code in files."""
STORAGE_TYPES = {0: 'default', 1: 'row_sparse', 2: 'csr'}
MAX_DIMENSIONS = 32
MAX_NAME = 1 << 20

_SEMANTICS = ('ndarray was {}saved in np shape semantics, must be loaded in the same semantics. Please turn {} np '
              'shape semantics')


def _invalid(detail: str) -> MXNetError:
    return MXNetError(f'Invalid NDArray file format: {detail}')


# ---- writing ---------------------------------------------------------------------------------------------------

def _listed(data: Any) -> tuple[list[Any], list[bytes]]:
    """Arrays and names of what is to be saved; ValueError and TypeError as rule ND-SAVE-003 says."""
    from ..ndarray import NDArray
    if isinstance(data, NDArray):
        return [data], []
    if isinstance(data, Mapping):
        names, arrays = list(data), list(data.values())
    elif isinstance(data, list):
        names, arrays = [], data
    else:
        raise ValueError('data needs to either be a NDArray, dict of str, NDArray pairs or a list of NDarrays.')
    if not all(isinstance(name, str) for name in names) or not all(isinstance(array, NDArray) for array in arrays):
        raise TypeError('save only accept dict str->NDArray or list of NDArray')
    return arrays, [name.encode() for name in names]


def _write_array(out: BinaryIO, array: Any, magic: int) -> None:
    if array.stype != 'default':
        raise MXNetError(f'storage type {array.stype} cannot be saved by this engine yet; only default can')
    values = array.asnumpy()
    name = values.dtype.name
    if name not in DTYPES:
        raise MXNetError(f'element type {name} has no code in the file format, known are {", ".join(DTYPES)}')
    context = array.context
    out.write(struct.pack(f'<Iii{values.ndim}qiii', magic, 0, values.ndim, *values.shape, context.device_typeid,
                          context.device_id, DTYPES.index(name)))
    values = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder('<'))
    if values.size:
        out.write(values.reshape(-1).view(np.uint8).data)


def write(out: BinaryIO, data: Any) -> None:
    """Write an array, a list of arrays or a dict of arrays to a binary stream."""
    arrays, names = _listed(data)
    magic = V3 if util.is_np_shape() else V2
    out.write(struct.pack('<QQQ', FILE_MAGIC, 0, len(arrays)))
    for array in arrays:
        _write_array(out, array, magic)
    out.write(struct.pack('<Q', len(names)))
    for name in names:
        out.write(struct.pack('<Q', len(name)) + name)


def save(fname: Any, data: Any) -> None:
    """Write an array, a list of arrays or a dict of arrays with string keys to a file.

    The file appears complete or not at all. ValueError or TypeError for other data (rule ND-SAVE-003), MXNetError
    when the file cannot be written.
    """
    _listed(data)                                          # wrong data must not touch the file
    try:
        with whole_file(fname) as stream:
            write(stream, data)
    except OSError as error:
        raise MXNetError(f'LocalFileSystem: Open "{os.fspath(fname)}": {error.strerror}') from error


# ---- reading ---------------------------------------------------------------------------------------------------

class _Reader:
    """A binary stream whose length is known, so that no promise of a broken file is believed."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self.stream = stream
        self.left = size

    def take(self, count: int, what: str) -> bytes:
        """The next bytes; MXNetError if there are fewer."""
        if count > self.left:
            raise _invalid(f'{what} needs {count} bytes, {self.left} are left')
        data = self.stream.read(count)
        if len(data) != count:
            raise _invalid(f'{what} is cut off')
        self.left -= count
        return data

    def numbers(self, form: str, what: str) -> tuple[int, ...]:
        """The next numbers in the notation of struct, little endian."""
        return struct.unpack('<' + form, self.take(struct.calcsize('<' + form), what))

    def array(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
        """The next array; its memory is only taken when the file has as many bytes."""
        count = math.prod(shape) * dtype.itemsize
        if count > self.left:
            raise _invalid(f'an array of shape {shape} and type {dtype.name} needs {count} bytes, {self.left} are left')
        if math.prod(n for n in shape if n) * dtype.itemsize >= 1 << 63:     # beside a dimension of 0
            raise _invalid(f'an array of shape {shape}')
        values = np.empty(shape, dtype.newbyteorder('<'))
        if count:
            view = memoryview(values.reshape(-1).view(np.uint8))
            read = self.stream.readinto(view) if hasattr(self.stream, 'readinto') else None  # type: ignore[attr-defined]
            if read != count:
                raise _invalid('the data of an array is cut off')
        self.left -= count
        return values.astype(dtype, copy=False)


def _read_shape(reader: _Reader, magic: int) -> tuple[int, ...]:
    if magic in (V1, V2, V3):
        ndim, = reader.numbers('i', 'the number of dimensions')
        form = 'q'
    else:
        ndim, form = magic, 'I'                            # the oldest version begins with the number of dimensions
    if not 0 <= ndim <= MAX_DIMENSIONS:
        raise _invalid(f'{ndim} dimensions, at most {MAX_DIMENSIONS} are possible')
    shape = reader.numbers(f'{ndim}{form}', 'the shape')
    if any(n < 0 for n in shape):
        raise _invalid(f'Shape dim size cannot be a negative value: {shape}')
    if magic != V3 and (ndim == 0 or 0 in shape):
        raise _invalid(f'shape {shape} does not exist in legacy shape semantics')
    return shape


def _read_array(reader: _Reader) -> Any:
    from ..ndarray import array as make
    magic, = reader.numbers('I', 'the version of an array')
    if magic in (V2, V3):
        if magic == V3 and not util.is_np_shape():
            raise MXNetError(_SEMANTICS.format('', 'on'))
        if magic == V2 and util.is_np_shape():
            raise MXNetError(_SEMANTICS.format('not ', 'off'))
        storage, = reader.numbers('i', 'the storage type')
        if storage not in STORAGE_TYPES:
            raise _invalid(f'Unknown storage type {storage}')
        if storage:
            raise MXNetError(f'storage type {STORAGE_TYPES[storage]} is not supported by this engine yet; only '
                             f'default is')
    shape = _read_shape(reader, magic)
    reader.numbers('ii', 'the context')                    # arrays are always loaded to cpu(0) (rule ND-SAVE-001)
    code, = reader.numbers('i', 'the element type')
    if not 0 <= code < len(DTYPES):
        raise _invalid(f'Unknown type enum {code}')
    values = reader.array(shape, np.dtype(DTYPES[code]))
    return make(values, ctx=cpu(), dtype=values.dtype)


def read(stream: BinaryIO, size: int) -> Any:
    """The list or dict of arrays in a binary stream of a known length."""
    if size >= 4:
        begin = stream.read(4)
        stream.seek(-4, os.SEEK_CUR)
        if begin == b'PK\x03\x04':
            return _read_archive(stream)
    reader = _Reader(stream, size)
    magic, _, count = reader.numbers('QQQ', 'the header')
    if magic != FILE_MAGIC:
        raise _invalid(f'it begins with {magic:#x}, expected {FILE_MAGIC:#x}')
    arrays = []
    for _ in range(count):
        arrays.append(_read_array(reader))
    named, = reader.numbers('Q', 'the number of names')
    if named == 0:
        return arrays
    if named != count:
        raise _invalid(f'{named} names for {count} arrays')
    names = []
    for _ in range(named):
        length, = reader.numbers('Q', 'the length of a name')
        if length > MAX_NAME:
            raise _invalid(f'a name of {length} bytes')
        try:
            names.append(reader.take(length, 'a name').decode())
        except UnicodeDecodeError as error:
            raise _invalid(f'a name is not UTF-8: {error}') from error
    return dict(zip(names, arrays, strict=True))


def _read_archive(stream: BinaryIO) -> Any:
    """The arrays of a zip archive of npy files, which 2.0 writes in numpy mode."""
    from ..ndarray import array as make
    try:
        with np.load(stream, allow_pickle=False) as archive:
            values = {name: archive[name] for name in archive.files}
    except Exception as error:  # zipfile, zlib and numpy have a dozen kinds of errors for what a file may hold
        raise _invalid(f'the archive of arrays cannot be read: {error or type(error).__name__}') from error
    for name, value in values.items():
        if not isinstance(value, np.ndarray) or value.dtype.name not in DTYPES:
            raise _invalid(f'{name!r} in the archive is {getattr(value, "dtype", "no array")}, '
                           f'expected one of {", ".join(DTYPES)}')
    arrays = {name: make(value, ctx=cpu(), dtype=value.dtype) for name, value in values.items()}
    if arrays and all(re.fullmatch(r'arr_\d+', name) for name in arrays):
        return list(arrays.values())
    return arrays


def load(fname: Any) -> Any:
    """The list or dict of arrays that ``save`` or MXNet wrote; on cpu(0).

    An empty file of arrays gives an empty list. MXNetError for a missing or malformed file (rule ND-SAVE-004).
    """
    if not isinstance(fname, str | os.PathLike):
        raise TypeError('fname required to be a string')
    try:
        with open(fname, 'rb', buffering=1 << 16) as stream:
            return read(stream, os.fstat(stream.fileno()).st_size)
    except OSError as error:
        raise MXNetError(f'LocalFileSystem: Open "{os.fspath(fname)}": {error.strerror}') from error


def load_frombuffer(buf: Any) -> Any:
    """The list or dict of arrays in the bytes of a file (ND-SAVE-007); TypeError for anything but bytes or text."""
    if isinstance(buf, str):
        buf = buf.encode()
    if not isinstance(buf, bytes):
        raise TypeError('buf required to be a string or bytes')
    return read(io.BytesIO(buf), len(buf))
