"""Sets of images in local files: handwritten digits and small photographs, folders of images, record files."""

from __future__ import annotations

import gzip
import os
import struct
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .... import ndarray as nd
from ....image import geometry
from ....recordio import unpack
from ..dataset import Dataset, RecordFileDataset, _DownloadedDataset


def _folder(name: str) -> str:
    return os.path.join('~', '.mxnet', 'datasets', name)


class _LocalImages(_DownloadedDataset):
    """Images and labels that are read as a whole; FileNotFoundError that names the files when they are not there."""

    def _paths(self, names: Sequence[str]) -> list[str]:
        paths = [os.path.join(self._root, name) for name in names]
        missing = [path for path in paths if not os.path.exists(path)]
        if missing:
            raise FileNotFoundError(f'{type(self).__name__} expects the files {", ".join(names)} in {self._root}, '
                                    f'and finds no {", ".join(os.path.basename(path) for path in missing)}; nothing '
                                    f'is downloaded')
        return paths


class MNIST(_LocalImages):
    """Handwritten digits: images (28, 28, 1) uint8 with labels 0 … 9, from the four files of the original set.

    ``transform(image, label)`` is applied to every sample.
    """

    def __init__(self, root: str = _folder('mnist'), train: bool = True,
                 transform: Callable[[Any, Any], Any] | None = None) -> None:
        self._train = train
        super().__init__(root, transform)

    def _get_data(self) -> None:
        start = 'train' if self._train else 't10k'
        images, labels = self._paths([f'{start}-images-idx3-ubyte.gz', f'{start}-labels-idx1-ubyte.gz'])
        label = _idx(labels, 1).astype(np.int32)
        data = _idx(images, 3)
        if len(data) != len(label):
            raise ValueError(f'{images} has {len(data)} images, {labels} has {len(label)} labels')
        self._data, self._label = nd.array(data[..., None], dtype='uint8'), label


class FashionMNIST(MNIST):
    """Pictures of clothes in the format of MNIST."""

    def __init__(self, root: str = _folder('fashion-mnist'), train: bool = True,
                 transform: Callable[[Any, Any], Any] | None = None) -> None:
        super().__init__(root, train, transform)


def _idx(path: str, axes: int) -> np.ndarray:
    """The array of a compressed idx file of bytes; ValueError for a file of something else."""
    with gzip.open(path, 'rb') as file:
        content = file.read()
    size = 4 + 4 * axes
    head = struct.unpack(f'>{1 + axes}I', content[:size]) if len(content) >= size else (0,)
    shape = head[1:]
    if head[0] != 0x800 + axes or len(content) != size + int(np.prod(shape)):
        raise ValueError(f'{path} is no idx file of bytes with {axes} axes')
    return np.frombuffer(content, np.uint8, offset=size).reshape(shape)


class CIFAR10(_LocalImages):
    """Small photographs of ten kinds of things: images (32, 32, 3) uint8, from the files of the binary version."""

    _labels = 1         # bytes of labels before each image
    _used = 0           # which of them is the label
    _files = (('data_batch_1.bin', 'data_batch_2.bin', 'data_batch_3.bin', 'data_batch_4.bin', 'data_batch_5.bin'),
              ('test_batch.bin',))

    def __init__(self, root: str = _folder('cifar10'), train: bool = True,
                 transform: Callable[[Any, Any], Any] | None = None) -> None:
        self._train = train
        super().__init__(root, transform)

    def _get_data(self) -> None:
        size = 3 * 32 * 32 + self._labels
        rows = []
        for path in self._paths(self._files[0 if self._train else 1]):
            content = np.fromfile(path, np.uint8)
            if content.size % size:
                raise ValueError(f'{path} has {content.size} bytes, expected a multiple of {size}')
            rows.append(content.reshape(-1, size))
        whole = np.concatenate(rows)
        data = whole[:, self._labels:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        self._data, self._label = nd.array(data, dtype='uint8'), whole[:, self._used].astype(np.int32)


class CIFAR100(CIFAR10):
    """The same of a hundred kinds, or with ``fine_label=False`` of twenty groups of kinds."""

    _labels = 2
    _files = (('train.bin',), ('test.bin',))

    def __init__(self, root: str = _folder('cifar100'), fine_label: bool = False, train: bool = True,
                 transform: Callable[[Any, Any], Any] | None = None) -> None:
        self._used = int(fine_label)
        super().__init__(root, train, transform)


class ImageRecordDataset(RecordFileDataset):
    """The images of an indexed record file, with their labels; ``flag=0`` gives grey ones."""

    def __init__(self, filename: str, flag: int = 1, transform: Callable[[Any, Any], Any] | None = None) -> None:
        super().__init__(filename)
        self._flag = flag
        self._transform = transform

    def __getitem__(self, idx: int) -> Any:
        header, content = unpack(super().__getitem__(idx))
        image = geometry.imdecode(content, self._flag)
        return self._transform(image, header.label) if self._transform is not None else (image, header.label)


class ImageFolderDataset(Dataset):
    """The images of a folder with a folder for each kind; ``synsets`` are their names, ``items`` paths and labels."""

    def __init__(self, root: str, flag: int = 1, transform: Callable[[Any, Any], Any] | None = None) -> None:
        self._root = os.path.expanduser(root)
        self._flag = flag
        self._transform = transform
        self._exts = ['.jpg', '.jpeg', '.png']
        self.synsets: list[str] = []
        self.items: list[tuple[str, int]] = []
        for folder in sorted(os.listdir(self._root)):
            path = os.path.join(self._root, folder)
            if not os.path.isdir(path):
                warnings.warn(f'Ignoring {path}, which is not a directory.', stacklevel=2)
                continue
            label = len(self.synsets)
            self.synsets.append(folder)
            for name in sorted(os.listdir(path)):
                extension = os.path.splitext(name)[1]
                if extension.lower() not in self._exts:
                    warnings.warn(f'Ignoring {os.path.join(path, name)} of type {extension}. Only support '
                                  f'{", ".join(self._exts)}', stacklevel=2)
                    continue
                self.items.append((os.path.join(path, name), label))

    def __getitem__(self, idx: int) -> Any:
        path, label = self.items[idx]
        image = geometry.imread(path, self._flag)
        return self._transform(image, label) if self._transform is not None else (image, label)

    def __len__(self) -> int:
        return len(self.items)
