"""Mutants of AMP-LS: loss scaling, and what float16 can hold."""

import types

import numpy as np

from conformance.mutants import mutant, wrap
from conformance.mutants.autograd_kit import other_error, replace
from conformance.suite.amp._tools import amp


@mutant("AMP-LS-001")
def package_names_another_module(mx):
    """mx.amp (in 1.x: mx.contrib.amp) is not the module that is imported under that name."""
    parent = mx if amp(mx).__name__ == mx.__name__ + ".amp" and mx.__version__[0] == "2" else mx.contrib
    parent.amp = types.ModuleType("amp")


@mutant("AMP-LS-002")
def second_init_is_refused(mx):
    calls = []

    def body(original, *args, **kwargs):
        if calls:
            raise RuntimeError("mixed precision is switched on already")
        calls.append(args)
        return original(*args, **kwargs)

    replace(amp(mx), "init", body)


@mutant("AMP-LS-007")
def scale_can_be_set(mx):
    scaler = amp(mx, "loss_scaler").LossScaler
    scaler.loss_scale = property(scaler.loss_scale.fget, lambda self, value: setattr(self, "_loss_scale", value))


@mutant("AMP-LS-010")
def change_takes_effect_at_once(mx):
    def body(original, self, parameters):
        overflow = original(self, parameters)
        self._loss_scale = self._next_loss_scale
        return overflow

    replace(amp(mx, "loss_scaler").LossScaler, "has_overflow", body)


@mutant("AMP-LS-010")
def scale_has_no_upper_bound(mx):
    def body(original, self, parameters):
        self._max_loss_scale = 2.0 ** 60
        return original(self, parameters)

    replace(amp(mx, "loss_scaler").LossScaler, "has_overflow", body)


@mutant("AMP-LS-011")
def no_gradient_is_no_overflow(mx):
    def body(original, self, parameters):
        try:
            return original(self, parameters)
        except IndexError:
            return False

    replace(amp(mx, "loss_scaler").LossScaler, "has_overflow", body)


@mutant("AMP-LS-012")
def unscaling_by_hand_does_nothing(mx):
    replace(amp(mx), "unscale", lambda original, trainer: None)


@mutant("AMP-LS-013")
def other_objects_are_ignored(mx):
    other_error(amp(mx), "init_trainer", TypeError, "", lambda error, trainer: None)


@mutant("AMP-LS-009")
def loss_is_a_mean(mx):
    """L2Loss returns the mean over the batch."""
    replace(mx.gluon.loss.L2Loss, "__call__", lambda original, self, *args: original(self, *args).mean())


@mutant("AMP-LS-014")
def cast_to_half_precision_saturates(mx):
    def body(original, self, dtype, *args, **kwargs):
        if np.dtype(dtype) == np.float16:
            self = self.clip(-65504.0, 65504.0)
        return original(self, dtype, *args, **kwargs)

    replace(mx.nd.NDArray, "astype", body)


@mutant("AMP-LS-014")
def tiny_numbers_in_half_precision_are_zero(mx):
    """Casting to float16 flushes what is not a normal number."""

    def body(original, self, dtype, *args, **kwargs):
        result = original(self, dtype, *args, **kwargs)
        if np.dtype(dtype) == np.float16:
            return result * (result.abs() > 6e-5)
        return result

    replace(mx.nd.NDArray, "astype", body)


@mutant("AMP-LS-015")
def small_gradients_in_half_precision_are_zero(mx):
    def make(grad):
        def read(self):
            found = grad(self)
            if found is not None and found.dtype == np.float16:
                return found * (found.abs() > 1e-3)
            return found
        return read

    wrap(mx.nd.NDArray, "grad", make)


@mutant("AMP-LS-017")
def layers_have_single_precision(mx):
    def body(original, self, *args, **kwargs):
        kwargs.pop("dtype", None)
        original(self, *args, **kwargs)

    replace(mx.gluon.nn.Dense, "__init__", body)


@mutant("AMP-LS-018")
def large_norms_are_not_clipped(mx):
    """clip_global_norm leaves arrays alone whose norm is above a thousand."""

    def body(original, arrays, limit, *args, **kwargs):
        kept = [array.copy() for array in arrays]
        norm = original(arrays, limit, *args, **kwargs)
        if float(norm) > 1000:
            for array, values in zip(arrays, kept):
                array[:] = values
        return norm

    replace(mx.gluon.utils, "clip_global_norm", body)
