"""Mutants of TRAINER-STEP."""

import numpy as np

from conformance.mutants import mutant, wrap
from conformance.mutants import trainer_kit as tools
from conformance.suite import kit


@mutant("TRAINER-STEP-001")
def batch_size_is_optional(mx):
    """step() without an argument takes the batch size to be 1."""

    def make(original):
        def broken(self, batch_size=1, ignore_stale_grad=False):
            return original(self, batch_size, ignore_stale_grad)
        return broken

    wrap(mx.gluon.Trainer, "step", make)


@mutant("TRAINER-STEP-002")
def sign_of_the_batch_size_is_lost(mx):
    """A negative batch size counts as a positive one."""
    tools.step(mx, lambda original, trainer, batch_size, stale: original(trainer, abs(batch_size), stale))


@mutant("TRAINER-STEP-003")
def scale_set_by_the_user_is_kept(mx):
    """A change of optimizer.rescale_grad by the user replaces the scale of construction."""
    known = {}

    def after(trainer, arguments):
        known[trainer] = (trainer.optimizer, trainer.optimizer.rescale_grad, trainer.optimizer.rescale_grad)

    def body(original, trainer, batch_size, ignore_stale_grad):
        optimizer, scale, last = known[trainer]
        now = optimizer.rescale_grad
        if trainer.optimizer is optimizer and now != last:
            batch_size = batch_size * scale / now
        original(trainer, batch_size, ignore_stale_grad)
        known[trainer] = (optimizer, scale, optimizer.rescale_grad)

    tools.constructor(mx, after=after)
    tools.step(mx, body)


@mutant("TRAINER-STEP-004")
def nothing_counts_as_one(mx):
    """A batch size of 0 or None counts as 1."""
    tools.step(mx, lambda original, trainer, batch_size, stale: original(trainer, batch_size or 1, stale))


@mutant("TRAINER-STEP-005")
def mean_is_a_sum(mx):
    """The mean method of arrays returns the sum."""
    kind = type(kit.array(mx, [0.0]))
    wrap(kind, "mean", lambda original: lambda self, *args, **kwargs: self.sum(*args, **kwargs))


@mutant("TRAINER-STEP-006")
def failed_step_restores_the_scale(mx):
    """A step that fails leaves optimizer.rescale_grad as it was before."""

    def body(original, trainer, batch_size, ignore_stale_grad):
        kept = trainer.optimizer.rescale_grad
        try:
            return original(trainer, batch_size, ignore_stale_grad)
        except Exception:
            trainer.optimizer.rescale_grad = kept
            raise

    tools.step(mx, body)


@mutant("TRAINER-STEP-007")
def step_pauses_recording(mx):
    """step may be called inside autograd.record()."""

    def body(original, trainer, batch_size, ignore_stale_grad):
        with mx.autograd.pause():
            return original(trainer, batch_size, ignore_stale_grad)

    tools.step(mx, body)


@mutant("TRAINER-STEP-008")
def first_step_needs_no_backward(mx):
    """A first step without a backward pass does nothing instead of raising."""
    stepped = set()

    def body(original, trainer, batch_size, ignore_stale_grad):
        try:
            original(trainer, batch_size, ignore_stale_grad)
        except UserWarning:
            if trainer in stepped:
                raise
        stepped.add(trainer)

    tools.step(mx, body)


@mutant("TRAINER-STEP-009")
def first_batch_size_stays(mx):
    """With updates on the store the batch size of the first step stays in force."""
    first = {}

    def body(original, trainer, batch_size, ignore_stale_grad):
        if kit.update_on_kvstore(trainer):
            batch_size = first.get(trainer, batch_size)
        original(trainer, batch_size, ignore_stale_grad)
        first.setdefault(trainer, batch_size)

    tools.step(mx, body)


@mutant("TRAINER-STEP-013")
def many_devices_are_averaged(mx):
    """On more than two devices the gradients are averaged."""

    def body(original, trainer, batch_size, ignore_stale_grad):
        count = tools.devices(trainer)
        return original(trainer, batch_size * (count if count > 2 else 1), ignore_stale_grad)

    tools.step(mx, body)


@mutant("TRAINER-STEP-014")
def adam_does_not_decay_on_several_devices(mx):
    """On several devices Adam leaves weight decay out."""

    def before(arguments):
        options = arguments.get("optimizer_params")
        given = tools.listed(arguments["params"])
        if arguments["optimizer"] == "adam" and options and given and tools.device_count(given[0]) > 1:
            arguments["optimizer_params"] = dict(options, wd=0.0)

    tools.constructor(mx, before)


@mutant("TRAINER-STEP-015")
def decay_without_a_gradient(mx):
    """Parameters with grad_req null decay all the same."""

    def body(original, trainer, batch_size, ignore_stale_grad):
        original(trainer, batch_size, ignore_stale_grad)
        for parameter in tools.parameters(trainer):
            if parameter.grad_req == "null" and np.dtype(parameter.dtype).kind == "f":
                for replica in parameter.list_data():
                    tools.write(replica, replica.asnumpy() * (1.0 - trainer.learning_rate * trainer.optimizer.wd))

    tools.step(mx, body)


@mutant("TRAINER-STEP-016")
def added_gradients_are_cleared(mx):
    """A step clears the gradients of parameters with grad_req add."""

    def body(original, trainer, batch_size, ignore_stale_grad):
        original(trainer, batch_size, ignore_stale_grad)
        for parameter in tools.parameters(trainer):
            if parameter.grad_req == "add":
                for gradient in parameter.list_grad():
                    gradient[:] = 0.0

    tools.step(mx, body)


@mutant("TRAINER-STEP-017")
def written_gradients_are_added(mx):
    """A second backward before the step adds to the gradient of the first."""
    known, waiting = [], {}
    tools.constructor(mx, after=lambda trainer, arguments: known.extend(
        p for p in tools.listed(arguments["params"]) if not tools.is_sparse(p) and not tools.has_sparse_gradient(p)))

    def make(original):
        def broken(*args, **kwargs):
            original(*args, **kwargs)
            for parameter in known:
                if parameter.grad_req == "write" and getattr(parameter, "_data", None) is not None:
                    for replica, gradient in zip(parameter.list_data(), parameter.list_grad()):
                        if replica._fresh_grad:
                            before = waiting.get(id(gradient), (0.0, None))[0]
                            tools.write(gradient, gradient.asnumpy() + before)
                            waiting[id(gradient)] = (gradient.asnumpy().copy(), gradient)
        return broken

    def body(original, trainer, batch_size, ignore_stale_grad):
        original(trainer, batch_size, ignore_stale_grad)
        waiting.clear()

    wrap(mx.autograd, "backward", make)
    tools.step(mx, body)


@mutant("TRAINER-STEP-018")
def batch_size_by_position_only(mx):
    """batch_size cannot be given by name."""

    def make(original):
        def broken(*args, **kwargs):
            if "batch_size" in kwargs:
                raise TypeError("step() got an unexpected keyword argument 'batch_size'")
            return original(*args, **kwargs)
        return broken

    wrap(mx.gluon.Trainer, "step", make)


@mutant("TRAINER-STEP-019")
def gradients_show_the_sum(mx):
    """With updates on the store the gradients hold the sum of all devices after a step."""

    def body(original, trainer, batch_size, ignore_stale_grad):
        original(trainer, batch_size, ignore_stale_grad)
        if kit.update_on_kvstore(trainer):
            for parameter in tools.parameters(trainer):
                if parameter.grad_req == "null" or tools.is_sparse(parameter) or tools.has_sparse_gradient(parameter):
                    continue
                total = sum(gradient.asnumpy() for gradient in parameter.list_grad())
                for gradient in parameter.list_grad():
                    tools.write(gradient, total)

    tools.step(mx, body)


@mutant("TRAINER-STEP-020")
def overflow_is_overlooked(mx):
    """The loss scaler is not asked about an overflow."""

    def body(original, trainer, batch_size, ignore_stale_grad):
        scaler = trainer.__dict__.pop("_amp_loss_scaler", None)
        try:
            return original(trainer, batch_size, ignore_stale_grad)
        finally:
            if scaler is not None:
                trainer._amp_loss_scaler = scaler

    tools.step(mx, body)


@mutant("TRAINER-STEP-022")
def networks_are_not_reduced(mx):
    """Parameters given as a dictionary, as a network does, are trained on each device by itself."""

    def before(arguments):
        if hasattr(arguments["params"], "values"):
            given = tools.listed(arguments["params"])
            if given and tools.device_count(given[0]) > 1:
                arguments["kvstore"] = None
                arguments["update_on_kvstore"] = None

    tools.constructor(mx, before)
