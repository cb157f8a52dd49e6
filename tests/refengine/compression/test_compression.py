"""Codecs: bytes and residuals, element by element."""

from __future__ import annotations

import numpy as np
import pytest

import refengine as mx
from refengine import compression

A = [0.3, -0.3, 0.7, -1.2, 0.0, 0.5, -0.5, 0.49, 2.0, -2.0, 0.25, -0.25, 1.0, 0.1, -0.1, 0.6, -0.75, 0.4]
B = ([0.5, -0.5, 0.25, -0.25], [0.0, 0.0, 0.25, -0.25], [-0.5, 0.5, 0.125, -0.125])
C = ([1.0, 1.5, 2.0, 3.0, -5.0], [1.0, 0.25, -2.0, 3.0, 0.0], [0.0, 0.25, 0.0, 0.0, 0.0])
D = ([0.25, -0.25, 0.0, 1.5, -1.5], [0.0] * 5, [0.5, -0.5, 2.0, -2.0, 0.125])

VECTORS = {
    "2bit": ("2bit", 0.5, [A] * 3, ["0e38e0c380000000", "ee3beec3b0000000", "0e3be0c3b0000000"]),
    "2bit_short": ("2bit", 0.5, B, ["e0000000", "0e000000", "b0000000"]),
    "2bit_two": ("2bit", 2.0, C, ["0f800000", "cb800000", "33000000"]),
    "1bit": ("1bit", 0.5, [A] * 3, ["20890000", "8dae4000", "e5b94000"]),
    "1bit_zero": ("1bit", 0.0, D, ["90000000", "70000000", "a8000000"]),
}
"""Type, threshold, gradients, and the bytes that the releases put on the wire."""


def model(kind, threshold, gradient, residual):
    """What is sent, and the new residual, element by element in float32."""
    sent, left = [], []
    t = np.float32(threshold)
    for g, r in zip(gradient, residual):
        r = np.float32(r) + np.float32(g)
        if kind == "2bit":
            value = t if r >= t else -t if r <= -t else np.float32(0)
        else:
            value = np.float32(1) if r > t else np.float32(-1)
        sent.append(value)
        left.append(r - value)
    return np.array(sent, "float32"), np.array(left, "float32")


@pytest.mark.parametrize("name", VECTORS)
def test_vectors(name):
    kind, threshold, gradients, wires = VECTORS[name]
    codec = compression.create({"type": kind, "threshold": threshold})
    packing, quantising = np.zeros((2, len(gradients[0])), "float32")
    wanted = np.zeros(len(gradients[0]), "float32")
    for gradient, wire in zip(gradients, wires):
        given = np.array(gradient, "float32")
        sent, wanted = model(kind, threshold, given, wanted)
        packed = codec.pack(given, packing)
        assert packed.tobytes().hex() == wire
        assert packed.nbytes == codec.packed_size(given.size)
        np.testing.assert_array_equal(codec.unpack(packed, given.size), sent)
        np.testing.assert_array_equal(codec.quantise(given, quantising), sent)
        np.testing.assert_array_equal(packing, wanted)
        np.testing.assert_array_equal(quantising, wanted)


@pytest.mark.parametrize("kind", ["2bit", "1bit"])
@pytest.mark.parametrize("shape", [(1,), (16,), (33,), (3, 5, 7), (2, 100, 400)])
def test_any_shape(kind, shape):
    codec = compression.create({"type": kind, "threshold": 0.25})
    source = np.random.default_rng(5)
    one, two = np.zeros(shape, "float32"), np.zeros(shape, "float32")
    for _ in range(3):
        gradient = source.normal(size=shape).astype("float32")
        unpacked = codec.unpack(codec.pack(gradient, one), gradient.size)
        np.testing.assert_array_equal(codec.quantise(gradient, two).reshape(-1), unpacked)
        np.testing.assert_array_equal(one, two)


def test_residuals_of_any_layout():
    codec = compression.TwoBit(0.5)
    gradient = np.arange(12, dtype="float32").reshape(3, 4) / 8
    plain, other = np.zeros((3, 4), "float32"), np.asfortranarray(np.zeros((3, 4), "float32"))
    np.testing.assert_array_equal(codec.pack(gradient, plain), codec.pack(gradient, other))
    np.testing.assert_array_equal(plain, other)


def test_what_is_no_number():
    codec, residual = compression.TwoBit(0.5), np.zeros(4, "float32")
    gradient = np.array([np.nan, 1, np.inf, -np.inf], "float32")
    assert codec.quantise(gradient, residual).tolist() == [0, 0.5, 0.5, -0.5]
    assert codec.quantise(np.zeros(4, "float32"), residual).tolist() == [0, 0.5, 0.5, -0.5]


def test_size():
    assert compression.TwoBit().packed_size(4_000_000) == 1_000_000
    assert [compression.TwoBit().packed_size(n) for n in (1, 16, 17)] == [4, 4, 8]
    assert [compression.OneBit().packed_size(n) for n in (1, 32, 33)] == [4, 4, 8]


@pytest.mark.parametrize(("given", "error", "text"), [
    ({}, mx.MXNetError, "Required parameter type of string is not presented"),
    ({"threshold": 0.5}, mx.MXNetError, "Required parameter type of string is not presented"),
    ({"type": "2bit", "threshold": 0}, mx.MXNetError, "threshold must be greater than 0"),
    ({"type": "2bit", "threshold": float("nan")}, mx.MXNetError, "threshold must be greater than 0"),
    ({"type": "2BIT"}, mx.MXNetError, "Unknown type for gradient compression 2BIT"),
    ({"type": 2}, mx.MXNetError, "Unknown type for gradient compression 2"),
    ({"type": "2bit", "threshold": "abc"}, mx.MXNetError, "Invalid Parameter format for threshold expect float"),
    ("2bit", AssertionError, "unexpected type for param_dict"),
    (None, AssertionError, "unexpected type for param_dict")])
def test_wrong_parameters(given, error, text):
    with pytest.raises(error, match=text):
        compression.create(given)


def test_parameters():
    assert compression.create({"type": "2bit"}).threshold == 0.5
    assert compression.create({"type": "1bit", "threshold": -0.5, "other": 1}).threshold == -0.5
    with pytest.raises(mx.MXNetError, match="data type do not match"):
        compression.TwoBit().check([mx.nd.ones((2,), dtype="float16")])
