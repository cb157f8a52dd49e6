"""OPT-COMMON-013 to -019 and OPT-UPDATER-006: updating several parameters in one call."""

import numpy as np

from conformance.case import case
from conformance.suite import kit
from conformance.suite.optimizer import drive, layerwise, names

SIZE = "MXNET_OPTIMIZER_AGGREGATION_SIZE"


def aggregating(mx, check, name, size, **options):
    """An optimizer that aggregates: by its argument, or where there is none by the environment variable."""
    try:
        return mx.optimizer.create(name, aggregate_num=size, **options)
    except TypeError:
        with check.environment(**{SIZE: str(size)}):
            return mx.optimizer.create(name, **options)


def recorded(optimizer):
    """Log the indices of each call of an optimizer's update, as lists."""
    calls = []
    update = optimizer.update_multi_precision

    def recording(index, weight, grad, state):
        calls.append(list(index) if isinstance(index, (list, tuple)) else [index])
        return update(index, weight, grad, state)

    optimizer.update_multi_precision = recording
    return calls


def step_of(mx, optimizer, dtypes, devices=1, **keywords):
    """One step(2) of weights 1 with gradients 0, 1, 2, ...: the parameters."""
    made = [kit.parameter(mx, "x%d" % i, value=1.0, dtype=dtype, ctx=kit.devices(mx, devices))
            for i, dtype in enumerate(dtypes)]
    trainer = mx.gluon.Trainer(made, optimizer, **keywords)
    kit.backward(mx, *[(x, float(i)) for i, x in enumerate(made)])
    trainer.step(2)
    return made


DEFAULTS = dict(dict.fromkeys(names.COMMON, 1), lamb=4, lans=4, adamw=4, adabelief=4)


@case("OPT-COMMON-013", samples={name: {"name": name, "wanted": wanted} for name, wanted in DEFAULTS.items()})
def default_size(mx, check, name, wanted):
    with check.environment(**{SIZE: None}):
        check.equal(mx.optimizer.create(name).aggregate_num, wanted, "default aggregate_num of %s" % name)


@case("OPT-COMMON-013")
def default_size_of_the_base_class(mx, check):
    with check.environment(**{SIZE: None}):
        check.equal(mx.optimizer.Optimizer().aggregate_num, 1, "default aggregate_num of the base class")


@case("OPT-COMMON-013", samples={
    "%s_%s" % (name, text): {"name": name, "text": text, "wanted": wanted} for name in ("adamw", "adabelief")
    for text, wanted in (("2", 2), ("100", 50), ("0", 1))})
def size_by_the_variable_alone(mx, check, name, text, wanted):
    with check.environment(**{SIZE: text}):
        check.equal(mx.optimizer.create(name, aggregate_num=7).aggregate_num, wanted, "aggregate_num of %s" % name)


@case("OPT-COMMON-013", samples={
    "1": {"size": 1, "wanted": [[0], [1], [2], [3], [4]]}, "2": {"size": 2, "wanted": [[0, 1], [2, 3], [4]]},
    "4": {"size": 4, "wanted": [[0, 1, 2, 3], [4]]}, "inf": {"size": np.inf, "wanted": [[0, 1, 2, 3, 4]]}})
def parameters_per_call(mx, check, size, wanted):
    optimizer = mx.optimizer.create("sgd", learning_rate=1.0, aggregate_num=size)
    calls = recorded(optimizer)
    made = step_of(mx, optimizer, ["float32"] * 5)
    check.equal(calls, wanted, "indices of each call of update")
    check.equal([kit.value(x) for x in made], [1.0, 0.5, 0.0, -0.5, -1.0], "weights after the step")


MANY = """
from conformance.suite import kit
import numpy
made = [kit.parameter(mx, "x%%d" %% i) for i in range(%d)]
trainer = mx.gluon.Trainer(made, "sgd", {"learning_rate": 1.0, "momentum": %s, "aggregate_num": numpy.inf})
for _ in range(2):
    kit.backward(mx, *[(x, float(i)) for i, x in enumerate(made)])
    trainer.step(1)
print([kit.value(x) for x in made])
"""


@case("OPT-COMMON-014", samples={
    "%d_%s" % (count, momentum): {"count": count, "momentum": momentum}
    for count in (60, 61, 130) for momentum in (0, 0.5)})
def any_number_of_parameters(mx, check, count, momentum):
    status, output, _ = check.python(MANY % (count, momentum))
    check.equal(status, 0, "exit status of a process that aggregates %d parameters" % count)
    check.equal(output.strip().splitlines()[-1:], [repr([-(2.0 + momentum) * i + 0.0 for i in range(count)])],
                "weights after two steps")


@case("OPT-COMMON-015", samples={
    "%s_%s" % (name, size): {"name": name, "size": size} for name in ("lamb", "lans") for size in (46, np.inf)})
def size_above_45(mx, check, name, size):
    check.equal(mx.optimizer.create(name, aggregate_num=45).aggregate_num, 45, "aggregate_num of 45")
    check.raises(AssertionError, "only supports aggregate_num <= 45", mx.optimizer.create, name, aggregate_num=size)


@case("OPT-COMMON-016", samples={str(size): {"size": size} for size in (1, 2, 3, 4, 5, 45)})
def sgd_gives_the_same(mx, check, size):
    optimizer = aggregating(mx, check, "sgd", size, learning_rate=0.1, momentum=0.9, wd=0.01, clip_gradient=1.5)
    made = [kit.parameter(mx, "x%d" % i, value=1.0) for i in range(5)]
    trainer = mx.gluon.Trainer(made, optimizer)
    for _ in range(2):
        kit.backward(mx, *[(x, float(i)) for i, x in enumerate(made)])
        trainer.step(2)
    check.close([kit.value(x) for x in made], [0.997101, 0.852151, 0.707201, 0.562251, 0.562251],
                "weights after two steps", rtol=2e-6)


@case("OPT-COMMON-016", samples={"%s_%d" % (name, size): {"name": name, "size": size}
                                 for name in ("lars", "lamb") for size in (2, 4)})
def norms_stay_those_of_each_parameter(mx, check, name, size):
    formula = {"lars": layerwise.lars, "lamb": layerwise.lamb}[name]
    made = [kit.parameter(mx, "x%d" % i, value=float(i + 1), shape=(i + 1,)) for i in range(4)]
    options = {"learning_rate": 0.1, "wd": 0.01}
    trainer = mx.gluon.Trainer(made, aggregating(mx, check, name, size, **options))
    for _ in range(2):
        kit.backward(mx, *[(x, 0.5 * (i + 1)) for i, x in enumerate(made)])
        trainer.step(2)
    for i, x in enumerate(made):
        wanted = drive.expected_weights(formula, dict(options, rescale_grad=0.5), [i + 1.0] * (i + 1),
                                        [[0.5 * (i + 1)] * (i + 1)] * 2)
        check.close(x.data(), wanted[1], "weight %d after two steps, by the formula" % i, rtol=1e-5)


@case("OPT-COMMON-017", needs=("float16",))
def calls_are_grouped_by_dtype(mx, check):
    optimizer = aggregating(mx, check, "sgd", 4, learning_rate=1.0)
    calls = recorded(optimizer)
    made = step_of(mx, optimizer, ["float32", "float16", "float32"])
    check.equal(sorted(calls), [[0, 2], [1]], "indices of each call of update")
    check.equal([kit.value(x) for x in made], [1.0, 0.5, 0.0], "weights after the step")


@case("OPT-COMMON-018")
def updates_on_the_store_come_one_by_one(mx, check):
    optimizer = mx.optimizer.create("sgd", learning_rate=1.0)
    calls = recorded(optimizer)
    made = step_of(mx, optimizer, ["float32"] * 3, devices=2, update_on_kvstore=True)
    check.equal(calls, [[0], [1], [2]], "indices of each call of update")
    check.equal([kit.values(x) for x in made], [[1.0, 1.0], [0.0, 0.0], [-1.0, -1.0]], "weights after the step")


@case("OPT-COMMON-018")
def aggregating_optimizer_on_the_store(mx, check):
    optimizer = aggregating(mx, check, "sgd", 4, learning_rate=1.0)
    calls = recorded(optimizer)
    try:
        step_of(mx, optimizer, ["float32"] * 3, devices=2, update_on_kvstore=True)
    except ValueError as error:
        check.contains(str(error), "aggregate_num", doing="message of the refusal")
        check.equal(calls, [], "calls of update after the refusal")
    else:
        check.equal(calls, [[0], [1], [2]], "indices of each call of update")


@case("OPT-COMMON-019", samples={
    "%s_%s" % (name, text): {"name": name, "text": text, "wanted": wanted}
    for name, text, wanted in (("sgd", "2", 2), ("sgd", "100", 100), ("lars", "2", 2), ("lars", "100", 100),
                               ("lamb", "2", 2), ("lamb", "100", 45))})
def size_by_the_variable(mx, check, name, text, wanted):
    with check.environment(**{SIZE: text}):
        check.equal(mx.optimizer.create(name).aggregate_num, wanted, "aggregate_num of %s" % name)


@case("OPT-UPDATER-006", samples={"default": {"options": {}, "wanted": False},
                                  "4": {"options": {"aggregate_num": 4}, "wanted": True},
                                  "1": {"options": {"aggregate_num": 1}, "wanted": False}})
def updater_aggregates(mx, check, options, wanted):
    with check.environment(**{SIZE: None}):
        update = mx.optimizer.get_updater(mx.optimizer.create("sgd", **options))
    check.equal(update.aggregate_updates, wanted, "aggregate_updates")
