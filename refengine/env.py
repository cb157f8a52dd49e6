"""Every environment variable that the engine reads: name, type, default, documentation."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Variable:
    """One environment variable; ``read`` gives its converted value now."""

    name: str
    kind: type
    default: Any
    doc: str

    def read(self) -> Any:
        text = os.environ.get(self.name)
        if text is None or text == '':
            return self.default
        if self.kind is bool:
            return text.strip().lower() not in ('0', 'false', 'no', 'off')
        try:
            return self.kind(text)
        except ValueError:
            raise ValueError(f'{self.name} must be {self.kind.__name__}, got {text!r}') from None


VARIABLES: dict[str, Variable] = {}


def declare(name: str, kind: type, default: Any, doc: str) -> Variable:
    """Add a variable to the table."""
    variable = VARIABLES[name] = Variable(name, kind, default, doc)
    return variable


def get(name: str) -> Any:
    """The value of a declared variable."""
    return VARIABLES[name].read()


declare('MXNET_ENGINE_TYPE', str, 'ThreadedEnginePerDevice',
        'NaiveEngine raises execution errors at the call; every other engine at the next wait.')
declare('MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN', int, 15, 'Operators in one bulk while training; never changes results.')
declare('REFENGINE_POOL_LIMIT_MB', int, 1024, 'Most memory, in MiB, that freed large buffers may keep for reuse.')
declare('REFENGINE_KERNELS', str, 'auto', 'auto uses the accelerated kernels that are installed; off the generic '
                                          'bodies only.')
