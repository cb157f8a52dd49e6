"""ND-TRANS: axes exchanged, added, removed and repeated."""

import numpy as np

from conformance.case import case
from conformance.suite import kit
from conformance.suite.ndarray._tools import expect, refused, shows_in

CUBE = np.arange(6, dtype="float32").reshape(1, 2, 3)


@case("ND-TRANS-001", samples={
    "T": {"make": lambda mx, x: x.T}, "function": {"make": lambda mx, x: mx.nd.transpose(x)},
    "swapaxes": {"make": lambda mx, x: x.swapaxes(0, 1)}, "method": {"make": lambda mx, x: x.transpose()}})
def transposed_array_is_a_copy(mx, check, make):
    source = mx.nd.arange(6).reshape((2, 3))
    made = make(mx, source)
    check.equal(made, [[0, 3], [1, 4], [2, 5]], "transposed")
    check.that(not shows_in(made, source), "a write into the transposed array stays there")
    check.equal(made.reshape((6,)), [77] * 6, "transposed array as a vector")
    check.equal(source, [[0, 1, 2], [3, 4, 5]], "source")


@case("ND-TRANS-001")
def transposed_array_in_an_operator(mx, check):
    rows = mx.nd.array([[1, 2, 3], [4, 5, 6]])
    check.equal(mx.nd.dot(rows, rows.T), [[14, 32], [32, 77]], "nd.dot(x, x.T)")
    check.equal(rows.T + mx.nd.ones((3, 2)), [[2, 5], [3, 6], [4, 7]], "x.T + ones")


@case("ND-TRANS-001")
def transposed_array_while_recording(mx, check):
    rows = mx.nd.array([[1, 2, 3], [4, 5, 6]])
    rows.attach_grad()
    with mx.autograd.record():
        made = rows.T * mx.nd.array([[1, 2], [3, 4], [5, 6]])
    made.backward()
    check.equal(rows.grad, [[1, 3, 5], [2, 4, 6]], "gradient")


@case("ND-TRANS-002", samples={
    "reversed": {"axes": None}, "first_two": {"axes": (1, 0, 2)}, "rotated": {"axes": (2, 0, 1)}})
def order_of_the_axes(mx, check, axes):
    source = mx.nd.array(CUBE)
    options = {} if axes is None else {"axes": axes}
    check.equal(mx.nd.transpose(source, **options), CUBE.transpose(axes), "nd.transpose")
    check.equal(source.transpose(*([axes] if axes else [])), CUBE.transpose(axes), "x.transpose")


@case("ND-TRANS-002", samples={
    "too_few": {"axes": (0, 1)}, "out_of_range": {"axes": (0, 1, 3)}, "negative": {"axes": (0, -1, 1)}})
def impossible_axes(mx, check, axes):
    source = mx.nd.array(CUBE)
    check.raises(mx.MXNetError, lambda: mx.nd.transpose(source, axes=axes))
    check.equal(source, CUBE, "source afterwards")


@case("ND-TRANS-003")
def repeated_axes(mx, check):
    refused(check, mx.MXNetError, lambda: mx.nd.transpose(mx.nd.array(CUBE), axes=(0, 0, 1)))


@case("ND-TRANS-004", samples={
    "swapaxes": {"make": lambda nd, x: x.swapaxes(1, 2), "want": CUBE.swapaxes(1, 2)},
    "swapaxes_function": {"make": lambda nd, x: nd.swapaxes(x, dim1=0, dim2=2), "want": CUBE.swapaxes(0, 2)},
    "expand_dims": {"make": lambda nd, x: nd.expand_dims(x, axis=-1), "want": CUBE[..., None]},
    "expand_dims_first": {"make": lambda nd, x: nd.expand_dims(x, axis=-4), "want": CUBE[None]},
    "squeeze": {"make": lambda nd, x: nd.squeeze(x), "want": CUBE[0]},
    "squeeze_axis": {"make": lambda nd, x: nd.squeeze(x, axis=0), "want": CUBE[0]},
    "moveaxis": {"make": lambda nd, x: nd.moveaxis(x, 0, 2), "want": np.moveaxis(CUBE, 0, 2)},
    "flip": {"make": lambda nd, x: nd.flip(x, axis=2), "want": CUBE[:, :, ::-1]},
    "tile": {"make": lambda nd, x: nd.tile(x, (2, 2)), "want": np.tile(CUBE, (2, 2))},
    "tile_more_axes": {"make": lambda nd, x: nd.tile(x[0, 0], (2, 2)), "want": np.tile(CUBE[0, 0], (2, 2))},
    "repeat": {"make": lambda nd, x: nd.repeat(x, 2), "want": np.repeat(CUBE, 2)},
    "repeat_axis": {"make": lambda nd, x: nd.repeat(x, 2, axis=1), "want": np.repeat(CUBE, 2, 1)},
    "diag_of_a_vector": {"make": lambda nd, x: nd.diag(x[0, 1]), "want": np.diag(CUBE[0, 1])},
    "diag_of_a_matrix": {"make": lambda nd, x: nd.diag(x[0], k=1), "want": np.diag(CUBE[0], 1)}})
def as_in_numpy(mx, check, make, want):
    check.equal(make(mx.nd, mx.nd.array(CUBE)), want, "result")


@case("ND-TRANS-004")
def everything_squeezed(mx, check):
    with kit.legacy_mode(mx):
        expect(check, mx.nd.squeeze(mx.nd.array([[5]])), [5], doing="shape (1, 1) squeezed")


@case("ND-TRANS-004", samples={
    "expand_dims": {"kind": "MXNetError", "fragment": "axis must be in the range",
                    "make": lambda nd, x: nd.expand_dims(x, axis=4)},
    "squeeze": {"kind": "MXNetError", "fragment": "cannot select an axis to squeeze out",
                "make": lambda nd, x: nd.squeeze(x, axis=1)},
    "moveaxis": {"kind": "ValueError", "fragment": "Destination should verify",
                 "make": lambda nd, x: nd.moveaxis(x, 0, 5)}})
def axis_out_of_range(mx, check, kind, fragment, make):
    source = mx.nd.array(CUBE)
    check.raises(ValueError if kind == "ValueError" else mx.MXNetError, fragment, make, mx.nd, source)
    check.equal(source, CUBE, "source afterwards")


@case("ND-TRANS-004")
def axis_of_expand_dims_is_required(mx, check):
    check.raises((mx.MXNetError, TypeError), mx.nd.expand_dims, mx.nd.array(CUBE))


@case("ND-TRANS-005")
def six_dimensions(mx, check):
    source = np.arange(64, dtype="float32").reshape((2,) * 6)
    axes = (5, 0, 4, 1, 3, 2)
    check.equal(mx.nd.transpose(mx.nd.array(source), axes=axes), source.transpose(axes), "six axes permuted")


@case("ND-TRANS-005")
def seven_dimensions(mx, check):
    """Either right or refused."""
    source = np.arange(16, dtype="float32").reshape((1, 2, 1, 2, 2, 2, 1))
    try:
        made = mx.nd.transpose(mx.nd.array(source)).asnumpy()
    except mx.MXNetError as error:
        check.contains(str(error), "dim", doing="text of the refusal")
    else:
        check.equal(made, source.transpose(), "seven axes reversed")
