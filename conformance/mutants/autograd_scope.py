"""Mutants of AUTOGRAD-SCOPE and AUTOGRAD-MODE."""

import threading

from conformance.mutants import mutant
from conformance.mutants.autograd_kit import Operators, after, depth_of, is_array, replace, scope

ASSIGNING = "Assigning to NDArrays that are already in a computational graph"


@mutant("AUTOGRAD-SCOPE-001")
def record_survives_an_exception(mx):
    """The state is not restored when a record block ends with an exception."""

    def leave(original, *error):
        result = original.__exit__(*error)
        if error[0] is not None:
            mx.autograd.set_recording(True)
        return result

    scope(mx, "record", leave=leave)


@mutant("AUTOGRAD-SCOPE-001")
def training_outlasts_record(mx):
    """The training flag stays on behind a record block."""

    def leave(original, *error):
        result = original.__exit__(*error)
        mx.autograd.set_training(True)
        return result

    scope(mx, "record", leave=leave)


@mutant("AUTOGRAD-SCOPE-002")
def pause_keeps_the_training_flag(mx):
    """pause() leaves the training flag as it is."""
    replace(mx.autograd, "pause", lambda original, train_mode=None: original(train_mode=train_mode))


@mutant("AUTOGRAD-SCOPE-002")
def predict_mode_stops_recording(mx):
    pause = mx.autograd.pause
    replace(mx.autograd, "predict_mode", lambda original: pause())


@mutant("AUTOGRAD-SCOPE-003")
def all_threads_record(mx):
    """A thread sees that another one records."""
    threads = []

    def enter(original):
        original.__enter__()
        threads.append(threading.get_ident())

    def leave(original, *error):
        threads.remove(threading.get_ident())
        return original.__exit__(*error)

    scope(mx, "record", enter, leave)
    replace(mx.autograd, "is_recording", lambda original: original() or any(
        thread != threading.get_ident() for thread in threads))


@mutant("AUTOGRAD-SCOPE-004")
def setter_returns_the_new_state(mx):
    def body(original, state):
        original(state)
        return state

    replace(mx.autograd, "set_recording", body)
    replace(mx.autograd, "set_training", body)


@mutant("AUTOGRAD-SCOPE-005")
def scope_object_serves_once(mx):
    class Once(object):
        def __init__(self, original):
            self.original, self.used = original, False

        def __enter__(self):
            if self.used:
                raise RuntimeError("this scope has been used")
            self.used = True
            return self.original.__enter__()

        def __exit__(self, *error):
            return self.original.__exit__(*error)

    replace(mx.autograd, "record", lambda original, *args, **kwargs: Once(original(*args, **kwargs)))


@mutant("AUTOGRAD-SCOPE-007")
def plain_arrays_are_protected_while_recording(mx):
    """*= is refused while recording, although the array is in no graph."""

    def body(original, self, other):
        if mx.autograd.is_recording():
            raise mx.base.MXNetError(ASSIGNING)
        return original(self, other)

    replace(mx.nd.NDArray, "__imul__", body)


@mutant("AUTOGRAD-SCOPE-008")
def number_is_not_read_while_recording(mx):
    def body(original, self):
        if mx.autograd.is_recording():
            raise mx.base.MXNetError("values cannot be read while recording")
        return original(self)

    replace(mx.nd.NDArray, "asscalar", body)


@mutant("AUTOGRAD-SCOPE-009")
def each_block_is_a_graph_of_its_own(mx):
    """A product of an earlier record block is a constant in the next one."""
    blocks, made = [], []

    def enter(original):
        blocks.append(original)
        return original.__enter__()

    def here(value):
        for array, block in made:
            if array is value and block != len(blocks):
                return value.detach()
        return value

    def body(original, self, other):
        if not mx.autograd.is_recording():
            return original(self, other)
        result = original(here(self), here(other))
        made.append((result, len(blocks)))
        return result

    scope(mx, "record", enter)
    replace(mx.nd.NDArray, "__mul__", body)


@mutant("AUTOGRAD-SCOPE-010")
def products_under_pause_are_recorded(mx):
    paused = depth_of(mx, "pause")

    def body(original, self, other):
        before = mx.autograd.set_recording(bool(paused) or mx.autograd.is_recording())
        try:
            return original(self, other)
        finally:
            mx.autograd.set_recording(before)

    replace(mx.nd.NDArray, "__mul__", body)


@mutant("AUTOGRAD-MODE-001")
def dropout_follows_recording(mx):
    """Dropout drops while recording, whatever the training flag says."""

    def body(original, data, **options):
        before = mx.autograd.set_training(mx.autograd.is_recording())
        try:
            return original(data, **options)
        finally:
            mx.autograd.set_training(before)

    replace(mx.nd, "Dropout", body)


@mutant("AUTOGRAD-MODE-001")
def dropout_does_not_rescale(mx):
    def body(original, data, **options):
        result = original(data, **options)
        if options.get("p") == 0.75:
            return mx.nd.sign(result)
        return result

    replace(mx.nd, "Dropout", body)


@mutant("AUTOGRAD-MODE-002")
def gradient_of_dropout_has_no_mask(mx):
    """The gradient of Dropout is that of the identity."""
    operators = Operators(mx)

    def change(result, data, **options):
        return operators.add(operators.block(operators.subtract(result, data)), data)

    after(mx, mx.nd, "Dropout", change, lambda data, **options: is_array(mx, data) and "mode" not in options)
