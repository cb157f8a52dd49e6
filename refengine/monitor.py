"""Monitor: statistics of intermediate values while a module trains."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Callable
from typing import Any

from .ndarray import NDArray


class Monitor:
    """Collects a statistic of every output (and of inputs, with ``monitor_all``) whose name matches a pattern.

    ``tic`` begins a batch, which is looked at every ``interval`` batches; ``toc`` gives tuples of batch, name and text.
    """

    def __init__(self, interval: int, stat_func: Callable[[Any], Any] | None = None, pattern: str = '.*',
                 sort: bool = False, monitor_all: bool = False) -> None:
        def mean_absolute(x: Any) -> Any:
            return x.norm() / math.sqrt(x.size)

        self.stat_func = stat_func or mean_absolute
        self.interval = interval
        self.activated = False
        self.queue: list[tuple[int, str, Any]] = []
        self.step = 0
        self.exes: list[Any] = []
        self.re_prog = re.compile(pattern)
        self.sort = sort
        self.monitor_all = monitor_all

    def stat_helper(self, name: str, array: Any) -> None:
        """What executors call with each value."""
        if self.activated and self.re_prog.match(name):
            self.queue.append((self.step, name, self.stat_func(array)))

    def install(self, exe: Any, monitor_all: bool | None = None) -> None:
        """Watch an executor."""
        exe.set_monitor_callback(self.stat_helper, self.monitor_all if monitor_all is None else monitor_all)
        self.exes.append(exe)

    def tic(self) -> None:
        """Begin a batch."""
        if self.step % self.interval == 0:
            self.queue = []
            self.activated = True
        self.step += 1

    def toc(self) -> list[tuple[int, str, str]]:
        """End a batch: the statistics of outputs, then those of all parameters and states."""
        if not self.activated:
            return []
        for exe in self.exes:
            for name, array in (*exe.arg_dict.items(), *exe.aux_dict.items()):
                if self.re_prog.match(name):
                    self.queue.append((self.step, name, self.stat_func(array)))
        self.activated = False
        if self.sort:
            self.queue.sort(key=lambda item: item[1])
        found = []
        for step, name, values in self.queue:
            values = [values] if isinstance(values, NDArray) else values
            assert isinstance(values, list), 'the statistic must be an array or a list of arrays'
            text = ''.join(f'{v.asscalar() if v.size == 1 else v.asnumpy()}\t' for v in values)
            found.append((step, name, text))
        self.queue = []
        return found

    def toc_print(self) -> None:
        """End a batch and log its statistics."""
        for step, name, text in self.toc():
            logging.info('Batch: %7d %30s %s', step, name, text)
