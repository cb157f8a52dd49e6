"""AUTOGRAD-MODE: what training mode changes, seen on Dropout."""

import contextlib

from conformance.case import case
from conformance.suite.autograd._tools import constant, variable

COUNT = 1000


def _dropped(y):
    """Whether some elements of Dropout's result for ones are 0, and the largest of them."""
    values = y.asnumpy()
    return bool((values == 0).any()), float(values.max())


# scopes around the call, from outside to inside, and whether elements are dropped
SURROUNDINGS = {
    "outside": ((), False),
    "record": ((("record", {}),), True),
    "record_for_prediction": ((("record", {"train_mode": False}),), False),
    "train_mode": ((("train_mode", {}),), True),
    "predict_mode_in_record": ((("record", {}), ("predict_mode", {})), False),
    "pause_in_record": ((("record", {}), ("pause", {})), False),
    "pause_for_training_in_record": ((("record", {}), ("pause", {"train_mode": True})), True),
}


@case("AUTOGRAD-MODE-001", samples={
    name: {"scopes": scopes, "drops": drops} for name, (scopes, drops) in SURROUNDINGS.items()})
def dropout_follows_the_training_flag(mx, check, scopes, drops):
    x = mx.nd.ones((COUNT,))
    with contextlib.ExitStack() as stack:
        for name, options in scopes:
            stack.enter_context(getattr(mx.autograd, name)(**options))
        y = mx.nd.Dropout(x, p=0.5)
    check.equal(_dropped(y), (True, 2.0) if drops else (False, 1.0), "some elements are 0, largest element")


@case("AUTOGRAD-MODE-001")
def dropout_rescales_by_what_it_keeps(mx, check):
    with mx.autograd.train_mode():
        y = mx.nd.Dropout(mx.nd.ones((COUNT,)), p=0.75).asnumpy()
    check.equal(sorted(set(y.tolist())), [0.0, 4.0], "values that occur with p=0.75")
    check.that(0.1 < (y != 0).mean() < 0.4, "about a quarter is kept", "0.1 ... 0.4", (y != 0).mean())


@case("AUTOGRAD-MODE-001")
def dropout_can_be_told_to_drop_always(mx, check):
    x = mx.nd.ones((COUNT,))
    check.equal(_dropped(mx.nd.Dropout(x, p=0.5, mode="always")), (True, 2.0), "outside")
    with mx.autograd.predict_mode():
        check.equal(_dropped(mx.nd.Dropout(x, p=0.5, mode="always")), (True, 2.0), "in prediction mode")


@case("AUTOGRAD-MODE-002")
def gradient_uses_the_mask_of_the_forward_pass(mx, check):
    x = variable(mx, [1.0] * COUNT)
    with mx.autograd.record():
        y = mx.nd.Dropout(x, p=0.5)
    mask = y.asnumpy()
    y.backward()
    check.equal(sorted(set(mask.tolist())), [0.0, 2.0], "values that occur in the result")
    check.equal(x.grad, mask, "gradient")


@case("AUTOGRAD-MODE-002")
def nothing_is_dropped_with_probability_zero(mx, check):
    with mx.autograd.train_mode():
        check.equal(mx.nd.Dropout(constant(mx, [1, 2, 3]), p=0.0), [1, 2, 3], "result with p=0")
