"""Evaluation metrics: running averages over batches, locally (until ``reset_local``) and globally (until ``reset``)."""

from .. import ndarray
from .base import EvalMetric, alias, check_label_shapes, create, register
from .classification import F1, MCC, PCC, Accuracy, TopKAccuracy
from .composite import CompositeEvalMetric
from .custom import Caffe, CustomMetric, Loss, Torch, np
from .likelihood import CrossEntropy, NegativeLogLikelihood, Perplexity
from .regression import MAE, MSE, RMSE, PearsonCorrelation

__all__ = [
    'F1', 'MAE', 'MCC', 'MSE', 'PCC', 'RMSE', 'Accuracy', 'Caffe', 'CompositeEvalMetric', 'CrossEntropy',
    'CustomMetric',
    'EvalMetric', 'Loss', 'NegativeLogLikelihood', 'PearsonCorrelation', 'Perplexity', 'TopKAccuracy', 'Torch', 'alias',
    'check_label_shapes', 'create', 'ndarray', 'np', 'register',
]
