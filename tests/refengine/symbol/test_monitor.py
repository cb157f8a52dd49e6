"""Monitors of executors: what they hear of, in the names of the release."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import refengine as mx

S = mx.sym
TEXT = """data fc_data fc_weight fc_weight fc_bias fc_bias fc_output _mulscalar0_input0 _mulscalar0_output
    t_input0 t_output bn_data bn_gamma bn_gamma bn_beta bn_beta bn_moving_mean bn_moving_mean bn_moving_var
    bn_moving_var bn_output bn_mean bn_var dr_data dr_output dr_mask sm_data sm_label sm_label sm_output"""
"""What MXNet 1.9.1 reports of the forward pass with monitor_all."""
BACK_TEXT = """sm_backward_output0 sm_backward_output1 dr_backward_output bn_backward_output0 bn_backward_output1
    bn_backward_output2 t_backward_output _mulscalar0_backward_output fc_backward_output0 fc_backward_output1
    fc_backward_output2"""
ALL, BACK = TEXT.split(), BACK_TEXT.split()
OUTPUTS = [name for name in ALL if name.endswith(('_output', '_mask')) or name in ('bn_mean', 'bn_var')]


def graph() -> Any:
    with mx.name.NameManager():
        dense = S.FullyConnected(S.var('data'), num_hidden=2, name='fc')
        normal = S.BatchNorm(S.tanh(dense * 2, name='t'), name='bn')
        return S.SoftmaxOutput(S.Dropout(normal, name='dr'), name='sm')


def bound(symbol: Any, watched: bool, monitor_all: bool = False, **shapes: Any) -> tuple[Any, list[Any]]:
    executor, heard = symbol.simple_bind(mx.cpu(), **shapes), []
    rng = np.random.RandomState(0)
    for array in executor.arg_arrays:
        array[:] = rng.randn(*array.shape)
    if watched:
        executor.set_monitor_callback(lambda name, array: heard.append((name, array.asnumpy())), monitor_all)
    return executor, heard


@pytest.mark.parametrize('monitor_all', [False, True])
def test_names_are_those_of_the_release(monitor_all: bool) -> None:
    executor, heard = bound(graph(), True, monitor_all, data=(2, 3))
    executor.forward(is_train=True)
    assert [name for name, _ in heard] == (ALL if monitor_all else OUTPUTS)
    heard.clear()
    executor.backward()
    assert [name for name, _ in heard] == BACK
    heard.clear()
    executor.forward(is_train=False)
    assert [name for name, _ in heard if name.endswith('_output')] == [n for n in OUTPUTS if n.endswith('_output')]


def loop() -> Any:
    def step(item: Any, held: Any) -> Any:
        found = S.FullyConnected(item, num_hidden=3, name='fc') + held
        return found, found

    outs, _ = S.contrib.foreach(step, S.var('data'), S.zeros((0, 3)))
    return S.LinearRegressionOutput(outs, S.var('label'))


@pytest.mark.parametrize(('make', 'shapes'), [(graph, {'data': (2, 3)}), (loop, {'data': (4, 2, 5)})])
def test_nothing_else_changes(make: Any, shapes: Any) -> None:
    found = []
    for watched in (False, True):
        mx.random.seed(3)
        executor, heard = bound(make(), watched, True, **shapes)
        for _ in range(2):
            executor.forward(is_train=True)
            executor.backward()
        assert bool(heard) == watched
        found.append([*executor.outputs, *executor.grad_arrays, *executor.aux_arrays])
    for plain, told in zip(*found, strict=True):
        assert np.array_equal(plain.asnumpy(), told.asnumpy())


def test_gradients_are_those_of_the_arguments() -> None:
    executor, heard = bound(graph(), True, data=(2, 3))
    executor.forward(is_train=True)
    executor.backward()
    values = dict(heard)
    for place, name in enumerate(('data', 'fc_weight', 'fc_bias')):
        assert np.array_equal(values[f'fc_backward_output{place}'], executor.grad_dict[name].asnumpy())


def test_requests() -> None:
    symbol = graph()
    executor = symbol.simple_bind(mx.cpu(), grad_req={'fc_weight': 'add', 'fc_bias': 'write'}, data=(2, 3))
    for array in executor.arg_arrays:
        array[:] = 0.5
    names: list[str] = []
    executor.set_monitor_callback(lambda name, array: names.append(name))
    executor.forward(is_train=True)
    executor.backward()
    once = executor.grad_dict['fc_weight'].asnumpy()
    executor.backward()
    np.testing.assert_array_equal(executor.grad_dict['fc_weight'].asnumpy(), 2 * once)
    assert 'fc_backward_output0' not in names
    assert 'fc_backward_output1' in names
