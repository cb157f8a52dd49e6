"""Mutants of TRAINER-STATE."""

import copy
import os
import pickle

from conformance.mutants import mutant, wrap
from conformance.mutants import trainer_kit as tools
from conformance.suite import kit


def _save(mx, body):
    """Replace Trainer.save_states by ``body(save, trainer, path)``."""
    tools.method(mx, "save_states", lambda original, trainer, fname: body(original, trainer, fname))


def _load(mx, body):
    """Replace Trainer.load_states by ``body(load, trainer, path)``."""
    tools.method(mx, "load_states", lambda original, trainer, fname: body(original, trainer, fname))


def _load_without_states(mx, wanted):
    """load_states forgets the states where ``wanted(trainer, optimizer)`` says so."""

    def body(original, trainer, fname):
        if os.path.exists(fname) and wanted(trainer):
            tools.change_file(mx, fname, lambda states, optimizer: (
                {} if isinstance(optimizer, (mx.optimizer.Adam, mx.optimizer.SGD)) else states, optimizer))
        original(trainer, fname)

    _load(mx, body)


@mutant("TRAINER-STATE-001")
def states_of_adam_are_not_loaded(mx):
    """load_states forgets the states of a trainer that was made with Adam."""
    _load_without_states(mx, lambda trainer: isinstance(trainer.optimizer, mx.optimizer.Adam))


@mutant("TRAINER-STATE-002")
def rate_is_not_loaded(mx):
    """load_states keeps the trainer's own learning rate."""

    def body(original, trainer, fname):
        rate = trainer.learning_rate
        original(trainer, fname)
        if trainer.optimizer.lr_scheduler is None:
            trainer.optimizer.set_learning_rate(rate)

    _load(mx, body)


@mutant("TRAINER-STATE-003")
def local_file_has_no_optimizer(mx):
    """The file of local updates holds the states only."""

    def body(original, trainer, fname):
        original(trainer, fname)
        if not kit.update_on_kvstore(trainer):
            tools.change_file(mx, fname, lambda states, optimizer: states)

    _save(mx, body)


@mutant("TRAINER-STATE-004")
def stores_file_has_no_optimizer(mx):
    """A store never writes its optimizer into the file."""

    def make(original):
        def broken(self, fname, dump_optimizer=False):
            return original(self, fname, False)
        return broken

    wrap(type(mx.kv.create("local")), "save_optimizer_states", make)


@mutant("TRAINER-STATE-005")
def saving_makes_no_store(mx):
    """Before the first step save_states writes an empty file and leaves the trainer as it is."""

    def body(original, trainer, fname):
        if kit.kvstore_of(trainer) is None and tools.devices(trainer) > 1:
            with open(fname, "wb") as file:
                pickle.dump(({}, trainer.optimizer), file)
        else:
            original(trainer, fname)

    _save(mx, body)


@mutant("TRAINER-STATE-006", "TRAINER-ERR-006")
def unknown_shapes_are_another_error(mx):
    """Saving while a parameter is not on the store raises ValueError."""
    tools.other_error(mx.gluon.Trainer, "save_states", AssertionError, "not yet initialized in kvstore", ValueError)


@mutant("TRAINER-STATE-007")
def deferred_saving_is_an_assertion(mx):
    """Saving before the first forward raises AssertionError."""
    tools.other_error(mx.gluon.Trainer, "save_states", mx.gluon.parameter.DeferredInitializationError, "",
                      AssertionError)


@mutant("TRAINER-STATE-008")
def multipliers_are_saved(mx):
    """lr_mult and wd_mult are saved and loaded with the states."""
    saved = {}

    def save(original, trainer, fname):
        original(trainer, fname)
        saved[fname] = [(p.lr_mult, p.wd_mult) for p in tools.parameters(trainer)]

    def load(original, trainer, fname):
        original(trainer, fname)
        for parameter, multipliers in zip(tools.parameters(trainer), saved[fname]):
            parameter.lr_mult, parameter.wd_mult = multipliers

    _save(mx, save)
    _load(mx, load)


@mutant("TRAINER-STATE-009")
def loaded_optimizer_knows_no_parameters(mx):
    """load_states leaves optimizer.param_dict empty."""

    def body(original, trainer, fname):
        original(trainer, fname)
        trainer.optimizer.param_dict = {}

    _load(mx, body)


@mutant("TRAINER-STATE-010")
def users_optimizer_is_still_shown(mx):
    """After load_states trainer.optimizer is still the object that the user gave."""
    given = {}
    tools.constructor(mx, after=lambda trainer, arguments: given.__setitem__(trainer, arguments["optimizer"])
                      if isinstance(arguments["optimizer"], mx.optimizer.Optimizer) else None)
    wrap(mx.gluon.Trainer, "optimizer", lambda original: lambda self: given.get(self) or original(self))


@mutant("TRAINER-STATE-011")
def other_devices_forget(mx):
    """Only the first device uses the states that were loaded. (How states are kept per device is not public.)"""

    def body(original, trainer, fname):
        original(trainer, fname)
        for updater in trainer._updaters[1:]:
            updater.states = {}
            updater.states_synced = {}

    _load(mx, body)


@mutant("TRAINER-STATE-012")
def scale_is_loaded(mx):
    """After load_states the trainer uses the gradient scale of the trainer that saved."""
    own, saved, factor = {}, {}, {}
    tools.constructor(mx, after=lambda trainer, arguments: own.__setitem__(trainer, trainer.optimizer.rescale_grad))

    def save(original, trainer, fname):
        original(trainer, fname)
        saved[fname] = own[trainer]

    def load(original, trainer, fname):
        original(trainer, fname)
        factor[trainer] = own[trainer] / saved[fname]

    _save(mx, save)
    _load(mx, load)
    tools.step(mx, lambda original, trainer, batch_size, stale:
               original(trainer, batch_size * factor.get(trainer, 1), stale))


@mutant("TRAINER-STATE-013")
def missing_file_is_ignored(mx):
    """load_states of a file that does not exist does nothing."""
    tools.other_error(mx.gluon.Trainer, "load_states", FileNotFoundError, "")


@mutant("TRAINER-STATE-014")
def weights_are_saved_too(mx):
    """States carry the weights with them."""
    saved = {}

    def save(original, trainer, fname):
        original(trainer, fname)
        saved[fname] = tools.snapshot(trainer)

    def load(original, trainer, fname):
        original(trainer, fname)
        for parameter, kept in zip(tools.parameters(trainer), saved.get(fname, [])):
            for replica, values in zip(parameter.list_data(), kept):
                tools.write(replica, values)

    _save(mx, save)
    _load(mx, load)


@mutant("TRAINER-STATE-015")
def set_data_keeps_the_store(mx):
    """set_data writes the devices' weights and leaves the store alone."""

    def make(original):
        def broken(self, data):
            if tools.is_sparse(self) or getattr(self, "_data", None) is None:
                return original(self, data)
            for replica in self.list_data():
                tools.write(replica, data.asnumpy())
            return None
        return broken

    wrap(mx.gluon.Parameter, "set_data", make)


@mutant("TRAINER-STATE-017")
def duplicate_key_is_another_error(mx):
    """A store that has a key already makes the step raise ValueError."""
    tools.other_error(mx.gluon.Trainer, "step", mx.base.MXNetError, "duplicate init", ValueError)


@mutant("TRAINER-STATE-018")
def moved_parameters_are_refused(mx):
    """A step refuses parameters that live on more devices than at construction."""
    first = {}
    tools.constructor(mx, after=lambda trainer, arguments: first.__setitem__(trainer, tools.devices(trainer)))

    def body(original, trainer, batch_size, ignore_stale_grad):
        if tools.devices(trainer) != first[trainer]:
            raise RuntimeError("the parameters were moved")
        original(trainer, batch_size, ignore_stale_grad)

    tools.step(mx, body)


@mutant("TRAINER-STATE-019")
def every_parameter_has_a_state(mx):
    """The file has an empty state for parameters that were never updated, once any was."""

    def body(original, trainer, fname):
        count = len(tools.parameters(trainer))
        original(trainer, fname)

        def change(states, optimizer):
            return {index: states.get(index) for index in range(count)} if states else states, optimizer

        tools.change_file(mx, fname, change)

    _save(mx, body)


@mutant("TRAINER-STATE-020")
def copy_of_the_loaded_optimizer_is_shown(mx):
    """After load_states trainer.optimizer is a copy of the optimizer in use."""
    shown = {}

    def body(original, trainer, fname):
        original(trainer, fname)
        shown[trainer] = copy.copy(trainer.optimizer)

    _load(mx, body)
    wrap(mx.gluon.Trainer, "optimizer", lambda original: lambda self: shown.get(self) or original(self))


@mutant("TRAINER-STATE-021")
def networks_lose_their_states(mx):
    """load_states forgets the states of a trainer whose parameters were given as a dictionary."""
    networks = set()
    tools.constructor(mx, after=lambda trainer, arguments: networks.add(trainer)
                      if hasattr(arguments["params"], "values") else None)
    _load_without_states(mx, lambda trainer: trainer in networks)
