"""Logging, schedules by iteration, errors, helpers of base, and what programs take from test_utils and model."""

from __future__ import annotations

import doctest
import logging
import os

import numpy as np
import pytest

import refengine as mx
from refengine import base, error, log, misc, model, nd, test_utils
from refengine.image import geometry


@pytest.mark.parametrize("module", [base, log, misc, model, test_utils, geometry])
def test_the_examples(module):
    result = doctest.testmod(module)
    assert result.attempted
    assert not result.failed


def test_a_logger_writes_short_lines_or_to_a_file(tmp_path, capsys):
    logger = log.get_logger("of this test")
    logger.warning("hey")
    assert logger.handlers[0].formatter.format(logging.LogRecord("", 20, "/p/f.py", 3, "m %d", (1,), None, "fn")) \
        .endswith("/p/f.py:fn:3]\x1b[0m m 1")
    assert capsys.readouterr().err.startswith("\x1b[31mW")
    assert log.get_logger("of this test", level=log.DEBUG) is logger
    assert (logger.level, len(logger.handlers)) == (log.WARNING, 1)
    path = tmp_path / "log.txt"
    writer = log.get_logger("to a file", str(path))
    writer.error("x")
    assert path.read_text() == "x\n"
    writer.handlers[0].close()
    assert not log.get_logger().handlers or log.get_logger() is logging.getLogger()
    with pytest.warns(DeprecationWarning, match="Use get_logger instead"):
        assert log.getLogger("of this test") is logger


def test_a_schedule_by_iteration(caplog):
    schedule = misc.FactorScheduler(10, 0.5)
    with caplog.at_level(logging.INFO):
        assert [schedule(i) for i in (0, 10, 11, 25)] == [0.01, 0.005, 0.005, 0.0025]
    assert caplog.messages == ["At Iteration [10]: Switch to new learning rate 0.00500",
                               "At Iteration [25]: Switch to new learning rate 0.00250"]
    with pytest.raises(ValueError, match="Factor must be less than 1"):
        misc.FactorScheduler(1, 1.0)
    with pytest.raises(NotImplementedError, match="must override this"):
        misc.LearningRateScheduler()(1)


def test_errors_are_registered(monkeypatch):
    monkeypatch.setattr(base, "error_types", dict(base.error_types))

    @error.register("Other")
    class Mine(mx.MXNetError):
        pass

    assert base.error_types["Other"] is Mine
    assert base.error_types["InternalError"] is error.InternalError
    with pytest.raises(mx.MXNetError, match="Compile with USE_CUDA=1 and ENABLE_CUDA_RTC=1"):
        mx.rtc.CudaModule("extern")


def test_class_properties_are_set_through_their_metaclass():
    class Scope(base.with_metaclass(base._MXClassPropertyMetaClass, object)):
        _current = 1

        @base.classproperty
        def current(cls):
            return cls._current

        @current.setter
        def current(cls, value):
            cls._current = value

    Scope.current = 5
    assert (Scope.current, Scope._current, Scope().current) == (5, 5, 5)
    base.check_call(0)
    with pytest.raises(mx.MXNetError):
        base.check_call(-1)


def test_the_environment_of_a_block(monkeypatch):
    monkeypatch.setenv("OF_THIS_TEST", "1")
    with test_utils.environment({"OF_THIS_TEST": None, "ANOTHER": "5"}):
        assert (os.environ.get("OF_THIS_TEST"), os.environ["ANOTHER"]) == (None, "5")
    with pytest.raises(KeyError), test_utils.environment("OF_THIS_TEST", "9"):
        raise KeyError
    assert (os.environ["OF_THIS_TEST"], os.environ.get("ANOTHER")) == ("1", None)
    with pytest.raises(AssertionError, match="Expecting one dict arg or two args"), test_utils.environment("A"):
        pass


def test_files_that_are_there_are_not_fetched(tmp_path, monkeypatch):
    (tmp_path / "there.txt").write_text("text")
    url = "http://127.0.0.1:9/there.txt"
    assert test_utils.download(url, dirname=str(tmp_path)) == str(tmp_path / "there.txt")
    monkeypatch.chdir(tmp_path)
    assert test_utils.download(url) == "there.txt"
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="nothing is downloaded"):
        test_utils.get_mnist()


def test_digits_as_arrays_and_iterators(monkeypatch):
    from refengine.gluon.data import vision

    class Digits:
        def __init__(self, train):
            self._data = nd.array(np.full((6, 2, 2, 1), 255), dtype="uint8")
            self._label = np.arange(6, dtype=np.int32)

    monkeypatch.setattr(vision, "MNIST", Digits)
    assert test_utils.get_mnist()["train_data"].shape == (6, 1, 2, 2)
    assert test_utils.get_mnist()["test_data"].max() == 1
    train, validation = test_utils.get_mnist_iterator(2, (4,), num_parts=2, part_index=1)
    assert train.provide_data[0].shape == (2, 4)
    assert next(validation).label[0].asnumpy().tolist() == [1, 3]


def test_stores_and_updates_of_models():
    def lists(arrays):
        return [[a.asnumpy().tolist() for a in copies] for copies in arrays]

    assert model._create_kvstore("local", 1, {}) == (None, False)
    store, on_store = model._create_kvstore("local", 2, {"big": nd.zeros((4096, 4097))})
    assert (store.type, on_store) == ("local", False)
    assert model._create_kvstore("device", 2, {"w": nd.ones(2)})[1] is True
    with pytest.raises(TypeError, match="kvstore must be KVStore, str or None"):
        model._create_kvstore(3, 1, {})

    weights = [[nd.ones(2), nd.ones(2)], [nd.ones(1), nd.ones(1)]]
    gradients = [[nd.ones(2) * 0.5, nd.ones(2) * 0.25], [None, None]]
    rule = mx.optimizer.get_updater(mx.optimizer.SGD(learning_rate=1.0))
    model._update_params(weights, gradients, rule, 2)
    assert lists(weights) == [[[0.5, 0.5], [0.75, 0.75]], [[1], [1]]]

    store = mx.kv.create("local")
    store.set_optimizer(mx.optimizer.SGD(learning_rate=1.0))
    model._initialize_kvstore(store, weights, {"a": nd.ones(2) * 7, "b": nd.ones(1) * 8}, ["a", "b"], True)
    assert lists(weights) == [[[7, 7], [7, 7]], [[8], [8]]]
    model._update_params_on_kvstore(weights, gradients, store, ["a", "b"])
    assert lists(weights) == [[[6.25, 6.25], [6.25, 6.25]], [[8], [8]]]


@pytest.mark.parametrize(("kind", "row"), [(0, [7, 7, 1, 2, 3, 7, 7]), (1, [1, 1, 1, 2, 3, 3, 3]),
                                           (2, [2, 1, 1, 2, 3, 3, 2]), (3, [2, 3, 1, 2, 3, 1, 2]),
                                           (4, [3, 2, 1, 2, 3, 2, 1])])
def test_borders_of_images(kind, row):
    image = nd.array([[[1], [2], [3]]], dtype="uint8")
    framed = mx.image.copyMakeBorder(image, 0, 0, 2, 2, kind, 7)
    assert framed.dtype == np.uint8
    assert framed.asnumpy().ravel().tolist() == row


def test_borders_of_channels_and_ways_to_interpolate():
    image = nd.array([[[1, 2, 3]]], dtype="uint8")
    framed = mx.image.copyMakeBorder(image, 1, 0, 0, 1, 0, values=(7, 8, 9))
    assert framed.asnumpy().tolist() == [[[7, 8, 9], [7, 8, 9]], [[1, 2, 3], [7, 8, 9]]]
    way = mx.image.image._get_interp_method
    assert (way(9, (10, 10, 5, 20)), way(9), way(10) in range(5), way(3)) == (1, 2, True, 3)
    with pytest.raises(ValueError, match="Unknown interp method 5"):
        way(5)
