"""What is done to images; the numbers are those of MXNet 1.9.1."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import refengine as mx
from refengine.gluon.data.vision import transforms as T
from refengine.image.decode import encoded

IMAGE = mx.nd.array(np.random.RandomState(0).randint(0, 255, (6, 8, 3)), dtype='uint8')
TENSOR = T.ToTensor()(IMAGE)


@pytest.mark.parametrize(('transform', 'shape', 'first'), [
    (T.Compose([T.ToTensor(), T.Normalize(0.5, 0.2)]), (3, 6, 8), [0.87254912, 1.2647059, 1.32352948]),
    (T.CenterCrop(3), (3, 3, 3), [9, 148, 115]), (T.CenterCrop((4, 10)), (10, 4, 3), [211, 21, 242]),
    (T.CenterCrop((10, 12)), (12, 10, 3), [192, 67, 251]), (T.CenterCrop((3, 2), 2), (2, 3, 3), [127, 32, 31]),
    (T.Resize(4), (4, 4, 3), [151, 63, 168]), (T.Resize((4, 5)), (5, 4, 3), [169, 59, 177]),
    (T.Resize(4, keep_ratio=True), (4, 5, 3), [151, 59, 152]), (T.CropResize(1, 2, 4, 3), (3, 4, 3), [193, 9, 185]),
    (T.CropResize(1, 2, 4, 3, (2, 2), 1), (2, 2, 3), [135, 30, 121]), (T.Cast('float64'), (6, 8, 3), [172, 47, 117])])
def test_images(transform: Any, shape: Any, first: Any) -> None:
    found = transform(IMAGE)
    assert found.shape == shape
    np.testing.assert_allclose(found.asnumpy().ravel()[:3], first, rtol=1e-6)


@pytest.mark.parametrize(('transform', 'first'), [
    (T.Rotate(30), [0.0, 0.06806891, 0.30297792, 0.4119933]),
    (T.Rotate(30, zoom_in=True), [0.74317938, 0.79923445, 0.74181712, 0.92570239]),
    (T.Rotate(30, zoom_out=True), [0, 0, 0, 0, 0.12511648, 0.08300882])])
def test_turning(transform: Any, first: Any) -> None:
    np.testing.assert_allclose(transform(TENSOR).asnumpy().ravel()[:len(first)], first, atol=1e-5)
    both = mx.nd.stack(TENSOR, TENSOR)
    np.testing.assert_allclose(transform(both)[1].asnumpy(), transform(TENSOR).asnumpy(), atol=1e-5)


def test_turning_at_random() -> None:
    assert T.RandomRotation((10, 20), rotate_with_proba=0)(TENSOR) is TENSOR
    turned = T.RandomRotation((10, 10.0001))(TENSOR).asnumpy()
    np.testing.assert_allclose(turned.ravel()[:2], [0.30662, 0.45802], atol=1e-4)
    both = mx.image.random_rotate(mx.nd.stack(TENSOR, TENSOR), (10, 10.0001))
    np.testing.assert_allclose(both[1].asnumpy(), turned, atol=1e-4)


@pytest.mark.parametrize(('call', 'kind', 'word'), [
    (lambda: T.Rotate(30, True, True)(TENSOR), ValueError, 'cannot be both True'),
    (lambda: T.Rotate(30)(IMAGE), TypeError, 'only supports float32'),
    (lambda: T.RandomRotation((20, 10)), ValueError, 'ordered tuple'),
    (lambda: T.RandomRotation((10, 20), rotate_with_proba=2), ValueError, 'between 0 and 1'),
    (lambda: T.Resize('a')(IMAGE), mx.MXNetError, 'Invalid Parameter format for size'),
    (lambda: mx.image.imrotate(TENSOR, mx.nd.array([1])), TypeError, 'scalar'),
    (lambda: mx.image.imrotate(mx.nd.stack(TENSOR, TENSOR), mx.nd.array([1])), ValueError, 'number of rotation'),
    (lambda: mx.image.imdecode('text'), ValueError, 'buf must be of type bytes'),
    (lambda: mx.image.imdecode(b'abc'), mx.MXNetError, 'failed to decode')])
def test_errors(call: Any, kind: Any, word: str) -> None:
    with pytest.raises(kind, match=word):
        call()


def test_composed_blocks_are_compiled_together() -> None:
    made = T.Compose([T.CenterCrop(3), T.ToTensor(), T.Cast('float16'), T.CenterCrop(2)])
    assert [type(block).__name__ for block in made] == ['CenterCrop', 'HybridSequential', 'CenterCrop']
    assert made[1]._active
    assert len(T.Compose([T.ToTensor()])) == 1


def test_applied_or_not() -> None:
    assert T.RandomApply(T.Cast('float64'), p=1)(IMAGE).dtype == np.float64
    assert T.RandomApply([T.ToTensor(), T.Cast('float64')], p=-1)(IMAGE) is IMAGE


@pytest.mark.parametrize('transform', [
    T.RandomFlipLeftRight(), T.RandomFlipTopBottom(), T.RandomBrightness(0.3), T.RandomContrast(0.3),
    T.RandomSaturation(0.3), T.RandomHue(0.3), T.RandomColorJitter(0.1, 0.1, 0.1, 0.1), T.RandomLighting(0.1)])
def test_drawn_changes(transform: Any) -> None:
    mx.random.seed(5)
    found = [transform(IMAGE.astype('float32')).asnumpy() for _ in range(12)]
    assert {a.shape for a in found} == {(6, 8, 3)}
    assert any(not np.array_equal(found[0], a) for a in found[1:])


def test_parts_at_random() -> None:
    random.seed(0)
    for _ in range(20):
        part, (x, y, w, h) = mx.image.random_size_crop(IMAGE, (3, 4), (0.2, 0.9), (0.5, 2))
        assert part.shape == (4, 3, 3)
        assert 0 <= x <= x + w <= 8
        assert 0 <= y <= y + h <= 6
        assert 0.1 * 48 <= w * h <= 48
    assert T.RandomResizedCrop((3, 4))(IMAGE).shape == (4, 3, 3)
    part, (x, y, w, h) = mx.image.random_crop(IMAGE, (3, 2))
    np.testing.assert_array_equal(part.asnumpy(), IMAGE.asnumpy()[y:y + h, x:x + w])
    assert mx.image.random_size_crop(IMAGE, (2, 2), (4, 5), (1, 1))[1] == (3, 2, 2, 2)      # none fits: the middle


def test_functions() -> None:
    image = mx.image
    assert image.scale_down((640, 480), (720, 120)) == (640, 106)
    assert image.resize_short(IMAGE, 4).shape == (4, 5, 3)
    assert image.fixed_crop(IMAGE, 1, 2, 3, 4, (2, 2), 1).asnumpy().ravel()[:3].tolist() == [108, 42, 146]
    assert image.center_crop(IMAGE, (3, 3))[1] == (2, 1, 3, 3)
    normal = image.color_normalize(IMAGE.astype('float32'), mx.nd.array([1, 2, 3]), mx.nd.array([1, 2, 4]))
    assert normal.asnumpy().ravel()[:3].tolist() == [171, 22.5, 28.5]
    content = encoded(IMAGE.asnumpy(), '.png', 1)
    np.testing.assert_array_equal(image.imdecode(content).asnumpy(), IMAGE.asnumpy())
    np.testing.assert_array_equal(image.imdecode(content, to_rgb=0).asnumpy(), IMAGE.asnumpy()[..., ::-1])
    assert image.imdecode(content, flag=0).shape == (6, 8, 1)
    assert {'imdecode', 'center_crop'} <= set(dir(image))
