"""What is timed: the outermost operator of a thread, the calls of a program, and who computes on whose behalf."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from . import memory

now = time.perf_counter_ns


OPERATOR, API, CUSTOM = 'operator', 'MXNET_C_API', 'Custom Operator'


class Custom:
    """Code of the program that runs in the place of an operator: what it is called, and when it last called one."""

    __slots__ = ('prefix', 'since')

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.since = now()


class Depth(threading.local):
    """How deep the thread is in timed code: bodies call each other, the outermost one counts."""

    operator = 0
    api = 0
    graph = 0
    custom: Custom | None = None
    kernels: list[str] | None = None    # the updates that were made inside of one that is reported as a whole


depth = Depth()


class Timer:
    """Times the outermost operator of a thread and reports it to the session."""

    def __init__(self, session: Any) -> None:
        self.session = session
        self.running = True
        self.imperative = session.wants('imperative')
        self.symbolic = session.wants('symbolic')
        self.api = session.wants('api')

    def stop(self) -> None:
        """Time nothing any more; who still holds what was put in the place of a body calls the body."""
        self.running = False

    def body(self, name: str, forward: Callable[..., Any], kernels: list[Any], xp: Any, *arrays: Any,
             **params: Any) -> Any:
        """In place of an operator's body."""
        for kernel in kernels:
            if depth.operator or not self.running:
                result = kernel(xp, *arrays, **params)
            else:
                result = self.attempt(name, arrays, kernel, xp, *arrays, **params)
            if result is not NotImplemented:
                return result
        if depth.operator or not self.running:
            return forward(xp, *arrays, **params)
        return self.call(name, forward, xp, *arrays, _operands=arrays, **params)

    def attempt(self, name: str, arrays: Any, kernel: Callable[..., Any], *args: Any, **params: Any) -> Any:
        """A kernel that may decline: only one that takes the call counts."""
        depth.operator = 1
        start = now()
        try:
            result = kernel(*args, **params)
        finally:
            depth.operator = 0
        if result is not NotImplemented:
            self.report(name, start, now(), arrays, result)
        return result

    def call(self, name: str, function: Callable[..., Any], *args: Any, _operands: Any = (), _called: bool = True,
             **params: Any) -> Any:
        """Call a function and report it as an operator."""
        depth.operator += 1
        start = now()
        try:
            result = function(*args, **params)
        finally:
            depth.operator -= 1
        if not depth.operator:
            self.report(name, start, now(), _operands, result, _called)
        return result

    def report(self, name: str, start: int, end: int, operands: Any, result: Any, called: bool = True) -> None:
        """An operator ran; ``called`` is whether the program called it, rather than the engine on its way back."""
        session = self.session
        device = memory.device_of(operands, result)
        memory.observe(result, device)
        graph, custom = depth.graph, depth.custom
        if called and self.api and not graph and not depth.api:
            session.span(API, 'MXImperativeInvokeEx', start, end, 'be')
        if custom is not None:
            self.idle(custom, start, end)
            if self.imperative:
                session.span(CUSTOM, f'{custom.prefix}::{name}', start, end, 'BE')
        elif self.symbolic if graph else self.imperative:
            from .session import device_number
            session.span(OPERATOR, name, start, end, 'BE', device_number(device), device)

    def idle(self, custom: Custom, start: int, end: int) -> None:
        """The program's own code called no operator until ``start``; what it did call ended at ``end``."""
        if self.imperative and start > custom.since:
            self.session.span(CUSTOM, f'{custom.prefix}::pure_python', custom.since, start, 'BE')
        custom.since = end

    @contextmanager
    def program(self, prefix: str) -> Iterator[None]:
        """The program's own code runs in the place of an operator: what it calls is shown as called by it."""
        outer, operator = depth.custom, depth.operator
        custom = depth.custom = Custom(prefix)
        if outer is not None:
            self.idle(outer, custom.since, custom.since)
        depth.operator = 0
        try:
            yield
        finally:
            end = now()
            self.idle(custom, end, end)
            depth.custom, depth.operator = outer, operator
            if outer is not None:
                outer.since = end


def timed_call(session: Any, function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A function that is reported as a call into the engine, with whatever it calls."""
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        depth.api += 1
        start = now()
        try:
            return function(*args, **kwargs)
        finally:
            depth.api -= 1
            if not depth.api:
                session.span(API, name, start, now(), 'be')

    return call
