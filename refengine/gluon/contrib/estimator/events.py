"""The moments of training at which handlers are called."""

from __future__ import annotations

from typing import Any


class EventHandler:
    """Base of all handlers; a handler inherits from the moments that it wants to hear of.

    Handlers of one moment are called in the order of their attribute ``priority`` (0 without one), smallest first.
    """


def check_handlers(handlers: Any) -> list[Any]:
    """A list of handlers from one or several; ValueError for anything else."""
    found = list(handlers) if isinstance(handlers, list | tuple) else [handlers]
    if not all(isinstance(handler, EventHandler) for handler in found):
        raise ValueError(f'handlers must be an EventHandler or a list of EventHandler, got: {handlers}')
    return found


class TrainBegin(EventHandler):
    """Before the first epoch."""

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> Any:
        """Called with the estimator."""


class TrainEnd(EventHandler):
    """After the last epoch."""

    def train_end(self, estimator: Any, *args: Any, **kwargs: Any) -> Any:
        """Called with the estimator."""


class EpochBegin(EventHandler):
    """Before each epoch."""

    def epoch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> Any:
        """Called with the estimator."""


class EpochEnd(EventHandler):
    """After each epoch."""

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> Any:
        """Called with the estimator; a true result ends the training."""
        return False


class BatchBegin(EventHandler):
    """Before each batch."""

    def batch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> Any:
        """Called with the estimator and ``batch``."""


class BatchEnd(EventHandler):
    """After each batch."""

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> Any:
        """Called with the estimator, ``batch``, ``pred``, ``label`` and ``loss``; a true result ends the epoch."""
        return False


MOMENTS: dict[str, type[EventHandler]] = {
    'train_begin': TrainBegin, 'epoch_begin': EpochBegin, 'batch_begin': BatchBegin, 'batch_end': BatchEnd,
    'epoch_end': EpochEnd, 'train_end': TrainEnd}
"""The method that each moment calls, with the class that a handler of it inherits from."""


def sorted_by_moment(handlers: list[Any]) -> dict[str, list[Any]]:
    """For each moment the handlers that want to hear of it, by priority."""
    ordered = sorted(handlers, key=lambda handler: getattr(handler, 'priority', 0))
    return {moment: [handler for handler in ordered if isinstance(handler, kind)]
            for moment, kind in MOMENTS.items()}
