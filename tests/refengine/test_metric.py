"""Metrics: the numbers that MXNet 1.9.1 gives for the same batches."""

from __future__ import annotations

import math

import numpy as np
import pytest

from refengine import metric, nd

LABEL = nd.array([0, 1, 1, 2])
PRED = nd.array([[.7, .2, .1], [.1, .8, .1], [.5, .3, .2], [.1, .1, .8]])
YES = nd.array([0, 1, 1, 0])
OTHER = nd.array([1, 1, 1, 0])
SCORES = nd.array([[.3, .7], [.2, .8], [.6, .4], [.9, .1]])
WIDE, SHIFTED = nd.array([[1, 2], [3, 4.]]), nd.array([[1, 3], [5, 4.]])
LINE, OFF = nd.array([1, 2, 3]), nd.array([2, 2, 5])


def after(one, *updates):
    for label, pred in updates:
        one.update(label, pred)
    return one


@pytest.mark.parametrize(('one', 'updates', 'expected', 'count'), [
    (metric.Accuracy(), [([LABEL], [PRED]), ([nd.array([1])], [nd.array([[.1, .9]])])], 0.8, 5),
    (metric.Accuracy(), [(LABEL, PRED)], 0.75, 4),
    (metric.Accuracy(), [(LABEL, nd.array([0, 1, 0, 2]))], 0.75, 4),
    (metric.Accuracy(), [([nd.array([[0], [1]])], [nd.array([[.9, .1], [.2, .8]])])], 1.0, 2),
    (metric.TopKAccuracy(2), [([LABEL], [PRED])], 1.0, 4),
    (metric.TopKAccuracy(2), [([nd.array([1, 0])], [nd.array([[.3, .1, .6], [.2, .5, .3]])])], 0.0, 2),
    (metric.F1(), [([YES], [SCORES]), ([OTHER], [SCORES])], 0.65, 2),
    (metric.F1(average='micro'), [([YES], [SCORES]), ([OTHER], [SCORES])], 0.6666667, 8),
    (metric.MCC(), [([YES], [SCORES]), ([OTHER], [SCORES])], 0.2886751, 2),
    (metric.MCC(average='micro'), [([YES], [SCORES]), ([OTHER], [SCORES])], 0.2581989, 8),
    (metric.PCC(), [([LABEL], [PRED]), ([YES], [SCORES])], 0.3947368, 2),
    (metric.PCC(), [([YES], [SCORES]), ([nd.array([0, 1, 2, 3])], [nd.array(np.eye(4)[[0, 1, 3, 2]])])], 0.2727273, 2),
    (metric.PearsonCorrelation(), [([YES], [nd.array([.1, .8, .4, .2])]), ([OTHER], [nd.array([.5, .8, .4, .9])])],
     0.0695572, 2),
    (metric.PearsonCorrelation(average='micro'),
     [([YES], [nd.array([.1, .8, .4, .2])]), ([OTHER], [nd.array([.5, .8, .4, .9])])], 0.3159030, 2),
    (metric.MAE(), [([WIDE], [SHIFTED]), ([LINE], [OFF])], 0.875, 2),
    (metric.MSE(), [([WIDE], [SHIFTED]), ([LINE], [OFF])], 1.4583333, 2),
    (metric.RMSE(), [([WIDE], [SHIFTED]), ([LINE], [OFF])], 1.2045142, 2),
    (metric.MSE(), [([LINE], [OFF.reshape((3, 1))])], 1.6666667, 1),
    (metric.CrossEntropy(), [([LABEL], [PRED])], 0.5017337, 4),
    (metric.NegativeLogLikelihood(), [([LABEL], [PRED])], 0.5017337, 4),
    (metric.Perplexity(None), [([LABEL], [PRED])], 1.6515822, 4),
    (metric.Perplexity(1), [([LABEL], [PRED])] * 2, 1.3363062, 4),
    (metric.Perplexity(None, axis=0), [([nd.array([0, 1])], [nd.array([[.3, .6], [.7, .4]])])], 2.8867514, 2),
    (metric.Loss(), [(None, [nd.array([1, 2, 3]), nd.array([[4.]])]), ([], nd.array([1.]))], 2.2, 5),
    (metric.CustomMetric(lambda label, pred: (np.abs(label - pred).sum(), label.size)), [([WIDE], [SHIFTED])], 0.75, 4),
    (metric.CustomMetric(lambda label, pred: 3.0), [([WIDE], [SHIFTED])] * 2, 3.0, 2),
])
def test_values(one, updates, expected, count):
    after(one, *updates)
    name, value = one.get()
    assert value == pytest.approx(expected, rel=1e-6)
    assert one.num_inst == count
    assert one.get_name_value() == [(name, value)]
    assert one.get_global() == pytest.approx((name, value))
    assert one.get_global_name_value() == [(name, one.get_global()[1])]
    one.reset()
    assert math.isnan(one.get()[1])


def test_local_and_global():
    for one in (metric.Accuracy(), metric.F1(average='micro'), metric.PCC(),
                metric.PearsonCorrelation(average='micro')):
        labels, preds = ([YES], [YES if isinstance(one, metric.PearsonCorrelation) else SCORES])
        first = after(one, (labels, preds)).get()[1]
        one.reset_local()
        assert math.isnan(one.get()[1])
        assert one.get_global()[1] == pytest.approx(first)
        after(one, (labels, preds))
        assert one.get()[1] == pytest.approx(first)
        assert one.get_global()[1] == pytest.approx(first)


@pytest.mark.parametrize(('one', 'labels', 'preds', 'error', 'fragment'), [
    (metric.Accuracy(), [LABEL], [PRED[:3]], ValueError, 'Shape of labels 4 does not match shape of predictions 3'),
    (metric.Accuracy(), [LABEL, LABEL], [PRED], ValueError, 'Shape of labels 2 does not match'),
    (metric.F1(), [LABEL], [PRED], ValueError, 'only supports binary classification'),
    (metric.MAE(), [WIDE], [LINE], ValueError, 'broadcast'),
    (metric.CrossEntropy(), [nd.array([0, 1])], [PRED], AssertionError, '2 labels for 4 predictions'),
    (metric.CrossEntropy(), [nd.array([5])], [PRED[:1]], IndexError, 'out of bounds'),
    (metric.Perplexity(None), [nd.array([0, 1])], [PRED], AssertionError, 'shape mismatch'),
    (metric.CustomMetric(lambda label, pred: 1), [WIDE, WIDE], [WIDE], ValueError, 'Shape of labels 2'),
])
def test_errors(one, labels, preds, error, fragment):
    with pytest.raises(error, match=fragment):
        one.update(labels, preds)


def test_wrong_arguments():
    with pytest.raises(AssertionError, match='Please use Accuracy if top_k is no more than 1'):
        metric.TopKAccuracy(1)
    with pytest.raises(AssertionError, match='average must be'):
        metric.F1(average='foo')
    with pytest.raises(NotImplementedError):
        metric.EvalMetric('x').update(None, None)


class TestCreate:
    @pytest.mark.parametrize(('name', 'kind'), [
        ('acc', 'Accuracy'), ('accuracy', 'Accuracy'), ('Accuracy', 'Accuracy'), ('ce', 'CrossEntropy'), ('f1', 'F1'),
        ('crossentropy', 'CrossEntropy'), ('mae', 'MAE'), ('mse', 'MSE'), ('rmse', 'RMSE'), ('mcc', 'MCC'), ('pcc',
                                                                                                             'PCC'),
        ('nll_loss', 'NegativeLogLikelihood'), ('negativeloglikelihood', 'NegativeLogLikelihood'),
        ('pearsonr', 'PearsonCorrelation'), ('pearsoncorrelation', 'PearsonCorrelation'), ('loss', 'Loss'),
        ('composite', 'CompositeEvalMetric'), ('torch', 'Torch'), ('caffe', 'Caffe')])
    def test_names(self, name, kind):
        assert type(metric.create(name)).__name__ == kind

    def test_other_ways(self):
        assert metric.create('top_k_acc', top_k=3).name == 'top_k_accuracy_3'
        assert metric.create('perplexity', ignore_label=None).ignore_label is None
        assert [type(m).__name__ for m in metric.create(['acc', 'mse']).metrics] == ['Accuracy', 'MSE']
        assert type(metric.create(max)) is metric.CustomMetric
        assert type(metric.create('["mse", {}]')) is metric.MSE
        one = metric.MSE()
        assert metric.create(one) is one
        with pytest.raises(AssertionError, match='foo is not registered'):
            metric.create('foo')
        with pytest.raises(AssertionError, match='metric must be of string type'):
            metric.create(5)

    def test_config(self):
        assert metric.Accuracy().get_config() == {'axis': 1, 'metric': 'Accuracy', 'name': 'accuracy',
                                                  'output_names': None, 'label_names': None}
        with pytest.raises(NotImplementedError, match='cannot be serialized'):
            metric.CustomMetric(max).get_config()
        assert str(metric.Accuracy()) == "EvalMetric: {'accuracy': nan}"

    def test_own(self):
        @metric.register
        class Zed(metric.EvalMetric):
            def __init__(self, name='zed', **kwargs):
                super().__init__(name, **kwargs)

            def update(self, labels, preds):
                self.sum_metric += 1
                self.num_inst += 2

        assert after(metric.create('zed'), (0, 0)).get() == ('zed', 0.5)


class TestComposite:
    def test_together(self):
        one = metric.CompositeEvalMetric([metric.Accuracy(), 'ce', metric.CompositeEvalMetric(['acc'])])
        one.update([LABEL], [PRED])
        assert one.get() == (['accuracy', 'cross-entropy', 'accuracy'], pytest.approx([0.75, 0.5017337, 0.75]))
        assert one.get_metric(0) is one.metrics[0]
        assert isinstance(one.get_metric(9), ValueError)
        one.reset_local()
        assert one.get_global()[1] == pytest.approx([0.75, 0.5017337, 0.75])
        one.reset()
        assert all(math.isnan(v) for v in one.get()[1])
        assert one.get_config()['metrics'][0]['metric'] == 'Accuracy'

    def test_dicts(self):
        one = metric.CompositeEvalMetric()
        one.add('acc')
        one.update_dict({'l': LABEL}, {'p': PRED})
        assert one.get() == (['accuracy'], [0.75])
        chosen = metric.Accuracy(output_names=['p'], label_names=['l'])
        chosen.update_dict({'x': YES, 'l': LABEL}, {'q': SCORES, 'p': PRED})
        assert chosen.get() == ('accuracy', 0.75)


def test_names_of_custom_metrics():
    def mine(label, pred):
        return 1.0

    assert metric.CustomMetric(mine).name == metric.np(mine).name == 'mine'
    assert metric.CustomMetric(lambda label, pred: 1).name == 'custom(<lambda>)'
    assert after(metric.CustomMetric(mine, allow_extra_outputs=True), ([WIDE], [WIDE, WIDE])).get() == ('mine', 1.0)


def test_check_label_shapes():
    with pytest.raises(ValueError, match='Shape of labels 1 does not match shape of predictions 2'):
        metric.check_label_shapes([1], [1, 2])
    with pytest.raises(ValueError, match=r'Shape of labels \(4,\) does not match shape of predictions \(4, 3\)'):
        metric.check_label_shapes(LABEL, PRED, shape=True)
    assert metric.check_label_shapes(LABEL, LABEL, wrap=True) == ([LABEL], [LABEL])
