"""Checkpoints, and FeedForward, the model of the oldest programs."""

from __future__ import annotations

import logging
from collections import namedtuple
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import ndarray as nd
from .initializer import Uniform

BatchEndParam = namedtuple('BatchEndParam', ['epoch', 'nbatch', 'eval_metric', 'locals'])


def save_checkpoint(prefix: str, epoch: int, symbol: Any, arg_params: dict[str, Any], aux_params: dict[str, Any],
                    remove_amp_cast: bool = True) -> None:
    """Write ``prefix-symbol.json`` and ``prefix-0001.params``."""
    if symbol is not None:
        symbol.save(f'{prefix}-symbol.json', remove_amp_cast=remove_amp_cast)
    arrays = {f'arg:{name}': array for name, array in arg_params.items()}
    arrays.update({f'aux:{name}': array for name, array in aux_params.items()})
    name = f'{prefix}-{epoch:04d}.params'
    nd.save(name, arrays)
    logging.info('Saved checkpoint to "%s"', name)


def load_params(prefix: str, epoch: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arguments and auxiliary states of a checkpoint."""
    arrays = nd.load(f'{prefix}-{epoch:04d}.params')
    args: dict[str, Any] = {}
    aux: dict[str, Any] = {}
    if not arrays:
        logging.warning('Params file "%s" is empty', f'{prefix}-{epoch:04d}.params')
        return args, aux
    for key, array in arrays.items():
        kind, name = key.split(':', 1)
        if kind == 'arg':
            args[name] = array
        elif kind == 'aux':
            aux[name] = array
    return args, aux


def load_checkpoint(prefix: str, epoch: int) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """Symbol, arguments and auxiliary states of a checkpoint; MXNetError when a file is missing."""
    from . import symbol
    return (symbol.load(f'{prefix}-symbol.json'), *load_params(prefix, epoch))


def _create_kvstore(kvstore: Any, num_device: int, arg_params: dict[str, Any]) -> tuple[Any, bool]:
    """The store for a name, a store or None, and whether the optimizer runs on it.

    One device needs no store; the store 'local' leaves very large parameters to the devices.

    >>> _create_kvstore('local', 1, {})
    (None, False)
    """
    from .gluon import store_decision
    store, on_store = store_decision._store(kvstore, num_device, [array.size for array in arg_params.values()])
    return store, bool(on_store and store is not None)


def _initialize_kvstore(kvstore: Any, param_arrays: Sequence[Any], arg_params: dict[str, Any],
                        param_names: Sequence[str], update_on_kvstore: bool) -> None:
    """Give the store all parameters, and where it updates them give their values to the devices."""
    for index, (name, copies) in enumerate(zip(param_names, param_arrays)):
        kvstore.init(name, arg_params[name])
        if update_on_kvstore:
            kvstore.pull(name, copies, priority=-index)


def _update_params_on_kvstore(param_arrays: Sequence[Any], grad_arrays: Sequence[Any], kvstore: Any,
                              param_names: Sequence[str]) -> None:
    """Send gradients to the store, which updates, and fetch the parameters; those without gradients stay."""
    for index, (name, copies, gradients) in enumerate(zip(param_names, param_arrays, grad_arrays)):
        if gradients[0] is not None:
            kvstore.push(name, gradients, priority=-index)
            kvstore.pull(name, copies, priority=-index)


_update_params_on_kvstore_nccl = _update_params_on_kvstore


def _update_params(param_arrays: Sequence[Any], grad_arrays: Sequence[Any], updater: Any, num_device: int,
                   kvstore: Any = None, param_names: Sequence[str] | None = None) -> None:
    """Update on each device, with lists of what is there, after the store, if any, has added the gradients up.

    >>> weight, gradient = nd.ones(2), nd.ones(2)
    >>> from refengine import optimizer
    >>> _update_params([[weight]], [[gradient]], optimizer.get_updater(optimizer.SGD(learning_rate=0.25)), 1)
    >>> weight.asnumpy().tolist()
    [0.75, 0.75]
    """
    work: list[list[tuple[int, Any, Any]]] = [[] for _ in range(num_device)]
    for index, (copies, gradients) in enumerate(zip(param_arrays, grad_arrays)):
        if gradients[0] is None:
            continue
        if kvstore is not None:
            name = index if param_names is None else param_names[index]
            kvstore.push(name, gradients, priority=-index)
            kvstore.pull(name, gradients, priority=-index)
        for number, (weight, gradient) in enumerate(zip(copies, gradients, strict=True)):
            work[number].append((index * num_device + number, gradient, weight))
    for of_device in filter(None, work):
        indices, gradients, weights = zip(*of_device, strict=True)
        updater(indices, gradients, weights)


class FeedForward:
    """A symbol with parameters that is trained and asked for predictions, as in the first versions of MXNet.

    >>> import refengine as mx
    >>> x = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=2)
    >>> model = FeedForward(mx.sym.SoftmaxOutput(x, name='softmax'), num_epoch=1, numpy_batch_size=2)
    >>> _ = model.fit(np.eye(4, dtype='float32'), np.array([0, 1, 0, 1]))
    >>> model.predict(np.eye(4, dtype='float32')).shape
    (4, 2)
    """

    def __init__(self, symbol: Any, ctx: Any = None, num_epoch: int | None = None, epoch_size: int | None = None,
                 optimizer: Any = 'sgd', initializer: Any = None, numpy_batch_size: int = 128, arg_params: Any = None,
                 aux_params: Any = None, allow_extra_params: bool = False, begin_epoch: int = 0, **kwargs: Any) -> None:
        from .context import current_context
        self.symbol = symbol
        self.ctx = [current_context()] if ctx is None else ctx if isinstance(ctx, list) else [ctx]
        self.num_epoch = num_epoch
        self.epoch_size = epoch_size
        self.optimizer = optimizer
        self.initializer = initializer or Uniform(0.01)
        self.numpy_batch_size = numpy_batch_size
        self.arg_params = arg_params
        self.aux_params = aux_params
        self.allow_extra_params = allow_extra_params
        self.begin_epoch = begin_epoch
        self.kwargs = dict(kwargs)

    def _iterator(self, X: Any, y: Any, train: bool) -> Any:
        from . import io
        if not isinstance(X, np.ndarray | nd.NDArray):
            return X
        if y is None:
            if train:
                raise ValueError('y must be specified when X is numpy.ndarray')
            y = np.zeros(X.shape[0])
        y = y.asnumpy() if isinstance(y, nd.NDArray) else np.asarray(y)
        if y.ndim == 2 and y.shape[1] == 1:
            y = y.flatten()
        if y.ndim != 1:
            raise ValueError('Label must be 1D or 2D (with 2nd dimension being 1)')
        if X.shape[0] != y.shape[0]:
            raise ValueError('The numbers of data points and labels not equal')
        size = min(X.shape[0], self.numpy_batch_size)
        return io.NDArrayIter(X, y, size, shuffle=train, last_batch_handle='roll_over' if train else 'pad')

    def _module(self, data: Any, training: bool) -> Any:
        from .module import Module
        labels = [d[0] for d in data.provide_label or []]
        module = Module(self.symbol, [d[0] for d in data.provide_data],
                        [n for n in labels if n in self.symbol.list_arguments()], context=self.ctx)
        if not training:
            module.bind(data.provide_data, data.provide_label if labels else None, for_training=False)
        return module

    def fit(self, X: Any, y: Any = None, eval_data: Any = None, eval_metric: Any = 'acc',
            epoch_end_callback: Any = None, batch_end_callback: Any = None, kvstore: Any = 'local',
            logger: Any = None, work_load_list: Any = None,
            monitor: Any = None, eval_end_callback: Any = None, eval_batch_end_callback: Any = None) -> FeedForward:
        """Train; ``X`` is an array with labels ``y``, or an iterator."""
        data = self._iterator(X, y, True)
        if isinstance(eval_data, tuple | list):
            eval_data = self._iterator(eval_data[0], eval_data[1], False)
        assert self.num_epoch is not None, 'num_epoch must be given to train'
        module = self._module(data, True)
        module.fit(data, eval_data, eval_metric, epoch_end_callback, batch_end_callback, kvstore, self.optimizer,
                   self.kwargs or (('learning_rate', 0.01),), eval_end_callback, eval_batch_end_callback,
                   self.initializer, self.arg_params, self.aux_params, True, begin_epoch=self.begin_epoch,
                   num_epoch=self.num_epoch, monitor=monitor)
        self.arg_params, self.aux_params = module.get_params()
        return self

    def predict(self, X: Any, num_batch: int | None = None, return_data: bool = False, reset: bool = True) -> Any:
        """The outputs for all samples as numpy arrays."""
        data = self._iterator(X, None, False)
        module = self._module(data, False)
        module.set_params(self.arg_params, self.aux_params or {}, allow_extra=True)
        found = module.predict(data, num_batch, reset=reset)
        return found.asnumpy() if isinstance(found, nd.NDArray) else [a.asnumpy() for a in found]

    def score(self, X: Any, eval_metric: Any = 'acc', num_batch: int | None = None, batch_end_callback: Any = None,
              reset: bool = True) -> Any:
        """The value of a metric over the data."""
        module = self._module(X, False)
        module.set_params(self.arg_params, self.aux_params or {}, allow_extra=True)
        return module.score(X, eval_metric, num_batch, batch_end_callback, reset=reset)[0][1]

    def save(self, prefix: str, epoch: int | None = None, remove_amp_cast: bool = True) -> None:
        """Write a checkpoint."""
        epoch = self.num_epoch if epoch is None else epoch
        assert epoch is not None
        save_checkpoint(prefix, epoch, self.symbol, self.arg_params, self.aux_params, remove_amp_cast)

    @staticmethod
    def load(prefix: str, epoch: int, ctx: Any = None, **kwargs: Any) -> FeedForward:
        """The model of a checkpoint."""
        symbol, args, aux = load_checkpoint(prefix, epoch)
        return FeedForward(symbol, ctx=ctx, arg_params=args, aux_params=aux, begin_epoch=epoch, **kwargs)

    @staticmethod
    def create(symbol: Any, X: Any, y: Any = None, ctx: Any = None, num_epoch: int | None = None,
               epoch_size: int | None = None, optimizer: Any = 'sgd', initializer: Any = None, eval_data: Any = None,
               eval_metric: Any = 'acc', epoch_end_callback: Any = None, batch_end_callback: Any = None,
               kvstore: Any = 'local', logger: Any = None, work_load_list: Any = None, eval_end_callback: Any = None,
               eval_batch_end_callback: Any = None, **kwargs: Any) -> FeedForward:
        """A model that is trained at once."""
        model = FeedForward(symbol, ctx, num_epoch, epoch_size, optimizer, initializer, **kwargs)
        return model.fit(X, y, eval_data, eval_metric, epoch_end_callback, batch_end_callback, kvstore, logger,
                         work_load_list, None, eval_end_callback, eval_batch_end_callback)
