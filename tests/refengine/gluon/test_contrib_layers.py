"""Layers that the release keeps under ``gluon.contrib``."""

from __future__ import annotations

import numpy as np
import pytest

import refengine as mx
from refengine import MXNetError, autograd, gluon, nd

cnn = gluon.contrib.cnn
layers = gluon.contrib.nn


class TestPixelShuffle:
    @pytest.mark.parametrize(('layer', 'text', 'factors'), [
        (layers.PixelShuffle1D(2), 'PixelShuffle1D(2)', (2,)),
        (layers.PixelShuffle2D((2, 3)), 'PixelShuffle2D((2, 3))', (2, 3)),
        (layers.PixelShuffle3D((2, 1, 3)), 'PixelShuffle3D((2, 1, 3))', (2, 1, 3)),
        (layers.PixelShuffle3D(2), 'PixelShuffle3D((2, 2, 2))', (2, 2, 2))])
    def test_values(self, layer, text, factors):
        """Channel c·f + k of a place goes to place f·w + k of channel c, for every axis."""
        assert repr(layer) == text
        count, sizes = int(np.prod(factors)), (3, 4, 2)[:len(factors)]
        x = np.arange(2 * 2 * count * np.prod(sizes), dtype='float32').reshape((2, 2 * count, *sizes))
        result = layer(nd.array(x)).asnumpy()
        assert result.shape == (2, 2, *(n * f for n, f in zip(sizes, factors, strict=True)))
        for place in np.ndindex(*result.shape):
            channel = place[1]
            for at, factor in zip(place[2:], factors, strict=True):
                channel = channel * factor + at % factor
            source = (place[0], channel, *(at // f for at, f in zip(place[2:], factors, strict=True)))
            assert result[place] == x[source]

    def test_errors(self):
        with pytest.raises(AssertionError, match='wrong length 3'):
            layers.PixelShuffle2D((1, 2, 3))
        with pytest.raises(MXNetError, match='do not divide original dim 3'):
            layers.PixelShuffle1D(2)(nd.ones((1, 3, 3)))


class TestSyncBatchNorm:
    def test_text(self):
        layer = layers.SyncBatchNorm(in_channels=2, prefix='s_')
        assert repr(layer) == ("SyncBatchNorm(eps=1e-05, momentum=0.9, fix_gamma=False, use_global_stats=False, "
                               "ndev=1, key='s_', in_channels=2)")
        assert layers.SyncBatchNorm(num_devices=3)._kwargs['ndev'] == 3

    def test_one_device_is_a_batch_norm(self):
        found = []
        for make in (layers.SyncBatchNorm, gluon.nn.BatchNorm):
            layer = make()
            layer.initialize()
            batch = nd.array(np.random.default_rng(0).normal(1, 1, (4, 3, 2)))
            batch.attach_grad()
            with autograd.record():
                loss = (layer(batch) ** 3).sum()
            loss.backward()
            found.append([a.asnumpy() for a in (loss, batch.grad, layer.gamma.grad(), layer.running_mean.data())])
        for sync, plain in zip(*found, strict=True):
            np.testing.assert_array_equal(sync, plain)


def test_sparse_embedding_says_what_is_missing():
    layer = layers.SparseEmbedding(5, 3)
    assert repr(layer) == 'SparseEmbedding(5 -> 3, float32)'
    assert (layer.weight.stype, layer.weight.grad_stype) == ('row_sparse', 'row_sparse')
    with pytest.raises(MXNetError, match='row_sparse'):
        layer.initialize()


class TestDeformable:
    @pytest.mark.parametrize(('make', 'names', 'shape', 'total'), [
        (lambda: cnn.DeformableConvolution(4, (3, 3), padding=(1, 1)),
         ['offset_weight', 'offset_bias', 'deformable_conv_weight', 'deformable_conv_bias'], (1, 4, 6, 6), 51.3866043),
        (lambda: cnn.ModulatedDeformableConvolution(4, (3, 3), (2, 2), padding=(1, 1), num_deformable_group=2,
                                                    activation='relu', in_channels=4, groups=2, use_bias=False),
         ['deformable_conv_weight', 'offset_weight', 'offset_bias'], (1, 4, 3, 3), 11.5169954),
        (lambda: cnn.DeformableConvolution(4, (3, 3), offset_use_bias=False),
         ['offset_weight', 'deformable_conv_weight', 'deformable_conv_bias'], (1, 4, 4, 4), 28.8271484)])
    def test_as_the_release(self, make, names, shape, total):
        """The totals are those of MXNet 1.9.1."""
        layer = make()
        layer.initialize(mx.init.Constant(.1))
        result = layer(nd.array(np.random.RandomState(0).randn(1, 4, 6, 6)))
        assert list(layer._collect_params_with_prefix()) == names
        assert result.shape == shape
        np.testing.assert_allclose(result.asnumpy().sum(), total, rtol=1e-5)

    @pytest.mark.parametrize('kind', [cnn.DeformableConvolution, cnn.ModulatedDeformableConvolution])
    def test_offsets_are_learnt(self, kind):
        layer = kind(3, (3, 3), padding=(1, 1))
        layer.initialize(mx.init.Xavier())
        with autograd.record():
            (layer(nd.array(np.random.RandomState(1).randn(2, 2, 5, 5))) ** 2).sum().backward()
        for parameter in layer.collect_params().values():
            assert abs(parameter.grad().asnumpy()).max() > 0

    def test_text(self):
        assert repr(cnn.DeformableConvolution(4, 3, dilation=2, in_channels=2, use_bias=False, padding=1)) == (
            'DeformableConvolution(2 -> 4, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), dilation=(2, 2), '
            'bias=False)')
        with pytest.raises(AssertionError, match='Only supports NCHW and NHWC'):
            cnn.DeformableConvolution(4, layout='NCW')
