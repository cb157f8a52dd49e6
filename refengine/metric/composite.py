"""Several metrics as one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .base import EvalMetric, alias, as_pairs, create, register


@alias('composite')
@register
class CompositeEvalMetric(EvalMetric):
    """Several metrics that are updated together."""

    def __init__(self, metrics: Iterable[Any] | None = None, name: str = 'composite', output_names: Any = None,
                 label_names: Any = None) -> None:
        self.metrics: list[EvalMetric] = [create(metric) for metric in metrics or ()]
        super().__init__(name, output_names=output_names, label_names=label_names, has_global_stats=True)

    def add(self, metric: Any) -> None:
        """Append a metric."""
        self.metrics.append(create(metric))

    def get_metric(self, index: int) -> Any:
        """The metric at an index; a ValueError is given back, not raised, where there is none (as in MXNet)."""
        try:
            return self.metrics[index]
        except IndexError:
            return ValueError(f'Metric index {index} is out of range 0 and {len(self.metrics)}')

    def update_dict(self, labels: dict[str, Any], preds: dict[str, Any]) -> None:  # type: ignore[override]
        """Update every metric from arrays by name."""
        if self.label_names is not None:
            labels = {name: value for name, value in labels.items() if name in self.label_names}
        if self.output_names is not None:
            preds = {name: value for name, value in preds.items() if name in self.output_names}
        for metric in self.metrics:
            metric.update_dict(labels, preds)

    def update(self, labels: Any, preds: Any) -> None:
        """Update every metric."""
        for metric in self.metrics:
            metric.update(labels, preds)

    def reset(self) -> None:
        """Reset every metric."""
        for metric in self.metrics:
            metric.reset()

    def reset_local(self) -> None:
        """Reset every metric locally."""
        for metric in self.metrics:
            metric.reset_local()

    def _collect(self, results: Iterable[tuple[Any, Any]]) -> tuple[list[str], list[Any]]:
        pairs = [pair for result in results for pair in as_pairs(result)]
        return [name for name, _ in pairs], [value for _, value in pairs]

    def get(self) -> tuple[Any, Any]:
        """Names and values as two lists."""
        return self._collect(metric.get() for metric in self.metrics)

    def get_global(self) -> tuple[Any, Any]:
        """Names and global values as two lists."""
        return self._collect(metric.get_global() for metric in self.metrics)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make this metric again."""
        return {**super().get_config(), 'metrics': [metric.get_config() for metric in self.metrics]}
