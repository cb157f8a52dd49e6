"""Third and fourth derivatives of every smooth operator against finite differences in float64."""

from __future__ import annotations

from itertools import groupby

import numpy as np
import pytest

import refengine as mx
from refengine import autograd, nd, op, samples
from tests.refengine import gradients
from tests.refengine.ops.not_smooth import NOT_SMOOTH
from tests.refengine.ops.programs import BY_LOSS, SMOOTH

BY_OPERATOR = [list(group) for _, group in groupby(samples.every(), key=lambda s: s.operator.name)]


@pytest.mark.parametrize('group', BY_OPERATOR, ids=lambda g: g[0].operator.name)
def test_third_and_fourth_derivative(group):
    for sample in group:
        gradients.check_higher(sample, 3)
        gradients.check_higher(sample, 4)


@pytest.mark.parametrize('program', SMOOTH, ids=lambda p: p.name)
def test_programs(program):
    """What no sample can describe, from the first derivative on."""
    gradients.check_first(program)
    for order in (2, 3, 4):
        gradients.check_higher(program, order)


@pytest.mark.parametrize('program', BY_LOSS, ids=lambda p: p.name)
def test_gradients_of_losses_are_differentiated(program):
    """The first gradient is what the rule says; it is a function of its own, with derivatives by calculus."""
    for order in (2, 3, 4):
        gradients.check_higher(program, order)


def test_every_operator_is_checked_or_has_a_reason():
    """The gradients that derivatives of third order ask for, those of operators that only gradients use included."""
    checked = gradients.differentiated_operators([*samples.every(), *SMOOTH, *BY_LOSS], 3)
    rest = {o.name for o in op.operators()} - checked
    assert rest - NOT_SMOOTH.keys() == set()
    assert NOT_SMOOTH.keys() - {o.name for o in op.operators()} == set()
    differentiable = {o.name for o in op.operators() if o.samples and o.grad is not None}
    assert differentiable & NOT_SMOOTH.keys() == set()


def test_a_wrong_third_derivative_is_caught(monkeypatch):
    """The checker itself: right up to the second derivative, and one that hides its dependence from then on."""
    sine = op.get('sin')

    def hidden(F, ograds, inputs, outputs, params):
        return (F.sin_of_gradient(ograds[0], inputs[0]) if F is nd else ograds[0] * F.cos(inputs[0]),)

    def sin_of_gradient(above, x):
        fixed = nd.array(np.sin(x.asnumpy()) * -1, dtype='float64')      # a constant in place of the second derivative
        start = nd.array(x.asnumpy(), dtype='float64')
        return above * (nd.array(np.cos(x.asnumpy()), dtype='float64') + fixed * (x - start))

    monkeypatch.setattr(nd, 'sin_of_gradient', sin_of_gradient, raising=False)
    monkeypatch.setattr(sine, 'grad', hidden)
    sample = next(samples.of(sine))
    gradients.check_second(sample)
    gradients.check_higher(sample, 2)
    with pytest.raises(AssertionError, match='derivative of order 3'):
        gradients.check_higher(sample, 3)


def test_labels_without_alignment_have_no_second_gradient_either():
    data = nd.array(np.random.default_rng(3).normal(size=(2, 2, 3)), dtype='float64')
    data.attach_grad()
    with autograd.record():
        loss = nd.CTCLoss(data, nd.array([[1, 1, 2], [2, 0, 0]]))
        first = autograd.grad(loss, [data], create_graph=True)[0]
        total = (first * first).sum()
    total.backward()
    assert not data.grad.asnumpy()[:, 0].any()
    assert np.abs(data.grad.asnumpy()[:, 1]).min() > 1e-6


@pytest.mark.parametrize(('dtype', 'rtol'), [('float16', 2e-2), ('float32', 1e-5)])
def test_second_gradient_of_alignments_in_other_precisions(dtype, rtol):
    values = np.random.default_rng(3).normal(size=(4, 2, 3)).astype(dtype)
    found = []
    for kind in (dtype, 'float64'):
        data = nd.array(values, dtype=kind)
        data.attach_grad()
        with autograd.record():
            loss = nd.CTCLoss(data, nd.array([[1, 2], [1, 1]]))
            first = autograd.grad(loss, [data], create_graph=True)[0]
            total = (first * first).sum()
        total.backward()
        assert data.grad.dtype == np.dtype(kind)
        found.append(data.grad.asnumpy())
    np.testing.assert_allclose(*found, rtol=rtol, atol=rtol)


def test_output_gradients_from_above_are_differentiated():
    """With out_grad the gradient of SoftmaxOutput is a product; both factors have a share in the next one."""
    x = nd.array([[0.3, -0.2, 0.5]], dtype='float64')
    above = nd.array([[1.0, 2.0, -1.0]], dtype='float64')
    weight = nd.array([[0.7, -1.1, 0.4]], dtype='float64')
    x.attach_grad()
    above.attach_grad()
    label = nd.array([2], dtype='float64')
    with autograd.record():
        y = nd.SoftmaxOutput(x, label, out_grad=True)
        first = autograd.grad([y], [x], head_grads=[above * 1], create_graph=True)[0]
        total = (first * weight).sum()
    total.backward()
    p = np.exp(x.asnumpy()) / np.exp(x.asnumpy()).sum()
    t = np.array([[0.0, 0.0, 1.0]])
    v = above.asnumpy() * weight.asnumpy()
    np.testing.assert_allclose(above.grad.asnumpy(), weight.asnumpy() * (p - t), rtol=1e-12)
    np.testing.assert_allclose(x.grad.asnumpy(), p * (v - (p * v).sum()), rtol=1e-12)


def test_derivatives_through_saved_gradients_have_the_sign_of_calculus():
    """The fifth derivative of the sine is the cosine again: nothing is lost on the way."""
    x = mx.nd.array([0.7], dtype='float64')
    x.attach_grad()
    with autograd.record():
        y = nd.sin(x)
        for _ in range(4):
            y = autograd.grad(y, [x], create_graph=True, retain_graph=True)[0]
    y.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), np.cos([0.7]), rtol=1e-12)


def test_functions_of_the_program_are_differentiated_again():
    """What a Function saves, its result too, is part of the graph of its gradient."""
    class Exponential(autograd.Function):
        def forward(self, x):
            y = nd.exp(x)
            self.save_for_backward(y)
            return y

        def backward(self, above):
            return above * self.saved_tensors[0]

    x = nd.array([0.3, 0.5], dtype='float64')
    x.attach_grad()
    found = []
    for exponential in (nd.exp, Exponential()):
        with autograd.record():
            y = exponential(x * x)
            for _ in range(3):
                y = autograd.grad(y, [x], create_graph=True)[0]
        y.backward()
        found.append(x.grad.asnumpy())
    np.testing.assert_allclose(*found, rtol=1e-13)
