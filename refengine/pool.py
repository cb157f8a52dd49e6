"""Free pieces of memory: what a pool keeps for the next arrays, by size, and how pieces are cut and joined again.

A block is one allocation of the system. A large request that no free piece fits is cut from a larger one, and pieces
that lie side by side are joined before the system is asked for more (rule MEMPLAN-POOL-002). Small pieces serve their
own size only: joining would take longer than the work on them. Callers hold the lock of the storage.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import numpy as np

from .base import MXNetError

CUT = 1 << 20
"""From this many bytes on, requests may be cut from larger pieces."""


class Memory(np.ndarray):
    """A piece of memory that the pool owns: a block, or a part of one, whose base is the block.

    numpy shortens a chain of bases while the next base has the class of the new view. The base of what is lent is
    therefore of a class of its own: were it a plain ndarray, plain views would refer to it directly and what is lent
    would seem to have died early.
    """

    start = 0       # of a part, in its block


def new_block(size: int) -> Memory:
    """A block from the system."""
    return np.empty(size, np.uint8).view(Memory)


def is_part(piece: Memory) -> bool:
    """Whether a piece is a part of a block, whose memory goes back to the system with all its parts only."""
    return type(piece.base) is Memory


def _part(block: Memory, start: int, size: int) -> Memory:
    if size == block.nbytes:
        return block
    part = block[start:start + size]
    part.start = start
    return part


class Pieces:
    """The free pieces, by size; ``kept`` are their bytes."""

    def __init__(self) -> None:
        self.kept = 0
        self._by_size: dict[int, list[Memory]] = {}
        self._busy = False
        self._waiting: list[Memory] = []

    def add(self, piece: Memory) -> None:
        """Keep a piece that nobody uses any more.

        The garbage collector may bring one while this very thread is at work below: it waits until that is done.
        """
        self.kept += piece.nbytes
        if self._busy:
            self._waiting.append(piece)
        else:
            self._store(piece)

    def _store(self, piece: Memory) -> None:
        self._by_size.setdefault(piece.nbytes, []).append(piece)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        self._busy = True
        try:
            yield
        finally:
            self._busy = False
            while self._waiting:
                self._store(self._waiting.pop())

    def take(self, size: int) -> Memory | None:
        """A free piece of exactly this size, cut from a larger one if need be; None where there is none."""
        bucket = self._by_size.get(size)
        if bucket:
            self.kept -= size
            return bucket.pop()
        if size < CUT or self.kept < size:
            return None
        with self._alone():
            found = self._cut(size)
            if found is None and self._join():
                found = self._cut(size)
        return found

    def _cut(self, size: int) -> Memory | None:
        fits = min((other for other, bucket in self._by_size.items() if bucket and other >= size), default=None)
        if fits is None:
            return None
        piece = self._by_size[fits].pop()
        self.kept -= size
        if fits == size:
            return piece
        block = piece.base if is_part(piece) else piece
        assert isinstance(block, Memory)
        self._store(_part(block, piece.start + size, fits - size))
        return _part(block, piece.start, size)

    def _join(self) -> bool:
        """Join free parts that lie side by side; whether there were any."""
        parts: dict[int, list[Memory]] = {}
        for bucket in self._by_size.values():
            for piece in bucket:
                if is_part(piece):
                    parts.setdefault(id(piece.base), []).append(piece)
        joined = False
        for group in parts.values():
            group.sort(key=lambda piece: piece.start)
            block = group[0].base
            assert isinstance(block, Memory)
            runs = [[group[0].start, group[0].start + group[0].nbytes]]
            for piece in group[1:]:
                if piece.start == runs[-1][1]:
                    runs[-1][1] += piece.nbytes
                else:
                    runs.append([piece.start, piece.start + piece.nbytes])
            if len(runs) == len(group):
                continue
            joined = True
            gone = {id(piece) for piece in group}
            for size in {piece.nbytes for piece in group}:
                self._by_size[size] = [piece for piece in self._by_size[size] if id(piece) not in gone]
            for start, end in runs:
                self._store(_part(block, start, end - start))
        return joined

    def drop(self, down_to: int = 0) -> None:
        """Give blocks back to the system, the largest first, until no more than this is kept.

        Blocks of which a part is in use stay: they would take as much memory without their free parts.
        """
        with self._alone():
            self._join()
            for size in sorted(self._by_size, reverse=True):
                bucket = self._by_size[size]
                stay = []
                for piece in bucket:
                    if is_part(piece) or self.kept <= down_to:
                        stay.append(piece)
                    else:
                        self.kept -= size
                self._by_size[size] = stay
            self._by_size = {size: bucket for size, bucket in self._by_size.items() if bucket}


# ---- sizes by kind of pool ------------------------------------------------------------------------------------------

def _fine(size: int) -> int:
    """Multiples of 4 KiB up to 1 MiB, then an eighth of the power of two below."""
    step = 4096 if size <= 1 << 20 else 1 << (size.bit_length() - 4)
    return -(-size // step) * step


def _coarse(size: int) -> int:
    """Powers of two up to 16 MiB, then multiples of that: pieces fit more requests, and are fuller less."""
    if size > 1 << 24:
        return -(-size // (1 << 24)) * (1 << 24)
    return 1 << (size - 1).bit_length()


def rounding(kind: str) -> Callable[[int], int]:
    """How a kind of pool rounds sizes: Naive, Round or Unpooled, as MXNET_CPU_MEM_POOL_TYPE names them."""
    found = {'Naive': _fine, 'Round': _coarse, 'Unpooled': _fine}.get(kind)
    if found is not None:
        return found

    def refuse(size: int) -> int:
        raise MXNetError(f'Unknown memory pool strategy specified: {kind}. Expected Naive, Round or Unpooled.')

    return refuse
