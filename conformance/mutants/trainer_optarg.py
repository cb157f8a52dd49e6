"""Mutants of TRAINER-OPTARG."""

import copy

from conformance.mutants import mutant
from conformance.mutants import trainer_kit as tools


def _is_optimizer(mx, arguments):
    return isinstance(arguments["optimizer"], mx.optimizer.Optimizer)


@mutant("TRAINER-OPTARG-001")
def names_must_be_lower_case(mx):
    """A name with an upper case letter is unknown."""

    def before(arguments):
        name = arguments["optimizer"]
        if isinstance(name, str) and name != name.lower():
            raise ValueError("Cannot find optimizer %s." % name)

    tools.constructor(mx, before)


@mutant("TRAINER-OPTARG-002")
def unknown_name_is_another_error(mx):
    """An unknown name raises KeyError."""
    tools.other_error(mx.gluon.Trainer, "__init__", ValueError, "Cannot find optimizer", KeyError)


@mutant("TRAINER-OPTARG-004")
def parameters_beside_an_optimizer_are_ignored(mx):
    """optimizer_params beside an Optimizer object are dropped silently."""

    def before(arguments):
        if _is_optimizer(mx, arguments):
            arguments["optimizer_params"] = None

    tools.constructor(mx, before)


@mutant("TRAINER-OPTARG-005")
def empty_parameters_are_refused(mx):
    """An empty dictionary beside an Optimizer object is refused."""

    def before(arguments):
        if _is_optimizer(mx, arguments) and arguments.get("optimizer_params") is not None:
            raise AssertionError("optimizer_params must be None beside an Optimizer")

    tools.constructor(mx, before)


@mutant("TRAINER-OPTARG-006")
def optimizer_is_copied(mx):
    """The trainer works with a copy of the Optimizer object it is given."""

    def before(arguments):
        if _is_optimizer(mx, arguments):
            arguments["optimizer"] = copy.copy(arguments["optimizer"])

    tools.constructor(mx, before)


def _freeze(mx, name):
    """Let every step see the multiplier that the parameters had when the trainer was made."""
    frozen = {}

    def after(trainer, arguments):
        frozen[trainer] = [(p, getattr(p, name)) for p in tools.listed(arguments["params"])]

    def body(original, trainer, batch_size, ignore_stale_grad):
        now = [(p, getattr(p, name)) for p, _ in frozen[trainer]]
        for parameter, factor in frozen[trainer]:
            setattr(parameter, name, factor)
        try:
            return original(trainer, batch_size, ignore_stale_grad)
        finally:
            for parameter, factor in now:
                setattr(parameter, name, factor)

    tools.constructor(mx, after=after)
    tools.step(mx, body)


@mutant("TRAINER-OPTARG-007")
def lr_mult_is_read_once(mx):
    """lr_mult is read when the trainer is made."""
    _freeze(mx, "lr_mult")


@mutant("TRAINER-OPTARG-008")
def wd_mult_is_read_once(mx):
    """wd_mult is read when the trainer is made."""
    _freeze(mx, "wd_mult")


@mutant("TRAINER-OPTARG-009")
def optimizer_stays_with_its_first_trainer(mx):
    """An Optimizer object given to a second trainer keeps the parameters of the first."""
    before_tables = {}

    def before(arguments):
        if _is_optimizer(mx, arguments):
            before_tables[id(arguments["optimizer"])] = arguments["optimizer"].param_dict

    def after(trainer, arguments):
        if _is_optimizer(mx, arguments) and before_tables[id(arguments["optimizer"])]:
            arguments["optimizer"].param_dict = before_tables[id(arguments["optimizer"])]

    tools.constructor(mx, before, after)


@mutant("TRAINER-OPTARG-010")
def unknown_options_are_dropped(mx):
    """An option that the optimizer does not know is ignored."""

    def before(arguments):
        options = arguments.get("optimizer_params")
        if not isinstance(options, dict) or not isinstance(arguments["optimizer"], str):
            return
        options = dict(options)
        for name in sorted(options):
            try:
                mx.optimizer.create(arguments["optimizer"], **{name: options[name]})
            except TypeError:
                del options[name]
        arguments["optimizer_params"] = options

    tools.constructor(mx, before)


@mutant("TRAINER-OPTARG-011")
def options_are_read_again(mx):
    """A learning rate changed later in the user's dictionary is taken over by the next step."""
    known = {}

    def after(trainer, arguments):
        options = arguments.get("optimizer_params")
        if isinstance(options, dict):
            known[trainer] = (options, options.get("learning_rate"))

    def body(original, trainer, batch_size, ignore_stale_grad):
        options, rate = known.get(trainer, ({}, None))
        if options.get("learning_rate") != rate:
            trainer.set_learning_rate(options["learning_rate"])
        return original(trainer, batch_size, ignore_stale_grad)

    tools.constructor(mx, after=after)
    tools.step(mx, body)


@mutant("TRAINER-OPTARG-013")
def biases_do_not_decay(mx):
    """Parameters called bias, gamma or beta are exempt from weight decay."""

    def before(arguments):
        for parameter in tools.listed(arguments["params"]):
            if parameter.name.endswith(("bias", "gamma", "beta")):
                parameter.wd_mult = 0.0

    tools.constructor(mx, before)


@mutant("TRAINER-OPTARG-014")
def every_device_counts(mx):
    """An update on two devices counts as two updates of the optimizer."""

    def body(original, trainer, *args, **kwargs):
        original(trainer, *args, **kwargs)
        if tools.devices(trainer) > 1:
            trainer.optimizer.num_update += 1

    tools.method(mx, "update", body)


@mutant("TRAINER-OPTARG-015")
def adam_does_not_clip(mx):
    """clip_gradient is not passed on to Adam."""

    def before(arguments):
        if arguments["optimizer"] == "adam" and arguments.get("optimizer_params"):
            arguments["optimizer_params"] = {name: value for name, value in arguments["optimizer_params"].items()
                                             if name != "clip_gradient"}

    tools.constructor(mx, before)
