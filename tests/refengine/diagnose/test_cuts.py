"""Where the chain to a variable is cut, with a log of the calls and from the source alone."""

from __future__ import annotations

import contextlib

import pytest

import refengine as mx
from refengine import autograd, diagnose, nd
from refengine.gluon import nn


@pytest.fixture(autouse=True)
def _forget():
    yield
    diagnose.forget()


@pytest.fixture(params=['log', 'source'])
def watched(request):
    return diagnose.watch() if request.param == 'log' else contextlib.nullcontext()


def attached(*values):
    w = nd.array(values)
    w.attach_grad()
    return w


def first(result):
    return result.problems[0]


def asked(variable, head):
    """The question from another function than the one with the lines."""
    return first(diagnose.gradient(variable, head))


def test_attached_in_the_middle(watched):
    w = attached(1.0, 2.0)
    with watched, autograd.record():
        h = w * 2
        h.attach_grad()
        y = (h * h).sum()
    for found in (first(diagnose.gradient(w, y)), asked(w, y)):
        assert found.layer == 3
        assert 'attach_grad makes a new variable of h' in found.text
        assert found.place.text == 'h.attach_grad()'
        assert 'leave out h.attach_grad()' in found.change


def test_not_used(watched):
    w, v = attached(1.0), attached(2.0)
    with watched, autograd.record():
        y = (v * v).sum()
    found = first(diagnose.gradient(w, y))
    assert found.text.endswith('w is not used: y is computed from v')
    assert 'attach' not in found.text


def test_perhaps_not_used():
    w, v, x = attached(1.0), attached(2.0), nd.ones((1,))
    with autograd.record():
        y = (v * x).sum()
    assert 'w is not used: y is computed from v, unless' in first(diagnose.gradient(w, y)).text


def test_used_outside_of_record(watched):
    w, v = attached(1.0), attached(2.0)
    with watched:
        h = w * 2
        with autograd.record():
            y = (v * h).sum()
    found = first(diagnose.gradient(w, y))
    assert found.place.text == 'h = w * 2'
    assert 'record' in found.change


def test_attached_again(watched):
    w = attached(1.0)
    with watched:
        with autograd.record():
            y = (w * w).sum()
        w.attach_grad()
    found = first(diagnose.gradient(w, y))
    assert 'was attached again after broadcast_mul had used it' in found.text


def test_attached_after_its_use(watched):
    w, v = nd.ones((1,)), attached(2.0)
    with watched, autograd.record():
        y = (w * v).sum()
        w.attach_grad()
    assert 'was attached after broadcast_mul had used it' in first(diagnose.gradient(w, y)).text


def test_attached_inside_of_record_and_too_late():
    w = nd.ones((1,))
    with autograd.record():
        h = w * 2
        w.attach_grad()
        y = h.sum()
    found = first(diagnose.gradient(w, y))
    assert 'uses w, which is attached at line' in found.text
    assert found.place.text == 'w.attach_grad()'


def test_a_cut_some_lines_before():
    w = attached(1.0)
    with autograd.record():
        h = w * 2
        h = h.detach()
        y = h.sum()
    assert first(diagnose.gradient(w, y)).place.text == 'h = h.detach()'


def test_paused(watched):
    w = attached(1.0)
    with watched, autograd.record():
        h = w * 2
        with autograd.pause():
            g = h * h
        y = g.sum()
    found = first(diagnose.gradient(w, y))
    assert found.place.text == 'g = h * h'
    assert 'pause()' in found.text


def test_what_the_source_does_not_tell_is_not_said():
    w = attached(1.0)

    def square(x):
        with autograd.pause():
            return x * x

    with autograd.record():
        y = square(w)
    text = first(diagnose.gradient(w, y)).text
    assert 'attached before' not in text
    assert 'under pause()' in text


def test_lines_of_other_functions_tell_nothing():
    w = attached(1.0)

    def other():
        y = w.detach()
        return y * 2

    y = other() * 3
    assert 'detach' not in first(diagnose.gradient(w, y)).text


def dense(**given):
    net = nn.Dense(2, **given)
    net.initialize()
    return net


def test_a_parameter_that_wants_no_gradient(watched):
    net = dense(in_units=3)
    net.weight.grad_req = 'null'
    with watched, autograd.record():
        y = net(nd.ones((1, 3))).sum()
    for question in (net.weight.data(), net.weight):
        result = diagnose.gradient(question, y)
        assert 'grad_req' in first(result).text
        assert first(result).change == "net.weight.grad_req = 'write'"
        assert [p.layer for p in result.problems] == [1]
    net.weight.grad_req = 'write'
    with autograd.record():
        y = net(nd.ones((1, 3))).sum()
    assert not diagnose.gradient(net.weight, y)


def test_a_parameter_stands_for_its_array():
    net = dense(in_units=3)
    with autograd.record():
        y = net(nd.ones((1, 3))).sum()
    result = diagnose.gradient(net.weight, y)
    assert not result
    assert result.subject == 'gradient of y with respect to net.weight'
    assert 'not used: y is computed from net.weight, net.bias' in first(diagnose.gradient(attached(1.0), y)).text


def test_a_parameter_without_an_array():
    net = dense()
    found = first(diagnose.gradient(net.weight))
    assert 'settled when the block is called first' in found.text
    assert found.change.startswith('net(x)')
    net = nn.Dense(2, in_units=3)
    assert first(diagnose.gradient(net.weight)).change == 'net.initialize()'


def test_a_number_has_no_graph():
    w = attached(1.0)
    with pytest.raises(TypeError, match='a number has no graph'):
        diagnose.gradient(w, (w * 2).asscalar())


def test_the_log_knows_what_was_attached():
    with diagnose.watch() as log:
        w = nd.ones((2,))
        w.attach_grad()
    assert log.attached(w).place.text == 'w.attach_grad()'
    assert log.made(w).function == 'ones'
    assert mx.diagnose.gradient(w).problems == []
