"""Operators that update weights: in place or not, many at once, and beside those of MXNet 1.9.1."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import refengine as mx
from tests.refengine import releases

nd = mx.nd


def test_the_weight_comes_back_and_states_change():
    weight, grad, momentum = nd.ones((2,)), nd.ones((2,)), nd.zeros((2,))
    result = nd.sgd_mom_update(weight, grad, momentum, lr=0.5, momentum=0.9)
    assert (result.asnumpy()[0], weight.asnumpy()[0], momentum.asnumpy()[0]) == (0.5, 1, -0.5)
    assert nd.sgd_mom_update(weight, grad, momentum, lr=0.5, momentum=0.0, out=weight) is weight
    assert (weight.asnumpy()[0], momentum.asnumpy()[0], grad.asnumpy()[0]) == (0.5, -0.5, 1)
    other = nd.zeros((2,))
    nd.sgd_update(weight, grad, lr=0.5, out=other)
    assert (weight.asnumpy()[0], other.asnumpy()[0]) == (0.5, 0)


def test_many_weights():
    weights, grads = [nd.ones((2,)), nd.ones((3,))], [nd.ones((2,)), nd.ones((3,))]
    data = [a for pair in zip(weights, grads) for a in pair]
    results = nd.multi_sgd_update(*data, lrs=(0.5, 1.0), wds=(0.0, 0.0), num_weights=2)
    assert [r.asnumpy()[0] for r in results] == [0.5, 0]
    nd.preloaded_multi_sgd_update(*data, nd.array([0.5, 1.0]), nd.zeros((2,)), num_weights=2, out=weights)
    assert [w.asnumpy()[0] for w in weights] == [0.5, 0]


@pytest.mark.parametrize(("call", "text"), [
    (lambda: nd.sgd_update(nd.ones((2,)), nd.ones((3,)), lr=1), r"expected \[2\], got \[3\]"),
    (lambda: nd.sgd_update(nd.ones((2,)), nd.ones((2,), dtype="float64"), lr=1), "expected float32, got float64"),
    (lambda: nd.sgd_update(nd.ones((2,)), nd.ones((2,))), "Required parameter lr of float is not presented"),
    (lambda: nd.sgd_update(nd.ones((2,)), nd.ones((2,)), lr=1, out=nd.ones((3,))), r"expected float32 \[2\]"),
    (lambda: nd.mp_sgd_update(*[nd.ones((2,), dtype="float16")] * 3, lr=1), "expected float32"),
    (lambda: nd.multi_sgd_update(nd.ones((2,)), nd.ones((2,)), lrs=(1,), wds=(1,), num_weights=2), "expects 4 arrays"),
    (lambda: nd.multi_sgd_update(nd.ones((2,)), nd.ones((2,)), lrs=(1, 2), wds=(1,)), "as many learning rates"),
    (lambda: nd.contrib.group_adagrad_update(nd.ones((2, 3)), nd.ones((2, 3)), nd.ones((2, 3)), lr=1), "history")])
def test_errors(call, text):
    with pytest.raises(mx.MXNetError, match=text):
        call()


def test_an_update_without_a_usable_scale_is_skipped():
    for scale in (0.0, float("nan"), float("inf")):
        weight, mean = nd.ones((2,)), nd.zeros((2,))
        arrays = weight, nd.ones((2,)), mean, nd.zeros((2,)), nd.array([scale])
        result = nd._internal._adamw_update(*arrays, lr=0.1, eta=1)
        assert (result.asnumpy().tolist(), mean.asnumpy().tolist()) == ([1, 1], [0, 0])


def test_examining_many_arrays():
    sums = nd.multi_sum_sq(nd.array([1.0, 2.0]), nd.array([[3.0], [4.0]]), num_arrays=2)
    assert (sums.asnumpy().tolist(), sums.dtype) == ([5, 25], np.float32)
    zeroed = [nd.ones((2,)), nd.ones((3, 1))]
    nd.reset_arrays(*zeroed, num_arrays=2)
    assert [float(a.asnumpy().sum()) for a in zeroed] == [0, 0]


JOBS = """
source = np.random.RandomState(7)


def make(shape, kind):
    values = source.normal(size=shape)
    values = np.abs(values) if 'p' in kind else values
    return values.astype('float16' if 'h' in kind else 'float32')


COMMON = ({}, {'wd': 0.1}, {'wd': 0.1, 'rescale_grad': 0.5, 'clip_gradient': 0.2}, {'clip_gradient': 0.0})
SINGLE = (('sgd_update', '', {}), ('sgd_mom_update', 'n', {'momentum': 0.9}), ('adam_update', 'np', {}),
          ('ftrl_update', 'np', {}), ('rmsprop_update', 'p', {}), ('rmsprop_update', 'p', {'clip_weights': 0.3}),
          ('signsgd_update', '', {}), ('signum_update', 'n', {'momentum': 0.9, 'wd_lh': 0.1}))
MASTER = (('mp_sgd_update', '', {}), ('mp_sgd_mom_update', 'n', {'momentum': 0.9}))
MANY = (('multi_sgd_update', '', {}), ('multi_sgd_mom_update', 'n', {'momentum': 0.9}),
        ('multi_mp_sgd_update', '', {}), ('multi_mp_sgd_mom_update', 'n', {'momentum': 0.9}))


def jobs():
    for name, states, options in SINGLE:
        for common in COMMON:
            yield name, [make((3, 4), k) for k in 'nn' + states], dict(options, lr=0.1, **common)
    for name, states, options in MASTER:
        for common in COMMON:
            yield name, [make((3, 4), k) for k in ['h', 'h', *states, 'n']], dict(options, lr=0.1, **common)
    for name, states, options in MANY:
        half = 'mp' in name
        kinds = ['h' if half else 'n'] * 2 + list(states) + ['n'] * half
        for common in COMMON:
            decay = common.get('wd', 0.0)
            given = dict(options, **{k: v for k, v in common.items() if k != 'wd'}, num_weights=2)
            arrays = [make(shape, k) for shape in ((3, 4), (5,)) for k in kinds]
            yield name, arrays, dict(given, lrs=(0.1, 0.2), wds=(decay, decay / 2))
            rates = [np.array([0.1, 0.2], 'float32'), np.array([decay, decay / 2], 'float32')]
            yield 'preloaded_' + name, arrays + rates, given
    for common in COMMON:
        given = {('clip_grad' if k == 'clip_gradient' else k): v for k, v in common.items()}
        yield 'ftml_update', [make((3, 4), k) for k in 'nnppn'], dict(given, lr=0.1, t=3)
        for correct in (True, False):
            yield ('lamb_update_phase1', [make((3, 4), k) for k in 'nnnp'],
                   dict({'wd': 0.0}, t=2, bias_correction=correct, **{k: v for k, v in common.items()}))
        lamb = {k: v for k, v in common.items() if k != 'wd'}
        rates = dict(learning_rates=(0.1, 0.2), wds=(common.get('wd', 0.0),) * 2, step_count=(1, 3), num_tensors=2)
        yield '_multi_lamb_update', [make(s, k) for s in ((3, 4), (5,)) for k in 'nnnp'], dict(lamb, **rates)
    for bounds in ({}, {'lower_bound': 5.0}, {'upper_bound': 1.0}):
        for norms in ((2.0, 3.0), (0.0, 3.0), (2.0, 0.0)):
            arrays = [make((3, 4), 'n'), make((3, 4), 'n')] + [np.array([x], 'float32') for x in norms]
            yield 'lamb_update_phase2', arrays, dict(bounds, lr=0.1)
    yield 'multi_sum_sq', [make((3, 4), 'n'), make((5,), 'n')], dict(num_arrays=2)
    yield ('multi_lars', [np.array(v, 'float32') for v in ([.1, .2, .3], [4, 0, 9], [1, 4, 0], [.1, .2, .3])],
           dict(eta=0.01, eps=1e-3, rescale_grad=0.5))


def run():
    results = []
    for name, arrays, options in jobs():
        given = [mx.nd.array(a, dtype=a.dtype) for a in arrays]
        count = options.get('num_weights', options.get('num_tensors'))
        if count:
            size = (len(given) - 2 * name.startswith('preloaded')) // count
            options = dict(options, out=given[:size * count:size])
        function = getattr(mx.nd, name, None) or getattr(mx.nd._internal, name)
        out = function(*given, **options)
        out = list(out) if isinstance(out, (list, tuple)) else [out]
        results.append((name, [a.asnumpy() for a in out + given]))
    return results
"""


@pytest.mark.needs_mxnet
def test_the_same_numbers_as_mxnet(tmp_path):
    releases.run("mxnet-1.9.1", f"{JOBS}\nimport pickle\npickle.dump(run(), open('seen.pickle', 'wb'))\n", tmp_path)
    scope: dict[str, object] = {"mx": mx, "np": np}
    exec(JOBS, scope)
    ours = scope["run"]()
    theirs = pickle.loads((tmp_path / "seen.pickle").read_bytes())
    assert len(ours) == len(theirs) > 80
    for (name, got), (_, wanted) in zip(ours, theirs):
        for a, b in zip(got, wanted):
            half = b.dtype == np.float16
            np.testing.assert_allclose(a, b, rtol=2e-3 if half else 2e-5, atol=1e-3 if half else 1e-5, err_msg=name)
            assert a.dtype == b.dtype
