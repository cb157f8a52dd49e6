"""Estimator: training loops with event handlers."""

from .batch_processor import BatchProcessor
from .checkpoint import CheckpointHandler
from .early_stopping import EarlyStoppingHandler
from .estimator import Estimator
from .events import BatchBegin, BatchEnd, EpochBegin, EpochEnd, EventHandler, TrainBegin, TrainEnd
from .handlers import GradientUpdateHandler, MetricHandler, StoppingHandler, ValidationHandler
from .logging_handler import LoggingHandler

__all__ = ['BatchBegin', 'BatchEnd', 'BatchProcessor', 'CheckpointHandler', 'EarlyStoppingHandler', 'EpochBegin',
           'EpochEnd', 'Estimator', 'EventHandler', 'GradientUpdateHandler', 'LoggingHandler', 'MetricHandler',
           'StoppingHandler', 'TrainBegin', 'TrainEnd', 'ValidationHandler']
