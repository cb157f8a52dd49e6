"""Helpers of gluon: splitting batches over contexts, clipping gradients, checking files."""

from __future__ import annotations

import hashlib
import math
import os
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import env
from .. import ndarray as nd
from ..context import Context


def shape_is_known(shape: Any) -> bool:
    """Whether a shape is given and has no unknown (0 or -1) dimension.

    >>> shape_is_known((2, 3)), shape_is_known((0, 3)), shape_is_known(None)
    (True, False, False)
    """
    return shape is not None and all(n > 0 for n in shape)


def split_data(data: Any, num_slice: int, batch_axis: int = 0, even_split: bool = True) -> list[Any]:
    """Cut an array into ``num_slice`` pieces along an axis; not ``even_split``, the first may be longer by one.

    ValueError for sizes that do not divide evenly with ``even_split``, for more slices than elements, for no slices and
    for an axis that the array does not have (rules GLUON-UTIL-001 to GLUON-UTIL-005).

    >>> import refengine as mx
    >>> [piece.shape for piece in split_data(mx.nd.ones((7, 2)), 3, even_split=False)]
    [(3, 2), (2, 2), (2, 2)]
    """
    if num_slice < 1:
        raise ValueError(f'num_slice must be at least 1, got {num_slice}')
    if not -data.ndim <= batch_axis < data.ndim:
        raise ValueError(f'batch_axis {batch_axis} is out of range for an array of shape {data.shape}')
    batch_axis %= data.ndim
    size = data.shape[batch_axis]
    if even_split and size % num_slice != 0:
        raise ValueError(f'data with shape {data.shape} cannot be evenly split into {num_slice} slices along axis '
                         f"{batch_axis}. Use a batch size that's multiple of {num_slice} or set even_split=False to "
                         f'allow uneven partitioning of data.')
    if size < num_slice:
        raise ValueError(f'data with shape {data.shape} has too few elements along axis {batch_axis} for {num_slice} '
                         f'slices: at least one would be empty')
    if num_slice == 1:
        return [data]
    step, rest = divmod(size, num_slice)
    pieces, begin = [], 0
    for index in range(num_slice):
        end = begin + step + (index < rest)
        piece = data[begin:end] if batch_axis == 0 else nd.slice_axis(data, axis=batch_axis, begin=begin, end=end)
        pieces.append(piece)
        begin = end
    return pieces


def split_and_load(data: Any, ctx_list: Any = None, batch_axis: int = 0, even_split: bool = True,
                   *, device_list: Any = None) -> list[Any]:
    """Split an array (or what ``nd.array`` takes) and put each piece on its context (rule GLUON-UTIL-006).

    >>> import refengine as mx
    >>> [str(a.context) for a in split_and_load(mx.nd.ones((4, 2)), [mx.cpu(0), mx.cpu(1)])]
    ['cpu(0)', 'cpu(1)']
    """
    contexts = device_list if ctx_list is None else ctx_list
    if isinstance(contexts, Context):
        contexts = [contexts]
    if not contexts:
        raise ValueError(f'ctx_list must name at least one context, got {contexts!r}')
    if not isinstance(data, nd.NDArray):
        data = nd.array(data, ctx=contexts[0])
    if len(contexts) == 1:
        return [data.as_in_context(contexts[0])]
    slices = split_data(data, len(contexts), batch_axis, even_split)
    return [piece.as_in_context(ctx) for piece, ctx in zip(slices, contexts, strict=True)]


def clip_global_norm(arrays: Sequence[Any], max_norm: float, check_isfinite: bool = True) -> Any:
    """Scale arrays in place so that their joint 2-norm is at most ``max_norm``; the norm before scaling.

    With ``check_isfinite`` a norm that is not finite warns; without, the norm comes back as an array of shape (1,)
    (rules GLUON-UTIL-008 to GLUON-UTIL-012).

    >>> import refengine as mx
    >>> a = mx.nd.array([3.0, 4.0])
    >>> float(clip_global_norm([a], 1.0))
    5.0
    """
    assert len(arrays) > 0, 'clip_global_norm needs at least one array'
    raw = [array._data for array in arrays]
    host = all(isinstance(data, np.ndarray) for data in raw)
    total = sum(_square_sum(data) if host else float((data.astype('float32') ** 2).sum()) for data in raw)
    norm = np.float32(math.sqrt(total)) if total == total and total >= 0 else np.float32(np.nan)
    if check_isfinite and not np.isfinite(norm):
        warnings.warn(UserWarning('nan or inf is detected. Clipping results will be undefined.'), stacklevel=2)
    scale = np.minimum(max_norm / (float(norm) + 1e-8), 1.0)
    if not scale >= 1.0:
        for array in arrays:
            array *= float(scale)
    if check_isfinite:
        return norm
    return nd.array([norm], ctx=arrays[0].context, dtype='float32')


def _square_sum(data: np.ndarray) -> float:
    """The sum of squares; half precision is widened first, so that it cannot overflow."""
    flat = data.reshape(-1, order='A')
    if flat.dtype not in (np.float32, np.float64):
        flat = flat.astype('float32')
    return float(np.dot(flat, flat))


def check_sha1(filename: str, sha1_hash: str) -> bool:
    """Whether the content of a file has the given SHA-1 digest (at least the first digits that are given)."""
    digest = hashlib.sha1(usedforsecurity=False)
    with open(filename, 'rb') as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()[:len(sha1_hash)] == sha1_hash and bool(sha1_hash)


class HookHandle:
    """What registering a hook returns; ``detach`` takes the hook away, leaving a ``with`` block does so too."""

    def __init__(self) -> None:
        self._hooks: dict[int, Callable[..., Any]] | None = None

    def attach(self, hooks_dict: dict[int, Callable[..., Any]], hook: Callable[..., Any]) -> None:
        """Put the hook into a dict of hooks; once only."""
        assert self._hooks is None, 'The same handle cannot be attached twice.'
        hooks_dict[id(self)] = hook
        self._hooks = hooks_dict

    def detach(self) -> None:
        """Take the hook away; doing so again does nothing."""
        if self._hooks is not None:
            self._hooks.pop(id(self), None)
            self._hooks = {}

    def __enter__(self) -> HookHandle:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.detach()


# ---- files from elsewhere --------------------------------------------------------------------------------------

def replace_file(src: str, dst: str) -> None:
    """Put a file in the place of another one, in one step."""
    os.replace(src, dst)


def download(url: str, path: str | None = None, overwrite: bool = False, sha1_hash: str | None = None,
             retries: int = 5, verify_ssl: bool = True) -> str:
    """Fetch a file and return where it is: ``path``, or its own name inside the folder ``path``.

    A file that is there already, and has the hash if one is given, is not fetched again. ValueError for an address
    without a file name, UserWarning for every try that is repeated; then the error of the last try.
    """
    name = url.rsplit('/', 1)[-1]
    if path is None or os.path.isdir(os.path.expanduser(path)):
        if not name:
            raise ValueError(f"Can't construct file-name from this URL. Please set the `path` option manually: {url}")
        target = os.path.join(os.path.expanduser(path or '.'), name) if path is not None else name
    else:
        target = os.path.expanduser(path)
    assert retries >= 0, f'Number of retries should be at least 0, currently it\'s {retries}'
    if not verify_ssl:
        warnings.warn('Unverified HTTPS request is being made (verify_ssl=False). Adding certificate verification is '
                      'strongly advised.', stacklevel=2)
    if not overwrite and os.path.exists(target) and (not sha1_hash or check_sha1(target, sha1_hash)):
        return target
    os.makedirs(os.path.dirname(os.path.abspath(target)), exist_ok=True)
    for left in range(retries, -1, -1):
        try:
            _fetch(url, target, sha1_hash, verify_ssl)
            return target
        except OSError as error:
            if not left:
                raise
            warnings.warn(f'download failed due to {error!r}, retrying, {left} attempts left', stacklevel=2)
    return target


def _fetch(url: str, target: str, sha1_hash: str | None, verify_ssl: bool) -> None:
    import ssl
    import urllib.request
    context = None if verify_ssl else ssl._create_unverified_context()
    temporary = f'{target}.{os.getpid()}.tmp'
    try:
        with urllib.request.urlopen(url, context=context, timeout=60) as source, open(temporary, 'wb') as file:
            while piece := source.read(1 << 20):
                file.write(piece)
        if sha1_hash and not check_sha1(temporary, sha1_hash):
            raise OSError(f'File {target} is downloaded but the content hash does not match. The repo may be outdated '
                          f'or download may be incomplete: expected {sha1_hash}')
        replace_file(temporary, target)
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)


GLUON_REPO = env.declare('MXNET_GLUON_REPO', str, 'https://apache-mxnet.s3-accelerate.dualstack.amazonaws.com/',
                         'Where programs that fetch data sets and weights look for them.')


def _get_repo_url() -> str:
    """The address of the repository, with a slash at its end."""
    url: str = GLUON_REPO.read()
    return url if url.endswith('/') else url + '/'


def _get_repo_file_url(namespace: str, filename: str) -> str:
    """The address of a file.

    >>> _get_repo_file_url('gluon/dataset', 'train.zip').endswith('.amazonaws.com/gluon/dataset/train.zip')
    True
    """
    return f'{_get_repo_url()}{namespace}/{filename}'


def _indent(s_: str, numSpaces: int) -> str:
    """Text whose lines after the first are indented."""
    from .block import indent
    return indent(s_, numSpaces)
