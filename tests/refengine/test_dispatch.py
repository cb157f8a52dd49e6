"""Dispatch: checks before anything is written, out, kernels, ownership of results."""

from __future__ import annotations

import numpy as np
import pytest

import refengine as mx
from refengine import MXNetError, autograd, dispatch, nd, op


def test_a_result_never_shares_memory_with_an_operand(temporary):
    @temporary('same_again')
    def _same(xp, data):
        """The operand itself."""
        return data

    @temporary('turned')
    def _turned(xp, data):
        """A view of the operand."""
        return data.T

    x = nd.ones((2, 3))
    for name in ('same_again', 'turned'):
        result = dispatch.call(name, x)
        assert not np.shares_memory(result._data, x._data)


@pytest.mark.parametrize('sample', list(mx.samples.every()), ids=lambda s: s.name)
def test_operators_leave_their_operands_alone(sample):
    """Neither forward nor backward writes into an input, and no output is a view of one."""
    arrays = [nd.array(a, dtype='float64') for a in sample.arrays]
    if sample.operator.mutates:
        pytest.skip('writes its inputs by design')
    before = [a.asnumpy() for a in arrays]
    for array in arrays:
        array.attach_grad()
    with autograd.record():
        result = dispatch.invoke(sample.operator, arrays, sample.params)
        outputs = result if isinstance(result, list) else [result]
    for output in outputs:
        assert not any(np.shares_memory(output._data, a._data) for a in arrays)
    autograd.backward(outputs)
    for array, content in zip(arrays, before):
        np.testing.assert_array_equal(array.asnumpy(), content)


@pytest.mark.parametrize('sample', list(mx.samples.every()), ids=lambda s: s.name)
def test_small_types_go_in_and_come_out(sample):
    """float32 stays float32 in results and gradients: nothing is promoted on the way."""
    arrays = [nd.array(a, dtype='float32') for a in sample.arrays]
    for array in arrays:
        array.attach_grad()
    with autograd.record():
        result = dispatch.invoke(sample.operator, arrays, sample.params)
        outputs = result if isinstance(result, list) else [result]
    if 'dtype' not in sample.params:
        assert {o.dtype for o in outputs} <= {np.float32, np.int32, np.int64}
    autograd.backward(outputs)
    for array in arrays:
        assert array._node.grad.dtype is np.float32


def test_out_is_written_in_place_and_returned():
    x, target = nd.array([1, 4, 9]), nd.zeros(3)
    raw = target._data
    assert nd.sqrt(x, out=target) is target
    assert target._data is raw
    assert target.asnumpy().tolist() == [1, 2, 3]


@pytest.mark.parametrize(('target', 'text'), [
    (lambda: nd.zeros(2), r'expected \[3\], got \[2\]'), (lambda: nd.zeros(3, dtype='int32'),
                                                          'expected float32, got int32'),
])
def test_an_unfit_out_is_refused_untouched(target, text):
    out = target()
    with pytest.raises(MXNetError, match=text):
        nd.sqrt(nd.array([1, 4, 9]), out=out)
    assert not out.asnumpy().any()


def test_a_kernel_stands_before_the_generic_body(temporary):
    calls = []

    @temporary('doubled')
    def _doubled(xp, data):
        """Twice the operand."""
        calls.append('generic')
        return data * 2

    @op.kernel_of('doubled')
    def _fast(xp, data):
        if data.size > 2:
            return NotImplemented
        calls.append('kernel')
        return data + data

    assert dispatch.call('doubled', nd.ones(2)).asnumpy().tolist() == [2, 2]
    assert dispatch.call('doubled', nd.ones(3)).asnumpy().tolist() == [2, 2, 2]
    assert dispatch.raw(np).doubled(np.ones(2)).tolist() == [2, 2]
    assert calls == ['kernel', 'generic', 'kernel']


def test_large_and_small_arrays_give_the_same():
    """Above a size buffers come from the pool and the short ways are left."""
    values = np.linspace(-2, 2, 40000, dtype='float32')
    for function in (lambda x: x + x, lambda x: x * 2, nd.exp, nd.relu, nd.sigmoid, lambda x: nd.clip(x, -1, 1),
                     lambda x: x > 0.5, lambda x: nd.maximum(x, 0.1)):
        whole = function(nd.array(values)).asnumpy()
        parts = np.concatenate([function(nd.array(p)).asnumpy() for p in np.split(values, 40)])
        np.testing.assert_array_equal(whole, parts)


def test_a_large_transpose_is_right():
    values = np.arange(700 * 900, dtype='float32').reshape(700, 900)
    np.testing.assert_array_equal(nd.array(values).T.asnumpy(), values.T)


def test_arithmetic_warns_of_nothing_and_leaves_numpy_alone():
    before = np.geterr()
    x = nd.array([0.0, -1.0])
    for result in (1 / x, nd.log(x), x / 0, nd.sqrt(x), nd.exp(x * -1e30), x.astype('float16') * 1e9):
        result.wait_to_read()
    x.attach_grad()
    with autograd.record():
        y = nd.sqrt(x) + 1 / x
    y.backward()
    assert np.geterr() == before


def test_inputs_on_two_kinds_of_device_are_refused():
    handle = nd.ndarray._new_alloc_handle((2,), mx.gpu(0), True)
    on_gpu = nd.NDArray(handle)
    with pytest.raises(MXNetError, match=r'first argument is on cpu\(0\) while the 2-th argument is on gpu\(0\)'):
        nd.ones(2) + on_gpu


@pytest.mark.parametrize('dtype', ['float32', 'float16', 'float64'])
def test_sigmoid_of_an_array_without_dimensions(dtype):
    with mx.util.np_shape(True):
        x = nd.array(np.array(0.0), dtype=dtype)
        x.attach_grad()
        with autograd.record():
            y = nd.sigmoid(x)
        y.backward()
        assert (y.shape, y.asnumpy(), x.grad.asnumpy(), np.dtype(y.dtype)) == ((), 0.5, 0.25, np.dtype(dtype))


def test_a_gradient_that_no_integer_holds_does_not_end_backward():
    with mx.util.np_shape(True):
        x, y = (nd.zeros((), dtype='int32') for _ in range(2))
        x.attach_grad()
        with autograd.record():
            z = x / y
        z.backward()
        assert (x.grad.shape, np.dtype(x.grad.dtype)) == ((), np.dtype('int32'))
