"""Wrong uses of loops and branches: an error that names the loop, what was expected and what was given."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

import refengine as mx
from refengine import MXNetError, nd

foreach, while_loop, cond = nd.contrib.foreach, nd.contrib.while_loop, nd.contrib.cond
DATA, STATE, ONE = nd.array([[1, 2], [3, 4], [5, 6]]), nd.zeros((2,)), nd.array([1])
X, Y, Z = mx.sym.var("x"), mx.sym.var("y"), mx.sym.var("z")
loops = mx.sym.contrib


def _add(item: Any, state: Any) -> Any:
    return item + state, item + state


def _small(value: Any) -> Any:
    return value.sum() < 5


def _grow(value: Any) -> Any:
    return value + 1, value + 1


def _numbered(function: Callable[[int, Any], Any]) -> Callable[..., Any]:
    """A step that is told how often it was called before, and keeps its state."""
    numbers = count()
    return lambda item, *state: (function(next(numbers), item), state[0] if state else item + 1)


WRONG: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "a number as state": (lambda: foreach(_add, DATA, 0), AssertionError,
                          r"foreach states must be \(nested\) list of NDArray, but got 0 of type <class 'int'>"),
    "no state": (lambda: foreach(_add, DATA, None), AssertionError, "foreach states .* got None"),
    "a list with a number as state": (lambda: foreach(_add, DATA, [STATE, 1.5]), AssertionError, "got 1.5 of type"),
    "a dict as state": (lambda: foreach(_add, DATA, {"a": STATE}), AssertionError, "(?s)foreach states .*dict"),
    "a number as data": (lambda: foreach(_add, 3, STATE), AssertionError, "foreach input .* got 3 of type"),
    "a numpy array as data": (lambda: foreach(_add, DATA.asnumpy(), STATE), AssertionError, r"array of shape \(3, 2\)"),
    "lists in a list as data": (lambda: foreach(_add, [[DATA]], STATE), AssertionError, "foreach: data must be"),
    "no data": (lambda: foreach(_add, [], STATE), IndexError, "foreach: data must have at least one NDArray"),
    "no entries": (lambda: foreach(_add, DATA[0:0], STATE), MXNetError, r"foreach: .* at least one entry.*\(0, 2\)"),
    "shorter data": (lambda: foreach(_add, [DATA, DATA[:2]], STATE), IndexError, r"data\[1\] has length 2, expected 3"),
    "longer data": (lambda: foreach(_add, [DATA[:2], DATA], STATE), IndexError, r"data\[1\] has length 3, expected 2"),
    "one array for two values": (lambda: foreach(lambda d, s: d + s, DATA, STATE), ValueError,
                                 r"foreach: body must return two values, \(outputs, states\), got one"),
    "nothing for two values": (lambda: foreach(lambda d, s: None, DATA, STATE), TypeError, "two values.* got None"),
    "three values": (lambda: foreach(lambda d, s: (d, d, s), DATA, STATE), ValueError, "two values.* got 3"),
    "a number as output": (lambda: foreach(lambda d, s: (1, s), DATA, STATE), AssertionError,
                          "foreach output .*got 1"),
    "more outputs": (lambda: foreach(_numbered(lambda n, d: [d] * (n + 1)), DATA, STATE), IndexError,
                     "foreach: body gave 2 outputs in step 1, expected 1 as in step 0"),
    "fewer outputs": (lambda: foreach(_numbered(lambda n, d: [d] * (2 - n)), DATA, STATE), IndexError,
                      "gave 1 outputs in step 1, expected 2"),
    "outputs in another form": (lambda: foreach(_numbered(lambda n, d: [[d], d] if n else [d, d]), DATA, STATE),
                                ValueError, "nested in another way in step 1"),
    "outputs of another shape": (lambda: foreach(_numbered(lambda n, d: d.reshape((1, 2)) if n else d), DATA, STATE),
                                 MXNetError, r"output 0 of shape \(1, 2\) in step 1, expected \(2,\)"),
    "outputs of another dtype": (lambda: foreach(_numbered(lambda n, d: d.astype("float64") if n else d), DATA, STATE),
                                 MXNetError, "output 0 of dtype float64 in step 1, expected float32"),
    "no function": (lambda: foreach(3, DATA, STATE), TypeError, "foreach: body must be a function, got 3"),
    "no limit": (lambda: while_loop(_small, _grow, ONE), ValueError, "while_loop: max_iterations should be specified"),
    "a limit below zero": (lambda: while_loop(_small, _grow, ONE, -1), MXNetError, "while_loop: value -1 for"),
    "a text as limit": (lambda: while_loop(_small, _grow, ONE, "x"), ValueError, "max_iteration.* got 'x'"),
    "a list as limit": (lambda: while_loop(_small, _grow, ONE, [3]), ValueError, r"max_iteration.* got \[3\]"),
    "nothing as variables": (lambda: while_loop(_small, _grow, None, 3), TypeError, "loop_vars .* got None of"),
    "no variables": (lambda: while_loop(_small, _grow, [], 3), ValueError, "loop_vars should contain at least one"),
    "a number as variable": (lambda: while_loop(_small, _grow, 3, 3), TypeError, "loop_vars .* got 3 of type"),
    "a condition of two elements": (lambda: while_loop(lambda x: x < 5, _grow, STATE, 3), ValueError,
                                    r"while_loop: the condition must have one element, got shape \(2,\)"),
    "no condition": (lambda: while_loop(lambda x: None, _grow, ONE, 3), ValueError, "the condition .* got None"),
    "a text as condition": (lambda: while_loop(lambda x: "no", _grow, ONE, 3), ValueError, "the condition .* got 'no'"),
    "a list as condition": (lambda: while_loop(lambda x: [x < 0], _grow, ONE, 3), ValueError,
                            "the condition .* got .an NDArray"),
    "one value of a step": (lambda: while_loop(_small, lambda x: x, ONE, 3), ValueError,
                            r"while_loop: func must return two values, \(outputs, loop_vars\), got one"),
    "more variables": (lambda: while_loop(_small, lambda x: (x, [x, x]), ONE, 3), ValueError,
                       "func gave 2 loop variables in step 0, expected 1"),
    "variables gone": (lambda: while_loop(_small, lambda x: (x, None), ONE, 3), ValueError, "gave 0 loop variables"),
    "more outputs of a step": (lambda: while_loop(_small, _numbered(lambda n, x: [x] * (n + 1)), ONE, 3), ValueError,
                               "while_loop: func gave 2 outputs in step 1, expected 1"),
    "fewer outputs of a step": (lambda: while_loop(_small, _numbered(lambda n, x: [x] * (2 - n)), ONE, 3), ValueError,
                                "while_loop: func gave 1 outputs in step 1, expected 2"),
    "another shape of a step": (lambda: while_loop(_small, _numbered(lambda n, x: nd.ones((n + 1,))), ONE, 3),
                                MXNetError, r"while_loop: func gave output 0 of shape \(2,\)"),
    "two elements to choose by": (lambda: cond(STATE, lambda: ONE, lambda: ONE), ValueError,
                                  r"cond: pred must have one element, got shape \(2,\)"),
    "nothing to choose by": (lambda: cond(None, lambda: ONE, lambda: ONE), AssertionError, "cond: pred .* got None"),
    "a list to choose by": (lambda: cond([ONE], lambda: ONE, lambda: ONE), AssertionError,
                            "cond: pred .* got .an NDArray"),
    "no function to choose": (lambda: cond(ONE, ONE, ONE), TypeError, "cond: then_func must be a function"),
    "graph: a number as state": (lambda: loops.foreach(_add, X, 0), AssertionError,
                                 r"foreach states must be \(nested\) list of Symbol, but got 0 of type <class 'int'>"),
    "graph: no state": (lambda: loops.foreach(_add, X, None), AssertionError, "foreach states .* got None"),
    "graph: an array as data": (lambda: loops.foreach(_add, DATA, Y), AssertionError, "foreach input .* an NDArray"),
    "graph: one symbol": (lambda: loops.foreach(lambda d, s: d + s, X, Y), ValueError, "foreach: body must return two"),
    "graph: no output": (lambda: loops.foreach(lambda d, s: (None, d + s), X, Y), AssertionError, "foreach output"),
    "graph: more states": (lambda: loops.foreach(lambda d, s: (d + s, [s, s]), X, Y), AssertionError,
                           r"different format: body gave \[Symbol, Symbol\], expected Symbol"),
    "graph: fewer states": (lambda: loops.foreach(lambda d, s: (d + s[0] + s[1], s[:1]), X, [Y, Z]), AssertionError,
                            "different format"),
    "graph: states in a list": (lambda: loops.foreach(lambda d, s: (d + s, [s]), X, Y), AssertionError,
                                "different format"),
    "graph: no limit": (lambda: loops.while_loop(_small, _grow, X), ValueError, "max_iterations should be specified"),
    "graph: limit 0": (lambda: loops.while_loop(_small, _grow, X, 0), MXNetError,
                       "value 0 for Parameter max_iterations should be greater equal to 1"),
    "graph: a number as variable": (lambda: loops.while_loop(_small, _grow, 3, 3), AssertionError, "while loop_vars"),
    "graph: a truth value as condition": (lambda: loops.while_loop(lambda x: True, _grow, X, 3), ValueError,
                                          "while_loop: Return of cond must be a Symbol"),
    "graph: two conditions": (lambda: loops.while_loop(lambda x: [x, x], _grow, X, 3), ValueError, "Return of cond"),
    "graph: more variables": (lambda: loops.while_loop(lambda x: x, lambda x: (x, [x, x]), X, 3), ValueError,
                              "while_loop: func gave 2 loop variables, expected 1"),
    "graph: a number to choose by": (lambda: loops.cond(1, lambda: X, lambda: Y), AssertionError, "cond pred .* got 1"),
    "graph: a group to choose by": (lambda: loops.cond(mx.sym.Group([X, Y]), lambda: X, lambda: Y), MXNetError,
                                    "cond: pred must be one Symbol, got a group of 2"),
    "graph: no result": (lambda: loops.cond(X, lambda: None, lambda: Y), AssertionError, "cond outputs of then_func"),
    "graph: other numbers of results": (lambda: loops.cond(X, lambda: [X, Y], lambda: Y), ValueError,
                                        "Number of outputs differs between then-branch and else-branch: 2 and 1"),
    "graph: no results": (lambda: loops.cond(X, list, list), TypeError, "cond: .* at least one Symbol"),
}  # fmt: skip


@pytest.mark.parametrize("use", WRONG)
def test_wrong_uses_say_what_is_wrong(use: str) -> None:
    action, error, message = WRONG[use]
    with pytest.raises(error, match=message):
        action()


def _shape_grows(item: Any, state: Any) -> Any:
    return item + 1, mx.sym.concat(state, item, dim=0)


def _narrow_or_wide() -> Any:
    return loops.cond(X, lambda: mx.sym.cast(Y, dtype="float64"), lambda: Y + 2)


@pytest.mark.parametrize(("graph", "message"), [
    (lambda: mx.sym.Group(list(loops.foreach(_shape_grows, X, Y))), r"state 0 the shape \(4,\), expected \(2,\)"),
    (_narrow_or_wide, "dtypes float64 and float32"),
    (lambda: mx.sym.Group(list(loops.while_loop(lambda v: v < 5, lambda v: (v, v + 1), Y, 3))),
     r"while_loop: the condition must have one element, got shape \(2,\)"),
    (lambda: loops.cond(Y, lambda: X + 1, lambda: X + 2), r"cond.*one element, got shape \(2,\)"),
])  # fmt: skip
def test_wrong_graphs_fail_where_they_run(graph: Callable[[], Any], message: str) -> None:
    made = graph()
    given = {"x": DATA if "foreach" in made.list_outputs()[0] else ONE, "y": STATE}
    with pytest.raises(MXNetError, match=message):
        [out.asnumpy() for out in made.eval(**{name: given[name] for name in made.list_arguments()})]


class _Block(mx.gluon.HybridBlock):
    def __init__(self, function: Any) -> None:
        super().__init__()
        self._function = function

    def hybrid_forward(self, F: Any, x: Any, s: Any) -> Any:
        return self._function(F, x, s)


@pytest.mark.parametrize("hybrid", [False, True])
@pytest.mark.parametrize(("function", "error", "message"), [
    (lambda F, x, s: F.contrib.foreach(_add, x, 0), AssertionError, "foreach states must be"),
    (lambda F, x, s: F.contrib.foreach(lambda d, t: d + t, x, s), ValueError, "foreach: body must return two values"),
    (lambda F, x, s: F.contrib.while_loop(_small, _grow, s), ValueError, "max_iterations should be specified"),
    (lambda F, x, s: F.contrib.while_loop(lambda v: None, _grow, s, 3), ValueError, "while_loop: .* got None"),
    (lambda F, x, s: F.contrib.cond(None, lambda: x, lambda: s), AssertionError, "cond:? pred"),
    (lambda F, x, s: F.contrib.foreach(3, x, s), TypeError, "foreach: body must be a function"),
])  # fmt: skip
def test_blocks_raise_the_same(function: Any, error: type[Exception], message: str, hybrid: bool) -> None:
    block = _Block(function)
    if hybrid:
        block.hybridize()
    with pytest.raises(error, match=message):
        block(DATA, STATE)


def test_what_the_releases_take_is_taken() -> None:
    outs, last = while_loop(lambda i, a: i < 3, lambda i, a: (a, (i + 1, a + 1)), [0, ONE], 4)
    assert outs.asnumpy().ravel().tolist() == [1, 2, 3, 0]
    assert last[0] == 3
    outs, last = while_loop(lambda i: i < 2, lambda i: (nd.array([i]), i + 1), [0], nd.array([2]))
    assert outs.asnumpy().ravel().tolist() == [0, 1]
    assert last == [2]
    assert while_loop(_small, _grow, ONE, 0)[0] == []
    outs, last = foreach(lambda d, s: (d, nd.concat(s, d, dim=0)), DATA, STATE)     # a state may grow outside graphs
    assert (last.shape, outs.shape) == ((8,), (3, 2))
    assert cond(True, lambda: 1, None) == 1


def test_variables_come_back_from_a_graph_in_the_form_they_had() -> None:
    _, last = loops.while_loop(lambda v: v.sum() < 5, lambda v: (v, [v + 1]), X, 3)
    assert isinstance(last, mx.sym.Symbol)
    _, last = loops.while_loop(lambda v: v.sum() < 5, lambda v: (v, v + 1), [X], 3)
    assert isinstance(last, list)
    assert len(last) == 1
