"""Known differences: what an entry covers, and what it must not."""

from __future__ import annotations

import re
import time

import pytest

from conformance.oracle import known
from conformance.oracle.answers import Difference
from conformance.oracle.known import Known
from conformance.oracle.program import Program, matches, operations

NAMES = ("refengine", "mxnet-1.9.1")
ENTRIES = known.load()


def entry(name: str) -> Known:
    return next(found for found in ENTRIES if found.id == name)


def covered(
    name: str, kind: str, line: str, first: str, second: str, *, np_shape: bool = False, before: str = ""
) -> bool:
    """Whether an entry explains such a difference at the last line of a small program."""
    program = Program((f"a = mx.nd.array([1], dtype='int32'){before}", line), np_shape)
    return entry(name).explains(Difference(kind, 1, "y", first, second), program, NAMES)


def test_the_narrow_entry_covers_its_own_case() -> None:
    assert covered("element-type-or-shape-first", "meaning", "y = mx.nd.contrib.MultiBoxPrior(a)",
                   "MXNetError: This operation only support floating point types, not int32",
                   "MXNetError: Check failed: dshape.ndim() >= 4: Input data should be 4D")


@pytest.mark.parametrize(("first", "second"), [
    # both about the element type: one subject, so that a difference of meaning would be a fault of the comparison
    ("MXNetError: only support floating point types", "MXNetError: Unknown type enum 7"),
    # neither about an element type
    ("MXNetError: no such key", "MXNetError: Shape inconsistent"),
    ("MXNetError: only support floating point types", "MXNetError: cannot open the file"),
])
def test_a_difference_of_meaning_needs_both_wordings(first: str, second: str) -> None:
    line = "y = mx.nd.contrib.MultiBoxPrior(a)"
    assert not covered("element-type-or-shape-first", "meaning", line, first, second)


@pytest.mark.parametrize("line", ["y = a[0]", "y = a + 1", "a[0] = 1", "y = mx.autograd.grad(a, a)"])
def test_entries_about_functions_are_not_about_indexing_or_operators(line: str) -> None:
    assert not covered("element-type-or-shape-first", "meaning", line, "MXNetError: only support floating point types",
                       "MXNetError: Shape inconsistent")


@pytest.mark.parametrize("kind", ["error", "value", "dtype", "gradient", "crash", "state"])
def test_a_difference_of_meaning_is_no_other(kind: str) -> None:
    assert not covered("element-type-or-shape-first", kind, "y = mx.nd.contrib.MultiBoxPrior(a)",
                       "MXNetError: This operation only support floating point types, not int32",
                       "MXNetError: Check failed: dshape.ndim() >= 4: Input data should be 4D")


@pytest.mark.parametrize(("name", "line", "message"), [
    ("truth-values-without-kernel", "y = mx.nd.sort(a)", "MXNetError: Unknown type enum 7"),
    ("float16-without-kernel", "y = mx.nd.FullyConnected(a, a, num_hidden=1)",
     "MXNetError: FP16 gemm on cpu not implemented!"),
    ("graphics-processors-only", "y = mx.nd.contrib.fft(a)", "MXNetError: fft is only available for GPU."),
    ("float32-only", "y = mx.nd.contrib.quantize_v2(a)",
     "MXNetError: Check failed: in_attrs->at(0) == mshadow: :kFloat32"),
])
def test_missing_kernels_are_about_their_operators(name: str, line: str, message: str) -> None:
    """Only what the release says of a missing kernel is meant; where few operators lack one, only those are."""
    text = "no error: y = int32 (1,) [1]"
    assert covered(name, "error", line, text, message)
    if name != "graphics-processors-only":  # where there is no kernel at all, how a call is wrong is not looked at
        assert not covered(name, "error", line, "MXNetError: refused as well, in another class", message)
    assert not covered(name, "error", line, text, "MXNetError: Shape inconsistent")
    if name in ("graphics-processors-only", "float32-only"):
        assert not covered(name, "error", "y = mx.nd.relu(a)", text, message)
    assert not covered(name, "value", line, text, message)


def test_entries_for_numpy_shapes_hold_only_there() -> None:
    line = "a[[0]] = 1"
    found = "IndexError: index 0 is out of bounds", "no error: no change"
    before = "; b = mx.nd.zeros((0, 3))"
    assert covered("keys-of-arrays-without-elements", "error", line, *found, np_shape=True, before=before)
    assert not covered("keys-of-arrays-without-elements", "error", line, *found, np_shape=False, before=before)
    assert not covered("keys-of-arrays-without-elements", "error", line, *found, np_shape=True)


def test_numbers_that_are_near_are_not_far_apart() -> None:
    found = entry("float64-by-way-of-float32")
    differences = [Difference("gradient", 3, "y", "float64 (1,) [1.]", "float64 (1,) [1.1]", close)
                   for close in (2.0, 2 * (found.near or 0), None)]
    assert [found.explains(some, found.program, NAMES) for some in differences] == [True, False, False]


def test_a_constant_in_quotes_is_that_constant() -> None:
    text = "no error: y = float32 (1,) [1.]", "MXNetError: Check failed: i >= 0 && i < ndim(): index = -1"
    for axis in ("-1", "'-1'"):
        assert covered("axes-counted-from-the-end", "error", f"y = mx.nd.cumsum(a, axis={axis})", *text)
    assert not covered("axes-counted-from-the-end", "error", "y = mx.nd.cumsum(a, axis='x-1')", *text)


@pytest.mark.parametrize("found", ENTRIES, ids=lambda found: found.id)
def test_no_entry_covers_everything(found: Known) -> None:
    """Globs name operators; where they name a whole name space, the wording of both engines is asked for."""
    assert not matches(["something.else"], found.operators)
    wide = [glob for glob in found.operators if re.fullmatch(r"nd\.\*|NDArray\.?\*", glob)]
    assert not wide or set(found.shows or ()) == set(NAMES)
    assert not set(found.kinds) >= {"value", "error", "gradient", "dtype", "shape"}
    assert len(found.reason.split()) >= 10


@pytest.mark.parametrize("found", ENTRIES, ids=lambda found: found.id)
def test_the_example_is_about_the_operators_of_its_entry(found: Known) -> None:
    """What the example shows is run at the start of each session; here, that it can be explained at all."""
    named = [name.replace("NDArray.", "nd.") for line in found.example for name in operations(line) or ["?"]]
    assert matches([*named, *(name for line in found.example for name in operations(line))], found.operators)
    if found.where:
        assert re.search(found.where, found.program.text, re.DOTALL)


def test_a_method_is_the_function_of_its_name() -> None:
    line = "y = a.slice(begin=(0, 2), end=(2, 1))"
    assert covered("slices-without-elements", "error", line, "no error: y = float32 (2, 0) []",
                   "MXNetError: Check failed: delay_alloc:")
    assert not covered("slices-without-elements", "error", line.replace("slice", "clip"),
                       "no error: y = float32 (2, 0) []", "MXNetError: Check failed: delay_alloc:")


def test_samples_are_run_where_only_their_changes_do_damage() -> None:
    found = next(found for found in ENTRIES if found.avoid == "changed")
    operation = f"y = mx.{found.operators[-1]}(a)"
    lines = ("a = mx.nd.array([1.0], dtype='float32')", operation, "y.backward()")
    assert found.forbids(Program(lines, origin="changed:of something"))
    assert not found.forbids(Program(lines, origin="sample:of something"))


@pytest.mark.parametrize("found", ENTRIES, ids=lambda found: found.id)
def test_expressions_are_searched_in_no_time(found: Known) -> None:
    """Ten thousand numbers; an expression that tries every way to divide them among its parts would never end."""
    numbers = ", ".join(["[[0.5, -1.25], [1.0, 2.0]]"] * 2500)
    text = "\n".join(f"{name} = mx.nd.array([[{numbers}]], dtype='float32')" for name in "ab") + "\ny = mx.nd.sum(a)\n"
    before = time.process_time()
    re.search(found.where, text, re.DOTALL)
    for pattern in (found.shows or {}).values():
        re.search(pattern, text, re.DOTALL)
    assert time.process_time() - before < 2


def test_a_difference_is_about_what_a_passing_operation_was_given() -> None:
    line = "y = mx.nd.BlockGrad(mx.nd.softmax(a))"
    assert covered("not-a-number-through-softmax", "value", line, "float32 (2,) [nan, nan]", "float32 (2,) [nan, 0.5]")
