"""One optimizer step over many weights at once.

An elementwise rule does not care where one weight ends and the next begins. Small weights, their gradients and their
states are therefore moved into common buffers, and one call of the rule serves them all. What can be observed is the
same as that of one update per weight: this way is taken only while nobody has replaced a method of the optimizer.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from operator import is_
from typing import Any

import numpy as np

from .. import device, lr_scheduler, storage
from ..dispatch import wrap
from ..tape import state as tape_state
from . import apply
from .optimizer import Optimizer
from .rule_optimizer import RuleOptimizer

SMALL = 64 * 1024
"""Weights of at most this many elements share buffers; for larger ones the call of a rule is cheap beside its work."""

ALIGNMENT = 16
"""Elements to which every weight in a shared buffer is aligned: a cache line of float32."""

HOOKS = ('update', 'update_multi_precision', 'fused_step', 'step', '_update_all', '_update_one', '_rule',
         '_update_count', '_get_lrs', '_get_wds', '_get_lr', '_get_wd', '_multiplier', '_clip', '_states',
         'learning_rate', '_corrected')
"""Methods whose replacement has to show: where one is replaced, weights are updated one by one."""

_names = frozenset(HOOKS)
_library: dict[type, tuple[Any, ...]] = {}
_elementwise: set[type] = set()


def remember_library() -> None:
    """Note what the classes of this package look like before anyone changes them."""
    for cls in Optimizer.opt_registry.values():
        _library[cls] = tuple(getattr(cls, name, None) for name in HOOKS)
        if issubclass(cls, RuleOptimizer) and not cls.whole and cls._update_one is RuleOptimizer._update_one:
            _elementwise.add(cls)


def is_library(optimizer: Any) -> bool:
    """Whether the optimizer is one of this package; those leave gradients as they are."""
    return type(optimizer) in _library


def is_plain(optimizer: Any) -> bool:
    """Whether the optimizer is one of this package, with an elementwise rule, and nobody has changed it."""
    cls = type(optimizer)
    if cls not in _elementwise or (optimizer.use_fused_step and not cls.has_fused_step):
        return False
    for name, original in zip(HOOKS, _library[cls]):
        if getattr(cls, name, None) is not original:
            return False
    return _names.isdisjoint(optimizer.__dict__)


class Segment:
    """Weights that lie end to end: flat arrays, and where each weight begins."""

    __slots__ = ('bounds', 'g', 'master', 'positions', 'states', 'w')

    def __init__(self, positions: list[int], bounds: list[int], w: Any, g: Any, states: list[Any],
                 master: Any) -> None:
        self.positions = positions  # which weights of the update
        self.bounds = bounds        # one more than weights
        self.w = w
        self.g = g
        self.states = states
        self.master = master

    def run(self, rules: Sequence[tuple[Callable[..., None], tuple[Any, ...]]]) -> None:
        """Run each weight's rule, neighbours with the same one in a single call."""
        positions = self.positions
        count = len(positions)
        first = 0
        while first < count:
            rule = rules[positions[first]]
            last = first + 1
            while last < count and (rules[positions[last]] is rule or rules[positions[last]] == rule):
                last += 1
            begin, end = self.bounds[first], self.bounds[last]
            if end - begin == self.w.size:
                w, g, states, master = self.w, self.g, self.states, self.master
            else:
                w, g = self.w[begin:end], self.g[begin:end]
                states = [s if s is None else s[begin:end] for s in self.states]
                master = None if self.master is None else self.master[begin:end]
            if master is None:
                apply.run_flat(rule[0], w, g, states, rule[1])
            else:
                apply.run_flat_half(rule[0], w, g, master, states, rule[1])
            first = last


class _Item:
    """The arrays of one weight's update."""

    __slots__ = ('grad', 'master', 'position', 'states', 'weight')

    def __init__(self, position: int, weight: Any, grad: Any, master: Any, states: Sequence[Any]) -> None:
        self.position = position
        self.weight = weight
        self.grad = grad
        self.master = master
        self.states = states

    def arrays(self) -> list[Any]:
        """All arrays but absent ones, the weight first."""
        return [a for a in (self.weight, self.grad, self.master, *self.states) if a is not None]

    def fits(self) -> bool:
        """Whether the rule can run on flat views of these arrays."""
        for array in self.arrays():
            data = array._data
            if type(data) is not np.ndarray or not data.flags.c_contiguous or data.shape != self.weight._data.shape:
                return False
        w, g = self.weight._data.dtype, self.grad._data.dtype
        wide = w if self.master is None else np.dtype(np.float32)
        return w == g and all(s is None or s._data.dtype == wide for s in (self.master, *self.states))

    def movable(self) -> bool:
        """Whether the arrays may move to a shared buffer: small, and seen through no other view or array object."""
        return self.weight._data.size <= SMALL and all(_is_alone(a) for a in self.arrays())


def _references(owner: Any) -> int:
    return sys.getrefcount(owner._data)


def _is_alone(array: Any) -> bool:
    """Whether the raw data are referred to by the array object only, so that moving them changes nothing for others."""
    base = array._data.base
    alone = _references(array) <= _references(wrap(np.empty(1), array._ctx))
    # pooled memory is a view on a lease that nobody else knows of
    return alone and (base is None or (type(base) is storage._Lease and sys.getrefcount(base) <= 3))


def _shared(items: list[_Item]) -> Segment:
    """Move the arrays of the items into common buffers."""
    bounds = [0]
    for item in items:
        size = item.weight._data.size
        bounds.append(bounds[-1] + -(-size // ALIGNMENT) * ALIGNMENT)

    def gather(pick: Callable[[_Item], Any]) -> Any:
        arrays = [pick(item) for item in items]
        if arrays[0] is None:
            return None
        flat = np.zeros(bounds[-1], arrays[0]._data.dtype)
        for begin, array in zip(bounds, arrays):
            old = array._data
            view = flat[begin:begin + old.size].reshape(old.shape)
            view[...] = old
            array._data = view
        return flat

    return Segment([i.position for i in items], bounds, gather(lambda i: i.weight), gather(lambda i: i.grad),
                   [gather(lambda i, k=k: i.states[k]) for k in range(len(items[0].states))],  # type: ignore[misc]
                   gather(lambda i: i.master))


def _single(item: _Item) -> Segment:
    """A segment of one weight, in place."""
    def flat(array: Any) -> Any:
        return None if array is None else array._data.reshape(-1)

    return Segment([item.position], [0, item.weight._data.size], flat(item.weight), flat(item.grad),
                   [flat(s) for s in item.states], flat(item.master))


class FlatUpdate:
    """The prepared update of a fixed list of weights."""

    def __init__(self, updater: Any, index: Any, indices: list[Any], grads: list[Any], weights: list[Any],
                 segments: list[Segment]) -> None:
        self.updater = updater
        self.optimizer = updater.optimizer
        self.index = list(index)
        self.indices = indices
        self.grads = grads
        self.weights = weights
        self.segments = segments
        self.states = [updater.states[i] for i in indices]
        self.parts = [*weights, *grads, *(a for s in self.states for a in _leaves(s))]
        self.raw = [a._data for a in self.parts]

    @staticmethod
    def build(updater: Any, index: Any, indices: list[Any], grads: Sequence[Any],
              weights: Sequence[Any]) -> FlatUpdate | None:
        """Prepare an update; None if some of the arrays cannot be updated through flat views."""
        optimizer = updater.optimizer
        grads, weights = list(grads), list(weights)
        if len(indices) != len(grads) or len(set(indices)) != len(indices):
            return None
        items = []
        for position, (i, grad, weight) in enumerate(zip(indices, grads, weights)):
            state = updater.states[i]
            master = None
            if optimizer.multi_precision and weight.dtype == np.float16:
                master, state = state
            items.append(_Item(position, weight, grad, master, list(optimizer._states(state))))
        parts = [array for item in items for array in item.arrays()]
        if len({id(array._data) for array in parts}) != len(parts):
            return None  # an array that occurs twice is updated twice, in order
        if not all(item.fits() for item in items):
            return None
        del parts
        groups: dict[Any, list[_Item]] = {}
        segments = []
        for item in items:
            if item.movable():
                key = (item.weight._data.dtype, item.master is None, tuple(s is None for s in item.states))
                groups.setdefault(key, []).append(item)
            else:
                segments.append(_single(item))
        segments += [_shared(group) if len(group) > 1 else _single(group[0]) for group in groups.values()]
        return FlatUpdate(updater, index, indices, grads, weights, segments)

    def matches(self, updater: Any, index: Any, grads: Any, weights: Any) -> bool:
        """Whether this is the update that was prepared: the same arrays, none of them moved since."""
        return (updater.optimizer is self.optimizer and len(index) == len(self.index)
                and len(grads) == len(self.grads) and len(weights) == len(self.weights)
                and all(map(is_, weights, self.weights)) and all(map(is_, grads, self.grads))
                and list(index) == self.index
                and all(map(is_, map(updater.states.get, self.indices), self.states))
                and all(map(is_, [a._data for a in self.parts], self.raw)))

    def run(self) -> bool:
        """Make one update of every weight; False, with nothing done, if it has to be made weight by weight."""
        optimizer = self.optimizer
        if tape_state.recording or not is_plain(optimizer):
            return False
        if self.updater.aggregate_updates and optimizer.lr_scheduler is not None:
            return False
        rules = self._rules()
        token = device.error_state.set(device.ERRORS_IGNORED)
        try:
            for segment in self.segments:
                segment.run(rules)
        finally:
            device.error_state.reset(token)
        return True

    def _rules(self) -> list[Any]:
        """Count the updates, and find the rule of each weight with its scalars."""
        optimizer = self.optimizer
        optimizer._set_current_context(self.weights[0].context.device_id)
        counts = optimizer._index_update_count
        param_dict = optimizer.param_dict
        begin = optimizer.begin_num_update
        rescale, clip = optimizer.rescale_grad, optimizer._clip()
        base_rate, base_decay = optimizer.lr, optimizer.wd
        schedule = optimizer.lr_scheduler
        repeatable = type(schedule).__module__ == lr_scheduler.__name__
        remembers = optimizer.rule_has_memory
        asked = None
        rules: list[Any] = []
        key: Any = None
        rule: Any = None
        for index in self.indices:
            count = counts.get(index, begin) + 1
            counts[index] = count
            if count > optimizer.num_update:
                optimizer.num_update = count
            if schedule is not None and (asked != optimizer.num_update or not repeatable):
                asked = optimizer.num_update
                base_rate = schedule(asked)
            parameter = param_dict.get(index)
            if parameter is not None:
                new = (count, base_rate, parameter.lr_mult, parameter.wd_mult)
            else:
                new = (count, base_rate, optimizer._multiplier(index, 'lr_mult'),
                       optimizer._multiplier(index, 'wd_mult'))
            if new != key or remembers:
                key = new
                rule = optimizer._rule(index, base_rate * new[2], base_decay * new[3], rescale, clip)
            rules.append(rule)
        return rules


class Plans:
    """The prepared updates of an updater, one for each list of indices that comes again and again."""

    LIMIT = 4
    """Most lists that are remembered: ever new subsets of the weights gain nothing from being prepared for."""

    def __init__(self) -> None:
        self._plans: dict[tuple[Any, ...], FlatUpdate] = {}
        self._seen: dict[tuple[Any, ...], tuple[int, ...]] = {}

    def forget(self) -> None:
        """Start anew: the states were exchanged."""
        self._plans.clear()
        self._seen.clear()

    def run(self, updater: Any, index: Sequence[Any], grads: Sequence[Any], weights: Sequence[Any]) -> bool:
        """Make the update if it was prepared; False, with nothing done, otherwise."""
        plan = self._plans.get(tuple(index))
        if plan is None:
            return False
        if not plan.matches(updater, index, grads, weights):
            del self._plans[tuple(index)]
            return False
        return plan.run()

    def learn(self, updater: Any, index: Sequence[Any], indices: list[Any], grads: Sequence[Any],
              weights: Sequence[Any]) -> bool:
        """Take note of an update; the second time that it comes with the same arrays, prepare and make it."""
        if not is_plain(updater.optimizer):
            return False
        key = tuple(index)
        arrays = tuple(map(id, (*weights, *grads)))
        if self._seen.get(key) != arrays:
            if len(self._seen) >= self.LIMIT:
                self.forget()
            self._seen[key] = arrays
            return False
        plan = FlatUpdate.build(updater, index, indices, grads, weights)
        if plan is None:
            return False
        self._plans[key] = plan
        return plan.run()


def _leaves(state: Any) -> list[Any]:
    """The arrays in a state."""
    if state is None:
        return []
    if isinstance(state, (tuple, list)):
        return [a for part in state for a in _leaves(part)]
    return [state]
