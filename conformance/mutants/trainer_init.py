"""Mutants of TRAINER-INIT."""

import re

from conformance.mutants import mutant, wrap
from conformance.mutants import trainer_kit as tools


@mutant("TRAINER-INIT-001")
def last_arguments_exchanged(mx):
    """compression_params and update_on_kvstore have changed places for a caller who gives them by position."""

    def make(original):
        def broken(self, *args, **kwargs):
            if len(args) == 6:
                args = args[:4] + (args[5], args[4])
            original(self, *args, **kwargs)
        return broken

    wrap(mx.gluon.Trainer, "__init__", make)


@mutant("TRAINER-INIT-002")
def tuple_is_reversed(mx):
    """A tuple of parameters is taken from its end."""

    def before(arguments):
        if isinstance(arguments["params"], tuple):
            arguments["params"] = arguments["params"][::-1]

    tools.constructor(mx, before)


def _reorder(mx, wanted, key):
    """Take dictionaries for whose keys ``wanted`` is true in the order of ``key``."""

    def before(arguments):
        params = arguments["params"]
        keys = list(params.keys()) if hasattr(params, "keys") else []
        if len(keys) > 1 and wanted(keys):
            arguments["params"] = [params[name] for name in sorted(keys, key=key)]

    tools.constructor(mx, before)


@mutant("TRAINER-INIT-003")
def numbers_are_sorted_as_text(mx):
    """A dictionary with integer keys is taken in the order of their texts."""
    _reorder(mx, lambda keys: all(isinstance(key, int) for key in keys), str)


@mutant("TRAINER-INIT-004")
def names_are_sorted_by_their_numbers(mx):
    """layer2 comes before layer10."""
    _reorder(mx, lambda keys: all(isinstance(key, str) for key in keys),
             lambda key: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", key)])


@mutant("TRAINER-INIT-005")
def mixed_keys_are_accepted(mx):
    """A dictionary with keys of several kinds is taken in the order of their texts."""
    _reorder(mx, lambda keys: len({type(key) for key in keys}) > 1, str)


@mutant("TRAINER-INIT-006", "TRAINER-ERR-001")
def sets_are_accepted(mx):
    """A set of parameters is taken as a list."""

    def before(arguments):
        if isinstance(arguments["params"], set):
            arguments["params"] = list(arguments["params"])

    tools.constructor(mx, before)


@mutant("TRAINER-INIT-007", "TRAINER-ERR-001")
def foreign_elements_are_dropped(mx):
    """What is no parameter is left out of the list."""

    def before(arguments):
        if isinstance(arguments["params"], list):
            arguments["params"] = [item for item in arguments["params"] if isinstance(item, mx.gluon.Parameter)]

    tools.constructor(mx, before)


@mutant("TRAINER-INIT-009")
def equal_names_are_merged(mx):
    """Two parameters of one name are taken for the same."""

    def before(arguments):
        if isinstance(arguments["params"], list):
            seen = {}
            for item in arguments["params"]:
                seen.setdefault(getattr(item, "name", id(item)), item)
            arguments["params"] = list(seen.values())

    tools.constructor(mx, before)


@mutant("TRAINER-INIT-010")
def layers_do_not_share(mx):
    """A layer that is to share the parameters of another one makes its own."""
    for owner in (mx.gluon.Block, mx.gluon.nn.Dense):
        if "share_parameters" in owner.__dict__:
            wrap(owner, "share_parameters", lambda original: lambda self, shared: self)

    def make(original):
        def broken(self, *args, **kwargs):
            kwargs.pop("params", None)
            original(self, *args, **kwargs)
        return broken

    wrap(mx.gluon.nn.Dense, "__init__", make)


@mutant("TRAINER-INIT-012")
def sparse_gradients_are_overlooked(mx):
    """A dense weight with a sparse gradient is updated on the store by default, like one with a dense gradient."""

    def before(arguments):
        given = tools.listed(arguments["params"])
        if any(map(tools.has_sparse_gradient, given)) and arguments.get("update_on_kvstore") is None:
            arguments["update_on_kvstore"] = True

    tools.constructor(mx, before)


@mutant("TRAINER-INIT-013")
def sparse_weights_change_hands(mx):
    """A second trainer takes a sparse weight away from the first."""

    def before(arguments):
        for parameter in tools.listed(arguments["params"]):
            if tools.is_sparse(parameter):
                parameter._set_trainer(None)

    tools.constructor(mx, before)


@mutant("TRAINER-INIT-014")
def first_trainer_stays(mx):
    """A dense parameter goes on referring to the first trainer it was given to."""
    first = []

    def after(trainer, arguments):
        for parameter in tools.listed(arguments["params"]):
            if tools.is_sparse(parameter):
                continue
            known = [owner for other, owner in first if other is parameter]
            if known:
                parameter._set_trainer(known[0])
            else:
                first.append((parameter, trainer))

    tools.constructor(mx, after=after)


@mutant("TRAINER-INIT-016")
def different_devices_are_another_error(mx):
    """Parameters on different devices raise ValueError."""
    tools.other_error(mx.gluon.Trainer, "__init__", AssertionError, "on the same set of", ValueError)


@mutant("TRAINER-INIT-017")
def missing_initialisation_is_another_error(mx):
    """A parameter that was not initialised raises ValueError."""
    tools.other_error(mx.gluon.Trainer, "__init__", RuntimeError, "has not been initialized", ValueError)


@mutant("TRAINER-INIT-018")
def deferred_step_is_another_error(mx):
    """A step before the first forward raises ValueError."""
    tools.other_error(mx.gluon.Trainer, "step", mx.gluon.parameter.DeferredInitializationError, "", ValueError)


@mutant("TRAINER-INIT-019")
def optimizer_before_compression(mx):
    """A store that is to compress gets the optimizer before it hears of compression."""
    waiting = {}

    def after(trainer, arguments):
        if arguments.get("compression_params") and hasattr(arguments.get("kvstore"), "set_optimizer"):
            waiting[trainer] = arguments["kvstore"]

    def body(original, trainer, batch_size, ignore_stale_grad):
        store = waiting.pop(trainer, None)
        if store is not None:
            store.set_optimizer(trainer.optimizer)
        return original(trainer, batch_size, ignore_stale_grad)

    tools.constructor(mx, after=after)
    tools.step(mx, body)
