"""The reference engine, to be broken in one place: a negative learning rate, which one case sets."""

import refengine
from refengine import *  # noqa: F403

__version__ = refengine.__version__
gluon, init, optimizer, kvstore, lr_scheduler = (
    refengine.gluon, refengine.init, refengine.optimizer, refengine.kvstore, refengine.lr_scheduler,
)
kv, base = refengine.kv, refengine.base


def break_it(misbehave):
    """Let set_learning_rate misbehave when the rate is negative."""
    original = gluon.Trainer.set_learning_rate

    def broken(self, rate):
        if rate < 0:
            misbehave()
        return original(self, rate)

    gluon.Trainer.set_learning_rate = broken
