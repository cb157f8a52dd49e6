"""Estimators train, evaluate, tell, save and stop as those of MXNet 1.9.1."""

from __future__ import annotations

import os
import re

import numpy as np
import pytest

import refengine as mx
from refengine import gluon
from refengine.gluon.contrib import estimator as E

LOSS = gluon.loss.SoftmaxCrossEntropyLoss()
RANDOM = np.random.RandomState(0)
X = RANDOM.randn(24, 4).astype('float32')
Y = (X[:, 0] > 0).astype('float32')


def data(batch_size=8):
    return gluon.data.DataLoader(gluon.data.ArrayDataset(X, Y), batch_size=batch_size)


def make(net=None, **options):
    net = net or gluon.nn.Dense(2, in_units=4, prefix='net_')
    if net.weight._data is None:
        net.initialize(mx.init.Constant(0.1), ctx=options.get('placed', mx.cpu()))
    options.pop('placed', None)
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.5})
    return E.Estimator(net, LOSS, trainer=trainer, **options)


class Record(E.TrainBegin, E.TrainEnd, E.EpochBegin, E.EpochEnd, E.BatchBegin, E.BatchEnd):
    """Notes every call with the names of its arguments."""

    def __init__(self):
        self.calls = []

    def __getattribute__(self, name):
        if name in ('train_begin', 'train_end', 'epoch_begin', 'epoch_end', 'batch_begin', 'batch_end'):
            return lambda estimator, *args, **kwargs: self.calls.append((name, sorted(kwargs)))
        return super().__getattribute__(name)


class TestLoop:
    def test_metrics(self):
        estimator = make(train_metrics=[mx.metric.Accuracy(), mx.metric.Loss()], val_metrics=mx.metric.TopKAccuracy(2))
        assert [m.name for m in estimator.train_metrics] == ['training accuracy', 'training loss']
        assert [m.name for m in estimator.val_metrics] == ['validation top_k_accuracy_2']
        estimator = make()
        assert [m.name for m in estimator.val_metrics] == ['validation accuracy',
                                                           'validation softmaxcrossentropyloss']

    def test_it_learns_what_the_release_learns(self):
        """Accuracy and loss after each epoch are those that MXNet 1.9.1 reports for the same data and weights."""
        estimator = make()
        seen = []

        class Watch(E.EpochEnd):
            def epoch_end(self, estimator, *args, **kwargs):
                seen.append([m.get()[1] for m in estimator.train_metrics])

        estimator.fit(data(), epochs=2, event_handlers=Watch())
        np.testing.assert_allclose(seen, [[0.6667, 0.5307], [0.9167, 0.2512]], atol=6e-5)

    def test_what_is_told(self, capsys):
        make(train_metrics=mx.metric.Accuracy()).fit(data(), val_data=data(), epochs=2)
        lines = re.sub(r'\d\.\d+s', 'TIME', capsys.readouterr().out).splitlines()
        assert lines == [
            'Training begin: using optimizer SGD with current learning rate 0.5000 ', 'Train for 2 epochs.',
            '[Epoch 0] Begin, current learning rate: 0.5000', 'Validation Begin',
            '[Epoch 0] Finished in TIME, validation accuracy: 0.9167',
            '[Epoch 0] Finished in TIME, training accuracy: 0.6667',
            '[Epoch 1] Begin, current learning rate: 0.5000', 'Validation Begin',
            '[Epoch 0] Finished in TIME, validation accuracy: 0.9583',
            '[Epoch 1] Finished in TIME, training accuracy: 0.9167',
            'Train finished using total 0s with 2 epochs. training accuracy: 0.9167']

    def test_batches(self, capsys):
        estimator = make(train_metrics=mx.metric.Accuracy())
        estimator.fit(data(), batches=4, event_handlers=E.LoggingHandler(2, metrics=estimator.train_metrics))
        lines = re.sub(r'\d\.\d+s', 'TIME', capsys.readouterr().out).splitlines()
        assert lines[1:3] == ['Train for 4 batches.', '[Epoch 0] Begin, current learning rate: 0.5000']
        assert re.fullmatch(r'\[Epoch 0\]\[Batch 0\]\[Samples 8\] time/interval: TIME training accuracy: 0\.\d{4}',
                            lines[3])
        assert [line[:31] for line in lines if 'Batch' in line] == [
            '[Epoch 0][Batch 0][Samples 8] t', '[Epoch 0][Batch 2][Samples 24] ', '[Epoch 1][Batch 0][Samples 32] ']

    def test_handlers_are_called_in_order(self):
        record = Record()
        estimator = make()
        estimator.fit(data(12), epochs=1, event_handlers=record)
        batch = [('batch_begin', ['batch']), ('batch_end', ['batch', 'label', 'loss', 'pred'])]
        assert record.calls == [('train_begin', []), ('epoch_begin', []), *batch, *batch, ('epoch_end', []),
                                ('train_end', [])]
        record = Record()
        estimator.evaluate(data(12), event_handlers=[record])
        assert record.calls == [('epoch_begin', []), *batch, *batch, ('epoch_end', [])]

    def test_priorities(self):
        order = []

        class Late(E.BatchEnd):
            def __init__(self, name, priority):
                self.name = name
                self.priority = priority

            def batch_end(self, estimator, *args, **kwargs):
                order.append(self.name)

        make().fit(data(), batches=1, event_handlers=[Late('last', 5), Late('first', -3000), Late('middle', 0)])
        assert order == ['first', 'middle', 'last']
        assert (E.GradientUpdateHandler().priority, E.MetricHandler([]).priority, E.LoggingHandler().priority) == (
            -2000, -1000, float('inf'))

    def test_several_contexts(self):
        contexts = [mx.cpu(0), mx.cpu(1)]
        estimator = make(context=contexts, placed=contexts)
        estimator.fit(data(), epochs=2)
        assert estimator.net.weight.list_ctx() == contexts
        np.testing.assert_allclose([m.get()[1] for m in estimator.train_metrics], [0.9167, 0.2512], atol=6e-5)

    def test_own_processor(self):
        class Twice(E.BatchProcessor):
            def fit_batch(self, estimator, batch, batch_axis=0):
                super().fit_batch(estimator, batch, batch_axis)
                return super().fit_batch(estimator, batch, batch_axis)

        estimator = make(batch_processor=Twice())
        estimator.fit(data(), epochs=1)
        assert estimator.trainer.optimizer.num_update == 3

    def test_defaults(self):
        net = gluon.nn.Dense(2, in_units=4)
        with pytest.warns(UserWarning, match='No trainer specified, default SGD optimizer with learning rate 0.001'):
            estimator = E.Estimator(net, gluon.loss.L2Loss(), initializer=mx.init.One())
        assert (net.weight.data().asnumpy() == 1).all()
        assert estimator.trainer.learning_rate == 0.001
        assert [m.name for m in estimator.train_metrics] == ['training l2loss']
        with pytest.warns(UserWarning, match='Network already fully initialized, skipping initialization'):
            make(net, initializer=mx.init.One())

    def test_a_net_that_is_initialized_in_part_keeps_its_values(self):
        net = gluon.nn.HybridSequential()
        net.add(gluon.nn.Dense(3, in_units=4), gluon.nn.Dense(2, in_units=3))
        net[0].initialize(mx.init.Constant(5))
        with pytest.warns(UserWarning, match='No trainer specified'):
            E.Estimator(net, LOSS, initializer=mx.init.Constant(7))
        assert [float(block.weight.data()[0, 0].asscalar()) for block in net] == [5, 7]


class TestErrors:
    @pytest.mark.parametrize(('call', 'kind', 'text'), [
        (lambda: make().fit(data()), ValueError, 'Fit only support exactly one type of iteration'),
        (lambda: make().fit(data(), epochs=1, batches=2), ValueError, 'Please specify one and only one of'),
        (lambda: make().fit([1], epochs=1), ValueError, 'Estimator only support input as Gluon DataLoader'),
        (lambda: make().evaluate([1]), ValueError, 'Estimator only support input as Gluon DataLoader'),
        (lambda: E.Estimator(gluon.nn.Dense(2), lambda a, b: a), ValueError, 'loss must be a Loss'),
        (lambda: make(train_metrics='acc'), ValueError, 'metrics must be a Metric or a list of Metric'),
        (lambda: make(val_metrics=['acc']), ValueError, 'metrics must be a Metric or a list of Metric'),
        (lambda: make(context='cpu'), ValueError, 'context must be a Context or a list of Context'),
        (lambda: make(context=[mx.cpu(), 'a']), ValueError, 'context must be a Context or a list of Context'),
        (lambda: make(context=mx.gpu(99)), AssertionError, r'gpu\(99\) is not available'),
        (lambda: E.Estimator(gluon.nn.Dense(2, in_units=1), LOSS, trainer='sgd'), ValueError,
         'Trainer must be a Gluon Trainer instance'),
        (lambda: make(batch_processor=3), ValueError, 'Customized Batch Processor must contain fit_batch'),
        (lambda: make().fit(data(), epochs=1, event_handlers=[3]), ValueError, 'handlers must be an EventHandler'),
        (lambda: E.LoggingHandler('foo'), ValueError, "log_interval must be either an integer or string 'epoch'"),
        (lambda: E.EarlyStoppingHandler('acc'), ValueError, 'Please provide one of the metric objects'),
        (lambda: E.EarlyStoppingHandler(mx.metric.CompositeEvalMetric([mx.metric.Accuracy()])), ValueError,
         'CompositeEvalMetric is not supported for EarlyStoppingHandler'),
    ])
    def test_message(self, call, kind, text):
        with pytest.raises(kind, match=text):
            call()


class TestStopping:
    def test_early(self, capsys):
        estimator = make(train_metrics=mx.metric.Accuracy())
        handler = E.EarlyStoppingHandler(estimator.train_metrics[0], patience=1, mode='max', min_delta=2)
        estimator.fit(data(), epochs=6, event_handlers=handler)
        assert (handler.stopped_epoch, handler.current_epoch, handler.wait) == (1, 2, 1)
        assert ('[Epoch 1] EarlyStoppingHandler: early stopping due to training accuracy not improving'
                in capsys.readouterr().out)

    def test_baseline_and_patience(self):
        estimator = make(train_metrics=mx.metric.Accuracy())
        handler = E.EarlyStoppingHandler(estimator.train_metrics[0], patience=2, mode='max', baseline=2.0)
        estimator.fit(data(), epochs=6, event_handlers=handler)
        assert (handler.stopped_epoch, handler.best) == (1, 2.0)

    def test_smaller_is_better_for_losses(self):
        estimator = make()
        with pytest.warns(UserWarning, match='`less` operator will be used'):
            handler = E.EarlyStoppingHandler(estimator.train_metrics[1])
        estimator.fit(data(), epochs=4, event_handlers=handler)
        assert handler.current_epoch == 4
        assert handler.best == estimator.train_metrics[1].get()[1]

    def test_a_mode_that_does_not_exist(self):
        with pytest.warns(RuntimeWarning, match='mode foo is unknown, fallback to auto mode'), \
                pytest.warns(UserWarning, match='`greater` operator will be used to determine if accuracy'):
            E.EarlyStoppingHandler(mx.metric.Accuracy(), mode='foo')

    def test_a_metric_that_nobody_updates(self):
        handler = E.EarlyStoppingHandler(mx.metric.Accuracy(), mode='max')
        with pytest.warns(RuntimeWarning, match='accuracy is not updated'):
            make().fit(data(), epochs=2, event_handlers=handler)
        assert not handler.stop_training

    def test_a_true_result_ends_the_epoch(self):
        class Stop(E.BatchEnd):
            def batch_end(self, estimator, *args, **kwargs):
                return True

        estimator = make()
        estimator.fit(data(), epochs=3, event_handlers=Stop())
        assert estimator.trainer.optimizer.num_update == 3


class TestValidation:
    def test_periods(self):
        estimator = make()
        times = []
        estimator.fit(data(), epochs=2, event_handlers=E.ValidationHandler(
            data(), lambda val_data, batch_axis, event_handlers: times.append(batch_axis), epoch_period=2,
            batch_period=4))
        assert times == [0, 0]


class TestCheckpoints:
    def files(self, folder):
        return sorted(os.listdir(folder))

    def test_names_and_number_of_files(self, tmp_path):
        """The names are those of the release."""
        estimator = make()
        monitor = estimator.train_metrics[0]
        estimator.fit(data(), epochs=3, event_handlers=E.CheckpointHandler(
            str(tmp_path), model_prefix='m', batch_period=2, max_checkpoints=2, monitor=monitor, save_best=True,
            mode='max'))
        assert self.files(tmp_path) == [f'm-{which}.{kind}' for which in ('best', 'epoch2batch7', 'epoch2batch9')
                                        for kind in ('params', 'states')]

    def test_going_on(self, tmp_path):
        """Two epochs and two more are four."""
        whole = make()
        whole.fit(data(), epochs=4)
        make().fit(data(), epochs=2, event_handlers=E.CheckpointHandler(str(tmp_path)))
        estimator = make()
        estimator.fit(data(), epochs=4, event_handlers=E.CheckpointHandler(
            str(tmp_path), resume_from_checkpoint=True))
        assert (estimator.net.weight.data().asnumpy() == whole.net.weight.data().asnumpy()).all()
        assert self.files(tmp_path) == sorted(f'model-epoch{which}.{kind}' for which in (
            '0batch3', '1batch6', '2batch9', '3batch12') for kind in ('params', 'states'))
        with pytest.raises(ValueError, match='Found checkpoint with maximum number of epoch 4 reached'):
            make().fit(data(), epochs=4, event_handlers=E.CheckpointHandler(
                str(tmp_path), resume_from_checkpoint=True))

    def test_nothing_to_go_on_from(self, tmp_path, capsys):
        make().fit(data(), epochs=1, event_handlers=E.CheckpointHandler(
            str(tmp_path / 'new'), resume_from_checkpoint=True))
        assert 'No checkpoint found, training from scratch for 1 epochs' in capsys.readouterr().out

    def test_graphs(self, tmp_path, capsys):
        make().fit(data(), epochs=1, event_handlers=E.CheckpointHandler(str(tmp_path)))
        assert 'Model architecture(symbol file) is not saved' in capsys.readouterr().out
        net = gluon.nn.Dense(2, in_units=4)
        net.hybridize()
        estimator = make(net)
        estimator.fit(data(), epochs=1, event_handlers=E.CheckpointHandler(str(tmp_path)))
        loaded = gluon.SymbolBlock.imports(str(tmp_path / 'model-symbol.json'), ['data'])
        loaded.load_parameters(str(tmp_path / 'model-epoch0batch3.params'), ignore_extra=True, allow_missing=True)
        assert 'net_weight' not in loaded.collect_params()
        assert [name.rsplit('_', 1)[1] for name in loaded.collect_params()] == ['weight', 'bias']

    def test_errors(self, tmp_path):
        with pytest.raises(ValueError, match='To save best model only, please provide one of the metric objects'):
            E.CheckpointHandler(str(tmp_path), save_best=True)
        with pytest.raises(AssertionError, match='you must only specify the same type of period'):
            make().fit(data(), epochs=4, event_handlers=E.CheckpointHandler(
                str(tmp_path), resume_from_checkpoint=True, batch_period=2))
