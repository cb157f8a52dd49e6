"""``gluon.contrib.estimator.event_handler``: all handlers, under the name that MXNet's module has."""

from .checkpoint import CheckpointHandler
from .early_stopping import EarlyStoppingHandler
from .events import BatchBegin, BatchEnd, EpochBegin, EpochEnd, EventHandler, TrainBegin, TrainEnd
from .handlers import GradientUpdateHandler, MetricHandler, StoppingHandler, ValidationHandler
from .logging_handler import LoggingHandler

__all__ = ['BatchBegin', 'BatchEnd', 'CheckpointHandler', 'EarlyStoppingHandler', 'EpochBegin', 'EpochEnd',
           'EventHandler', 'GradientUpdateHandler', 'LoggingHandler', 'MetricHandler', 'StoppingHandler',
           'TrainBegin', 'TrainEnd', 'ValidationHandler']
