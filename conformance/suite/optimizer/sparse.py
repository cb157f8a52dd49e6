"""OPT-SGD-003, OPT-ADAM-002, OPT-ADAGRAD-002: gradients that hold some rows only."""

from conformance.case import case
from conformance.suite import kit
from conformance.suite.kvdecide import stores
from conformance.suite.optimizer import drive


def after_rows(mx, name, options, rows):
    """A 3x1 weight of ones after a step for each of these rows, each with a gradient of 1 in that row alone."""
    x = stores.sparse_parameter(mx, weight="default", devices=1)
    trainer = kit.trainer(mx, [x], name, options)
    for row in rows:
        stores.sparse_backward(mx, x, row)
        trainer.step(1)
    return x.data().asnumpy().reshape(-1)


@case("OPT-SGD-003", samples={"lazy": {"lazy": True, "wanted": [0.85, 0.85, 1.0]},
                              "standard": {"lazy": False, "wanted": [0.6725, 0.7575, 0.8575]}})
def sgd_rows(mx, check, lazy, wanted):
    with kit.legacy_mode(mx):
        options = {"learning_rate": 0.1, "wd": 0.5, "momentum": 0.9, "lazy_update": lazy}
        check.close(after_rows(mx, "sgd", options, [0, 1]), wanted, "weight after a step for row 0 and one for row 1")


@case("OPT-SGD-003", samples={"lazy": {"lazy": True, "wanted": [0.9, 1.0, 1.0]},
                              "standard": {"lazy": False, "wanted": [0.9, 1.0, 1.0]}})
def sgd_rows_without_decay(mx, check, lazy, wanted):
    with kit.legacy_mode(mx):
        options = {"learning_rate": 0.1, "lazy_update": lazy}
        check.close(after_rows(mx, "sgd", options, [0]), wanted, "weight after a step for row 0")


@case("OPT-ADAM-002", samples={"lazy": {"lazy": True, "wanted": [0.899999, 0.925586, 1.0]},
                               "standard": {"lazy": False, "wanted": [0.814429, 0.807813, 0.800411]}})
def adam_rows(mx, check, lazy, wanted):
    with kit.legacy_mode(mx):
        options = {"learning_rate": 0.1, "wd": 0.5, "lazy_update": lazy}
        check.close(after_rows(mx, "adam", options, [0, 1]), wanted, "weight after a step for row 0 and one for row 1",
                    rtol=5e-6)


@case("OPT-ADAGRAD-002")
def adagrad_rows(mx, check):
    with kit.legacy_mode(mx):
        update = drive.updater(mx, "adagrad", {"learning_rate": 0.1, "epsilon": 0.25})
        weight = mx.nd.ones((3, 1))
        gradient = mx.nd.sparse.row_sparse_array((mx.nd.array([[2.0]]), mx.nd.array([0])), shape=(3, 1))
        for _ in range(2):
            update(0, gradient, weight)
        # 1 - .1*2/(sqrt(4)+.25) - .1*2/(sqrt(8)+.25)
        check.close(weight.asnumpy().reshape(-1), [0.846143, 1.0, 1.0], "weight after two updates of row 0", rtol=3e-6)


@case("OPT-ADAGRAD-002")
def adagrad_rows_refuse_decay(mx, check):
    with kit.legacy_mode(mx):
        update = drive.updater(mx, "adagrad", {"learning_rate": 0.1, "wd": 0.5})
        weight = mx.nd.ones((3, 1))
        gradient = mx.nd.sparse.row_sparse_array((mx.nd.array([[2.0]]), mx.nd.array([0])), shape=(3, 1))
        check.raises(mx.MXNetError, update, 0, gradient, weight)
        check.equal(weight.asnumpy().reshape(-1), [1.0, 1.0, 1.0], "weight after the error")
