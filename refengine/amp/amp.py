"""Switching mixed precision on, and the loss scaling of a Trainer, with the interface of the releases."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from . import casting
from .loss_scaler import LossScaler, _divide, _trained

_amp_initialized = False

_TARGETS = ('float16', 'bfloat16')


def init(target_dtype: Any = 'float16', target_precision_ops: Any = None, conditional_fp32_ops: Any = None,
         fp32_ops: Any = None, layout_optimization: bool = False) -> None:
    """Switch mixed precision on for the whole process; a second call does nothing (rules AMP-INIT, AMP-LS-002).

    From now on convolutions, dense layers and recurrent layers compute in ``target_dtype``, sensitive operators such as
    softmax in float32, and operators that combine arrays in the widest type among them; parameters stay float32. The
    list arguments replace the default lists of operator names; ``conditional_fp32_ops`` holds triples of operator,
    parameter and a list of values. MXNetError for an operator that does not exist, and for bfloat16, which numpy lacks.
    """
    global _amp_initialized
    if _amp_initialized:
        return
    name = target_dtype if isinstance(target_dtype, str) else np.dtype(target_dtype).name
    assert name in _TARGETS, ('AMP currently supports only float16 or bfloat16 as a target_dtype, '
                              f'got {target_dtype!r}')
    casting.install(name, target_precision_ops, conditional_fp32_ops, fp32_ops)
    _amp_initialized = True
    logging.info('Using AMP')


def init_trainer(optimizer_or_trainer: Any) -> None:
    """Give a Trainer a loss scaler of its own; a new one when it has one already (rules AMP-TRAINER, AMP-LS-013).

    AssertionError before ``amp.init()``; TypeError for anything but a Trainer.
    """
    assert _amp_initialized, 'AMP not initialized, did you forget to call amp.init()?'
    trainer = _only_trainer(optimizer_or_trainer)
    if not trainer._amp_scaled and not hasattr(trainer, '_amp_loss_scaler'):
        trainer._amp_original_scale = trainer._scale
    trainer._amp_loss_scaler = LossScaler()


def _only_trainer(optimizer_or_trainer: Any) -> Any:
    trainer, _ = _trained(optimizer_or_trainer)
    if trainer is None:
        raise TypeError('AMP is currently only compatible with Gluon Trainer')
    return trainer


@contextmanager
def scale_loss(loss: Any, optimizer_or_trainer: Any) -> Iterator[Any]:
    """A block with the loss (or a list of losses) multiplied by the Trainer's loss scale; call it while recording.

    The next step of the Trainer divides by the same scale. AssertionError for a Trainer without ``init_trainer``.
    """
    scaler = getattr(optimizer_or_trainer, '_amp_loss_scaler', None)
    assert scaler is not None, 'the Trainer has no loss scaler, did you forget to call amp.init_trainer()?'
    optimizer_or_trainer._scale = optimizer_or_trainer._amp_original_scale / scaler.loss_scale
    optimizer_or_trainer._amp_scaled = True
    if isinstance(loss, (list, tuple)):
        yield [item * scaler.loss_scale for item in loss]
    else:
        yield loss * scaler.loss_scale


def unscale(optimizer_or_trainer: Any) -> None:
    """Bring the gradients of a Trainer to true units at once; its next step does not divide again.

    They are multiplied in place by the Trainer's factor, which becomes 1 (rules AMP-UNSCALE).
    """
    trainer = _only_trainer(optimizer_or_trainer)
    if not trainer._amp_scaled:
        if not hasattr(trainer, '_amp_loss_scaler'):
            trainer._amp_original_scale = trainer._scale
        trainer._amp_scaled = True
    if trainer._scale != 1.0:
        for parameter in trainer._params:
            if parameter.grad_req != 'null':
                for gradient in parameter.list_grad():
                    _divide(gradient, 1.0 / trainer._scale)
    trainer._scale = 1.0
