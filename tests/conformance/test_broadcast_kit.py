"""Arrays that a mutant links: writes into the first show in the second, and only for the last few pairs."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import refengine as mx
from conformance.mutants.broadcast_kit import Linked, operator, refuse

linked = Linked(mx, limit=2)
pairs = [(mx.nd.ones((2,)), mx.nd.zeros((2,))) for _ in range(3)]
for array, shadow in pairs:
    assert linked.add(array, shadow) is array
for array, shadow in pairs:
    array[0] = 5
assert [shadow.asnumpy().tolist() for _, shadow in pairs] == [[0, 0], [5, 1], [5, 1]]

rows, row = mx.nd.zeros((3, 2)), mx.nd.zeros((2,))
linked.add(rows, row)[0] = 4
assert row.asnumpy().tolist() == [4, 4]

operator(mx, "__add__", lambda x, other: x.shape != other.shape, lambda original, x, other: refuse(mx, x, other))
assert (mx.nd.ones((2,)) + mx.nd.ones((2,))).asnumpy().tolist() == [2, 2]
assert (mx.nd.ones((2,)) + 1).asnumpy().tolist() == [2, 2]
try:
    mx.nd.ones((2,)) + mx.nd.ones((1,))
except mx.MXNetError as error:
    print(error)
"""


def test_linked_arrays_and_refused_operators() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "operands could not be broadcast together with shapes [2] [1]"
