"""Module: one symbol, trained and run on one or several contexts."""

from __future__ import annotations

import logging
import warnings
from typing import Any

from .. import ndarray as nd
from ..base import MXNetError
from ..context import Context, cpu
from ..initializer import InitDesc, Uniform
from ..model import load_checkpoint, save_checkpoint
from ..optimizer.state_file import write_atomically
from .base_module import BaseModule, as_list
from .executor_group import ExecutorGroup, described


class Module(BaseModule):
    """A symbol with its data, parameters and optimizer.

    >>> import refengine as mx, numpy as np
    >>> net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=2), name='softmax')
    >>> data = mx.io.NDArrayIter(np.eye(4), np.array([0, 1, 0, 1]), batch_size=2)
    >>> module = Module(net)
    >>> module.fit(data, num_epoch=20, optimizer_params={'learning_rate': 1.0})
    >>> module.score(data, 'acc')
    [('accuracy', 1.0)]
    """

    def __init__(self, symbol: Any, data_names: Any = ('data',), label_names: Any = ('softmax_label',),
                 logger: Any = logging, context: Any = None, work_load_list: Any = None, fixed_param_names: Any = None,
                 state_names: Any = None, group2ctxs: Any = None, compression_params: Any = None) -> None:
        super().__init__(logger)
        self._contexts = [cpu()] if context is None else [context] if isinstance(context, Context) else list(context)
        self._symbol = symbol
        self._data_names = list(data_names or ())
        self._label_names = list(label_names or ())
        self._state_names = list(state_names or ())
        self._fixed = list(fixed_param_names or ())
        self._compression = compression_params
        arguments = symbol.list_arguments()
        for names, what, required in ((self._data_names, 'data', True), (self._label_names, 'label', False),
                                      (self._state_names, 'state', True), (self._fixed, 'fixed_param', True)):
            for name in names:
                if name not in arguments:
                    text = (f"You created Module with Module(..., {what}_names={names}) but input with name "
                            f"'{name}' is "
                            f'not found in symbol.list_arguments(). Did you mean one of:\n\t'
                            + '\n\t'.join(arguments))
                    if required:
                        raise ValueError(text)
                    warnings.warn(text, stacklevel=3)
        given = {*self._data_names, *self._label_names, *self._state_names}
        self._param_names = [name for name in arguments if name not in given]
        self._aux_names = symbol.list_auxiliary_states()
        self._arg_params: dict[str, Any] = {}
        self._aux_params: dict[str, Any] = {}
        self._preload_opt_states: str | None = None
        self._group: Any = None
        self._optimizer: Any = None
        self._updater: Any = None
        self._kvstore: Any = None
        self._update_on_kvstore = False
        self._data_shapes: Any = None
        self._label_shapes: Any = None
        self._dirty = False

    # ---- files -------------------------------------------------------------------------------------------------

    @staticmethod
    def load(prefix: str, epoch: int, load_optimizer_states: bool = False, **kwargs: Any) -> Module:
        """The module of a checkpoint; its parameters count as initialised once it is bound."""
        symbol, args, aux = load_checkpoint(prefix, epoch)
        module = Module(symbol, **kwargs)
        module._arg_params, module._aux_params = args, aux
        module.params_initialized = True
        if load_optimizer_states:
            module._preload_opt_states = f'{prefix}-{epoch:04d}.states'
        return module

    def save_checkpoint(self, prefix: str, epoch: int, save_optimizer_states: bool = False,
                        remove_amp_cast: bool = True) -> None:
        """Write symbol and parameters, and the states of the optimizer if asked for."""
        args, aux = self.get_params()
        save_checkpoint(prefix, epoch, self._symbol, args, aux, remove_amp_cast)
        if save_optimizer_states:
            self.save_optimizer_states(f'{prefix}-{epoch:04d}.states')

    def save_optimizer_states(self, fname: str) -> None:
        """Write the states of the optimizer."""
        assert self.optimizer_initialized, 'call init_optimizer before this'
        if self._update_on_kvstore:
            self._kvstore.save_optimizer_states(fname)
            return
        write_atomically(fname, self._updater.get_states())

    def load_optimizer_states(self, fname: str) -> None:
        """Read the states of the optimizer."""
        assert self.optimizer_initialized, 'call init_optimizer before this'
        if self._update_on_kvstore:
            self._kvstore.load_optimizer_states(fname)
            return
        with open(fname, 'rb') as file:
            self._updater.set_states(file.read())

    # ---- what it is --------------------------------------------------------------------------------------------

    @property
    def data_names(self) -> list[str]:
        """The names of the data."""
        return self._data_names

    @property
    def label_names(self) -> list[str]:
        """The names of the labels."""
        return self._label_names

    @property
    def output_names(self) -> list[str]:
        """The names of the outputs."""
        return self._symbol.list_outputs()

    @property
    def data_shapes(self) -> Any:
        """The descriptions of the data."""
        assert self.binded, 'call bind before this'
        return self._data_shapes

    @property
    def label_shapes(self) -> Any:
        """The descriptions of the labels."""
        assert self.binded, 'call bind before this'
        return self._label_shapes

    @property
    def output_shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        """Names and shapes of the outputs."""
        assert self.binded, 'call bind before this'
        return [(name, out.shape) for name, out in zip(self.output_names, self._group.outputs(), strict=True)]

    # ---- getting ready -----------------------------------------------------------------------------------------

    def bind(self, data_shapes: Any, label_shapes: Any = None, for_training: bool = True,
             inputs_need_grad: bool = False, force_rebind: bool = False, shared_module: Any = None,
             grad_req: Any = 'write') -> None:
        """Make executors; ValueError when the names of the shapes are not those of the data."""
        if force_rebind:
            self._group, self.binded = None, False
        if self.binded:
            self.logger.warning('Already bound, ignoring bind()')
            return
        self.for_training, self.inputs_need_grad = for_training, inputs_need_grad
        self._data_shapes, self._label_shapes = described(data_shapes), described(label_shapes)
        found = sorted(d.name for d in self._data_shapes)
        if found != sorted(self._data_names):
            raise ValueError(f'Data provided by data_shapes don\'t match names specified by data_names ({found} vs. '
                             f'{self._data_names})')
        requests = {name: 'null' if not for_training or name in self._fixed else
                    (grad_req if isinstance(grad_req, str) else dict(grad_req).get(name, 'null'))
                    for name in self._param_names}
        if for_training and inputs_need_grad:
            requests.update(dict.fromkeys(self._data_names, 'write'))
        shared = shared_module._group if shared_module is not None else None
        self._group = ExecutorGroup(self._symbol, self._contexts, self._data_shapes, self._label_shapes, requests,
                                    shared)
        self.binded = True
        if shared_module is not None:
            self.params_initialized = shared_module.params_initialized
            self._arg_params, self._aux_params = shared_module._arg_params, shared_module._aux_params
            if shared_module.optimizer_initialized:
                self.borrow_optimizer(shared_module)
        elif self.params_initialized:
            self._scatter_params(allow_extra=True)

    def reshape(self, data_shapes: Any, label_shapes: Any = None) -> None:
        """Bind for other shapes with the same parameters."""
        assert self.binded, 'call bind before this'
        args, aux = self.get_params() if self.params_initialized else ({}, {})
        optimizer = self.optimizer_initialized
        self.bind(data_shapes, label_shapes, self.for_training, self.inputs_need_grad, force_rebind=True)
        if args:
            self.set_params(args, aux)
        self.optimizer_initialized = optimizer

    def init_params(self, initializer: Any = None, arg_params: Any = None, aux_params: Any = None,
                    allow_missing: bool = False, force_init: bool = False, allow_extra: bool = False) -> None:
        """Give every parameter a value; RuntimeError for one that is neither handed in nor to be initialised."""
        if self.params_initialized and not force_init:
            warnings.warn('Parameters already initialized and force_init=False. init_params call ignored.',
                          stacklevel=2)
            return
        assert self.binded, 'call bind before initializing the parameters'
        if initializer is None and arg_params is None and aux_params is None:
            initializer = Uniform(0.01)
        attributes = self._symbol.attr_dict()
        for names, given, what, target in ((self._param_names, arg_params, 'arg', self._arg_params),
                                           (self._aux_names, aux_params, 'aux', self._aux_params)):
            for name, arrays in zip(names, self._group.arrays(names, what), strict=True):
                if given is not None and name in given:
                    source = given[name]
                    if source.shape != arrays[0].shape:
                        raise ValueError(f"parameter '{name}' has shape {source.shape}, expected {arrays[0].shape}")
                    source = source.astype(arrays[0].dtype, copy=False)
                else:
                    if given is not None and not allow_missing:
                        raise RuntimeError(f'{name} is not presented')
                    if initializer is None:
                        source = arrays[0].copy()
                    else:
                        source = nd.zeros(arrays[0].shape, dtype=arrays[0].dtype)
                        initializer(InitDesc(name, attributes.get(name)), source)
                for array in arrays:
                    source.copyto(array)
                target[name] = source.copyto(cpu())
            if given and not allow_extra:
                extra = [name for name in given if name not in names]
                if extra:
                    raise ValueError(f'parameters {extra} are not in the symbol; allow_extra=True ignores them')
        self.params_initialized = True
        self._dirty = False

    def _scatter_params(self, allow_extra: bool) -> None:
        for names, values, what in ((self._param_names, self._arg_params, 'arg'),
                                    (self._aux_names, self._aux_params, 'aux')):
            for name, arrays in zip(names, self._group.arrays(names, what), strict=True):
                if name not in values:
                    raise MXNetError(f"parameter '{name}' is not in the checkpoint")
                for array in arrays:
                    values[name].astype(array.dtype, copy=False).copyto(array)

    def get_params(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Arguments and auxiliary states on the CPU, the mean over the contexts."""
        self._ready()
        if self._dirty:
            for names, target, what in ((self._param_names, self._arg_params, 'arg'),
                                        (self._aux_names, self._aux_params, 'aux')):
                for name, arrays in zip(names, self._group.arrays(names, what), strict=True):
                    total = arrays[0].copyto(cpu())
                    for other in arrays[1:]:
                        total += other.as_in_context(cpu())
                    target[name] = total / len(arrays) if len(arrays) > 1 else total
            self._dirty = False
        return dict(self._arg_params), dict(self._aux_params)

    # ---- updates -----------------------------------------------------------------------------------------------

    def init_optimizer(self, kvstore: Any = 'local', optimizer: Any = 'sgd',
                       optimizer_params: Any = (('learning_rate', 0.01),), force_init: bool = False) -> None:
        """Make optimizer and store; gradients are scaled by 1 / batch size unless the parameters say otherwise."""
        self._ready()
        if self.optimizer_initialized and not force_init:
            self.logger.warning('optimizer already initialized, ignoring...')
            return
        from .. import kvstore as stores
        from .. import optimizer as optimizers
        several = len(self._contexts) > 1
        store = None
        if kvstore is not None and not isinstance(kvstore, str):
            store = kvstore
        elif kvstore and (several or 'dist' in kvstore):
            store = stores.create(kvstore)
        batch_size = self._group.batch_size
        if store is not None and 'dist' in store.type and '_sync' in store.type:
            batch_size *= store.num_workers
        names = dict(enumerate(self._param_names))
        if not store and several:
            names = {i * len(self._contexts) + k: name for i, name in enumerate(self._param_names)
                     for k in range(len(self._contexts))}
        if isinstance(optimizer, str):
            params = dict(optimizer_params)
            params.setdefault('rescale_grad', 1.0 / batch_size)
            optimizer = optimizers.create(optimizer, sym=self._symbol, param_idx2name=names, **params)
        elif optimizer.rescale_grad != 1.0 / batch_size:
            warnings.warn(f'Optimizer created manually outside Module but rescale_grad is not normalized to '
                          f'1.0/batch_size/num_workers ({optimizer.rescale_grad} vs. {1.0 / batch_size}). '
                          f'Is this intended?', stacklevel=2)
        self._optimizer = optimizer
        self._kvstore = store
        self._update_on_kvstore = store is not None
        self._updater = None
        if store is not None:
            if self._compression:
                store.set_gradient_compression(self._compression)
            for index, arrays in enumerate(self._group.arrays(self._param_names, 'arg')):
                store.init(index, arrays[0].copyto(cpu()))
            store.set_optimizer(optimizer)
        else:
            self._updater = optimizers.get_updater(optimizer)
        self.optimizer_initialized = True
        if self._preload_opt_states is not None:
            self.load_optimizer_states(self._preload_opt_states)
            self._preload_opt_states = None

    def borrow_optimizer(self, shared_module: Module) -> None:
        """Update with the optimizer of another module."""
        assert shared_module.optimizer_initialized, 'the other module has no optimizer yet'
        for name in ('_optimizer', '_kvstore', '_update_on_kvstore', '_updater'):
            setattr(self, name, getattr(shared_module, name))
        self.optimizer_initialized = True

    def update(self) -> None:
        """Change the parameters by the gradients of the last backward."""
        self._ready()
        assert self.optimizer_initialized, 'call init_optimizer before this'
        self._dirty = True
        weights = self._group.arrays(self._param_names, 'arg')
        gradients = self._group.arrays(self._param_names, 'grad')
        for index, (copies, grads) in enumerate(zip(weights, gradients, strict=True)):
            if grads[0] is None:
                continue
            if self._update_on_kvstore:
                self._kvstore.push(index, grads, priority=-index)
                self._kvstore.pull(index, copies, priority=-index)
            else:
                for number, (weight, grad) in enumerate(zip(copies, grads, strict=True)):
                    self._updater(index * len(copies) + number, grad, weight)

    # ---- running -----------------------------------------------------------------------------------------------

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Run forward; a batch of another size makes the module bind anew."""
        self._ready()
        shapes = [array.shape for array in data_batch.data]
        if shapes != [d.shape for d in self._data_shapes]:
            data = data_batch.provide_data or [type(d)(d.name, s, d.dtype, d.layout)
                                               for d, s in zip(self._data_shapes, shapes, strict=True)]
            labels = data_batch.provide_label or [
                type(d)(d.name, a.shape, d.dtype, d.layout)
                for d, a in zip(self._label_shapes, data_batch.label or (), strict=False)]
            self.reshape(data, labels or None)
        self._group.forward(data_batch, self.for_training if is_train is None else is_train)

    def backward(self, out_grads: Any = None) -> None:
        """Run backward; ``out_grads`` are needed unless the outputs are losses."""
        self._ready()
        self._group.backward(None if out_grads is None else as_list(out_grads))
        self._dirty = True      # running statistics move

    def get_outputs(self, merge_multi_context: bool = True) -> Any:
        """The outputs of the last forward."""
        self._ready()
        return self._group.outputs(merge_multi_context)

    def get_input_grads(self, merge_multi_context: bool = True) -> Any:
        """The gradients of the data; AssertionError unless bound with ``inputs_need_grad``."""
        self._ready()
        assert self.inputs_need_grad, 'bind with inputs_need_grad=True to get gradients of the data'
        return self._group.input_grads(merge_multi_context)

    def get_states(self, merge_multi_context: bool = True) -> Any:
        """The arrays of the inputs that ``state_names`` named: for each a list, one array for each context."""
        self._ready()
        assert not merge_multi_context, 'merge_multi_context=True is not supported for get_states yet.'
        return self._group.arrays(self._state_names, 'arg')

    def set_states(self, states: Any = None, value: Any = None) -> None:
        """Set the states to arrays, as ``get_states`` and ``get_outputs`` give them, or to one number."""
        self._ready()
        if states is not None:
            assert value is None, 'Only one of states & value can be specified.'
            for targets, sources in zip(self._group.arrays(self._state_names, 'arg'), states, strict=True):
                for target, source in zip(targets, sources, strict=True):
                    source.copyto(target)
            return
        assert value is not None, 'At least one of states & value must be specified.'
        for targets in self._group.arrays(self._state_names, 'arg'):
            for target in targets:
                target[:] = value

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Count the last outputs against labels."""
        names = [d.name for d in self._label_shapes]
        eval_metric.update_dict(dict(zip(names, labels or (), strict=False)),
                                dict(zip(self.output_names, self.get_outputs(), strict=True)))

    def install_monitor(self, mon: Any) -> None:
        """Let a monitor watch the executors."""
        assert self.binded, 'call bind before this'
        for executor in self._group.executors:
            mon.install(executor)
