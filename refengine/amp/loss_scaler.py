"""The dynamic loss scaler: one class with the interface of the releases and with that of the documents."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import device, engine

_STATE = ('loss_scale', 'scale_factor', 'backoff_factor', 'scale_period', 'max_scale', 'min_scale', 'dynamic',
          'good_steps')


class LossScaler:
    """Multiplies losses, so that small gradients survive float16, and adapts the factor to overflows.

    The loop of the documents (rules AMP-LS-003 to -008, AMP-LSCALER)::

        with autograd.record():
            loss = scaler.scale(loss_of(net(data), label))
        loss.backward()
        scaler.unscale_and_clip(net.collect_params(), clip=1.0)
        trainer.step(batch_size)        # does nothing when a gradient was inf or NaN
        scaler.update()

    The scale halves (``backoff_factor``) after an iteration with an overflow, but not below ``min_scale``, and doubles
    (``scale_factor``) after ``scale_period`` good ones in a row, but not above ``max_scale``. ``scale_init`` is another
    spelling of ``init_scale``. With ``dynamic=False`` the scale stays, and overflows are skipped all the same.

    ``has_overflow`` is what the releases have: check and adjustment in one call, with effect one call later and without
    a lower bound (rule AMP-LS-010); ``amp.init_trainer`` uses it.

    >>> LossScaler(scale_init=1024).loss_scale
    1024.0
    """

    def __init__(self, init_scale: float | None = None, scale_period: int = 2000, scale_factor: float = 2.0,
                 backoff_factor: float = 0.5, max_scale: float = 2.0 ** 24, min_scale: float = 1.0,
                 dynamic: bool = True, *, scale_init: float | None = None) -> None:
        if init_scale is not None and scale_init is not None:
            raise TypeError('LossScaler takes init_scale or scale_init, which mean the same, got both')
        word = 'init_scale' if scale_init is None else 'scale_init'
        given = init_scale if scale_init is None else scale_init
        scale = min(max(2.0 ** 16, min_scale), max_scale) if given is None else given
        if not min_scale <= scale:      # one that was saved may be smaller: has_overflow knows no lower bound
            raise ValueError(f'min_scale must not be above {word}, got {min_scale} and {scale}')
        self._settle(scale, scale_factor, backoff_factor, scale_period, max_scale, min_scale, dynamic, 0, word)
        # Of this iteration: the parameters that were unscaled (with the trainer's number of steps then), and whether
        # one of them had overflowed.
        self._unscaled: dict[int, tuple[Any, int | None]] = {}
        self._trainers: dict[int, tuple[Any, int]] = {}
        self._found_overflow: bool | None = None

    def _settle(self, scale: float, scale_factor: float, backoff_factor: float, scale_period: int, max_scale: float,
                min_scale: float, dynamic: bool, good_steps: int, word: str = 'loss_scale') -> None:
        """Take all settings or, with a TypeError or ValueError, none of them; ``word`` is what the scale is called."""
        number = float(scale)
        if not (number > 0 and math.isfinite(number)):
            raise ValueError(f'{word} must be a finite number above 0, got {scale}')
        if isinstance(scale_period, bool) or not isinstance(scale_period, (int, np.integer)):
            raise TypeError(f'scale_period must be an int, got {scale_period!r}')
        if scale_period < 1:
            raise ValueError(f'scale_period must be at least 1, got {scale_period}')
        if not (scale_factor > 1 and math.isfinite(scale_factor)):
            raise ValueError(f'scale_factor must be a finite number above 1, got {scale_factor}')
        if not 0 < backoff_factor < 1:
            raise ValueError(f'backoff_factor must lie between 0 and 1, got {backoff_factor}')
        if not min_scale <= max_scale:
            raise ValueError(f'min_scale must not be above max_scale, got {min_scale} and {max_scale}')
        if not (number <= max_scale and math.isfinite(max_scale)):
            raise ValueError(f'max_scale must be finite and not below {word}, got {max_scale} and {number}')
        if isinstance(good_steps, bool) or not isinstance(good_steps, (int, np.integer)) or good_steps < 0:
            raise ValueError(f'good_steps must be a number of steps, got {good_steps!r}')
        self._loss_scale = self._next_loss_scale = number
        self._scale_seq_len = int(scale_period)
        self._scale_factor, self._backoff_factor = float(scale_factor), float(backoff_factor)
        self._max_loss_scale, self._min_loss_scale = float(max_scale), float(min_scale)
        self._dynamic = bool(dynamic)
        self._unskipped = int(good_steps)

    @property
    def loss_scale(self) -> float:
        """The factor that losses are multiplied by now; read-only (rule AMP-LS-007)."""
        return self._loss_scale

    # ---- as the documents have it ------------------------------------------------------------------------------

    def scale(self, loss: Any) -> Any:
        """The loss times the scale, in its dtype, recorded; lists and tuples of losses keep their form."""
        if isinstance(loss, (list, tuple)):
            return type(loss)(self.scale(item) for item in loss)
        if not hasattr(loss, 'asnumpy'):
            raise TypeError(f'LossScaler.scale expects an NDArray or a list or tuple of them, got {type(loss)}')
        return loss * self._loss_scale

    def unscale(self, optimizer_or_trainer: Any) -> bool:
        """Divide the gradients of a Trainer by the scale, in place on every device; whether all were finite.

        The next ``step`` of the Trainer does nothing if they were not. RuntimeError when it was done already in this
        iteration, after the step, or when ``amp.scale_loss`` scales the same iteration (AMP-LSCALER-007, -014).
        """
        trainer, params = _trained(optimizer_or_trainer)
        if trainer is not None and getattr(trainer, '_amp_scaled', False):
            raise RuntimeError('the loss was already scaled by amp.scale_loss in this iteration; use either that or a '
                               'LossScaler for a Trainer')
        return self._unscale(params, trainer)

    def unscale_and_clip(self, params: Any, clip: float | None = None) -> bool:
        """Divide the gradients of parameters by the scale, and limit their common 2-norm; whether all were finite.

        ``params`` is a dict or list of Parameters. Only finite gradients are clipped; after an overflow the next step
        of a Trainer with one of these parameters does nothing (rules AMP-LS-005, -008). ValueError, before anything
        is changed, for a limit that is not above 0.
        """
        if clip is not None and not clip > 0:
            raise ValueError(f'clip must be above 0, got {clip}')
        finite = self._unscale(_parameters(params), None)
        if finite and clip is not None:
            _clip([p for p in _parameters(params) if p.grad_req != 'null'], float(clip))
        return finite

    def step(self, optimizer_or_trainer: Any, batch_size: float = 1) -> bool:
        """Unscale what was not unscaled yet, and step unless a gradient was inf or NaN; whether a step was made."""
        trainer, params = _trained(optimizer_or_trainer)
        if trainer is None:
            raise TypeError('LossScaler.step expects a gluon Trainer, got an optimizer, which cannot step by itself')
        if not any(id(p) in self._unscaled for p in params):
            self.unscale(trainer)
        overflow = any(p._overflowed for p in params)
        trainer.step(batch_size)
        return not overflow

    def update(self) -> None:
        """End the iteration: adapt the scale to what its gradients were; the new scale holds at once.

        RuntimeError when nothing was unscaled since the last update (rules AMP-LS-006, AMP-LSCALER-006).
        """
        if self._found_overflow is None:
            raise RuntimeError('No inf checks were recorded prior to update: call unscale or unscale_and_clip first')
        overflow = self._found_overflow
        for parameter, _ in self._unscaled.values():
            parameter._overflowed = False
        self._unscaled.clear()
        self._trainers.clear()
        self._found_overflow = None
        self._loss_scale = self._next_loss_scale = self._adapted(self._loss_scale, overflow, self._min_loss_scale)

    def state_dict(self) -> dict[str, Any]:
        """What ``load_state_dict`` needs to go on from here."""
        values = (self._loss_scale, self._scale_factor, self._backoff_factor, self._scale_seq_len,
                  self._max_loss_scale, self._min_loss_scale, self._dynamic, self._unskipped)
        return dict(zip(_STATE, values))

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a saved state; nothing changes if it cannot be.

        RuntimeError for an empty state, KeyError for a missing entry, ValueError or TypeError for a wrong one.
        """
        if not state:
            raise RuntimeError('the state of the LossScaler is empty')
        self._settle(*[state[key] for key in _STATE])

    # ---- as the releases have it -------------------------------------------------------------------------------

    def has_overflow(self, params: Any) -> bool:
        """Whether a gradient is inf or NaN on any device; adapts the scale, with effect at the next call.

        Parameters without gradient are skipped; IndexError when none is left (rules AMP-LS-010, -011).
        """
        gradients = [g for p in params if getattr(p, 'grad_req', None) != 'null' for g in p._grad or ()]
        if not gradients:
            raise IndexError('list index out of range: none of the parameters has a gradient to look at')
        overflow = not _all_finite(gradients)
        self._loss_scale = self._next_loss_scale
        self._next_loss_scale = self._adapted(self._loss_scale, overflow, 0.0)
        return overflow

    # ---- parts -------------------------------------------------------------------------------------------------

    def _adapted(self, scale: float, overflow: bool, lowest: float) -> float:
        if overflow:
            self._unskipped = 0
            if self._dynamic:
                scale = max(scale * self._backoff_factor, lowest)
                logging.info('AMP: decreasing loss scale to %f', scale)
            return scale
        self._unskipped += 1
        if self._unskipped >= self._scale_seq_len:
            self._unskipped = 0
            if self._dynamic:
                scale = min(scale * self._scale_factor, self._max_loss_scale)
                logging.info('AMP: increasing loss scale to %f', scale)
        return scale

    def _unscale(self, params: list[Any], trainer: Any) -> bool:
        params = [p for p in params if p.grad_req != 'null']
        for parameter in params:
            if id(parameter) in self._unscaled:
                then = self._unscaled[id(parameter)][1]
                owner = trainer if trainer is not None else getattr(parameter, '_trainer', None)
                if then is not None and getattr(owner, '_steps', then) != then:
                    raise RuntimeError('unscale() is called after step(); call update() in between')
                raise RuntimeError('unscale() has already been called on this optimizer since the last update()')
        steps = getattr(trainer, '_steps', None)
        overflow = False
        for parameter in params:
            gradients = parameter.list_grad()
            for gradient in gradients:
                _divide(gradient, self._loss_scale)
            parameter._overflowed = not _all_finite(gradients)
            overflow = overflow or parameter._overflowed
            own = getattr(getattr(parameter, '_trainer', None), '_steps', None)
            self._unscaled[id(parameter)] = (parameter, own if steps is None else steps)
        self._found_overflow = bool(self._found_overflow) or overflow
        return not overflow


def _trained(optimizer_or_trainer: Any) -> tuple[Any, list[Any]]:
    """The Trainer (None for an optimizer) and its parameters; TypeError for anything else."""
    from ..gluon import Trainer
    from ..optimizer import Optimizer
    if isinstance(optimizer_or_trainer, Trainer):
        return optimizer_or_trainer, list(optimizer_or_trainer._params)
    if isinstance(optimizer_or_trainer, Optimizer):
        return None, list(optimizer_or_trainer.param_dict.values())
    raise TypeError(f'optimizer_or_trainer should be a Gluon Trainer or an optimizer, instead is '
                    f'{type(optimizer_or_trainer)}')


def _parameters(params: Any) -> list[Any]:
    values = list(params.values()) if hasattr(params, 'values') else list(params)
    for value in values:
        if not hasattr(value, 'list_grad'):
            raise TypeError(f'expected a dict or list of Parameters, got an entry of {type(value)}')
    return values


def _divide(gradient: Any, scale: float) -> None:
    """Divide in place; float16 goes through float32, in which the quotient of a finite number is finite."""
    data = gradient._data
    wide = data.astype(np.float32) if data.dtype == np.float16 else data
    token = device.error_state.set(device.ERRORS_IGNORED)
    try:
        gradient._write((wide / wide.dtype.type(scale)).astype(data.dtype, copy=False))
    finally:
        device.error_state.reset(token)


def _all_finite(arrays: list[Any]) -> bool:
    """Whether no element is inf or NaN; a finite sum says so at the cost of one pass without temporaries."""
    for array in arrays:
        engine.wait(array._data)
        data = array._data
        xp = device.module_of(data)
        token = device.error_state.set(device.ERRORS_IGNORED)
        try:
            if not xp.isfinite(data.sum()) and not xp.isfinite(data).all():
                return False
        finally:
            device.error_state.reset(token)
    return True


def _clip(params: list[Any], limit: float) -> None:
    """Scale the gradients of all replicas so that the common norm, over one replica each, is at most ``limit``."""
    total = 0.0
    for parameter in params:
        data = device.to_host(parameter.list_grad()[0]._data).astype(np.float64).ravel()
        total += float(data.dot(data))
    norm = math.sqrt(total)
    if norm > limit:
        for parameter in params:
            for gradient in parameter.list_grad():
                _divide(gradient, norm / limit)
