"""Whether a change works: it is tried on stand-ins of the same shapes before it is proposed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .. import autograd, dispatch
from .. import ndarray as nd
from ..context import cpu
from ..graph.inference import complete, infer_shapes, outputs, stand_in
from ..graph.types import infer_types
from ..op import Operator
from .naming import atom


def like(shape: Sequence[int], dtype: Any = np.float32) -> Any:
    """An array of a shape and type that takes no memory.

    >>> like((2, 3)).shape
    (2, 3)
    """
    return dispatch.wrap(stand_in(shape, np.dtype(dtype)), cpu(0))


class Trial:
    """Tries changes of a call, which are written with ``{0}``, ``{1}``, … for its arrays.

    With ``symbolic`` they are tried as part of a graph, where ``F`` stands for the operators and signs never broadcast.

    >>> Trial([like((2, 3)), like((3, 2))], ['a', 'b']).changes('{0} + {1}', '{0} + {1}.T')
    ['a + b.T']
    """

    def __init__(self, arrays: Sequence[Any], names: Sequence[str], symbolic: bool = False, **others: Any) -> None:
        self._kinds = [(tuple(a.shape), np.dtype(a.dtype)) for a in arrays]
        self._names = [atom(name) for name in names]
        self._symbolic = symbolic
        self._others = others       # what else changes may name

    @property
    def space(self) -> str:
        """What operators are called by where the program made the call."""
        return 'F' if self._symbolic else 'nd'

    def changes(self, *templates: str) -> list[str]:
        """Those changes that work, in the words of the program."""
        return [t.format(*self._names) for t in templates if self.works(t)]

    def works(self, template: str) -> bool:
        """Whether a change gives a result."""
        places = [f'_{i}' for i in range(len(self._kinds))]
        code = template.split('  #')[0].format(*places)
        try:
            return self._infers(code, places) if self._symbolic else self._runs(code, places)
        except Exception:  # noqa: BLE001 - whatever goes wrong, the change is none
            return False

    def _runs(self, code: str, places: list[str]) -> bool:
        known = {'nd': nd, 'F': nd, **self._others, **{p: like(*k) for p, k in zip(places, self._kinds)}}
        with autograd.pause():
            eval(code, known)       # an expression of this package, in which the program's words have been replaced
        return True

    def _infers(self, code: str, places: list[str]) -> bool:
        from .. import symbol
        result = eval(code, {'F': symbol, **self._others, **{p: symbol.var(p) for p in places}})
        nodes = result.nodes()
        kinds = infer_types(nodes, dict(zip(places, (k for _, k in self._kinds))))
        filled = {key: [k or np.dtype('float32') for k in values] for key, values in kinds.items()}
        known = infer_shapes(nodes, dict(zip(places, (s for s, _ in self._kinds))), filled)
        return all(complete(known.shape(entry)) for entry in result._entries)


def takes(op: Operator, params: dict[str, Any], shapes: Sequence[Sequence[int]], dtypes: Sequence[Any]) -> bool:
    """Whether an operator takes arrays of these shapes with these parameters."""
    given = {key: value for key, value in params.items() if key in op.params}
    try:
        typed = op.parse(given)
        if op.input_count(typed) not in (-1, len(shapes)):
            return False
        outputs(op, typed, shapes, dtypes)
    except Exception:  # noqa: BLE001 - refused, by whatever words
        return False
    return True


_FLAGS = ('transpose_a', 'transpose_b', 'flatten', 'no_bias')
_SIZES = ('num_hidden', 'num_filter', 'input_dim', 'output_dim')
_AXES = {'dim': ('Concat',), 'axis': ('BatchNorm', 'LayerNorm')}


def tuned(op: Operator, params: dict[str, Any], arrays: Sequence[Any]) -> Iterator[str]:
    """The single parameters with another value under which the operator takes the arrays as they are.

    >>> from refengine.op import get
    >>> list(tuned(get('Concat'), {'dim': 1}, [like((2, 3)), like((4, 3))]))
    ['dim=0']
    """
    shapes, dtypes = [tuple(a.shape) for a in arrays], [arrays[0].dtype] * len(arrays)     # only shapes matter here
    lengths = sorted({n for shape in shapes[1:] for n in shape})
    for key in op.params:
        now = params.get(key, op.defaults.get(key))
        values: Sequence[Any] = ()
        if key in _FLAGS:
            values = (not now,)
        elif key in _SIZES:
            values = lengths
        elif op.name in _AXES.get(key, ()):
            values = range(len(shapes[0]))
        for value in values:
            if value != now and takes(op, {**params, key: value}, shapes, dtypes):
                yield f'{key}={value}'
                break
