"""Helpers for tests of programs: comparisons with tolerances, random arrays, the default context."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from . import autograd, base, context, nd, random
from .context import Context, current_context
from .util import setenv

_RTOL = {'float16': 1e-2, 'float32': 1e-4, 'float64': 1e-5}
_ATOL = {'float16': 1e-1, 'float32': 1e-3, 'float64': 1e-20}
_default: Context | None = None


def default_context() -> Context:
    """The context that tests run on."""
    return _default or current_context()


def set_default_context(ctx: Context) -> None:
    """Set the context that tests run on."""
    global _default
    _default = ctx


def default_dtype() -> type:
    """The element type that tests use."""
    return np.float32


def list_gpus() -> list[int]:
    """The ids of the usable GPUs."""
    return list(range(context.num_gpus()))


def _numpy(value: Any) -> np.ndarray:
    return value.asnumpy() if isinstance(value, nd.NDArray) else np.asarray(value)


def _tolerance(table: dict[str, float], given: float | None, *arrays: np.ndarray) -> float:
    if given is not None:
        return given
    return max(table.get(a.dtype.name, 0.0) for a in arrays)


def same(a: Any, b: Any) -> bool:
    """Whether two arrays have the same shape and the same elements."""
    return bool(np.array_equal(_numpy(a), _numpy(b)))


def almost_equal(a: Any, b: Any, rtol: float | None = None, atol: float | None = None, equal_nan: bool = False) -> bool:
    """Whether two arrays are equal within tolerances; those not given follow from the element type."""
    left, right = _numpy(a), _numpy(b)
    return left.shape == right.shape and bool(np.allclose(
        left, right, rtol=_tolerance(_RTOL, rtol, left, right), atol=_tolerance(_ATOL, atol, left, right),
        equal_nan=equal_nan))


def assert_almost_equal(a: Any, b: Any, rtol: float | None = None, atol: float | None = None,
                        names: Sequence[str] = ('a', 'b'), equal_nan: bool = False, use_broadcast: bool = True) -> None:
    """AssertionError, with the largest deviation and its place, unless two arrays are equal within tolerances.

    >>> import refengine as mx
    >>> mx.test_utils.assert_almost_equal(mx.nd.ones(2), [1, 1])
    """
    left, right = _numpy(a), _numpy(b)
    if not use_broadcast and left.shape != right.shape:
        raise AssertionError(f'{names[0]} has shape {left.shape}, {names[1]} has shape {right.shape}')
    rtol, atol = _tolerance(_RTOL, rtol, left, right), _tolerance(_ATOL, atol, left, right)
    left, right = np.broadcast_arrays(left, right)
    if np.allclose(left, right, rtol=rtol, atol=atol, equal_nan=equal_nan):
        return
    excess = np.abs(left.astype(float) - right.astype(float)) / (atol + rtol * np.abs(right.astype(float)) + 1e-300)
    excess = np.where(np.isnan(excess), np.inf, excess)
    place = tuple(int(i) for i in np.unravel_index(np.argmax(excess), excess.shape))
    raise AssertionError(f'{names[0]} and {names[1]} differ by {excess.max():.3g} times the tolerance (rtol={rtol}, '
                         f'atol={atol}), most at {place}: {names[0]}={left[place]}, {names[1]}={right[place]}')


def assert_exception(function: Callable[..., Any], exception_type: type[BaseException], *args: Any,
                     **kwargs: Any) -> None:
    """AssertionError unless the call raises the exception."""
    try:
        function(*args, **kwargs)
    except exception_type:
        return
    raise AssertionError(f'Did not raise {exception_type.__name__}')


def rand_shape_nd(num_dim: int, dim: int = 10, allow_zero_size: bool = False) -> tuple[int, ...]:
    """A random shape with lengths up to dim."""
    return tuple(int(n) for n in np.random.randint(0 if allow_zero_size else 1, dim + 1, size=num_dim))


def rand_shape_2d(dim0: int = 10, dim1: int = 10) -> tuple[int, int]:
    """A random shape of two dimensions."""
    return int(np.random.randint(1, dim0 + 1)), int(np.random.randint(1, dim1 + 1))


def rand_shape_3d(dim0: int = 10, dim1: int = 10, dim2: int = 10) -> tuple[int, int, int]:
    """A random shape of three dimensions."""
    return rand_shape_2d(dim0, dim1) + (int(np.random.randint(1, dim2 + 1)),)


def rand_ndarray(shape: Any, stype: str = 'default', density: Any = None, dtype: Any = None, ctx: Any = None,
                 **kwargs: Any) -> Any:
    """A random array; dense unless another storage type is asked for."""
    result = nd.random.uniform(-1, 1, shape=shape, ctx=ctx or default_context())
    if dtype is not None:
        result = result.astype(dtype)
    return result if stype == 'default' else result.tostype(stype)


def random_arrays(*shapes: Any) -> Any:
    """Random numpy arrays of float32, one for each shape."""
    arrays = [np.array(np.random.randn(), np.float32) if not s else np.random.randn(*s).astype(np.float32)
              for s in shapes]
    return arrays[0] if len(arrays) == 1 else arrays


@contextmanager
def random_seed(seed: int | None = None) -> Iterator[None]:
    """A block in which numpy and the engine draw from a given seed; numpy's state is restored."""
    state = np.random.get_state()
    chosen = seed if seed is not None else int(np.random.randint(0, 2 ** 31))
    np.random.seed(chosen)
    random.seed(chosen)
    try:
        yield
    finally:
        np.random.set_state(state)


def numeric_gradient(function: Callable[..., Any], arrays: Sequence[Any], eps: float = 1e-4) -> list[np.ndarray]:
    """Central differences of the sum of a function's result with respect to each array, in float64."""
    values = [_numpy(a).astype(np.float64) for a in arrays]

    def total(moved: Sequence[np.ndarray]) -> float:
        return float(function(*[nd.array(v, dtype='float64') for v in moved]).sum().asscalar())

    gradients = []
    for which, value in enumerate(values):
        gradient = np.zeros_like(value)
        for place in np.ndindex(*value.shape):
            moved = [v.copy() for v in values]
            moved[which][place] += eps
            high = total(moved)
            moved[which][place] -= 2 * eps
            gradient[place] = (high - total(moved)) / (2 * eps)
        gradients.append(gradient)
    return gradients


def check_gradient(function: Callable[..., Any], arrays: Sequence[Any], eps: float = 1e-4, rtol: float = 1e-4,
                   atol: float = 1e-6) -> None:
    """AssertionError unless the recorded gradient of a function equals its finite differences.

    >>> import refengine as mx
    >>> mx.test_utils.check_gradient(lambda x: mx.nd.sin(x) * x, [mx.nd.array([0.3, 0.4])])
    """
    leaves = [nd.array(_numpy(a), dtype='float64') for a in arrays]
    for leaf in leaves:
        leaf.attach_grad()
    with autograd.record():
        result = function(*leaves)
    result.backward()
    for index, (leaf, expected) in enumerate(zip(leaves, numeric_gradient(function, arrays, eps))):
        assert_almost_equal(leaf.grad, expected, rtol, atol, names=(f'gradient {index}', 'finite differences'))


def check_numeric_gradient(sym: Any, location: Any, *args: Any, **kwargs: Any) -> None:
    """AssertionError unless the gradients of a symbol equal finite differences (rule DIAG-NUMGRAD-001)."""
    try:
        from . import symbol
    except ImportError:
        raise base.MXNetError('this engine has no symbol front end yet (capability "symbol"); check_gradient takes '
                              'functions of arrays') from None
    symbol.check_numeric_gradient(sym, location, *args, **kwargs)


@contextmanager
def environment(*args: Any) -> Iterator[None]:
    """A block with environment variables set, for a name and a value or a dict of them; None removes one.

    >>> import os
    >>> with environment('SOME_SETTING', '1'):
    ...     os.environ['SOME_SETTING']
    '1'
    >>> 'SOME_SETTING' in os.environ
    False
    """
    assert len(args) == 2 or (len(args) == 1 and isinstance(args[0], dict)), \
        'Expecting one dict arg or two args: env var name and value'
    wanted = args[0] if len(args) == 1 else {args[0]: args[1]}
    before = {name: os.environ.get(name) for name in wanted}
    try:
        for name, value in wanted.items():
            setenv(name, value)
        yield
    finally:
        for name, value in before.items():
            setenv(name, value)


# ---- symbols ---------------------------------------------------------------------------------------------------

def __getattr__(name: str) -> Any:
    """Checks of symbols, which need the symbolic front end."""
    if name in ('check_symbolic_forward', 'check_symbolic_backward', 'simple_forward', 'check_consistency'):
        from .symbol import checks
        return getattr(checks, name)
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')


# ---- files from elsewhere --------------------------------------------------------------------------------------

def download(url: str, fname: str | None = None, dirname: str | None = None, overwrite: bool = False,
             retries: int = 5) -> str:
    """Fetch a file, unless it is there already, and return where it is; the error of the last try otherwise."""
    from .gluon import utils
    path = url.rsplit('/', 1)[-1] if fname is None else fname
    if dirname is not None:
        path = os.path.join(dirname, path)
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    return utils.download(url, path, overwrite, retries=retries)


def get_mnist() -> dict[str, np.ndarray]:
    """The handwritten digits as arrays, images between 0 and 1; FileNotFoundError where their files are not.

    They are read from where ``gluon.data.vision.MNIST`` has them: nothing is downloaded.
    """
    from .gluon.data import vision
    found = {}
    for part, train in (('train', True), ('test', False)):
        digits = vision.MNIST(train=train)
        found[f'{part}_data'] = digits._data.asnumpy().transpose(0, 3, 1, 2).astype(np.float32) / 255
        found[f'{part}_label'] = digits._label
    return found


def get_mnist_iterator(batch_size: int, input_shape: Sequence[int], num_parts: int = 1, part_index: int = 0) -> Any:
    """Iterators over the digits for training, in random order, and for validation.

    ``input_shape`` is that of one sample: three numbers for images, one for rows. Each of ``num_parts`` workers takes
    its ``part_index``.
    """
    from . import io
    digits = get_mnist()
    iterators = []
    for part in ('train', 'test'):
        images = digits[f'{part}_data'][part_index::num_parts]
        labels = digits[f'{part}_label'][part_index::num_parts]
        iterators.append(io.NDArrayIter(images.reshape(-1, *input_shape), labels, batch_size,
                                        shuffle=part == 'train', label_name='softmax_label'))
    return tuple(iterators)
