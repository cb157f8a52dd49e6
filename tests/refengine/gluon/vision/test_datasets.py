"""Sets of images in local files."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refengine as mx
from refengine import gluon, recordio
from refengine.gluon.data import RecordFileDataset, vision
from refengine.image.decode import encoded

RANDOM = np.random.RandomState(0)
DIGITS = RANDOM.randint(0, 255, (5, 28, 28)).astype('uint8')


def idx(path: Path, array: np.ndarray, mark: int | None = None) -> None:
    head = struct.pack(f'>{1 + array.ndim}I', 0x800 + array.ndim if mark is None else mark, *array.shape)
    path.write_bytes(gzip.compress(head + array.tobytes()))


@pytest.mark.parametrize(('kind', 'train'), [(vision.MNIST, True), (vision.FashionMNIST, False)])
def test_digits(tmp_path: Path, kind: Any, train: bool) -> None:
    start = 'train' if train else 't10k'
    with pytest.raises(FileNotFoundError, match=f'finds no {start}-images-idx3-ubyte.gz'):
        kind(str(tmp_path), train)
    idx(tmp_path / f'{start}-images-idx3-ubyte.gz', DIGITS)
    idx(tmp_path / f'{start}-labels-idx1-ubyte.gz', np.arange(5, dtype='uint8'))
    found = kind(str(tmp_path), train)
    image, label = found[3]
    assert (len(found), image.shape, image.dtype, label) == (5, (28, 28, 1), np.uint8, 3)
    np.testing.assert_array_equal(image.asnumpy()[..., 0], DIGITS[3])
    doubled = kind(str(tmp_path), train, lambda image, label: (image, label * 2))
    assert doubled[4][1] == 8
    batch, labels = next(iter(gluon.data.DataLoader(found.transform_first(vision.transforms.ToTensor()), 4)))
    assert (batch.shape, batch.dtype, labels.asnumpy().tolist()) == ((4, 1, 28, 28), np.float32, [0, 1, 2, 3])
    idx(tmp_path / f'{start}-labels-idx1-ubyte.gz', np.arange(5, dtype='uint8'), mark=7)
    with pytest.raises(ValueError, match='no idx file of bytes with 1 axes'):
        kind(str(tmp_path), train)
    idx(tmp_path / f'{start}-labels-idx1-ubyte.gz', np.arange(4, dtype='uint8'))
    with pytest.raises(ValueError, match='has 5 images, .* has 4 labels'):
        kind(str(tmp_path), train)


def test_photographs(tmp_path: Path) -> None:
    rows = RANDOM.randint(0, 255, (3, 3073)).astype('uint8')
    for number in range(1, 6):
        rows.tofile(tmp_path / f'data_batch_{number}.bin')
    found = vision.CIFAR10(str(tmp_path))
    image, label = found[4]
    assert (len(found), image.shape, label) == (15, (32, 32, 3), rows[1, 0])
    np.testing.assert_array_equal(image.asnumpy(), rows[1, 1:].reshape(3, 32, 32).transpose(1, 2, 0))
    with pytest.raises(FileNotFoundError, match='finds no test_batch.bin'):
        vision.CIFAR10(str(tmp_path), train=False)
    rows = RANDOM.randint(0, 255, (2, 3074)).astype('uint8')
    rows.tofile(tmp_path / 'test.bin')
    assert vision.CIFAR100(str(tmp_path), train=False)[1][1] == rows[1, 0]
    assert vision.CIFAR100(str(tmp_path), fine_label=True, train=False)[1][1] == rows[1, 1]
    rows[:, :-1].tofile(tmp_path / 'test.bin')
    with pytest.raises(ValueError, match='expected a multiple of 3074'):
        vision.CIFAR100(str(tmp_path), train=False)


def test_records_and_folders(tmp_path: Path) -> None:
    images = RANDOM.randint(0, 255, (4, 6, 8, 3)).astype('uint8')
    file = recordio.MXIndexedRecordIO(str(tmp_path / 'a.idx'), str(tmp_path / 'a.rec'), 'w')
    (tmp_path / 'root').mkdir()
    for number, image in enumerate(images):
        content = encoded(image, '.png', 3)
        file.write_idx(number, recordio.pack((0, float(number), number, 0), content))
        folder = tmp_path / 'root' / 'ab'[number % 2]
        folder.mkdir(exist_ok=True)
        (folder / f'{number}.png').write_bytes(content)
    file.close()
    raw = RecordFileDataset(str(tmp_path / 'a.rec'))
    assert (len(raw), recordio.unpack(raw[2])[0].label) == (4, 2)
    found = vision.ImageRecordDataset(str(tmp_path / 'a.rec'))
    np.testing.assert_array_equal(found[3][0].asnumpy(), images[3])
    assert vision.ImageRecordDataset(str(tmp_path / 'a.rec'), flag=0)[0][0].shape == (6, 8, 1)
    labels = [label for _, label in gluon.data.DataLoader(found, 2, num_workers=0)]
    assert [label.asnumpy().tolist() for label in labels] == [[0, 1], [2, 3]]
    (tmp_path / 'root' / 'note.txt').write_text('x')
    (tmp_path / 'root' / 'a' / 'note.txt').write_text('x')
    with pytest.warns(UserWarning, match='not a directory|Only support'):
        tree = vision.ImageFolderDataset(str(tmp_path / 'root'), transform=lambda image, label: (image, label + 10))
    assert (tree.synsets, len(tree), [label for _, label in tree]) == (['a', 'b'], 4, [10, 10, 11, 11])
    np.testing.assert_array_equal(tree[1][0].asnumpy(), images[2])
    with pytest.raises(mx.MXNetError, match='cannot read the image'):
        mx.image.imread(str(tmp_path / 'none.png'))
