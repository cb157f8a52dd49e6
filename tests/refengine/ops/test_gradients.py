"""Every operator with samples: first and second gradients against finite differences in float64."""

from __future__ import annotations

import numpy as np
import pytest

from refengine import nd, op, samples
from tests.refengine import gradients

SAMPLES = list(samples.every())


@pytest.mark.parametrize('sample', SAMPLES, ids=lambda s: s.name)
def test_first_gradient(sample):
    """The registered gradient is the derivative of the forward body."""
    gradients.check_first(sample)


@pytest.mark.parametrize('sample', SAMPLES, ids=lambda s: s.name)
def test_second_gradient(sample):
    """Under create_graph the gradient can be differentiated again, and correctly."""
    gradients.check_second(sample)


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
