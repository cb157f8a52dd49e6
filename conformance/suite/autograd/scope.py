"""AUTOGRAD-SCOPE: record, pause and the training mode, their nesting, their threads."""

import threading

from conformance.case import case
from conformance.suite.autograd._tools import constant, flags, not_in_graph, variable


@case("AUTOGRAD-SCOPE-001")
def record_sets_both_flags_for_the_block(mx, check):
    check.equal(flags(mx), (False, False), "recording and training outside")
    with mx.autograd.record():
        check.equal(flags(mx), (True, True), "recording and training inside record()")
    check.equal(flags(mx), (False, False), "recording and training afterwards")


@case("AUTOGRAD-SCOPE-001")
def state_comes_back_after_an_exception(mx, check):
    try:
        with mx.autograd.record():
            check.equal(flags(mx), (True, True), "recording and training inside record()")
            raise KeyError("x")
    except KeyError:
        pass
    check.equal(flags(mx), (False, False), "recording and training after the exception")


@case("AUTOGRAD-SCOPE-001")
def nothing_is_recorded_outside(mx, check):
    x = variable(mx, [1.0, 2.0])
    y = x * x
    check.equal(y, [1, 4], "result")
    not_in_graph(mx, check, y)


# name of the scope, its argument, and what it makes of (recording, training): None leaves a flag as it is
SCOPES = {
    "record": ("record", None, (True, True)),
    "record_true": ("record", True, (True, True)),
    "record_false": ("record", False, (True, False)),
    "pause": ("pause", None, (False, False)),
    "pause_true": ("pause", True, (False, True)),
    "pause_false": ("pause", False, (False, False)),
    "train_mode": ("train_mode", None, (None, True)),
    "predict_mode": ("predict_mode", None, (None, False)),
}


@case("AUTOGRAD-SCOPE-002", samples={
    key: {"name": name, "flag": flag, "sets": sets} for key, (name, flag, sets) in SCOPES.items()})
def scope_sets_its_flags_wherever_it_is_entered(mx, check, name, flag, sets):
    for recording in (False, True):
        for training in (False, True):
            around = mx.autograd.record if recording else mx.autograd.pause
            with around(train_mode=training):
                want = tuple(was if now is None else now for was, now in zip((recording, training), sets))
                scope = getattr(mx.autograd, name)() if flag is None else getattr(mx.autograd, name)(train_mode=flag)
                with scope:
                    check.equal(flags(mx), want, "%s inside (%s, %s)" % (name, recording, training))
                check.equal(flags(mx), (recording, training), "after %s" % name)


@case("AUTOGRAD-SCOPE-003")
def new_thread_starts_with_neither(mx, check):
    seen = []
    with mx.autograd.record():
        thread = threading.Thread(target=lambda: seen.append(flags(mx)))
        thread.start()
        thread.join()
        check.equal(flags(mx), (True, True), "recording and training of the thread that records")
    check.equal(seen, [(False, False)], "recording and training of the new thread")


@case("AUTOGRAD-SCOPE-003")
def thread_leaves_the_state_of_others_alone(mx, check):
    entered, leave = threading.Event(), threading.Event()

    def record():
        with mx.autograd.record():
            entered.set()
            leave.wait(20)

    thread = threading.Thread(target=record)
    thread.start()
    try:
        check.that(entered.wait(20), "the other thread has entered its record()")
        check.equal(flags(mx), (False, False), "recording and training here while the other thread records")
    finally:
        leave.set()
        thread.join()


@case("AUTOGRAD-SCOPE-003")
def another_thread_may_differentiate(mx, check):
    x = variable(mx, [2.0])
    with mx.autograd.record():
        y = x * x
    thread = threading.Thread(target=y.backward)
    thread.start()
    thread.join()
    check.equal(x.grad, [4], "gradient")


@case("AUTOGRAD-SCOPE-004")
def setters_return_the_previous_state(mx, check):
    for setter, getter in ((mx.autograd.set_recording, mx.autograd.is_recording),
                           (mx.autograd.set_training, mx.autograd.is_training)):
        name = getter.__name__
        check.equal(setter(True), False, "state before the first call, %s" % name)
        check.equal(getter(), True, name)
        check.equal(setter(True), True, "state before the second call, %s" % name)
        check.equal(setter(False), True, "state before the third call, %s" % name)
        check.equal(getter(), False, name)


@case("AUTOGRAD-SCOPE-004")
def setters_change_one_flag_only(mx, check):
    mx.autograd.set_recording(True)
    check.equal(flags(mx), (True, False), "recording and training after set_recording(True)")
    mx.autograd.set_training(True)
    mx.autograd.set_recording(False)
    check.equal(flags(mx), (False, True), "recording and training after set_training(True), set_recording(False)")
    mx.autograd.set_training(False)


@case("AUTOGRAD-SCOPE-005")
def scope_object_is_entered_again(mx, check):
    scope = mx.autograd.record()
    for _ in range(2):
        with scope as target:
            check.equal(flags(mx), (True, True), "recording and training inside")
            check.same(target, None, "target of the with statement")
        check.equal(flags(mx), (False, False), "recording and training afterwards")


@case("AUTOGRAD-SCOPE-006")
def scope_object_is_nested_in_itself(mx, check):
    scope = mx.autograd.record()
    with scope:
        with scope:
            check.equal(flags(mx), (True, True), "recording and training in the inner block")
        check.equal(flags(mx), (True, True), "recording and training in the outer block")
    check.equal(flags(mx), (False, False), "recording and training afterwards")


@case("AUTOGRAD-SCOPE-007")
def record_needs_no_variable(mx, check):
    a = constant(mx, [1.0, 1.0])
    with mx.autograd.record():
        b = a * 2
    check.equal(b, [2, 2], "result")
    not_in_graph(mx, check, b)


@case("AUTOGRAD-SCOPE-007")
def arrays_outside_a_graph_are_written_in_place(mx, check):
    a, c = constant(mx, [1.0, 1.0]), constant(mx, [0.0, 0.0, 0.0])
    with mx.autograd.record():
        c[0] = 1
        c += 1
        check.equal(c, [2, 1, 1], "array after c[0] = 1 and c += 1")
        c[:] = 7
        a *= 3
    check.equal(c, [7, 7, 7], "array after c[:] = 7")
    check.equal(a, [3, 3], "array after a *= 3")


@case("AUTOGRAD-SCOPE-008")
def reading_values_while_recording(mx, check):
    x = variable(mx, [1.0, 2.0])
    with mx.autograd.record():
        y = x * 2
        check.equal(y.asnumpy(), [2, 4], "asnumpy() while recording")
        total = y.sum()
        check.equal(total.asscalar(), 6.0, "asscalar() while recording")
        check.contains(repr(y), "2", "4", doing="repr while recording")
        z = y * y
    z.backward()
    check.equal(x.grad, [8, 16], "gradient of (2x)**2")


@case("AUTOGRAD-SCOPE-009")
def graph_spans_two_blocks(mx, check):
    x = variable(mx, [2.0])
    with mx.autograd.record():
        y = x * x
    with mx.autograd.record():
        z = y * x
    z.backward()
    check.equal(x.grad, [12], "gradient of x**3")


@case("AUTOGRAD-SCOPE-009")
def step_between_two_blocks_is_a_constant(mx, check):
    x = variable(mx, [2.0])
    with mx.autograd.record():
        y = x * x
    z = y * 3
    with mx.autograd.record():
        w = z * x
    w.backward()
    check.equal(w, [24], "result")
    check.equal(x.grad, [12], "gradient of 12 * x")


@case("AUTOGRAD-SCOPE-010")
def result_of_pause_is_a_constant(mx, check):
    x = variable(mx, [1.0, 2.0, 3.0])
    with mx.autograd.record():
        y = x * x
        with mx.autograd.pause():
            c = y * 3
        z = y + c
    z.backward()
    check.equal(z, [4, 16, 36], "result")
    check.equal(x.grad, [2, 4, 6], "gradient of x**2 + constant")


@case("AUTOGRAD-SCOPE-010")
def result_of_pause_is_in_no_graph(mx, check):
    x = variable(mx, [1.0, 2.0])
    with mx.autograd.record(), mx.autograd.pause():
        p = x * 2
    check.equal(p, [2, 4], "result")
    not_in_graph(mx, check, p)


@case("AUTOGRAD-SCOPE-011")
def record_leaves_the_training_flag_alone(mx, check):
    with mx.autograd.record(train_mode=None):
        check.equal(flags(mx), (True, False), "recording and training in prediction mode")
    with mx.autograd.train_mode(), mx.autograd.record(train_mode=None):
        check.equal(flags(mx), (True, True), "recording and training in training mode")
