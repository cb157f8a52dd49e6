"""A local web page over training logs: scalars, operators and a timeline of every run in a folder.

``mxnet-board --logdir=./logs`` serves it (rules PROF-BOARD-001 to -004). A run is a folder: in it lie traces of the
profiler and scalar logs, which ``ScalarLog`` writes.

>>> import tempfile
>>> from refengine.board import ScalarLog
>>> folder = tempfile.mkdtemp()
>>> with ScalarLog(folder + '/first') as log:
...     for step in range(3):
...         log.add('train/loss', 1 / (1 + step), step)
>>> from refengine.board.runs import Board
>>> [[step, value] for _, step, value in Board(folder).scalars('first', 'train/loss')]
[[0, 1.0], [1, 0.5], [2, 0.3333333333333333]]
"""

from __future__ import annotations

from .log import ScalarLog

__all__ = ['ScalarLog']
