"""The diagnosis of gradients: the layer, the line and the change for every way of losing one."""

from __future__ import annotations

import numpy as np
import pytest

import refengine as mx
from refengine import autograd, diagnose, nd


@pytest.fixture(autouse=True)
def _forget():
    yield
    diagnose.forget()


def variable(values=(1.0, 2.0)):
    w = nd.array(values)
    w.attach_grad()
    return w


def first(result):
    return result.problems[0]


def test_everything_is_right():
    w = variable()
    with autograd.record():
        y = (w * w).sum()
    y.backward(retain_graph=True)
    result = diagnose.gradient(w, y)
    assert not result
    assert 'y <- sum <- broadcast_mul <- w' in str(result)
    assert '2-norm 4.472' in str(result)


def test_the_variable_is_not_attached():
    w = nd.ones(2)
    assert first(diagnose.gradient(w)).change.startswith('w.attach_grad()')


def test_the_variable_wants_no_gradient():
    w = nd.ones(2)
    w.attach_grad('null')
    with autograd.record():
        y = w * 2
    result = diagnose.gradient(w, y)
    assert [p.layer for p in result.problems] == [1, 4]
    assert "attach_grad('write')" in first(result).change


def test_the_variable_is_a_result():
    w = variable()
    with autograd.record():
        middle = w * 2
        y = middle.sum()
    assert 'keeps none' in first(diagnose.gradient(middle, y)).text


def test_the_variable_was_bound_anew():
    w = variable()
    with diagnose.watch():
        w = w - 0.1 * w
    found = first(diagnose.gradient(w))
    assert 'another array than before' in found.text
    assert found.place.text == 'w = w - 0.1 * w'
    assert 'w[:] = ...' in found.change


def test_computed_outside_of_record_with_a_log():
    w = variable()
    with diagnose.watch():
        middle = w * 3
        with autograd.record():
            y = (middle + 1).sum()
    result = diagnose.gradient(w, y)
    assert first(result).layer == 2
    assert first(result).place.text == 'middle = w * 3'
    assert 'into the block of autograd.record()' in first(result).change


def test_computed_outside_of_record_without_a_log():
    w = variable()
    y = (w * 3).sum()
    found = first(diagnose.gradient(w, y))
    assert found.place.text == 'y = (w * 3).sum()'
    assert 'no block of autograd.record()' in found.text


def test_under_pause():
    w = variable()
    with diagnose.watch(), autograd.record():
        with autograd.pause():
            middle = nd.exp(w)
        y = middle * 2
    found = first(diagnose.gradient(w, y))
    assert 'under pause()' in found.text
    assert found.place.text == 'middle = nd.exp(w)'


def test_through_numpy():
    w = variable()
    with diagnose.watch(), autograd.record():
        middle = w * 2
        y = nd.array(np.exp(middle.asnumpy())).sum()
    found = first(diagnose.gradient(w, y))
    assert 'values that left the engine' in found.text
    with autograd.record():
        y = nd.array(w.asnumpy())
    diagnose.forget()
    assert 'asnumpy cuts the chain' in first(diagnose.gradient(w, y)).text


@pytest.mark.parametrize('cut', [lambda x: x.detach(), nd.BlockGrad, nd.stop_gradient])
def test_cut_on_purpose(cut):
    w = variable()
    with diagnose.watch(), autograd.record():
        middle = w * 2
        y = cut(middle).sum()
    result = diagnose.gradient(w, y)
    assert result
    assert ('cuts the chain' if cut(w)._node is None else 'gradient zero everywhere') in first(result).text


def test_attached_too_late():
    w = nd.ones(2)
    with diagnose.watch(), autograd.record():
        y = w * 2
    w.attach_grad()
    assert 'attached' in first(diagnose.gradient(w, y)).text
    w = variable()
    with autograd.record():
        y = w * 2
    w.attach_grad()
    result = diagnose.gradient(w, y)
    assert first(result).layer == 3
    assert 'does not depend on w' in first(result).text


def test_a_step_without_gradient():
    w = variable()
    with autograd.record():
        y = nd.sign(w).sum()
    found = first(diagnose.gradient(w, y))
    assert found.layer == 3
    assert 'y <- sum <- sign <- w' in found.text


def test_a_way_around_a_step_without_gradient_is_enough():
    w = variable()
    with autograd.record():
        y = (nd.sign(w) * w).sum()
    assert not diagnose.gradient(w, y)


def test_the_graph_was_freed():
    w = variable()
    with autograd.record():
        middle = w * 2
        y, z = middle.sum(), (middle * 3).sum()
    y.backward()
    assert 'went through it before' in first(diagnose.gradient(w, y)).text
    assert 'backward of another result' in first(diagnose.gradient(w, z)).text


def test_values():
    w = variable([0.0, 4.0])
    with autograd.record():
        y = nd.sqrt(w).sum()
    y.backward(retain_graph=True)
    assert '1 of 2 elements' in first(diagnose.gradient(w, y)).text
    fresh = variable()
    assert 'no backward has written' in str(diagnose.gradient(fresh))


def test_errors_lead_to_the_same_diagnosis():
    w = variable()
    y = w * 2
    with pytest.raises(mx.MXNetError) as caught:
        y.backward()
    result = diagnose.error(caught.value)
    assert first(result).place.text == 'y = w * 2'
    assert 'variables here: w' in str(result)
    with autograd.record():
        z = w * 2
    z.backward()
    with pytest.raises(mx.MXNetError) as caught:
        z.backward()
    assert 'z.backward(retain_graph=True)' in str(diagnose.error(caught.value))


def test_arguments():
    with pytest.raises(TypeError, match='a variable, a head or both'):
        diagnose.gradient()
    with pytest.raises(TypeError, match='NDArrays'):
        diagnose.gradient(3)
