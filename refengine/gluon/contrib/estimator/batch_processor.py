"""What happens with one batch."""

from __future__ import annotations

from typing import Any

from .... import autograd
from ...utils import split_and_load


class BatchProcessor:
    """Forward, loss and backward of one batch on all contexts of an estimator; override it for other networks."""

    def _get_data_and_label(self, batch: Any, ctx: Any, batch_axis: int = 0) -> tuple[Any, Any]:
        data = split_and_load(batch[0], ctx_list=ctx, batch_axis=batch_axis)
        label = split_and_load(batch[1], ctx_list=ctx, batch_axis=batch_axis)
        return data, label

    def evaluate_batch(self, estimator: Any, val_batch: Any, batch_axis: int = 0) -> tuple[Any, Any, Any, Any]:
        """Data, labels, predictions and losses of a batch, each a list by context."""
        data, label = self._get_data_and_label(val_batch, estimator.context, batch_axis)
        pred = [estimator.val_net(x) for x in data]
        loss = [estimator.val_loss(p, y) for p, y in zip(pred, label, strict=True)]
        return data, label, pred, loss

    def fit_batch(self, estimator: Any, train_batch: Any, batch_axis: int = 0) -> tuple[Any, Any, Any, Any]:
        """The same while recording, then backward; the update is the GradientUpdateHandler's."""
        data, label = self._get_data_and_label(train_batch, estimator.context, batch_axis)
        with autograd.record():
            pred = [estimator.net(x) for x in data]
            loss = [estimator.loss(p, y) for p, y in zip(pred, label, strict=True)]
        for each in loss:
            each.backward()
        return data, label, pred, loss
