"""Optimizers: how a gradient changes a weight.

Every class is registered under its lower-case name; ``create('sgd', learning_rate=0.1)`` makes one. An ``Updater``
keeps the states of all weights of one device.
"""

from . import contrib
from .adadelta import AdaDelta
from .adagrad import AdaGrad
from .adam import AdaBelief, Adam, AdamW
from .adamax import Adamax
from .dcasgd import DCASGD
from .ftml import FTML
from .ftrl import Ftrl
from .lamb import LAMB, LANS
from .lars import LARS
from .lbsgd import LBSGD
from .nadam import Nadam
from .nag import NAG
from .optimizer import Optimizer, create, register
from .rmsprop import RMSProp
from .sgd import SGD, ccSGD
from .sgld import SGLD
from .signum import Signum
from .test import Test
from .updater import Updater, get_updater

__all__ = ['DCASGD', 'FTML', 'LAMB', 'LANS', 'LARS', 'LBSGD', 'NAG', 'SGD', 'SGLD', 'AdaBelief', 'AdaDelta', 'AdaGrad',
           'Adam', 'AdamW', 'Adamax', 'Ftrl', 'Nadam', 'Optimizer', 'RMSProp', 'Signum', 'Test', 'Updater', 'ccSGD',
           'contrib', 'create', 'get_updater', 'register']

from . import flat as _flat

_flat.remember_library()


def __getattr__(name: str) -> object:
    if name in ('register_op_attr', 'unregister_op_attr'):
        from ..symbol import operator_attributes
        return getattr(operator_attributes, name)
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
