"""Relatives of BatchNorm: the first version, and the one that is synchronised over devices."""

from __future__ import annotations

from typing import Any

from ..base import MXNetError
from ..op import Bool, Float, Int, Str, register
from .nn_batch_norm import _INPUTS, _batch_norm, _complete, _grad, _infer
from .shapes import completes

_PARAMS = {'eps': Float(1e-3, 'is added to the variance'),
           'momentum': Float(0.9, 'how much of the running statistics stays'),
           'fix_gamma': Bool(True, 'set gamma to 1 and give it no gradient'),
           'use_global_stats': Bool(False, 'use the running statistics in training too'),
           'output_mean_var': Bool(False, 'give mean and variance too')}

completes('BatchNorm_v1', '_contrib_SyncBatchNorm')(
    lambda shapes, params: _complete(shapes, {**params, 'axis': 1}))


def _infer_variant(arrays: Any, params: dict[str, Any]) -> None:
    _infer(arrays, {**params, 'axis': 1})


def _grad_variant(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any, ...]:
    out, mean, variance, scale = outputs
    return _grad(F, [ograds[0], None, None, None], inputs, (out, mean, scale, variance), {**params, 'axis': 1})


def _body(xp: Any, *arrays: Any, **params: Any) -> tuple[Any, ...]:
    out, mean, scale, variance = _batch_norm(xp, *arrays, axis=1, **params)
    return out, mean, variance, scale


_SHARED: dict[str, Any] = {
    'inputs': _INPUTS, 'mixed': True, 'num_outputs': 4, 'visible': lambda params: 3 if params['output_mean_var'] else 1,
    'mutates': (1, 3, 4), 'infer': _infer_variant, 'grad': _grad_variant}


@register('BatchNorm_v1', params=_PARAMS, **_SHARED)
def _batch_norm_v1(xp: Any, data: Any, gamma: Any, beta: Any, moving_mean: Any, moving_var: Any,
                   is_train: bool = False, **params: Any) -> tuple[Any, ...]:
    """BatchNorm of axis 1 with the parameters of the first releases; output_mean_var gives the variance itself."""
    return _body(xp, data, gamma, beta, moving_mean, moving_var, is_train=is_train, **params)


@register('_contrib_SyncBatchNorm', params={**_PARAMS, 'ndev': Int(1, 'number of devices'),
                                            'key': Str(doc='names the layer on all devices')}, **_SHARED)
def _sync_batch_norm(xp: Any, data: Any, gamma: Any, beta: Any, moving_mean: Any, moving_var: Any, ndev: int = 1,
                     key: str = '', is_train: bool = False, **params: Any) -> tuple[Any, ...]:
    """BatchNorm of axis 1 with statistics of the batches of all devices; one device has its own only.

    Several devices meet outside this body, which sees one of them (``nd.contrib.SyncBatchNorm``): in training it raises
    MXNetError for them, as a graph that was compiled for one device cannot wait for the others.
    """
    if ndev > 1 and is_train and not params['use_global_stats'] and any(data.strides):
        raise MXNetError(f"SyncBatchNorm '{key}' over {ndev} devices trains imperatively only: a compiled graph runs "
                         f'on one device. Do not hybridize the block for training on several devices.')
    return _body(xp, data, gamma, beta, moving_mean, moving_var, is_train=is_train, **params)
