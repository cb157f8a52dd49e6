"""OPT-UPDATER: the updater around an optimizer."""

from conformance.case import case
from conformance.suite import kit
from conformance.suite.optimizer import drive
from conformance.suite.trainer._tools import read_states

MOMENTUM = {"learning_rate": 1.0, "momentum": 0.5}


def array_of(state):
    """The only array of a state, which may come in a tuple."""
    return state[0] if isinstance(state, (list, tuple)) else state


def unpickled(mx, check, data, name="states"):
    path = check.path(name)
    with open(path, "wb") as file:
        file.write(data)
    return read_states(mx, path)


@case("OPT-UPDATER-001")
def state_is_made_at_first_use(mx, check):
    update = drive.updater(mx, "sgd", MOMENTUM)
    check.isinstance(update, mx.optimizer.Updater, "what get_updater returns")
    check.equal(len(update.states), 0, "number of states before the first update")
    weight, gradient = kit.array(mx, [1.0, 1.0]), kit.array(mx, [1.0, 1.0])
    update(3, gradient, weight)
    check.equal(weight, [0.0, 0.0], "weight after the first update")
    check.equal(list(update.states), [3], "indices that have a state")
    check.equal(array_of(update.states[3]), [-1.0, -1.0], "state after the first update")
    update(3, gradient, weight)
    check.equal(weight, [-1.5, -1.5], "weight after the second update")


@case("OPT-UPDATER-001")
def indices_have_states_of_their_own(mx, check):
    update = drive.updater(mx, "sgd", MOMENTUM)
    first, second = kit.array(mx, [0.0]), kit.array(mx, [0.0])
    update(0, kit.array(mx, [1.0]), first)
    update(1, kit.array(mx, [4.0]), second)
    update(0, kit.array(mx, [1.0]), first)
    check.equal(first, [-2.5], "weight of index 0")
    check.equal(second, [-4.0], "weight of index 1")


@case("OPT-UPDATER-002")
def lists_of_indices(mx, check):
    update = drive.updater(mx, "sgd", MOMENTUM)
    first, second = kit.array(mx, [1.0]), kit.array(mx, [1.0])
    update([5, 7], [kit.array(mx, [1.0]), kit.array(mx, [2.0])], [first, second])
    check.equal(first, [0.0], "weight of index 5")
    check.equal(second, [-1.0], "weight of index 7")
    check.equal(sorted(update.states), [5, 7], "indices that have a state")
    check.equal([float(array_of(update.states[i]).asnumpy()[0]) for i in (5, 7)], [-1.0, -2.0], "their states")


@case("OPT-UPDATER-003")
def states_alone(mx, check):
    update = drive.updater(mx, "sgd", MOMENTUM)
    update(3, kit.array(mx, [1.0, 2.0]), kit.array(mx, [1.0, 1.0]))
    states = unpickled(mx, check, update.get_states())
    check.same(type(states), dict, "type of what get_states pickles")
    check.equal(list(states), [3], "its keys")
    check.equal(array_of(states[3]), [-1.0, -2.0], "the state")


@case("OPT-UPDATER-003")
def states_with_the_optimizer(mx, check):
    update = drive.updater(mx, "sgd", MOMENTUM)
    update(3, kit.array(mx, [1.0, 2.0]), kit.array(mx, [1.0, 1.0]))
    both = unpickled(mx, check, update.get_states(dump_optimizer=True))
    check.same(type(both), tuple, "type of what get_states(dump_optimizer=True) pickles")
    check.equal(len(both), 2, "its length")
    check.equal(array_of(both[0][3]), [-1.0, -2.0], "the state")
    check.isinstance(both[1], mx.optimizer.SGD, "the optimizer")
    check.equal((both[1].momentum, both[1].num_update), (0.5, 1), "its momentum and num_update")


def loaded(mx, dump_optimizer):
    """An updater with learning rate .125 that got the states of one with 1.0, after an update with gradient 1."""
    saving = drive.updater(mx, "sgd", MOMENTUM)
    saving(0, kit.array(mx, [1.0]), kit.array(mx, [0.0]))
    update = drive.updater(mx, "sgd", {"learning_rate": 0.125, "momentum": 0.5})
    update.set_states(saving.get_states(dump_optimizer=dump_optimizer))
    return update


@case("OPT-UPDATER-004")
def plain_states_keep_the_optimizer(mx, check):
    update, weight = loaded(mx, False), kit.array(mx, [0.0])
    check.equal(update.optimizer.learning_rate, 0.125, "learning_rate after set_states")
    update(0, kit.array(mx, [1.0]), weight)
    check.equal(weight, [-0.625], "weight after an update: .5*(-1) - .125")


@case("OPT-UPDATER-004")
def states_with_an_optimizer_replace_it(mx, check):
    update, weight = loaded(mx, True), kit.array(mx, [0.0])
    check.equal(update.optimizer.learning_rate, 1.0, "learning_rate after set_states")
    check.equal(update.optimizer.num_update, 1, "num_update after set_states")
    update(0, kit.array(mx, [1.0]), weight)
    check.equal(weight, [-1.5], "weight after an update: .5*(-1) - 1")
    check.equal(update.optimizer.num_update, 2, "num_update after an update")


@case("OPT-UPDATER-004", samples={"plain": {"dump": False, "wanted": -0.625},
                                  "with_optimizer": {"dump": True, "wanted": -1.5}})
def states_follow_the_weight(mx, check, dump, wanted):
    update = loaded(mx, dump)
    check.equal(dict(update.states_synced), {0: False}, "states_synced after set_states")
    weight = kit.array(mx, [0.0], ctx=mx.cpu(1))
    update(0, kit.array(mx, [1.0], ctx=mx.cpu(1)), weight)
    check.equal(weight, [wanted], "weight on another device after an update")
    check.equal(kit.device_of(array_of(update.states[0])), mx.cpu(1), "device of the state")
    check.equal(dict(update.states_synced), {0: True}, "states_synced after an update")


@case("OPT-UPDATER-005", samples={"list": {"as_list": True}, "alone": {"as_list": False}})
def byte_keys_become_text(mx, check, as_list):
    update, weight, gradient = drive.updater(mx, "sgd", MOMENTUM), kit.array(mx, [1.0]), kit.array(mx, [1.0])
    if as_list:
        update([b"k"], [gradient], [weight])
    else:
        update(b"k", gradient, weight)
    check.equal(weight, [0.0], "weight after the update")
    check.equal(list(update.states), ["k"], "keys of the states")
