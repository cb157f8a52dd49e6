"""Initializers: how the arrays of parameters get their first values."""

from __future__ import annotations

import json
import logging
import math
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from . import registry


class InitDesc(str):
    """The name of an array together with its attributes and the initializer used for all arrays.

    >>> InitDesc('fc_weight', attrs={'lr_mult': '2'}).attrs['lr_mult']
    '2'
    """

    attrs: dict[str, Any]
    global_init: Initializer | None

    def __new__(cls, name: str, attrs: dict[str, Any] | None = None,
                global_init: Initializer | None = None) -> InitDesc:
        self = super().__new__(cls, name)
        self.attrs = attrs or {}
        self.global_init = global_init
        return self


def _plain(value: Any) -> Any:
    """An argument of an initializer as JSON can hold it."""
    if hasattr(value, 'asnumpy'):
        value = value.asnumpy()
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return value


class Initializer:
    """Base of all initializers: called with the description of an array and the array, it fills the array in place.

    What is written follows from the name: ``*weight`` goes to ``_init_weight``, ``*bias`` and ``*beta`` become 0,
    ``*gamma`` becomes 1. An attribute ``__init__`` of the description (an initializer or its ``dumps()``) comes
    before the name.

    >>> import refengine as mx
    >>> a = mx.nd.empty((2,))
    >>> mx.init.Constant(3)(mx.init.InitDesc('fc_weight'), a)
    >>> a.asnumpy().tolist()
    [3.0, 3.0]
    """

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = kwargs
        self._verbose = False
        self._print_func: Callable[[Any], str] = _mean_magnitude

    def __eq__(self, other: object) -> bool:
        return (type(self) is type(other)
                and self._plain_kwargs() == other._plain_kwargs())  # type: ignore[attr-defined]

    __hash__ = object.__hash__

    def _plain_kwargs(self) -> dict[str, Any]:
        return {key: _plain(value) for key, value in self._kwargs.items()}

    def set_verbosity(self, verbose: bool = False, print_func: Callable[[Any], str] | None = None) -> Initializer:
        """Log name, initializer and a summary of each array that is filled; returns the initializer."""
        self._verbose = verbose
        if print_func is not None:
            self._print_func = print_func
        return self

    def _verbose_print(self, desc: Any, init: str, arr: Any) -> None:
        if self._verbose and self._print_func:
            logging.info('Initialized %s as %s: %s', desc, init, self._print_func(arr))

    def dumps(self) -> str:
        """Name and arguments as JSON text, which ``create`` reads.

        >>> Uniform(0.5).dumps()
        '["uniform", {"scale": 0.5}]'
        """
        return json.dumps([type(self).__name__.lower(), self._plain_kwargs()])

    def __call__(self, desc: Any, arr: Any) -> None:
        if not isinstance(desc, InitDesc):
            self._legacy_init(desc, arr)
            return
        if desc.global_init is None:
            desc.global_init = self
        chosen = desc.attrs.get('__init__', '')
        if chosen:
            create(chosen)._init_weight(desc, arr)
            self._verbose_print(desc, chosen if isinstance(chosen, str) else chosen.dumps(), arr)
            return
        for ending, method in _BY_ENDING:
            if desc.endswith(ending):
                getattr(self, method)(desc, arr)
                self._verbose_print(desc, ending, arr)
                return
        self._init_default(desc, arr)

    def _legacy_init(self, name: Any, arr: Any) -> None:
        from .ndarray import NDArray
        warnings.warn('Calling initializer with init(str, NDArray) has been deprecated. '
                      'Please use init(mx.init.InitDesc(...), NDArray) instead.', DeprecationWarning, stacklevel=3)
        if not isinstance(name, str):
            raise TypeError('name must be string')
        if not isinstance(arr, NDArray):
            raise TypeError('arr must be NDArray')
        for kind, text, method in _BY_LEGACY_NAME:
            if name.startswith(text) if kind == 'starts' else name.endswith(text):
                getattr(self, method)(name, arr)
                return
        self._init_default(name, arr)

    def _init_bilinear(self, _: Any, arr: Any) -> None:
        shape = arr.shape
        factor = math.ceil(shape[3] / 2)
        centre = (2 * factor - 1 - factor % 2) / (2 * factor)
        across = 1 - np.abs(np.arange(shape[3]) / factor - centre)
        down = 1 - np.abs(np.arange(shape[2]) / factor - centre)
        arr[:] = np.broadcast_to(np.outer(down, across).astype('float32'), shape)

    def _init_loc_bias(self, _: Any, arr: Any) -> None:
        assert arr.shape == (6,), f'the bias of a spatial transformer has shape (6,), got {arr.shape}'
        arr[:] = np.array([1.0, 0, 0, 0, 1.0, 0], dtype='float32')

    def _init_zero(self, _: Any, arr: Any) -> None:
        arr[:] = 0.0

    def _init_one(self, _: Any, arr: Any) -> None:
        arr[:] = 1.0

    _init_bias = _init_beta = _init_quantized_bias = _init_zero
    _init_gamma = _init_one

    def _init_quantized_weight(self, _: Any, arr: Any) -> None:
        arr[:] = np.random.randint(-127, 128, arr.shape).astype('int8')

    def _init_weight(self, name: Any, arr: Any) -> None:
        """Fill a weight; each initializer says how."""
        raise NotImplementedError('Must override it')

    def _init_default(self, name: Any, _: Any) -> None:
        raise ValueError(f'Unknown initialization pattern for {name}. Default initialization is now limited to '
                         f'"weight", "bias", "gamma" (1.0), and "beta" (0.0). '
                         f'Please use mx.sym.Variable(init=mx.init.*) to set initialization pattern')


_BY_ENDING = (
    ('weight', '_init_weight'),
    ('bias', '_init_bias'),
    ('gamma', '_init_gamma'),
    ('beta', '_init_beta'),
    ('min', '_init_zero'),
    ('max', '_init_one'),
    ('weight_quantize', '_init_quantized_weight'),
    ('bias_quantize', '_init_quantized_bias'),
)
_BY_LEGACY_NAME = (
    ('starts', 'upsampling', '_init_bilinear'),
    ('starts', 'stn_loc_weight', '_init_zero'),
    ('starts', 'stn_loc_bias', '_init_loc_bias'),
    ('ends', 'bias', '_init_bias'),
    ('ends', 'gamma', '_init_gamma'),
    ('ends', 'beta', '_init_beta'),
    ('ends', 'weight', '_init_weight'),
    ('ends', 'moving_mean', '_init_zero'),
    ('ends', 'moving_var', '_init_one'),
    ('ends', 'moving_inv_var', '_init_zero'),
    ('ends', 'moving_avg', '_init_zero'),
    ('ends', 'min', '_init_zero'),
    ('ends', 'max', '_init_one'),
)


def _mean_magnitude(arr: Any) -> str:
    values = arr.asnumpy().astype('float64')
    return str(np.float32(np.linalg.norm(values) / math.sqrt(values.size)) if values.size else np.float32(0))


register = registry.get_register_func(Initializer, 'initializer')
alias = registry.get_alias_func(Initializer, 'initializer')
create = registry.get_create_func(Initializer, 'initializer')


@alias('zeros')
@register
class Zero(Initializer):
    """Everything 0."""

    def __init__(self) -> None:
        super().__init__()

    _init_weight = Initializer._init_zero


@alias('ones')
@register
class One(Initializer):
    """Everything 1."""

    def __init__(self) -> None:
        super().__init__()

    _init_weight = Initializer._init_one


@register
class Constant(Initializer):
    """Everything equal to a value: a number, or an array that broadcasts to the parameter."""

    def __init__(self, value: Any) -> None:
        super().__init__(value=value)
        self.value = value

    def _init_weight(self, name: Any, arr: Any) -> None:
        value = self.value
        arr[:] = np.asarray(value, dtype='float32') if isinstance(value, list | tuple) else value


@register
class Uniform(Initializer):
    """Uniform random numbers from [-scale, scale)."""

    def __init__(self, scale: float = 0.07) -> None:
        super().__init__(scale=scale)
        self.scale = scale

    def _init_weight(self, name: Any, arr: Any) -> None:
        _fill_random('uniform', arr, -self.scale, self.scale)


@register
class Normal(Initializer):
    """Normal random numbers with mean 0 and standard deviation sigma."""

    def __init__(self, sigma: float = 0.01) -> None:
        super().__init__(sigma=sigma)
        self.sigma = sigma

    def _init_weight(self, name: Any, arr: Any) -> None:
        _fill_random('normal', arr, 0, self.sigma)


@register
class Orthogonal(Initializer):
    """A matrix with orthogonal rows or columns, times scale; axes after the first are taken together."""

    def __init__(self, scale: float = 1.414, rand_type: str = 'uniform') -> None:
        super().__init__(scale=scale, rand_type=rand_type)
        self.scale = scale
        self.rand_type = rand_type

    def _init_weight(self, name: Any, arr: Any) -> None:
        rows, columns = arr.shape[0], math.prod(arr.shape[1:])
        from . import random
        if self.rand_type == 'uniform':
            values = random.uniform(-1.0, 1.0, shape=(rows, columns)).asnumpy()
        elif self.rand_type == 'normal':
            values = random.normal(0.0, 1.0, shape=(rows, columns)).asnumpy()
        else:
            raise ValueError(f"rand_type must be 'uniform' or 'normal', got {self.rand_type!r}")
        left, _, right = np.linalg.svd(values, full_matrices=False)
        chosen = left if left.shape == values.shape else right
        arr[:] = (self.scale * chosen).reshape(arr.shape).astype(arr.dtype)


@register
class Xavier(Initializer):
    """Random numbers whose variance keeps the scale of activations: magnitude / factor.

    ``factor`` is the fan-in ('in'), the fan-out ('out') or their mean ('avg'); ``rnd_type`` is 'uniform' or 'gaussian'.
    """

    def __init__(self, rnd_type: str = 'uniform', factor_type: str = 'avg', magnitude: float = 3) -> None:
        super().__init__(rnd_type=rnd_type, factor_type=factor_type, magnitude=magnitude)
        self.rnd_type = rnd_type
        self.factor_type = factor_type
        self.magnitude = float(magnitude)

    def _init_weight(self, name: Any, arr: Any) -> None:
        shape = arr.shape
        if len(shape) < 2:
            raise ValueError(f'Xavier initializer cannot be applied to vector {name}. It requires at least 2D.')
        receptive = math.prod(shape[2:])
        fan_in, fan_out = shape[1] * receptive, shape[0] * receptive
        factors = {'avg': (fan_in + fan_out) / 2.0, 'in': fan_in, 'out': fan_out}
        if self.factor_type not in factors:
            raise ValueError('Incorrect factor type')
        scale = math.sqrt(self.magnitude / factors[self.factor_type])
        if self.rnd_type == 'uniform':
            _fill_random('uniform', arr, -scale, scale)
        elif self.rnd_type == 'gaussian':
            _fill_random('normal', arr, 0, scale)
        else:
            raise ValueError('Unknown random type')


@register
class MSRAPrelu(Xavier):
    """Gaussian Xavier with the magnitude that suits PReLU of the given slope: 2 / (1 + slope²)."""

    def __init__(self, factor_type: str = 'avg', slope: float = 0.25) -> None:
        super().__init__('gaussian', factor_type, 2.0 / (1 + slope ** 2))
        self._kwargs = {'factor_type': factor_type, 'slope': slope}


@register
class Bilinear(Initializer):
    """The weight of bilinear upsampling, for a Deconvolution."""

    def __init__(self) -> None:
        super().__init__()

    _init_weight = Initializer._init_bilinear


@register
class LSTMBias(Initializer):
    """All 0 except the forget gate (second of the four quarters), which gets forget_bias."""

    def __init__(self, forget_bias: float = 1.0) -> None:
        super().__init__(forget_bias=forget_bias)
        self.forget_bias = forget_bias

    def _init_weight(self, name: Any, arr: Any) -> None:
        values = np.zeros(arr.shape, dtype='float32')
        hidden = arr.shape[0] // 4
        values[hidden:2 * hidden] = self.forget_bias
        arr[:] = values


@register
class FusedRNN(Initializer):
    """Fills the one vector that the operator RNN takes: each gate's weight and bias is initialised by itself.

    ``init`` serves all of them (the initializer for all arrays if it is None), except that in mode 'lstm' the biases
    of the forget gate become forget_bias. ValueError for a vector that no number of inputs can explain.

    >>> import refengine as mx
    >>> vector = mx.nd.zeros((4 * 2 * (3 + 2 + 2),))
    >>> FusedRNN(One(), num_hidden=2, num_layers=1, mode='lstm')._init_weight(InitDesc('parameters'), vector)
    >>> vector.asnumpy()[40:48].tolist()
    [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    """

    def __init__(self, init: Any, num_hidden: int, num_layers: int, mode: str, bidirectional: bool = False,
                 forget_bias: float = 1.0) -> None:
        if isinstance(init, str):
            init = create(init)
        super().__init__(init=None if init is None else init.dumps(), num_hidden=num_hidden, num_layers=num_layers,
                         mode=mode, bidirectional=bidirectional, forget_bias=forget_bias)
        self._init = init
        self._num_hidden = num_hidden
        self._num_layers = num_layers
        self._gates = {'rnn_relu': ('',), 'rnn_tanh': ('',), 'lstm': ('_i', '_f', '_c', '_o'),
                       'gru': ('_r', '_z', '_o')}[mode]
        self._sides = 'lr' if bidirectional else 'l'
        self._forget_bias = forget_bias
        self._mode = mode

    def _parts(self, size: int) -> list[tuple[str, tuple[int, ...]]]:
        """Name and shape of every part in the order in which they stand in the vector."""
        hidden, sides = self._num_hidden, len(self._sides)
        per_row = size / (sides * len(self._gates) * hidden)
        inputs = per_row - (hidden + 2) - (self._num_layers - 1) * (sides * hidden + hidden + 2)
        if inputs != int(inputs) or inputs < 1:
            raise ValueError(f'a vector of {size} parameters does not fit {self._num_layers} layers of mode '
                             f'{self._mode} with {hidden} hidden units and {sides} directions')
        parts: list[tuple[str, tuple[int, ...]]] = []
        for kind in ('weight', 'bias'):
            for layer in range(self._num_layers):
                columns = sides * hidden if layer else int(inputs)
                parts += [(f'{side}{layer}_{which}{gate}_{kind}', (hidden, width) if kind == 'weight' else (hidden,))
                          for side in self._sides for which, width in (('i2h', columns), ('h2h', hidden))
                          for gate in self._gates]
        return parts

    def _init_weight(self, name: Any, arr: Any) -> None:
        from .ndarray import zeros
        chosen = getattr(name, 'global_init', None) if self._init is None else self._init
        assert chosen is not None, 'FusedRNN(None, ...) needs a global initializer'
        values = []
        for part, shape in self._parts(arr.size):
            array = zeros(shape, ctx=arr.context, dtype=arr.dtype)
            if self._mode == 'lstm' and part.endswith('_f_bias'):
                array[:] = self._forget_bias
            else:
                chosen(InitDesc(part, global_init=getattr(name, 'global_init', None)), array)
            values.append(array.asnumpy().ravel())
        arr[:] = np.concatenate(values).reshape(arr.shape)


class Load:
    """Take values from a file or a dict by name; names that are missing go to default_init."""

    def __init__(self, param: Any, default_init: Callable[..., Any] | None = None, verbose: bool = False) -> None:
        if isinstance(param, str):
            from .ndarray import load
            param = load(param)
        assert isinstance(param, Mapping), f'expected a dict or the name of a file that holds one, got {type(param)}'
        self.param = {name[4:] if name.startswith(('arg:', 'aux:')) else name: value
                      for name, value in param.items()}
        self.default_init = default_init
        self.verbose = verbose

    def __call__(self, name: str, arr: Any) -> None:
        if name in self.param:
            value = self.param[name]
            assert tuple(arr.shape) == tuple(value.shape), \
                (f'Parameter {name} cannot be initialized from loading. Shape mismatch, '
                 f'target {arr.shape} vs loaded {value.shape}')
            arr[:] = value
            origin = 'loading'
        else:
            assert self.default_init is not None, \
                (f'Cannot Initialize {name}. Not found in loaded param and no default Initializer is provided.')
            self.default_init(name, arr)
            origin = 'default init'
        if self.verbose:
            logging.info('Initialized %s by %s', name, origin)


class Mixed:
    """The first initializer whose regular expression matches the start of the name.

    >>> init = Mixed(['.*bias', '.*'], [Zero(), Uniform(0.1)])
    """

    def __init__(self, patterns: Sequence[str], initializers: Sequence[Callable[..., Any]]) -> None:
        assert len(patterns) == len(initializers), \
            f'one initializer per pattern, got {len(patterns)} patterns and {len(initializers)} initializers'
        self.map = [(re.compile(pattern), init) for pattern, init in zip(patterns, initializers, strict=True)]

    def __call__(self, name: str, arr: Any) -> None:
        for pattern, init in self.map:
            if pattern.match(name):
                init(name, arr)
                return
        raise ValueError(f'Parameter name {name} did not match any pattern. Consider adding a ".*" pattern '
                         f'at the end with default Initializer.')


def _fill_random(kind: str, arr: Any, first: float, second: float) -> None:
    from . import random
    getattr(random, kind)(first, second, out=arr)
