"""OPT-COUNT, OPT-MULT: update counters, and multipliers of rate and decay."""

from conformance.case import case
from conformance.suite import kit
from conformance.suite.optimizer import drive, names


class RecordingScheduler(object):
    """A callable that notes the numbers it is asked for; the rate is 0.1."""

    def __init__(self):
        self.base_lr, self.calls = 0.1, []

    def __call__(self, num_update):
        self.calls.append(num_update)
        return 0.1


def counters(optimizer, device=0):
    """The counters of one device: index -> number of updates."""
    return dict(optimizer._all_index_update_counts.get(device, {}))


@case("OPT-COUNT-001")
def counters_and_their_maximum(mx, check):
    a, b = kit.parameter(mx, "a"), kit.parameter(mx, "b")
    trainer = kit.trainer(mx, [a, b])
    check.equal(trainer.optimizer.num_update, 0, "num_update at the start")
    seen = []
    for step in range(3):
        kit.backward(mx, *([(a, 1.0), (b, 1.0)] if step == 0 else [(a, 1.0)]))
        trainer.step(1, ignore_stale_grad=True)
        seen.append((counters(trainer.optimizer), trainer.optimizer.num_update))
    check.equal(seen, [({0: 1, 1: 1}, 1), ({0: 2, 1: 1}, 2), ({0: 3, 1: 1}, 3)],
                "counters and num_update after each step")


@case("OPT-COUNT-001")
def counting_from_another_number(mx, check):
    x = kit.parameter(mx)
    trainer = kit.trainer(mx, [x], "sgd", {"learning_rate": 1.0, "begin_num_update": 10})
    check.equal(trainer.optimizer.num_update, 10, "num_update at the start")
    kit.backward(mx, (x, 1.0))
    trainer.step(1)
    check.equal(counters(trainer.optimizer), {0: 11}, "counters after one step")
    check.equal(trainer.optimizer.num_update, 11, "num_update after one step")


@case("OPT-COUNT-001")
def maximum_over_several_indices(mx, check):
    optimizer = mx.optimizer.create("sgd", learning_rate=1.0)
    update = mx.optimizer.get_updater(optimizer)
    weights = {index: kit.array(mx, [0.0]) for index in (3, 8)}
    seen = []
    for index in (3, 3, 8, 8, 8, 3):
        update(index, kit.array(mx, [1.0]), weights[index])
        seen.append(optimizer.num_update)
    check.equal(seen, [1, 2, 2, 2, 3, 3], "num_update after updates of the indices 3, 3, 8, 8, 8, 3")


@case("OPT-COUNT-002", samples={
    "locally": {"given": False, "wanted": [{0: 3}, {0: 3}]}, "on_store": {"given": True, "wanted": [{0: 3}, {}]}})
def counters_of_two_devices(mx, check, given, wanted):
    x = kit.parameter(mx, ctx=kit.devices(mx, 2))
    trainer = kit.trainer(mx, [x], update_on_kvstore=given)
    for _ in range(3):
        kit.backward(mx, (x, 1.0))
        trainer.step(1)
    optimizer = trainer.optimizer
    check.equal(optimizer.num_update, 3, "num_update after three steps on two devices")
    check.equal([counters(optimizer, device) for device in range(2)], wanted, "counters of each device")


@case("OPT-COUNT-002")
def two_devices_follow_a_schedule_at_the_same_pace(mx, check):
    x = kit.parameter(mx, ctx=kit.devices(mx, 2))
    scheduler = mx.lr_scheduler.FactorScheduler(1, 0.5, base_lr=1.0)
    options = {"learning_rate": 1.0, "lr_scheduler": scheduler}
    trainer = kit.trainer(mx, [x], "sgd", options, update_on_kvstore=False)
    for _ in range(2):
        kit.backward(mx, (x, 1.0))
        trainer.step(2)
    check.equal(kit.values(x), [-1.5, -1.5], "weights after two steps with rates 1 and .5")


@case("OPT-COUNT-003")
def bias_correction_counts_the_parameter(mx, check):
    update = drive.updater(mx, "adam", {"learning_rate": 0.1})
    first, second, gradient = kit.array(mx, [1.0]), kit.array(mx, [1.0]), kit.array(mx, [1.0])
    update(0, gradient, first)
    update(0, gradient, first)
    update(1, gradient, second)
    check.close(first, [0.799999], "weight of index 0 after two updates", rtol=3e-6)
    check.close(second, [0.899999], "weight of index 1 after one update, num_update being 2", rtol=3e-6)


@case("OPT-COUNT-004", samples=names.each())
def kth_update_asks_for_k(mx, check, name):
    scheduler = RecordingScheduler()
    optimizer = mx.optimizer.create(name, learning_rate=0.1, lr_scheduler=scheduler)
    update, shape = mx.optimizer.get_updater(optimizer), names.shape_for(name)
    weight, asked = kit.array(mx, [[1.0]] if len(shape) == 2 else [1.0]), []
    for _ in range(3):
        scheduler.calls = []
        update(0, weight * 0 + 1, weight)
        asked.append(sorted(set(scheduler.calls)))
    check.equal(asked, [[1], [2], [3]], "numbers that the scheduler was asked for in each update")


@case("OPT-COUNT-004")
def first_update_uses_the_first_rate(mx, check):
    optimizer = mx.optimizer.create("sgd", learning_rate=None, lr_scheduler=lambda count: 10.0 ** -count)
    update, weight = mx.optimizer.get_updater(optimizer), kit.array(mx, [0.0])
    seen = []
    for _ in range(2):
        update(0, kit.array(mx, [1.0]), weight)
        seen.append(float(weight.asnumpy()[0]))
    check.close(seen, [-0.1, -0.11], "weight after each update", rtol=1e-6)


def moved(mx, optimizer, index, weight=0.0, gradient=1.0):
    """How far one update moves a weight."""
    update, array = mx.optimizer.get_updater(optimizer), kit.array(mx, [weight])
    update(index, kit.array(mx, [gradient]), array)
    return round(weight - float(array.asnumpy()[0]), 6)


@case("OPT-MULT-001")
def rate_by_parameter_index_and_name(mx, check):
    x = kit.parameter(mx, lr_mult=2.0)
    optimizer = mx.optimizer.create("sgd", learning_rate=0.5, param_dict={0: x}, param_idx2name={2: "c_weight"})
    optimizer.set_lr_mult({0: 10.0, 1: 4.0, "c_weight": 8.0})
    check.equal([moved(mx, optimizer, index) for index in range(4)], [1.0, 2.0, 4.0, 0.5],
                "rates by parameter, by index, by name and by default")


@case("OPT-MULT-001")
def decay_by_parameter_index_and_name(mx, check):
    x = kit.parameter(mx, wd_mult=2.0)
    optimizer = mx.optimizer.create("sgd", learning_rate=1.0, wd=0.125, param_dict={0: x},
                                    param_idx2name={2: "c_weight"})
    optimizer.set_wd_mult({0: 10.0, 1: 3.0, "c_weight": 4.0})
    check.equal([moved(mx, optimizer, index, 1.0, 0.0) for index in range(4)], [0.25, 0.375, 0.5, 0.125],
                "decays by parameter, by index, by name and by default")


@case("OPT-MULT-001")
def index_goes_before_the_name(mx, check):
    optimizer = mx.optimizer.create("sgd", learning_rate=0.5, param_idx2name={0: "a_weight"})
    optimizer.set_lr_mult({0: 4.0, "a_weight": 8.0})
    check.equal(moved(mx, optimizer, 0), 2.0, "rate of an index whose name has a multiplier too")


@case("OPT-MULT-002", samples={
    "a_weight": {"name": "a_weight", "wanted": 0.5}, "a_bias": {"name": "a_bias", "wanted": 0.0},
    "b_gamma": {"name": "b_gamma", "wanted": 0.5}, "b_beta": {"name": "b_beta", "wanted": 0.0}})
def decay_by_the_end_of_the_name(mx, check, name, wanted):
    optimizer = mx.optimizer.create("sgd", learning_rate=1.0, wd=0.5, param_idx2name={0: name})
    check.equal(moved(mx, optimizer, 0, 1.0, 0.0), wanted, "decay of %s" % name)


@case("OPT-MULT-003", samples={"list": {"given": [1]}, "string": {"given": "a_weight"}})
def names_must_be_a_dict(mx, check, given):
    check.raises(AssertionError, "param_idx2name should be a dict of param indexes to names.",
                 mx.optimizer.create, "sgd", param_idx2name=given)
