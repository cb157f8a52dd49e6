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


declare('MXNET_ENGINE_TYPE', str, '',
        'Empty runs operators at the call and raises what they find at the next wait; NaiveEngine raises it at the '
        'call; ThreadedEngine and ThreadedEnginePerDevice run operators on a thread. Read at import.')
declare('MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN', int, 15, 'Operators in one bulk while training; never changes results.')
declare('REFENGINE_DIAGNOSE', bool, False,
        'Explain every uncaught error of the engine below its traceback. Read at import.')
declare('REFENGINE_POOL_LIMIT_MB', int, 1024, 'Most memory, in MiB, that freed large buffers may keep for reuse.')
declare('MXNET_CPU_MEM_POOL_TYPE', str, 'Naive',
        'How freed large buffers are kept for reuse: Naive by their size, Round by the next power of two, Unpooled not '
        'at all. Read at import.')
declare('REFENGINE_KERNELS', str, 'auto', 'auto uses the accelerated kernels that are installed; off the generic '
                                          'bodies only.')
declare('NNVM_EXEC_MATCH_RANGE', int, 16, '0 gives every intermediate value of a memory plan a place of its own.')
declare('MXNET_BACKWARD_DO_MIRROR', bool, False,
        'Whether a graph computes cheap values of its forward run again on the way back instead of keeping them.')
declare('MXNET_EXEC_ENABLE_INPLACE', bool, True, 'Whether a memory plan lets a step write over an operand.')
declare('MXNET_SUBGRAPH_BACKEND', str, '',
        'MKLDNN or ONEDNN folds BatchNorm into the weights before it when a graph runs in inference, which changes the '
        'last digits of results; NONE or empty does not. Read when a graph is built.')
declare('MXNET_USE_FUSION', bool, True, 'Whether compiled graphs run chains of elementwise operators block by block; '
                                        'never changes results. Read when a graph is built.')
declare('MXNET_PROFILER_AUTOSTART', bool, False, 'Profile from the import of the engine on, into profile.json.')
declare('MXNET_PROFILER_MODE', int, 1, 'What an automatic profile records: 0 operators of graphs only, 1 everything.')
declare('MXNET_HOME', str, '',
        'Folder of the weights of ready-made models, in its subfolder models; empty is ~/.mxnet.')
