"""What all modules share: the training loop, evaluation and prediction."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from typing import Any

from .. import metric as metrics
from .. import ndarray as nd
from ..initializer import Uniform
from ..model import BatchEndParam


def as_list(value: Any) -> list[Any]:
    """A list of one, or the list itself."""
    return list(value) if isinstance(value, list | tuple) else [value]


class BaseModule:
    """A model that is bound, initialised, and then run forward and backward batch by batch."""

    def __init__(self, logger: Any = logging) -> None:
        self.logger = logger
        self.binded = False
        self.for_training = False
        self.inputs_need_grad = False
        self.params_initialized = False
        self.optimizer_initialized = False
        self._symbol: Any = None

    # ---- what a module must be able to do ------------------------------------------------------------------------

    @property
    def data_names(self) -> list[str]:
        """The names of the data."""
        raise NotImplementedError

    @property
    def output_names(self) -> list[str]:
        """The names of the outputs."""
        raise NotImplementedError

    @property
    def data_shapes(self) -> Any:
        """The descriptions of the data."""
        raise NotImplementedError

    @property
    def label_shapes(self) -> Any:
        """The descriptions of the labels."""
        raise NotImplementedError

    @property
    def output_shapes(self) -> Any:
        """Pairs of name and shape of the outputs."""
        raise NotImplementedError

    @property
    def symbol(self) -> Any:
        """The symbol behind the module."""
        return self._symbol

    def bind(self, data_shapes: Any, label_shapes: Any = None, for_training: bool = True,
             inputs_need_grad: bool = False, force_rebind: bool = False, shared_module: Any = None,
             grad_req: Any = 'write') -> None:
        """Make executors for batches of these shapes."""
        raise NotImplementedError

    def init_params(self, initializer: Any = None, arg_params: Any = None, aux_params: Any = None,
                    allow_missing: bool = False, force_init: bool = False, allow_extra: bool = False) -> None:
        """Give every parameter a value: one that is handed in, or one of the initializer's."""
        raise NotImplementedError

    def init_optimizer(self, kvstore: Any = 'local', optimizer: Any = 'sgd',
                       optimizer_params: Any = (('learning_rate', 0.01),), force_init: bool = False) -> None:
        """Get ready to update."""
        raise NotImplementedError

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Run forward."""
        raise NotImplementedError

    def backward(self, out_grads: Any = None) -> None:
        """Run backward."""
        raise NotImplementedError

    def update(self) -> None:
        """Change the parameters by their gradients."""
        raise NotImplementedError

    def get_outputs(self, merge_multi_context: bool = True) -> Any:
        """The outputs of the last forward."""
        raise NotImplementedError

    def get_input_grads(self, merge_multi_context: bool = True) -> Any:
        """The gradients of the data of the last backward."""
        raise NotImplementedError

    def get_states(self, merge_multi_context: bool = True) -> Any:
        """The arrays of states, of which there are none here."""
        self._ready()
        assert not merge_multi_context, 'merge_multi_context=True is not supported for get_states yet.'
        return []

    def set_states(self, states: Any = None, value: Any = None) -> None:
        """Set states, of which there are none here."""
        self._ready()
        if states or value:
            raise AssertionError('this module has no states')

    def get_params(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Arguments and auxiliary states."""
        raise NotImplementedError

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Count the last outputs."""
        raise NotImplementedError

    def install_monitor(self, mon: Any) -> None:
        """Let a monitor watch the executors."""
        raise NotImplementedError

    # ---- on top of it --------------------------------------------------------------------------------------------

    def prepare(self, data_batch: Any, sparse_row_id_fn: Any = None) -> None:
        """Get ready for a batch, before it is run."""

    def forward_backward(self, data_batch: Any) -> None:
        """Run forward in training mode, and backward."""
        self.forward(data_batch, is_train=True)
        self.backward()

    def set_params(self, arg_params: Any, aux_params: Any, allow_missing: bool = False, force_init: bool = True,
                   allow_extra: bool = False) -> None:
        """Take over values of parameters."""
        self.init_params(None, arg_params, aux_params, allow_missing, force_init, allow_extra)

    def save_params(self, fname: str) -> None:
        """Write all parameters to a file."""
        args, aux = self.get_params()
        nd.save(fname, {**{f'arg:{n}': a for n, a in args.items()}, **{f'aux:{n}': a for n, a in aux.items()}})

    def load_params(self, fname: str) -> None:
        """Read all parameters from a file; ValueError for a file of something else."""
        args, aux = {}, {}
        for key, array in nd.load(fname).items():
            kind, _, name = key.partition(':')
            if kind == 'arg':
                args[name] = array
            elif kind == 'aux':
                aux[name] = array
            else:
                raise ValueError(f'Invalid param file {fname}: a key is {key!r}, expected arg:NAME or aux:NAME')
        self.set_params(args, aux)

    def score(self, eval_data: Any, eval_metric: Any, num_batch: int | None = None, batch_end_callback: Any = None,
              score_end_callback: Any = None, reset: bool = True, epoch: int = 0, sparse_row_id_fn: Any = None) -> Any:
        """Pairs of name and value of a metric over the data."""
        self._ready()
        if reset:
            eval_data.reset()
        eval_metric = metrics.create(eval_metric)
        eval_metric.reset()
        seen = 0
        for nbatch, batch in enumerate(eval_data):
            if nbatch == num_batch:
                break
            self.forward(batch, is_train=False)
            self.update_metric(eval_metric, batch.label)
            _call(batch_end_callback, BatchEndParam(epoch, nbatch, eval_metric, locals()))
            seen += 1
        _call(score_end_callback, BatchEndParam(epoch, seen, eval_metric, locals()))
        return eval_metric.get_name_value()

    def iter_predict(self, eval_data: Any, num_batch: int | None = None, reset: bool = True,
                     sparse_row_id_fn: Any = None) -> Iterator[tuple[Any, int, Any]]:
        """Outputs without padding, the number of the batch, and the batch."""
        self._ready()
        if reset:
            eval_data.reset()
        for nbatch, batch in enumerate(eval_data):
            if nbatch == num_batch:
                break
            self.forward(batch, is_train=False)
            yield [out[0:out.shape[0] - (batch.pad or 0)] for out in self.get_outputs()], nbatch, batch

    def predict(self, eval_data: Any, num_batch: int | None = None, merge_batches: bool = True, reset: bool = True,
                always_output_list: bool = False, sparse_row_id_fn: Any = None) -> Any:
        """The outputs for all samples; for an array as data, those of one batch."""
        self._ready()
        if isinstance(eval_data, nd.NDArray):
            from ..io import DataBatch
            self.forward(DataBatch([eval_data]), is_train=False)
            return self.get_outputs()[0]
        found = [[out.copy() for out in outputs]
                 for outputs, _, _ in self.iter_predict(eval_data, num_batch, reset)]
        if not found or not merge_batches:
            return found
        count = len(found[0])
        for outputs in found:
            assert len(outputs) == count, ('Cannot merge batches, as num of outputs is not the same in mini-batches. '
                                           'Maybe bucketing is used?')
        merged = [nd.concatenate([outputs[i] for outputs in found]) for i in range(count)]
        return merged[0] if count == 1 and not always_output_list else merged

    def fit(self, train_data: Any, eval_data: Any = None, eval_metric: Any = 'acc', epoch_end_callback: Any = None,
            batch_end_callback: Any = None, kvstore: Any = 'local', optimizer: Any = 'sgd',
            optimizer_params: Any = (('learning_rate', 0.01),), eval_end_callback: Any = None,
            eval_batch_end_callback: Any = None, initializer: Any = None, arg_params: Any = None,
            aux_params: Any = None, allow_missing: bool = False, force_rebind: bool = False,
            force_init: bool = False, begin_epoch: int = 0,
            num_epoch: int | None = None, validation_metric: Any = None, monitor: Any = None,
            sparse_row_id_fn: Any = None) -> None:
        """Bind, initialise and train for ``num_epoch`` epochs; AssertionError without their number."""
        assert num_epoch is not None, 'please specify number of epochs'
        self.bind(train_data.provide_data, train_data.provide_label, for_training=True, force_rebind=force_rebind)
        if monitor is not None:
            self.install_monitor(monitor)
        self.init_params(initializer or Uniform(0.01), arg_params, aux_params, allow_missing, force_init)
        self.init_optimizer(kvstore, optimizer, optimizer_params)
        eval_metric = metrics.create(eval_metric)
        validation_metric = eval_metric if validation_metric is None else metrics.create(validation_metric)
        for epoch in range(begin_epoch, num_epoch):
            began = time.time()
            eval_metric.reset()
            for nbatch, batch in enumerate(train_data):
                if monitor is not None:
                    monitor.tic()
                self.prepare(batch)
                self.forward_backward(batch)
                self.update()
                self.update_metric(eval_metric, batch.label)
                if monitor is not None:
                    monitor.toc_print()
                _call(batch_end_callback, BatchEndParam(epoch, nbatch, eval_metric, locals()))
            for name, value in eval_metric.get_name_value():
                self.logger.info('Epoch[%d] Train-%s=%f', epoch, name, value)
            self.logger.info('Epoch[%d] Time cost=%.3f', epoch, time.time() - began)
            args, aux = self.get_params()
            self.set_params(args, aux)
            if epoch_end_callback is not None:
                for callback in as_list(epoch_end_callback):
                    callback(epoch, self.symbol, args, aux)
            if eval_data is not None:
                for name, value in self.score(eval_data, validation_metric, score_end_callback=eval_end_callback,
                                              batch_end_callback=eval_batch_end_callback, epoch=epoch):
                    self.logger.info('Epoch[%d] Validation-%s=%f', epoch, name, value)
            train_data.reset()

    def _ready(self) -> None:
        assert self.binded, 'call bind before this'
        assert self.params_initialized, 'call init_params before this'


def _call(callbacks: Any, params: Any) -> None:
    if callbacks is not None:
        for callback in as_list(callbacks):
            callback(params)
