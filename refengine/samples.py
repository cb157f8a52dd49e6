"""Sample inputs of operators, made from the short descriptions in their records.

A sample is ``(inputs, params)`` or ``(inputs, params, domain)``. Each input is a shape, or text:

* ``index:4x2:5``: whole numbers below 5 in shape (4, 2), not differentiated;
* ``fixed:[1, 0]``: these numbers, not differentiated;
* ``mask:2x3``: zeros and ones, not differentiated;
* ``posdef:3``: a well-conditioned positive definite matrix; a check moves it symmetrically.

The domain says where the other inputs lie: ``any`` (away from kinks at 0 and ±1), ``positive``, ``unit`` (inside
-1..1), ``above_one``.
"""

from __future__ import annotations

import zlib
from ast import literal_eval
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import op as _op


@dataclass(frozen=True)
class Sample:
    """One call of an operator: its arrays, which of them are differentiated, and its parameters."""

    operator: _op.Operator
    index: int
    arrays: tuple[np.ndarray, ...]
    differentiated: tuple[bool, ...]
    symmetric: tuple[bool, ...]
    params: dict[str, Any]

    @property
    def name(self) -> str:
        """What a test calls the sample."""
        return f'{self.operator.name}-{self.index}'


def _spread(random: np.random.Generator, shape: tuple[int, ...], domain: str, shift: float = 0.5) -> np.ndarray:
    """Numbers that differ from each other and keep away from 0 and from ±1, where functions have kinks."""
    size = int(np.prod(shape))
    steps = (np.arange(size) + shift) / size
    if domain == 'positive':
        values = 0.3 + 1.5 * steps
    elif domain == 'above_one':
        values = 1.2 + 2 * steps
    elif domain == 'unit':
        values = np.where(steps < 0.5, -0.85 + 1.3 * steps, 0.2 + 1.3 * (steps - 0.5))
    else:
        values = np.where(steps < 0.5, -1.9 + 3.4 * steps, 0.2 + 3.4 * (steps - 0.5))
        values = np.where(np.abs(np.abs(values) - 1) < 0.03, values * 1.06, values)
    return random.permutation(values).reshape(shape)


def _array(random: np.random.Generator, text: Any, domain: str, position: int) -> tuple[np.ndarray, bool]:
    if not isinstance(text, str):
        # Another shift for each input, so that no two of them have equal elements: ties are kinks as well.
        return _spread(random, tuple(text), domain, 0.5 - 0.13 * (position % 4)), True
    kind, *rest = text.split(':')
    if kind == 'fixed':
        return np.array(literal_eval(':'.join(rest)), float), False
    shape = tuple(int(n) for n in rest[0].split('x'))
    if kind == 'index':
        return random.integers(0, int(rest[1]), shape).astype(float), False
    if kind == 'mask':
        mask = (np.arange(int(np.prod(shape))) % 2).astype(float)
        return random.permutation(mask).reshape(shape), False
    if kind == 'posdef':
        base = _spread(random, shape * 2, 'unit')
        return base @ base.T + shape[0] * np.eye(shape[0]), True
    raise ValueError(f'unknown description of an input: {text!r}')


def of(operator: _op.Operator) -> Iterator[Sample]:
    """The samples of one operator, the same in every run."""
    for index, sample in enumerate(operator.samples):
        inputs, params, *domain = sample
        random = np.random.default_rng(zlib.crc32(f'{operator.name}-{index}'.encode()))
        made = [_array(random, text, domain[0] if domain else 'any', place) for place, text in enumerate(inputs)]
        yield Sample(operator, index, tuple(a for a, _ in made), tuple(d for _, d in made),
                     tuple(isinstance(t, str) and t.startswith('posdef') for t in inputs), dict(params))


def every() -> Iterator[Sample]:
    """The samples of all operators."""
    for operator in _op.operators():
        yield from of(operator)


def _plain(value: Any) -> Any:
    """A default or sample parameter as JSON takes it."""
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


def _paths(operator: _op.Operator) -> list[str]:
    """Where users find the operator below the top module, public names first."""
    found = []
    for name in (operator.name, *operator.aliases):
        if not name.startswith('_'):
            found.append(f'nd.{name}')
        found += [f'nd.{prefix}.{name[len(prefix) + 2:]}' for prefix in ('contrib', 'linalg', 'random', 'image')
                  if name.startswith(f'_{prefix}_')]
    return found + [f'nd._internal.{name}' for name in (operator.name, *operator.aliases) if name.startswith('_')]


def described() -> list[dict[str, Any]]:
    """Every operator as plain data: where it is found, its arrays, parameters and samples.

    This is what an engine offers to the differential mode of the harness, by the name in ``__conformance__``.

    >>> described()[0].keys() >= {'paths', 'inputs', 'params', 'samples', 'rules'}
    True
    """
    found = []
    for operator in _op.operators():
        params = {}
        for name, field in operator.params.items():
            params[name] = {
                'kind': type(field).__name__, 'required': field.default is _op.REQUIRED, 'none': field.none,
                'default': None if field.default is _op.REQUIRED else _plain(field.default),
                'choices': list(getattr(field, 'values', ())), 'low': getattr(field, 'low', None),
                'high': getattr(field, 'high', None)}
        samples = [{
            'arrays': [{'shape': list(a.shape), 'values': [round(v, 4) for v in a.reshape(-1).tolist()]}
                       for a in sample.arrays],
            'differentiated': list(sample.differentiated),
            'params': {name: _plain(value) for name, value in sample.params.items()}} for sample in of(operator)]
        found.append({
            'paths': _paths(operator), 'inputs': list(operator.inputs), 'variadic': operator.variadic, 'params': params,
            'samples': samples, 'rules': list(operator.rules), 'random': 'rng' in operator.injected,
            'source': operator.source, 'mutates': list(operator.mutates)})
    return found
