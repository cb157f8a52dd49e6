"""Images: data sets and what is done to their samples."""

from . import transforms
from .datasets import CIFAR10, CIFAR100, MNIST, FashionMNIST, ImageFolderDataset, ImageRecordDataset

__all__ = ['CIFAR10', 'CIFAR100', 'MNIST', 'FashionMNIST', 'ImageFolderDataset', 'ImageRecordDataset', 'transforms']
