"""Programs made at random out of what must come in order: arithmetic, writes in place, views, draws, gradients.

As a module it prints a digest of everything that each program saw, so that engines can be compared:
``python -m tests.refengine.random_programs 0 50``.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

import refengine as mx
from refengine import autograd, engine, nd

UNARY = ('sin', 'tanh', 'relu', 'square', 'abs', 'sigmoid', 'negative')
BINARY = ('broadcast_add', 'broadcast_mul', 'broadcast_sub', 'broadcast_maximum')
SHAPES = ((3, 4), (3, 1), (1, 4), (3, 4))
STEPS = 40


class Program:
    """One program: a few arrays, and steps that read them, write them and put others in their place."""

    def __init__(self, seed: int) -> None:
        self.choose = Random(seed)
        self.numbers = np.random.default_rng(seed)
        mx.random.seed(seed)
        self.arrays: list[Any] = [nd.array(self.values(self.choose.choice(SHAPES))) for _ in range(4)]
        self.seen: list[np.ndarray] = []
        self.handed_out: list[tuple[np.ndarray, np.ndarray]] = []

    def values(self, shape: tuple[int, ...]) -> np.ndarray:
        """New numbers."""
        return self.numbers.uniform(-1, 1, shape).astype('float32')

    def one(self) -> Any:
        """One of the arrays."""
        return self.choose.choice(self.arrays)

    def put(self, array: Any) -> None:
        """Keep a result, in the place of another one when there are many."""
        if len(self.arrays) < 8:
            self.arrays.append(array)
        else:
            self.arrays[self.choose.randrange(8)] = array

    def number(self) -> float:
        """A number from the program, or one that is read from an array."""
        if self.choose.random() < 0.3:
            return float(self.one().asnumpy().reshape(-1)[0])
        return self.choose.uniform(-1, 1)

    def run(self) -> str:
        """A digest of all that the program saw, and of its arrays at the end."""
        for _ in range(STEPS):
            self.choose.choice(STEP_KINDS)(self)
        digest = hashlib.sha256()
        for array in (*self.seen, *(a.asnumpy() for a in self.arrays)):
            digest.update(repr(array.shape).encode())
            digest.update(np.ascontiguousarray(array).tobytes())
        for array, copy in self.handed_out:     # what was read before must not change later
            assert np.array_equal(array, copy)
        return digest.hexdigest()

    # ---- steps ---------------------------------------------------------------------------------------------------

    def unary(self) -> None:
        self.put(getattr(nd, self.choose.choice(UNARY))(self.one()))

    def binary(self) -> None:
        self.put(getattr(nd, self.choose.choice(BINARY))(self.one(), self.one()))

    def reduced(self) -> None:
        found = nd.sum(self.one(), axis=self.choose.randrange(2), keepdims=True)
        self.put(nd.broadcast_to(found, shape=(3, 4)))

    def fill(self) -> None:
        self.one()[:] = self.number()

    def update(self) -> None:
        a, b = self.one(), self.one()
        if a.shape == b.shape:
            a += b * 0.5
        else:
            a *= 0.9

    def set_row(self) -> None:
        self.one()[0] = self.number()

    def write_through_reshape(self) -> None:
        array = self.one()
        view = array.reshape((-1,))
        view[0] = self.number()
        self.put(view.reshape(array.shape))

    def write_through_slice(self) -> None:
        view = self.one()[0:1]
        view *= 0.5
        self.put(view * 1)

    def out(self) -> None:
        array = self.one()
        nd.tanh(array, out=array)

    def draw(self) -> None:
        self.put(nd.random.uniform(-1, 1, shape=self.choose.choice(SHAPES)))

    def drop(self) -> None:
        self.put(nd.Dropout(self.one(), p=0.5, mode='always'))

    def copy(self) -> None:
        array = self.one()
        target = nd.zeros(array.shape)
        array.copyto(target)
        self.put(target)

    def gradients(self) -> None:
        x, w = self.one().copy(), self.one().copy()
        x.attach_grad(self.choose.choice(('write', 'add')))
        w.attach_grad()
        for _ in range(self.choose.randrange(1, 3)):
            with autograd.record():
                y = nd.sum(nd.broadcast_mul(nd.sin(x), w) * nd.Dropout(nd.ones((1, 1)), p=0.3))
                z = y * 2
            z.backward()
            if self.choose.random() < 0.3:
                x *= 0.9
        for array in (x.grad, w.grad, x.detach()):
            self.put(array)

    def look(self) -> None:
        self.seen.append(self.one().asnumpy())

    def from_outside(self) -> None:
        data = self.values((3, 4))
        self.put(nd.array(data) * 1)
        data[:] = 9

    def bulk(self) -> None:
        with engine.bulk(self.choose.randrange(1, 6)):
            for _ in range(self.choose.randrange(4)):
                self.put(nd.sin(self.one()) * 0.5)

    def hand_out(self) -> None:
        data = self.one().asnumpy()
        self.handed_out.append((data, data.copy()))


STEP_KINDS: list[Callable[[Program], None]] = [
    Program.unary, Program.binary, Program.reduced, Program.fill, Program.update, Program.set_row,
    Program.write_through_reshape, Program.write_through_slice, Program.out, Program.draw, Program.drop, Program.copy,
    Program.gradients, Program.look, Program.from_outside, Program.bulk, Program.hand_out]


if __name__ == '__main__':
    for number in range(int(sys.argv[1]), int(sys.argv[2])):
        print(number, Program(number).run())
