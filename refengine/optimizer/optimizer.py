"""The base of all optimizers, their registry and the counters they share."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from .. import env

AGGREGATION = env.declare('MXNET_OPTIMIZER_AGGREGATION_SIZE', int, None,
                          'Weights that sgd, lars, lamb, lans, adamw and adabelief update in one call.')

OVERWRITTEN = 'learning rate from ``lr_scheduler`` has been overwritten by ``learning_rate`` in optimizer.'


class DefaultRate(float):
    """A default learning rate: a float that can be told from a rate that the caller gave.

    A scheduler given alone keeps its own rate (rule OPT-COMMON-025); only an explicit rate overwrites it.
    """

    __slots__ = ()


class DefaultSize(int):
    """A default aggregation size: an int that can be told from a size that the caller gave."""

    __slots__ = ()


ONE_AT_A_TIME = DefaultSize(1)


def aggregation_size(given: Any, default: int, limit: int | None = None) -> Any:
    """How many parameters an optimizer updates in one call.

    A size that the caller gave wins over MXNET_OPTIMIZER_AGGREGATION_SIZE, and that over the default
    (rules OPT-COMMON-013, OPT-COMMON-019).
    """
    if given is not None and not isinstance(given, DefaultSize):
        return given
    size = AGGREGATION.read()
    if size is None:
        return default
    return size if limit is None else max(1, min(size, limit))


class Optimizer:
    """Base of all optimizers: hyper-parameters, update counters, multipliers, and the way from a gradient to a weight.

    An optimizer of one's own overrides ``create_state`` and either ``update(index, weight, grad, state)`` or
    ``step(indices, weights, grads, states)``, which takes lists (rule OPT-REG-003).

    ``learning_rate=None`` means the rate of ``lr_scheduler``, or 0.01 without one. ``clip_gradient=None`` means no
    clipping. ``multi_precision`` keeps float32 copies of float16 weights. ``aggregate_num`` is the number of parameters
    that one call of ``update`` handles. ``use_fused_step=False`` chooses the step-by-step form of a few optimizers that
    differs from the fused one.

    >>> import refengine as mx
    >>> class Descent(mx.optimizer.Optimizer):
    ...     def update(self, index, weight, grad, state):
    ...         self._update_count(index)
    ...         weight[:] -= self._get_lr(index) * self.rescale_grad * grad
    >>> weight = mx.nd.ones((2,))
    >>> Descent(learning_rate=0.5).update(0, weight, mx.nd.ones((2,)), None)
    >>> weight.asnumpy().tolist()
    [0.5, 0.5]
    """

    opt_registry: ClassVar[dict[str, type[Optimizer]]] = {}

    # What state files of other releases may lack.
    use_fused_step: bool = False
    aggregate_num: Any = 1
    allow_np_array: bool = False
    sym_info: tuple[Any, ...] = ()

    _renamed: ClassVar[dict[str, str]] = {}
    """Attributes that have another name in state files of other releases, old name to name."""

    def __init__(self, rescale_grad: float = 1.0, param_idx2name: dict[Any, str] | None = None, wd: float = 0.0,
                 clip_gradient: float | None = None, learning_rate: float | None = None, lr_scheduler: Any = None,
                 sym: Any = None, begin_num_update: int = 0, multi_precision: bool = False,
                 param_dict: dict[Any, Any] | None = None, aggregate_num: Any = None,
                 use_fused_step: bool | None = None) -> None:
        self.rescale_grad = rescale_grad
        self.lr_scheduler = lr_scheduler
        if isinstance(learning_rate, DefaultRate):
            learning_rate = float(learning_rate) if lr_scheduler is None else None
        scheduled = getattr(lr_scheduler, 'base_lr', None)  # a plain function has no rate of its own
        if learning_rate is None:
            self.lr = 0.01 if scheduled is None else scheduled
        else:
            if scheduled is not None and scheduled != learning_rate:
                print(OVERWRITTEN)  # on standard output, as documented (rule OPT-COMMON-024)
                lr_scheduler.base_lr = learning_rate
            self.lr = learning_rate
        self.wd = wd
        self.lr_mult: dict[Any, float] = {}
        self.wd_mult: dict[Any, float] = {}
        self.begin_num_update = begin_num_update
        self.num_update = begin_num_update
        self._all_index_update_counts: dict[int, dict[Any, int]] = {0: {}}
        self._index_update_count = self._all_index_update_counts[0]
        self.clip_gradient = clip_gradient
        self.multi_precision = multi_precision
        self.aggregate_num = 1 if aggregate_num is None else aggregate_num
        if use_fused_step is not None:
            self.use_fused_step = use_fused_step
        if param_idx2name is None:
            param_idx2name = {}
        assert isinstance(param_idx2name, dict), 'param_idx2name should be a dict of param indexes to names.'
        self.idx2name = param_idx2name.copy()
        self.sym_info = () if sym is None else (sym.attr_dict(), sym.list_arguments())
        self.param_dict = param_dict if param_dict else {}
        self.set_lr_mult({})
        self.set_wd_mult({})

    # ---- registry --------------------------------------------------------------------------------------------

    @staticmethod
    def register(klass: type[Optimizer]) -> type[Optimizer]:
        """Register a class under its lower-case name; replacing another one warns (rule OPT-REG-002).

        >>> @Optimizer.register
        ... class Lazy(Optimizer):
        ...     pass
        >>> type(Optimizer.create_optimizer('LAZY')).__name__
        'Lazy'
        """
        assert isinstance(klass, type), f'register expects a class, got {klass!r}'
        name = klass.__name__.lower()
        present = Optimizer.opt_registry.get(name)
        if present is not None:
            warnings.warn(f'New optimizer {klass.__module__}.{klass.__name__} is overriding existing optimizer '
                          f'{present.__module__}.{present.__name__}', stacklevel=2)
        Optimizer.opt_registry[name] = klass
        return klass

    @staticmethod
    def create_optimizer(name: str, **kwargs: Any) -> Optimizer:
        """An optimizer from its name, in any case; ValueError for one that is not registered."""
        if not hasattr(name, 'lower'):
            raise AttributeError(f'{type(name).__name__!r} object has no attribute \'lower\': an optimizer is given by '
                                 f'name (str) or as an instance of Optimizer, got {name!r}')
        try:
            klass = Optimizer.opt_registry[name.lower()]
        except KeyError:
            raise ValueError(f'Cannot find optimizer {name}') from None
        return klass(**kwargs)

    # ---- what an optimizer defines ---------------------------------------------------------------------------

    def create_state(self, index: Any, weight: Any) -> Any:
        """The state that is kept for one weight: None, an array, or a tuple of them."""
        return None

    def create_state_multi_precision(self, index: Any, weight: Any) -> Any:
        """The state of one weight; ``(float32 copy, ordinary state)`` for float16 with ``multi_precision``.

        float16 without ``multi_precision`` warns (rules OPT-COMMON-008 to 010).
        """
        if weight.dtype == np.float16:
            if self.multi_precision:
                master = weight.astype(np.float32)
                return (master, self.create_state(index, master))
            warnings.warn('Accumulating with float16 in optimizer can lead to poor accuracy or slow convergence. '
                          'Consider using multi_precision=True option of the '
                          f'{self._named_in_warnings}optimizer', stacklevel=2)
        return self.create_state(index, weight)

    _named_in_warnings: ClassVar[str] = ''

    momentum_first: ClassVar[bool] = False
    """Whether MXNet 1.x keeps the state of a float16 weight the other way round, as (ordinary state, float32 copy)."""

    def adopt_state(self, state: Any, release: int) -> Any:
        """The state of one weight from a file of MXNet 1.x or 2.x, in the form of this engine."""
        swapped = release == 1 and self.momentum_first and self.multi_precision
        if swapped and isinstance(state, tuple) and len(state) == 2:
            return state[1], state[0]
        return state

    def step(self, indices: Sequence[Any], weights: Sequence[Any], grads: Sequence[Any],
             states: Sequence[Any]) -> None:
        """Update weights step by step; every argument is a list."""
        raise NotImplementedError

    def fused_step(self, indices: Sequence[Any], weights: Sequence[Any], grads: Sequence[Any],
                   states: Sequence[Any]) -> None:
        """Update weights with one kernel per weight; every argument is a list."""
        raise NotImplementedError

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """Update one weight, or a list of weights, in place."""
        if not isinstance(index, (list, tuple)):
            index, weight, grad, state = [index], [weight], [grad], [state]
        if self.use_fused_step:
            self.fused_step(index, weight, grad, state)
        else:
            self.step(index, weight, grad, state)

    def update_multi_precision(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """As ``update``; float16 weights with ``multi_precision`` are updated through their float32 copy."""
        if not isinstance(index, (list, tuple)):
            if not (self.multi_precision and weight.dtype == np.float16):
                self.update(index, weight, grad, state)
                return
            master, ordinary = state
            self.update(index, master, grad.astype(np.float32), ordinary)
            _store(weight, master)
            return
        halves = [self.multi_precision and w.dtype == np.float16 for w in weight]
        if not any(halves):
            self.update(index, weight, grad, state)
            return
        masters = [s[0] if half else w for half, w, s in zip(halves, weight, state)]
        self.update(index, masters,
                    [g.astype(np.float32) if half else g for half, g in zip(halves, grad)],
                    [s[1] if half else s for half, s in zip(halves, state)])
        for half, w, master in zip(halves, weight, masters):
            if half:
                _store(w, master)

    # ---- learning rate and multipliers -----------------------------------------------------------------------

    @property
    def learning_rate(self) -> float:
        """The current learning rate: that of the scheduler if there is one (rule OPT-COMMON-027)."""
        if self.lr_scheduler is not None:
            return self.lr_scheduler(self.num_update)
        return self.lr

    def set_learning_rate(self, lr: float) -> None:
        """Set the learning rate; UserWarning is raised if a scheduler rules it (rule OPT-COMMON-028)."""
        if self.lr_scheduler is not None:
            raise UserWarning('LRScheduler of the optimizer has already been defined. Note that set_learning_rate can '
                              'mutate the value of the learning rate of the optimizer only when the LRScheduler of the '
                              'optimizer is undefined.')
        self.lr = lr

    def _symbol_multipliers(self, key: str) -> dict[Any, float]:
        if not self.sym_info:
            return {}
        attributes, arguments = self.sym_info
        return {name: float(attributes[name][key]) for name in arguments
                if name in attributes and key in attributes[name]}

    def set_lr_scale(self, args_lrscale: Any) -> None:
        """Gone: DeprecationWarning is raised."""
        raise DeprecationWarning('set_lr_scale is gone: use set_lr_mult')

    def set_lr_mult(self, args_lr_mult: dict[Any, float]) -> None:
        """Set factors of the learning rate by index or name; replaces all that were set before."""
        self.lr_mult = {**self._symbol_multipliers('__lr_mult__'), **args_lr_mult}

    def set_wd_mult(self, args_wd_mult: dict[Any, float]) -> None:
        """Set factors of the weight decay by index or name; replaces all that were set before.

        With ``param_idx2name`` only weights and gammas decay (rule OPT-MULT-002).
        """
        self.wd_mult = {name: 0.0 for name in self.idx2name.values() if not name.endswith(self._decaying)}
        self.wd_mult.update(self._symbol_multipliers('__wd_mult__'))
        self.wd_mult.update(args_wd_mult)

    _decaying: ClassVar[tuple[str, ...]] = ('_weight', '_gamma')

    def _get_lrs(self, indices: Sequence[Any]) -> list[float]:
        """The learning rates of some indices (rule OPT-MULT-001)."""
        rate = self.lr if self.lr_scheduler is None else self.lr_scheduler(self.num_update)
        return [rate * self._multiplier(index, 'lr_mult') for index in indices]

    def _get_wds(self, indices: Sequence[Any]) -> list[float]:
        """The weight decay of some indices."""
        return [self.wd * self._multiplier(index, 'wd_mult') for index in indices]

    def _multiplier(self, index: Any, kind: str) -> float:
        if index in self.param_dict:
            return getattr(self.param_dict[index], kind)
        table = getattr(self, kind)
        if index in table:
            return table[index]
        if index in self.idx2name:
            return table.get(self.idx2name[index], 1.0)
        return 1.0

    def _get_lr(self, index: Any) -> float:
        return self._get_lrs([index])[0]

    def _get_wd(self, index: Any) -> float:
        return self._get_wds([index])[0]

    # ---- counters --------------------------------------------------------------------------------------------

    def _set_current_context(self, device_id: int) -> None:
        """Count updates for a device of its own (rule OPT-COUNT-002)."""
        self._index_update_count = self._all_index_update_counts.setdefault(device_id, {})

    _set_current_device = _set_current_context

    def _update_count(self, index: Any) -> None:
        """Count one update of an index or of each of a list (rule OPT-COUNT-001)."""
        counts = self._index_update_count
        for one in index if isinstance(index, (list, tuple)) else (index,):
            count = counts.get(one)
            counts[one] = count = (self.begin_num_update if count is None else count) + 1
            if count > self.num_update:
                self.num_update = count

    # ---- pickling --------------------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        state.pop('param_dict', None)  # parameters belong to the model, not to the optimizer (rule OPT-REG-007)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        for key, value in state.items():
            self.__dict__[self._renamed.get(key, key)] = value
        self.param_dict = {}
        counts = self.__dict__.get('_all_index_update_counts')
        if counts is not None and not any(self._index_update_count is c for c in counts.values()):
            self._index_update_count = counts.setdefault(0, {})


def _store(weight: Any, master: Any) -> None:
    """Round the float32 copy into the float16 weight."""
    weight[:] = master.astype(weight.dtype)


register = Optimizer.register
create = Optimizer.create_optimizer


def __getattr__(name: str) -> Any:
    """In MXNet 1.x this module holds all optimizers; they are found here too."""
    import importlib
    package = importlib.import_module(__package__)
    if name in package.__all__:
        return getattr(package, name)
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
