"""Losses: the numbers that MXNet 1.9.1 gives, and their formulas in double precision."""

from __future__ import annotations

import numpy as np
import pytest

from refengine import autograd, nd
from refengine.gluon import loss as losses

PRED = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
LABEL = np.array([[1.0, 0.0, 1.5], [0.0, 1.0, 0.5]])
BINARY = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
SIGNED = 2 * BINARY - 1
PROBABILITY = np.array([[0.5, 0.1, 0.9], [0.2, 0.3, 0.4]])
DISTRIBUTION = np.array([[0.3, 0.3, 0.4], [0.0, 0.5, 0.5]])
THIRD = np.array([[0.0, 1.0, 0.0], [1.0, 1.0, 1.0]])


def softplus(x):
    return np.logaddexp(0, x)


def log_softmax(x, axis=-1):
    return x - np.log(np.exp(x).sum(axis=axis, keepdims=True))


def mean(x, axis=0):
    return x.mean(axis=tuple(i for i in range(x.ndim) if i != axis))


def huber(rho):
    d = np.abs(PRED - LABEL)
    return mean(np.where(d > rho, d - rho / 2, d ** 2 / (2 * rho)))


def cosine(a, b):
    return (a * b).sum(-1) / np.linalg.norm(a, axis=-1) / np.linalg.norm(b, axis=-1)


# name: loss, inputs, formula in float64, values and gradients by the first input as MXNet 1.9.1 gives them
CASES = {
    'L2': (losses.L2Loss(), (PRED, LABEL), lambda: mean((PRED - LABEL) ** 2) / 2,
           [0.25, 0.7291667], [-0.1666667, -0.3333333, 0.1666667, 0.5, -0.25, -0.4166667]),
    'L2 weight': (losses.L2Loss(weight=3), (PRED, LABEL), lambda: mean((PRED - LABEL) ** 2) * 1.5,
                  [0.75, 2.1875], [-0.5, -1.0, 0.5, 1.5, -0.75, -1.25]),
    'L2 batch axis': (losses.L2Loss(batch_axis=1), (PRED, LABEL), lambda: mean((PRED - LABEL) ** 2, 1) / 2,
                      [0.625, 0.390625, 0.453125], [-0.25, -0.5, 0.25, 0.75, -0.375, -0.625]),
    'L2 sample weight': (losses.L2Loss(), (PRED, LABEL, np.array([[2.0], [0.5]])),
                         lambda: mean((PRED - LABEL) ** 2 * [[2.0], [0.5]]) / 2,
                         [0.5, 0.3645833], [-0.3333333, -0.6666667, 0.3333333, 0.25, -0.125, -0.2083333]),
    'L1': (losses.L1Loss(), (PRED, LABEL), lambda: mean(np.abs(PRED - LABEL)),
           [0.6666667, 1.1666667], [-0.3333333, -0.3333333, 0.3333333, 0.3333333, -0.3333333, -0.3333333]),
    'BCE': (losses.SigmoidBCELoss(), (PRED, BINARY), lambda: mean(softplus(PRED) - PRED * BINARY),
            [0.304756, 1.138074], [-0.125847, 0.089647, -0.039734, 0.272525, -0.145941, -0.226393]),
    'BCE of probabilities': (losses.SigmoidBCELoss(from_sigmoid=True), (PROBABILITY, BINARY),
                             lambda: mean(-np.log(np.where(BINARY == 1, PROBABILITY, 1 - PROBABILITY))),
                             [0.301289, 0.781136], [-0.6666667, 0.37037, -0.37037, 0.416667, -1.111111, -0.833333]),
    'BCE positive weight': (losses.SigmoidBCELoss(), (PRED, BINARY, None, np.array([2.0, 3.0, 0.5])),
                            lambda: mean(BINARY * [2.0, 3.0, 0.5] * softplus(-PRED) + (1 - BINARY) * softplus(PRED)),
                            [0.441627, 1.332556], [-0.251694, 0.089647, -0.019867, 0.272525, -0.437824, -0.113196]),
    'BCE of probabilities, positive weight': (
        losses.SigmoidBCELoss(from_sigmoid=True), (PROBABILITY, BINARY, None, np.array([2.0, 3.0, 0.5])),
        lambda: mean(-BINARY * np.array([2.0, 3.0,
                                         0.5]) * np.log(PROBABILITY) - (1 - BINARY) * np.log(1 - PROBABILITY)),
        [0.514778, 1.431069], [-1.333333, 0.37037, -0.185185, 0.416667, -3.333333, -0.416667]),
    'SoftmaxCE': (losses.SoftmaxCELoss(), (PRED, np.array([2.0, 0.0])), lambda: -log_softmax(PRED)[[0, 1], [2, 0]],
                  [0.241314, 0.330675], [0.17529, 0.039112, -0.214405, -0.281562, 0.205836, 0.075723]),
    'SoftmaxCE dense': (losses.SoftmaxCELoss(sparse_label=False), (PRED, BINARY),
                        lambda: -(log_softmax(PRED) * BINARY).sum(-1),
                        [1.982628, 4.161351], [-0.64942, 0.078225, 0.57119, 1.436877, -0.588328, -0.848554]),
    'SoftmaxCE of logits': (losses.SoftmaxCELoss(from_logits=True), (PRED, np.array([2.0, 0.0])),
                            lambda: -PRED[[0, 1], [2, 0]], [-2.0, -1.5], [0, 0, -1.0, -1.0, 0, 0]),
    'SoftmaxCE axis': (losses.SoftmaxCELoss(axis=0, batch_axis=1), (PRED, np.array([1.0, 0.0, 1.0])),
                       lambda: -log_softmax(PRED, 0)[[1, 0, 1], [0, 1, 2]],
                       [0.313262, 1.501929, 2.811968], [0.268941, -0.7773, 0.939913, -0.268941, 0.7773, -0.939913]),
    'KL': (losses.KLDivLoss(), (np.log([[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]]), DISTRIBUTION),
           lambda: (DISTRIBUTION * (np.log(DISTRIBUTION + 1e-12) - np.log([[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]]))).sum(-1),
           [0.032382, 0.569717], [-0.3, -0.3, -0.4, 0.0, -0.5, -0.5]),
    'KL after softmax': (losses.KLDivLoss(from_logits=False), (PRED, DISTRIBUTION),
                         lambda: (DISTRIBUTION * (np.log(DISTRIBUTION + 1e-12) - log_softmax(PRED))).sum(-1),
                         [0.502414, 1.387528], [-0.12471, -0.260888, 0.385595, 0.718438, -0.294164, -0.424277]),
    'KL axis': (losses.KLDivLoss(from_logits=False, axis=0), (PRED, DISTRIBUTION),
                lambda: (DISTRIBUTION * (np.log(DISTRIBUTION + 1e-12) - log_softmax(PRED, 0))).sum(-1),
                [-0.219556, 0.838801], [-0.219318, -0.12184, 0.445922, 0.219318, 0.12184, -0.445922]),
    'Huber': (losses.HuberLoss(), (PRED, LABEL), lambda: huber(1.0),
              [0.25, 0.677083], [-0.166667, -0.333333, 0.166667, 0.333333, -0.25, -0.333333]),
    'Huber rho': (losses.HuberLoss(rho=0.4), (PRED, LABEL), lambda: huber(0.4),
                  [0.466667, 0.966667], [-0.333333, -0.333333, 0.333333, 0.333333, -0.333333, -0.333333]),
    'Hinge': (losses.HingeLoss(), (PRED, SIGNED), lambda: mean(np.maximum(0, 1 - PRED * SIGNED)),
              [0.166667, 1.666667], [-0.333333, 0.0, 0.0, 0.333333, -0.333333, -0.333333]),
    'SquaredHinge': (losses.SquaredHingeLoss(margin=2), (PRED, SIGNED),
                     lambda: mean(np.maximum(0, 2 - PRED * SIGNED) ** 2),
                     [1.083333, 7.625], [-1.0, 0.666667, 0.0, 2.333333, -1.166667, -1.833333]),
    'Logistic': (losses.LogisticLoss(), (PRED, SIGNED), lambda: mean(softplus(-PRED * SIGNED)),
                 [0.304756, 1.138074], [-0.125847, 0.089647, -0.039734, 0.272525, -0.145941, -0.226393]),
    'Logistic binary': (losses.LogisticLoss(label_format='binary'), (PRED, BINARY),
                        lambda: mean(softplus(-PRED * SIGNED)),
                        [0.304756, 1.138074], [-0.125847, 0.089647, -0.039734, 0.272525, -0.145941, -0.226393]),
    'Triplet': (losses.TripletLoss(), (PRED, LABEL, THIRD),
                lambda: np.maximum(0, ((PRED - LABEL) ** 2 - (PRED - THIRD) ** 2).sum(-1) + 1),
                [0.0, 1.5], [0.0, 0.0, 0.0, 2.0, 0.0, 1.0]),
    'PoissonNLL': (losses.PoissonNLLLoss(), (PRED, LABEL), lambda: [(np.exp(PRED) - LABEL * PRED).mean()],
                   [2.04479], [0.10812, 0.061313, 0.981509, 0.746948, 0.047338, -0.004606]),
    'PoissonNLL of rates': (losses.PoissonNLLLoss(from_logits=False), (np.abs(PRED), LABEL),
                            lambda: [(np.abs(PRED) - LABEL * np.log(np.abs(PRED) + 1e-8)).mean()], None, None),
    'PoissonNLL full': (losses.PoissonNLLLoss(compute_full=True), (PRED, np.array([[1.0, 0, 2.5], [3, 1, 0.5]])),
                        lambda: [stirling()], None, None),
    'CosineEmbedding': (losses.CosineEmbeddingLoss(), (PRED, LABEL, np.array([1.0, -1.0])),
                        lambda: [[1 - cosine(PRED, LABEL)[0]], [max(0, cosine(PRED, LABEL)[1])]],
                        [0.152682, 0.0], [-0.161394, -0.161394, -0.040349, 0, 0, 0]),
    'CosineEmbedding margin': (losses.CosineEmbeddingLoss(margin=-0.5), (PRED, LABEL, np.array([-1.0, -1.0])),
                               lambda: np.maximum(0, cosine(PRED, LABEL) + 0.5)[:, None],
                               [1.347318, 0.434062], [0.161394, 0.161394, 0.040349, 0.034402, 0.533238, 0.246551]),
    'SDML': (losses.SDMLLoss(), (PRED, LABEL), lambda: sdml(PRED, LABEL, 0.3),
             [0.89585, 0.002395], [0.586616, -0.586612, 0.586613, -0.062122, 0.062119, -0.062111]),
    'SDML of three': (losses.SDMLLoss(smoothing_parameter=0.1, weight=2),
                      (np.array([[1.0, 2], [3, 4], [0, 1]]), np.array([[1, 1.5], [2, 4], [0.5, 1]])),
                      lambda: sdml(np.array([[1.0, 2], [3, 4], [0, 1]]), np.array([[1, 1.5], [2, 4], [0.5, 1]]), 0.1),
                      [0.212672, 0.780698, 0.606364], [-0.30468, -0.435822, 0.249803, 0.549516, 0.06895, -0.081046]),
}


def stirling():
    target = np.array([[1.0, 0, 2.5], [3, 1, 0.5]])
    safe = np.maximum(target, 1)
    extra = np.where(target > 1, target * np.log(safe) - target + 0.5 * np.log(2 * np.pi * safe), 0)
    return (np.exp(PRED) - target * PRED + extra).mean()


def sdml(x, y, smoothing):
    size = len(x)
    logs = log_softmax(-((x[:, None] - y[None]) ** 2).sum(-1), 1)
    target = np.full((size, size), smoothing / (size - 1))
    np.fill_diagonal(target, 1 - smoothing)
    return (target * (np.log(target) - logs)).sum(1)


def evaluate(loss, inputs, dtype):
    arrays = [None if a is None else nd.array(a, dtype=dtype) for a in inputs]
    arrays[0].attach_grad()
    with autograd.record():
        out = loss(*arrays)
    out.backward()
    return out.asnumpy(), arrays[0].grad.asnumpy()


@pytest.mark.parametrize('name', list(CASES))
def test_formula(name):
    loss, inputs, formula, _, _ = CASES[name]
    out, _ = evaluate(loss, inputs, 'float64')
    np.testing.assert_allclose(out, formula(), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize('name', [n for n, case in CASES.items() if case[3] is not None])
def test_release(name):
    loss, inputs, _, values, gradients = CASES[name]
    out, gradient = evaluate(loss, inputs, 'float32')
    np.testing.assert_allclose(out.reshape(-1), values, rtol=1e-4, atol=3e-6)
    np.testing.assert_allclose(gradient.reshape(-1), gradients, rtol=2e-4, atol=3e-5)


@pytest.mark.parametrize('name', list(CASES))
def test_gradient(name):
    """By central differences in double precision."""
    loss, inputs, _, _, _ = CASES[name]
    inputs = (inputs[0] + 0.0137, *inputs[1:])             # away from the kinks of the hinges
    _, gradient = evaluate(loss, inputs, 'float64')
    for place in np.ndindex(inputs[0].shape):
        moved = []
        for step in (1e-6, -1e-6):
            first = inputs[0].copy()
            first[place] += step
            moved.append(evaluate(loss, (first, *inputs[1:]), 'float64')[0].sum())
        np.testing.assert_allclose(gradient[place], (moved[0] - moved[1]) / 2e-6, rtol=1e-4, atol=1e-6)


class TestCTC:
    DATA = np.array([[[.55, .72, .6], [.54, .42, .65], [.44, .89, .96], [.38, .79, .53]],
                     [[.57, .93, .07], [.09, .02, .83], [.78, .87, .98], [.8, .46, .78]]])

    @pytest.mark.parametrize(('arguments', 'expected'), [
        (([[1, 0], [1, -1]],), [1.905677, 2.140456]), (([[1, 0], [1, 0]], [3, 4], [1, 2]), [1.368527, 1.52717]),
        (([[1, 0], [1, 0]], None, [1, 2]), [1.900848, 1.52717])])
    def test_values(self, arguments, expected):
        arrays = [None if a is None else nd.array(a) for a in arguments]
        out = losses.CTCLoss()(nd.array(self.DATA), *arrays)
        np.testing.assert_allclose(out.asnumpy(), expected, rtol=1e-5)
        turned = losses.CTCLoss(layout='TNC', label_layout='TN', weight=2)(
            nd.array(self.DATA.transpose(1, 0, 2)), arrays[0].T, *arrays[1:])
        np.testing.assert_allclose(turned.asnumpy(), 2 * np.array(expected), rtol=1e-5)

    def test_gradient(self):
        data = nd.array(self.DATA)
        data.attach_grad()
        with autograd.record():
            out = losses.CTCLoss()(data, nd.array([[1, 0], [1, -1]]))
        out.backward()
        np.testing.assert_allclose(data.grad.asnumpy()[0], [
            [0.308968, -0.32826, 0.019292], [0.116538, -0.180958, 0.064419], [-0.195546, 0.149322, 0.046223],
            [-0.393122, 0.410728, -0.017605]], rtol=1e-4, atol=2e-6)

    def test_layouts(self):
        with pytest.raises(AssertionError, match="Only 'NTC' and 'TNC' layouts for pred"):
            losses.CTCLoss(layout='NCT')
        with pytest.raises(AssertionError, match="Only 'NT' and 'TN' layouts for label"):
            losses.CTCLoss(label_layout='X')


def test_labels_out_of_range_take_the_nearest_class():
    out = losses.SoftmaxCELoss()(nd.array(PRED), nd.array([5, -1]))
    np.testing.assert_allclose(out.asnumpy(), [0.2413113, 0.3306730], rtol=1e-5)


def test_loss_scale():
    """Rule FP16-OPT-005."""
    pred, label = nd.array([[1, 2, 3]]), nd.array([2])
    for weight in (None, 128):
        pred.attach_grad()
        with autograd.record():
            out = losses.SoftmaxCELoss(weight=weight)(pred, label)
        out.backward()
        factor = weight or 1
        np.testing.assert_allclose(out.asscalar(), 0.40760596 * factor, rtol=1e-6)
        np.testing.assert_allclose(pred.grad.asnumpy(), np.array([[0.0900306, 0.2447285, -0.3347592]]) * factor,
                                   rtol=1e-5)


def test_label_of_another_shape():
    assert losses.L2Loss()(nd.ones((2, 1)), nd.ones((2,))).shape == (2,)
    for loss in (losses.L2Loss(), losses.SoftmaxCELoss(sparse_label=False)):
        with pytest.raises(ValueError, match=r'Cannot reshape array of size 6 into shape \(2, 2\)'):
            loss(nd.ones((2, 2)), nd.ones((2, 3)))


def test_wrong_arguments():
    with pytest.raises(ValueError, match='label_format can only be signed or binary'):
        losses.LogisticLoss(label_format='foo')
    with pytest.raises(AssertionError, match='weight must be a number'):
        losses.L1Loss(weight='a')(nd.ones((2, 2)), nd.ones((2, 2)))
    with pytest.raises(NotImplementedError):
        losses.Loss(1.0, 0)(nd.ones(2))


def test_half_precision_and_repr():
    out = losses.SoftmaxCELoss()(nd.ones((2, 3), dtype='float16'), nd.zeros(2, dtype='float16'))
    assert out.dtype == np.float16
    assert repr(losses.L2Loss()) == 'L2Loss(batch_axis=0, w=1.0)'
    assert repr(losses.SoftmaxCELoss(batch_axis=1)) == 'SoftmaxCrossEntropyLoss(batch_axis=1, w=None)'
