"""The updater: an optimizer together with the states of the weights of one device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import state_file
from .flat import Plans
from .optimizer import Optimizer


class Updater:
    """Applies an optimizer to weights by index and keeps their states.

    ``updater(index, grad, weight)`` makes the state at the first use of an index and updates the weight in place;
    lists of indices, gradients and weights work too. With ``aggregate_num > 1`` such lists are handed to the optimizer
    in pieces of that many weights of one dtype (rules OPT-UPDATER-001 to 006).
    """

    def __init__(self, optimizer: Optimizer) -> None:
        self.optimizer = optimizer
        self.states: dict[Any, Any] = {}
        self.states_synced: dict[Any, bool] = {}
        self.aggregate_updates = optimizer.aggregate_num > 1
        self._plans = Plans()

    def __call__(self, index: Any, grad: Any, weight: Any) -> None:
        if not isinstance(index, (list, tuple)):
            index = index.decode() if isinstance(index, bytes) else index
            self._prepare(index, weight)
            self.optimizer._set_current_context(weight.context.device_id)
            self.optimizer.update_multi_precision(index, weight, grad, self.states[index])
            return
        if self._plans.run(self, index, grad, weight):
            return
        indices = [i.decode() if isinstance(i, bytes) else i for i in index]
        for i, w in zip(indices, weight, strict=True):
            self._prepare(i, w)
        if not indices:
            return
        self.optimizer._set_current_context(weight[0].context.device_id)
        if self._plans.learn(self, index, indices, grad, weight):
            return
        if not self.aggregate_updates:
            for i, w, g in zip(indices, weight, grad, strict=True):
                self.optimizer.update_multi_precision(i, w, g, self.states[i])
            return
        for piece in self._pieces(weight):
            self.optimizer.update_multi_precision(
                [indices[k] for k in piece], [weight[k] for k in piece], [grad[k] for k in piece],
                [self.states[indices[k]] for k in piece])

    def _prepare(self, index: Any, weight: Any) -> None:
        """Make the state of an index, or bring a loaded one to the weight's device."""
        if index not in self.states:
            self.states[index] = self.optimizer.create_state_multi_precision(index, weight)
            self.states_synced[index] = True
        elif not self.states_synced.get(index, True):
            self.states[index] = self.sync_state_context(self.states[index], weight.context)
            self.states_synced[index] = True

    def _pieces(self, weights: Sequence[Any]) -> list[list[int]]:
        """Positions that are updated together: of one dtype unless any number may be (rule OPT-COMMON-017)."""
        size = self.optimizer.aggregate_num
        if size == float('inf'):
            return [list(range(len(weights)))]
        groups: dict[Any, list[int]] = {}
        for position, weight in enumerate(weights):
            groups.setdefault(weight.dtype, []).append(position)
        return [group[k:k + size] for group in groups.values() for k in range(0, len(group), size)]

    def sync_state_context(self, state: Any, context: Any) -> Any:
        """The state on another context; structures of arrays keep their form."""
        if hasattr(state, 'as_in_context'):
            return state.as_in_context(context)
        if isinstance(state, (tuple, list)):
            return type(state)(self.sync_state_context(one, context) for one in state)
        return state

    def set_states(self, states: bytes) -> None:
        """Take the states, and the optimizer if it is there, from what ``get_states`` of any release gave.

        pickle.UnpicklingError for anything that is no state file (rules OPT-UPDATER-004, TRAINER-STATE-013).
        """
        loaded, optimizer, release = state_file.loads(states)
        if optimizer is not None:
            self.optimizer = optimizer
            self.aggregate_updates = optimizer.aggregate_num > 1
        if release is not None:
            loaded = {index: self.optimizer.adopt_state(state, release) for index, state in loaded.items()}
        self.states = loaded
        self.states_synced = dict.fromkeys(loaded, False)
        self._plans.forget()

    def get_states(self, dump_optimizer: bool = False) -> bytes:
        """The pickled states, or with ``dump_optimizer`` the pair (states, optimizer) (rule OPT-UPDATER-003)."""
        return state_file.dumps(self.states, self.optimizer if dump_optimizer else None)


def get_updater(optimizer: Optimizer) -> Updater:
    """An updater for an optimizer.

    >>> import refengine as mx
    >>> updater = get_updater(mx.optimizer.SGD(learning_rate=0.5))
    >>> weight = mx.nd.ones((2,))
    >>> updater(0, mx.nd.ones((2,)), weight)
    >>> weight.asnumpy().tolist()
    [0.5, 0.5]
    """
    return Updater(optimizer)
