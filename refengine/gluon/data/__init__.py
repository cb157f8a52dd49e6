"""Datasets, samplers and the DataLoader."""

from .dataloader import DataLoader
from .dataset import ArrayDataset, Dataset, SimpleDataset
from .sampler import BatchSampler, FilterSampler, IntervalSampler, RandomSampler, Sampler, SequentialSampler

__all__ = ['ArrayDataset', 'BatchSampler', 'DataLoader', 'Dataset', 'FilterSampler', 'IntervalSampler', 'RandomSampler',
           'Sampler', 'SequentialSampler', 'SimpleDataset']
