"""Datasets, samplers and the DataLoader."""

import importlib
from typing import Any

from .dataloader import DataLoader
from .dataset import ArrayDataset, Dataset, RecordFileDataset, SimpleDataset
from .sampler import BatchSampler, FilterSampler, IntervalSampler, RandomSampler, Sampler, SequentialSampler

__all__ = ['ArrayDataset', 'BatchSampler', 'DataLoader', 'Dataset', 'FilterSampler', 'IntervalSampler', 'RandomSampler',
           'RecordFileDataset', 'Sampler', 'SequentialSampler', 'SimpleDataset', 'vision']


def __getattr__(name: str) -> Any:
    if name == 'vision':
        return importlib.import_module(f'{__name__}.vision')
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')


def __dir__() -> list[str]:
    return sorted({*globals(), 'vision'})
