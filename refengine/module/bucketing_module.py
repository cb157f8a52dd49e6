"""BucketingModule: one module per length of sequences, all with the same parameters."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from .. import ndarray as nd
from ..model import load_params
from .base_module import BaseModule
from .module import Module


class BucketingModule(BaseModule):
    """``sym_gen(bucket_key)`` gives symbol, data names and label names of a bucket; batches say theirs."""

    def __init__(self, sym_gen: Callable[[Any], Any], default_bucket_key: Any = None, logger: Any = logging,
                 context: Any = None, work_load_list: Any = None, fixed_param_names: Any = None,
                 state_names: Any = None, group2ctxs: Any = None, compression_params: Any = None) -> None:
        super().__init__(logger)
        assert default_bucket_key is not None, 'default_bucket_key must be given'
        self._sym_gen = sym_gen
        self._default = default_bucket_key
        self._options = {'logger': logger, 'context': context, 'fixed_param_names': fixed_param_names,
                         'state_names': state_names, 'compression_params': compression_params}
        self._buckets: dict[Any, Module] = {}
        self._curr_module: Any = None
        self._curr_bucket_key: Any = None
        self._monitor: Any = None
        self._grad_req: Any = None
        self._loaded: tuple[dict[str, Any], dict[str, Any]] | None = None

    def _make(self, key: Any) -> Module:
        symbol, data_names, label_names = self._sym_gen(key)
        return Module(symbol, data_names, label_names, **self._options)

    @property
    def symbol(self) -> Any:
        """The symbol of the present bucket."""
        assert self.binded, 'call bind before this'
        return self._curr_module.symbol

    @property
    def data_names(self) -> list[str]:
        """The names of the data."""
        return self._curr_module.data_names if self.binded else list(self._sym_gen(self._default)[1])

    @property
    def output_names(self) -> list[str]:
        """The names of the outputs."""
        return self._curr_module.output_names if self.binded else self._sym_gen(self._default)[0].list_outputs()

    @property
    def data_shapes(self) -> Any:
        """The descriptions of the data."""
        return self._curr_module.data_shapes

    @property
    def label_shapes(self) -> Any:
        """The descriptions of the labels."""
        return self._curr_module.label_shapes

    def bind(self, data_shapes: Any, label_shapes: Any = None, for_training: bool = True,
             inputs_need_grad: bool = False, force_rebind: bool = False, shared_module: Any = None,
             grad_req: Any = 'write') -> None:
        """Bind the default bucket; the others are bound when their first batch comes."""
        if force_rebind:
            self._buckets, self.binded = {}, False
        if self.binded:
            self.logger.warning('Already bound, ignoring bind()')
            return
        assert shared_module is None, 'shared_module for BucketingModule is not supported'
        self.for_training, self.inputs_need_grad, self._grad_req = for_training, inputs_need_grad, grad_req
        module = self._make(self._default)
        module.bind(data_shapes, label_shapes, for_training, inputs_need_grad, grad_req=grad_req)
        self.binded = True
        self._curr_module, self._curr_bucket_key = module, self._default
        self._buckets[self._default] = module

    def switch_bucket(self, bucket_key: Any, data_shapes: Any, label_shapes: Any = None) -> None:
        """Make the module of a bucket the present one; it shares the parameters of the default one."""
        assert self.binded, 'call bind before switching bucket'
        if bucket_key not in self._buckets:
            module = self._make(bucket_key)
            module.bind(data_shapes, label_shapes, self.for_training, self.inputs_need_grad, grad_req=self._grad_req,
                        shared_module=self._buckets[self._default])
            if self._monitor is not None:
                module.install_monitor(self._monitor)
            self._buckets[bucket_key] = module
        self._curr_module, self._curr_bucket_key = self._buckets[bucket_key], bucket_key

    def init_params(self, initializer: Any = None, arg_params: Any = None, aux_params: Any = None,
                    allow_missing: bool = False, force_init: bool = False, allow_extra: bool = False) -> None:
        """Give every parameter a value."""
        if self.params_initialized and not force_init:
            return
        assert self.binded, 'call bind before initializing the parameters'
        if self._loaded is not None and arg_params is None and aux_params is None:
            arg_params, aux_params = self._loaded
        self._curr_module.init_params(initializer, arg_params, aux_params, allow_missing, force_init, allow_extra)
        self.params_initialized = True
        for module in self._buckets.values():
            module.params_initialized = True

    def get_params(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Arguments and auxiliary states."""
        self._ready()
        module = self._curr_module
        module._dirty = True
        return module.get_params()

    def init_optimizer(self, kvstore: Any = 'local', optimizer: Any = 'sgd',
                       optimizer_params: Any = (('learning_rate', 0.01),), force_init: bool = False) -> None:
        """Make one optimizer for all buckets."""
        self._ready()
        if self.optimizer_initialized and not force_init:
            self.logger.warning('optimizer already initialized, ignoring.')
            return
        self._curr_module.init_optimizer(kvstore, optimizer, optimizer_params, force_init)
        for module in self._buckets.values():
            if module is not self._curr_module:
                module.borrow_optimizer(self._curr_module)
        self.optimizer_initialized = True

    def _switch(self, batch: Any) -> None:
        key = batch.bucket_key if batch.bucket_key is not None else self._curr_bucket_key
        if key != self._curr_bucket_key:
            self.switch_bucket(key, batch.provide_data, batch.provide_label)
            if self.optimizer_initialized and not self._curr_module.optimizer_initialized:
                self._curr_module.borrow_optimizer(self._buckets[self._default])

    def prepare(self, data_batch: Any, sparse_row_id_fn: Any = None) -> None:
        """Bind the bucket of a batch if it is new."""
        self._ready()
        before = self._curr_bucket_key
        self._switch(data_batch)
        self._curr_module, self._curr_bucket_key = self._buckets[before], before

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Run the bucket of the batch."""
        self._ready()
        self._switch(data_batch)
        self._curr_module.forward(data_batch, is_train)

    def backward(self, out_grads: Any = None) -> None:
        """Run the present bucket backward."""
        self._curr_module.backward(out_grads)

    def update(self) -> None:
        """Change the parameters, which all buckets share."""
        self._curr_module.update()

    def get_outputs(self, merge_multi_context: bool = True) -> Any:
        """The outputs of the last forward."""
        return self._curr_module.get_outputs(merge_multi_context)

    def get_input_grads(self, merge_multi_context: bool = True) -> Any:
        """The gradients of the data."""
        return self._curr_module.get_input_grads(merge_multi_context)

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Count the last outputs."""
        self._curr_module.update_metric(eval_metric, labels)

    def install_monitor(self, mon: Any) -> None:
        """Let a monitor watch every bucket."""
        self._monitor = mon
        for module in self._buckets.values():
            module.install_monitor(mon)

    @property
    def output_shapes(self) -> Any:
        """Pairs of name and shape of the outputs of the present bucket."""
        assert self.binded, 'call bind before this'
        return self._curr_module.output_shapes

    def get_states(self, merge_multi_context: bool = True) -> Any:
        """The states of the present bucket."""
        self._ready()
        return self._curr_module.get_states(merge_multi_context)

    def set_states(self, states: Any = None, value: Any = None) -> None:
        """Set the states of the present bucket."""
        self._ready()
        self._curr_module.set_states(states, value)

    # ---- files -------------------------------------------------------------------------------------------------

    def save_checkpoint(self, prefix: str, epoch: int, remove_amp_cast: bool = False) -> None:
        """Write the keys and symbols of all buckets, and the parameters, in the files of the release."""
        assert self._buckets, 'Empty BucketingModule cannot be saved'
        nd.save(f'{prefix}.buckets', nd.array(list(self._buckets), dtype='int32'))
        for key, module in self._buckets.items():
            module.symbol.save(f'{prefix}-{key}-symbol.json', remove_amp_cast)
        args, aux = self.get_params()
        nd.save(f'{prefix}-{epoch:04d}.params', {**{f'arg:{n}': a for n, a in args.items()},
                                                 **{f'aux:{n}': a for n, a in aux.items()}})

    @staticmethod
    def load(prefix: str, epoch: int, sym_gen: Any = None, default_bucket_key: Any = None,
             **kwargs: Any) -> BucketingModule:
        """The module of a checkpoint; its parameters are taken over by ``init_params``.

        AssertionError without the function that makes symbols and the default key.
        """
        assert sym_gen is not None, 'sym_gen is required for loading BucketingModule'
        assert default_bucket_key is not None, 'default_bucket_key is required for loading BucketingModule'
        args, aux = load_params(prefix, epoch)
        module = BucketingModule(sym_gen, default_bucket_key, **kwargs)
        module._loaded = args, aux
        return module

    @staticmethod
    def load_dict(sym_dict: Any = None, sym_gen: Any = None, default_bucket_key: Any = None, arg_params: Any = None,
                  aux_params: Any = None, **kwargs: Any) -> BucketingModule:
        """The same from parameters that are loaded already; ``sym_dict`` holds the symbols by key, as a file does."""
        assert sym_gen is not None, 'sym_gen is required for loading BucketingModule'
        assert default_bucket_key is not None, 'default_bucket_key is required for loading BucketingModule'
        module = BucketingModule(sym_gen, default_bucket_key, **kwargs)
        module._loaded = dict(arg_params or {}), dict(aux_params or {})
        return module
