"""The profiler: where time and memory of a program go.

>>> import json, tempfile, refengine as mx
>>> mx.profiler.set_config(aggregate_stats=True, filename=tempfile.mkdtemp() + '/trace.json')
>>> mx.profiler.set_state('run')
>>> _ = mx.nd.dot(mx.nd.ones((2, 2)), mx.nd.ones((2, 2)))
>>> mx.profiler.set_state('stop')
>>> json.loads(mx.profiler.dumps(format='json'))['Time']['operator']['dot']['Count']
1
>>> mx.profiler.dump()

``dump`` writes a trace that chrome://tracing and Perfetto show. Operators have the names of Apache MXNet 1.9.1 in it:
``_backward_FullyConnected`` is the gradient of FullyConnected, ``adam_update`` and ``multi_sgd_update`` are updates of
weights, ``MXAutogradBackwardEx`` is the call of ``backward``, ``mine::exp`` an operator that the custom operator *mine*
calls. What a gradient or an update computes with is not shown besides.
"""

from __future__ import annotations

import contextlib
import contextvars
import warnings
from collections.abc import Iterator
from typing import Any

from .. import env
from ..base import MXNetError
from .objects import Counter, Domain, Event, Frame, Marker, Task
from .session import session
from .statistics import SORTS

__all__ = ['Counter', 'Domain', 'Event', 'Frame', 'Marker', 'Task', 'dump', 'dump_profile', 'dumps', 'pause',
           'profiler_set_config', 'profiler_set_state', 'resume', 'scope', 'set_config', 'set_kvstore_handle',
           'set_state']

_STATES = {'stop': 0, 'run': 1}
_PROCESSES = {'worker': 0, 'server': 1}

_store: Any = None


def set_kvstore_handle(handle: Any) -> None:
    """The distributed store whose servers are meant by ``profile_process='server'``."""
    global _store
    _store = handle


def _command(name: str, profile_process: str, argument: Any = None) -> bool:
    """Whether the call is for this process; otherwise it is sent to the servers of the store."""
    if not _PROCESSES[profile_process]:
        return False
    if _store is None:
        raise MXNetError('Check failed: kvStoreHandle: Kvstore Handle passed to profiler is null')
    _store._send_command_to_servers(f'profiler.{name}', repr(argument))
    return True


def set_config(**kwargs: Any) -> None:
    """Settings of the profiler, by keyword; those that are not given have their defaults.

    filename ('profile.json'): where the trace goes;  profile_symbolic, profile_imperative, profile_memory, profile_api
    (all True): what is recorded;  profile_all (False): everything, whatever these say;  aggregate_stats (False): keep
    statistics for ``dumps``;  continuous_dump (True): write the trace every dump_period (1.0) seconds;
    profile_process ('worker').

    MXNetError for unknown names and for values of the wrong kind (rules PROF-CONFIG-001, -002).
    """
    if kwargs.get('profile_process') == 'server':
        _command('set_config', 'server', {k: v for k, v in kwargs.items() if k != 'profile_process'})
        return
    session.configure(kwargs)


def set_state(state: str = 'stop', profile_process: str = 'worker') -> None:
    """Start with 'run', end with 'stop'; KeyError for anything else (rule PROF-STATE-001)."""
    wanted = _STATES[state]
    if _command('set_state', profile_process, state):
        return
    if wanted:
        session.run()
    else:
        session.stop()


def pause(profile_process: str = 'worker') -> None:
    """Record nothing until ``resume``."""
    if not _command('pause', profile_process):
        session.pause()


def resume(profile_process: str = 'worker') -> None:
    """Go on recording after ``pause``."""
    if not _command('resume', profile_process):
        session.resume()


def dump(finished: bool = True, profile_process: str = 'worker') -> None:
    """Write the trace. ``finished`` ends the file and the session; otherwise the file stays open.

    What is dumped later, by the same process and under the same name, continues the trace: nothing is lost, and the
    file is one document. Move it away in between for a trace of its own.

    MXNetError if nothing was profiled (rule PROF-DUMPS-008) or the file cannot be written (PROF-CONFIG-006).
    """
    if not _command('dump', profile_process, finished):
        session.dump(bool(finished))


def dumps(reset: bool = False, format: str = 'table', sort_by: str = 'total', ascending: bool = False) -> str:
    """The statistics as a table or as JSON; empty unless ``aggregate_stats`` is set.

    sort_by: total, avg, min, max or count, per category;  reset: begin anew afterwards.
    """
    formats = ('table', 'json')
    flags = (False, True)
    assert format in formats, f"Invalid value provided for format: {format}. Support: {', '.join(map(repr, formats))}"
    assert sort_by in SORTS, f"Invalid value provided for sort_by: {sort_by}. Support: {', '.join(map(repr, SORTS))}"
    assert ascending in flags, f'Invalid value provided for ascending: {ascending}. Support: False, True'
    assert reset in flags, f'Invalid value provided for reset: {reset}. Support: False, True'
    return session.table(bool(reset), format == 'json', sort_by, bool(ascending))


_scope: contextvars.ContextVar[str] = contextvars.ContextVar('scope', default='<unk>:')


@contextlib.contextmanager
def scope(name: str = '<unk>:', append_mode: bool = True) -> Iterator[str]:
    """Symbols made in the block belong to this part of the model; scopes in scopes join as ``a:b:``.

    >>> import refengine as mx
    >>> with mx.profiler.scope('encoder'), mx.profiler.scope('first') as full:
    ...     full, mx.sym.var('x').attr('__profiler_scope__')
    ('encoder:first:', 'encoder:first:')
    """
    from ..attribute import AttrScope
    full = name if name.endswith(':') else name + ':'
    if append_mode and _scope.get() != '<unk>:':
        full = _scope.get() + full
    token = _scope.set(full)
    try:
        with AttrScope(__profiler_scope__=full):
            yield full
    finally:
        _scope.reset(token)


def autostart() -> None:
    """Profile the whole program, as MXNET_PROFILER_AUTOSTART asks for (rule PROF-ENV-001)."""
    whole = bool(env.get('MXNET_PROFILER_MODE'))
    session.configure({'aggregate_stats': True, 'profile_all': whole, **{f'profile_{kind}': whole for kind in (
        'imperative', 'memory', 'api')}})
    session.run()


# ---- names of old programs ------------------------------------------------------------------------------------------

def _deprecated(old: str, new: str) -> None:
    warnings.warn(f'profiler.{old}() is deprecated. Please use profiler.{new}() instead', stacklevel=3)


def profiler_set_config(mode: str = 'symbolic', filename: str = 'profile.json') -> None:
    """Settings as old programs give them: mode is 'symbolic', 'imperative', 'api', 'memory' or 'all'."""
    _deprecated('profiler_set_config', 'set_config')
    session.configure({f'profile_{mode}': True, 'filename': filename})


def profiler_set_state(state: str = 'stop') -> None:
    """The old name of ``set_state``."""
    _deprecated('profiler_set_state', 'set_state')
    set_state(state)


def dump_profile() -> None:
    """The old name of ``dump``."""
    _deprecated('dump_profile', 'dump')
    dump(True)
