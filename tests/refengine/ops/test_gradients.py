"""Every operator with samples: first and second gradients against finite differences in float64."""

from __future__ import annotations

import numpy as np
import pytest

from refengine import nd, op, samples
from tests.refengine import gradients

SAMPLES = list(samples.every())

# These have no second gradient: their gradient is not a function of the inputs in the sense of calculus.
ONCE = {'CTCLoss'}  # a second gradient is refused


@pytest.mark.parametrize('sample', SAMPLES, ids=lambda s: s.name)
def test_first_gradient(sample):
    """The registered gradient is the derivative of the forward body."""
    gradients.check_first(sample)


@pytest.mark.parametrize('sample', [s for s in SAMPLES if s.operator.name not in ONCE], ids=lambda s: s.name)
def test_second_gradient(sample):
    """Under create_graph the gradient can be differentiated again, and correctly."""
    gradients.check_second(sample)


UNSAMPLED = {
    'Dropout': 'random: its own test fixes the mask',
    'BatchNorm': 'depends on the mode and on moving statistics: its own test goes through both',
    'make_loss': 'its gradient is one by rule, not by calculus',
    'MakeLoss': 'its gradient is grad_scale by rule, not by calculus',
    'SoftmaxOutput': 'its gradient is that of its loss by rule',
    'LinearRegressionOutput': 'its gradient is that of its loss by rule',
    'MAERegressionOutput': 'its gradient is that of its loss by rule',
    'LogisticRegressionOutput': 'its gradient is that of its loss by rule',
    'SVMOutput': 'its gradient is that of its loss by rule',
    '_sample_multinomial': 'random',
    '_contrib_gradientmultiplier': 'its gradient is multiplied by rule, not by calculus',
    '_contrib_round_ste': 'its gradient is that of the identity by rule',
    '_contrib_sign_ste': 'its gradient is that of the identity by rule',
    '_copyto': 'has no result of its own: it writes into another array',
    'BatchNorm_v1': 'as BatchNorm: its own test compares them',
    '_contrib_SyncBatchNorm': 'as BatchNorm: its own test compares them',
    '_contrib_BatchNormWithReLU': 'as BatchNorm: its own test compares them',
    'IdentityAttachKLSparseReg': 'its gradient has a penalty by rule, not by calculus: its own test has the formula',
    '_contrib_hawkesll': 'takes marks of whole numbers: its own test has finite differences',
    '_image_to_tensor': 'its result is single precision: its own test has the factor',
    **{f'_image_random_{n}': 'random: its gradient is that of the identity by rule'
       for n in ('brightness', 'color_jitter', 'contrast', 'hue', 'lighting', 'saturation')},
    **{f'_image_random_flip_{n}': 'random: its own test knows which way' for n in ('left_right', 'top_bottom')},
}


def test_every_differentiable_operator_has_samples():
    """An operator whose gradient is more than zeros, without a sample, would never be checked.

    Operators that only gradients use (their names begin with an underscore, but not with that of a name space) are
    checked by the second gradients.
    """
    from refengine.ops.binary import zero_gradient
    spaces = ('_contrib_', '_linalg_', '_image_', '_random_', '_sample_')
    missing = [o.name for o in op.operators() if o.grad not in (None, zero_gradient) and not o.samples
               and o.name not in UNSAMPLED and (not o.name.startswith('_') or o.name.startswith(spaces))]
    assert missing == []


@pytest.mark.parametrize('wrong', [
    lambda F, ograds, inputs, outputs, params: (ograds[0] * F.sin(inputs[0]),),
    lambda F, ograds, inputs, outputs, params: (ograds[0] * F.cos(inputs[0]) * 1.001,),
    lambda F, ograds, inputs, outputs, params: (F.cos(inputs[0]),),
])
def test_a_wrong_gradient_is_caught(wrong, monkeypatch):
    """The checker itself: a gradient of the wrong sign, slightly off, or that forgets what comes in."""
    sine = op.get('sin')
    monkeypatch.setattr(sine, 'grad', wrong)
    with pytest.raises(AssertionError):
        gradients.check_first(next(samples.of(sine)))


def test_a_wrong_second_gradient_is_caught(monkeypatch):
    """A gradient that is right in value but hides its dependence on the input fails the second check."""
    sine = op.get('sin')

    def hidden(F, ograds, inputs, outputs, params):
        constant = np.cos(getattr(inputs[0], '_data', inputs[0]))
        return (ograds[0] * (nd.array(constant, dtype='float64') if F is nd else constant),)

    monkeypatch.setattr(sine, 'grad', hidden)
    sample = next(samples.of(sine))
    gradients.check_first(sample)
    with pytest.raises(AssertionError):
        gradients.check_second(sample)
