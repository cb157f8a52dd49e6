"""The Trainer: applies an optimizer to the parameters of a network, on one device or many."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import optimizer as opt
from ..optimizer import state_file
from . import store_decision
from .parameter import Parameter
from .parameter_dict import ParameterDict

_NOT_ON_KVSTORE = ('{} when parameters are updated on kvstore is not supported. '
                   'Try setting `update_on_kvstore` to False when creating trainer.')


class Trainer:
    """Updates Parameters with the gradients that backward wrote.

    ``params`` is a list or tuple of Parameters, or a dict of them that is taken in the order of its sorted keys.
    ``optimizer`` is a name, with ``optimizer_params``, or an Optimizer. ``kvstore`` says through what the devices
    exchange gradients: a name, a store or None; it is made at the first use. ``compression_params`` go to the store.
    ``update_on_kvstore`` says whether the optimizer runs on the store; None lets the Trainer decide.

    Rules TRAINER-INIT, TRAINER-OPTARG. A training iteration:

    >>> import refengine as mx
    >>> weight = mx.gluon.Parameter('weight', shape=(3,))
    >>> weight.initialize(mx.init.Zero())
    >>> trainer = mx.gluon.Trainer([weight], 'sgd', {'learning_rate': 1.0})
    >>> with mx.autograd.record():
    ...     loss = 4 * weight.data()
    >>> loss.backward()
    >>> trainer.step(batch_size=2)
    >>> weight.data().asnumpy().tolist()
    [-2.0, -2.0, -2.0]
    """

    _steps = 0
    _amp_scaled = False         # whether amp.scale_loss has set the scale of this iteration
    _amp_original_scale = 1.0

    def __init__(self, params: Any, optimizer: Any, optimizer_params: Any = None, kvstore: Any = 'device',
                 compression_params: Any = None, update_on_kvstore: Any = None) -> None:
        self._params = _distinct(_as_list(params))
        self._param2idx = {param._uuid: index for index, param in enumerate(self._params)}
        self._contains_sparse_weight = any(param._stype != 'default' for param in self._params)
        self._contains_sparse_grad = any(param._grad_stype != 'default' for param in self._params)
        for param in self._params:
            param._set_trainer(self)
        self._compression_params = compression_params
        self._contexts = self._check_contexts()
        self._init_optimizer(optimizer, optimizer_params)
        self._scale = self._optimizer.rescale_grad
        if self._optimizer.aggregate_num > 1:
            if update_on_kvstore:
                raise ValueError('Cannot set update_on_kvstore=True when optimizer.aggregate_num > 1.')
            update_on_kvstore = False if update_on_kvstore is None else update_on_kvstore
        self._kvstore_params = {'kvstore': kvstore, 'update_on_kvstore': update_on_kvstore}
        self._kvstore: Any = None
        self._reset_kvstore()

    def _check_contexts(self) -> list[Any]:
        contexts: Any = None
        for param in self._params:
            own = param.list_ctx()
            assert contexts is None or contexts == own, \
                (f'All Parameters must be initialized on the same set of contexts, but Parameter {param.name} is '
                 f'initialized on {own} while previous Parameters are initialized on {contexts}.')
            contexts = own
        return contexts

    def _init_optimizer(self, optimizer: Any, optimizer_params: Any) -> None:
        param_dict = dict(enumerate(self._params))
        if isinstance(optimizer, opt.Optimizer):
            assert not optimizer_params, \
                'optimizer_params must be None if optimizer is an instance of Optimizer instead of str'
            self._optimizer = optimizer
            # not a copy: changes of lr_mult and wd_mult are to be seen at once (rule TRAINER-OPTARG-007)
            self._optimizer.param_dict = param_dict
        else:
            self._optimizer = opt.create(optimizer, param_dict=param_dict, **(optimizer_params or {}))
        self._updaters = [opt.get_updater(self._optimizer) for _ in self._contexts]

    # ---- the store -------------------------------------------------------------------------------------------

    def _reset_kvstore(self) -> None:
        """Forget the store; the next use makes a new one. RuntimeError for a distributed one (TRAINER-DIST-002)."""
        if self._kvstore is not None and 'dist' in self._kvstore.type:
            raise RuntimeError('Cannot reset distributed KVStore.')
        self._kv_initialized = False
        self._kvstore = None
        self._distributed: bool | None = None
        self._update_on_kvstore: Any = None
        self._params_to_init = list(self._params)

    def _init_kvstore(self) -> None:
        """Decide which store to use, and make it."""
        sizes: list[int] = []
        if not self._contains_sparse_weight:
            # reading the data raises DeferredInitializationError before anything is made (rule TRAINER-INIT-018)
            sizes = [store_decision.elements(param.data(self._contexts[0]).shape) for param in self._params]
        decision = store_decision.decide(store_decision.Request(
            self._kvstore_params['kvstore'], self._kvstore_params['update_on_kvstore'], len(self._contexts),
            self._contains_sparse_weight, self._contains_sparse_grad), sizes)
        kvstore = decision.kvstore
        if kvstore is not None:
            # the order is documented (rule TRAINER-INIT-019)
            if self._compression_params:
                kvstore.set_gradient_compression(self._compression_params)
            if decision.update_on_kvstore:
                kvstore.set_optimizer(self._optimizer)
        self._kvstore = kvstore
        self._distributed = decision.distributed
        self._update_on_kvstore = decision.update_on_kvstore
        self._kv_initialized = True

    def _init_params(self) -> None:
        """Put the parameters that have values by now on the store, and on all devices."""
        assert self._kv_initialized, 'Cannot initialize parameters in KVStore when KVStore is not initialized.'
        pending = []
        if self._kvstore is not None:
            for param in self._params_to_init:
                if param._deferred_init:
                    pending.append(param)
                    continue
                arrays = param._check_and_get(param._data, list)
                index = self._param2idx[param._uuid]
                if param._stype != 'default':
                    self._kvstore.init(index, arrays[0])
                else:
                    self._kvstore.broadcast(index, arrays[0], arrays)
        self._params_to_init = pending

    def _prepare(self) -> None:
        if not self._kv_initialized:
            self._init_kvstore()
        if self._params_to_init:
            self._init_params()

    def _on_kvstore(self) -> bool:
        return self._kvstore is not None and bool(self._update_on_kvstore)

    def _row_sparse_pull(self, parameter: Any, out: Any, row_id: Any, full_idx: bool = False) -> None:
        """Fetch rows of a row-sparse parameter from the store (rule TRAINER-SPARSE-005)."""
        self._prepare()
        index = self._param2idx[parameter._uuid]
        if full_idx and 'dist' not in self._kvstore.type:
            assert row_id.size == out.shape[0], f'{row_id.size} row ids cannot be all of {out.shape[0]} rows'
            self._kvstore.pull(index, out=out, priority=-index, ignore_sparse=False)
        else:
            self._kvstore.row_sparse_pull(index, out=out, row_ids=row_id, priority=-index)

    # ---- learning rate and optimizer -------------------------------------------------------------------------

    @property
    def learning_rate(self) -> float:
        """The current learning rate of the optimizer."""
        if not isinstance(self._optimizer, opt.Optimizer):
            raise UserWarning('Optimizer has to be defined before its learning rate can be accessed.')
        return self._optimizer.learning_rate

    @property
    def optimizer(self) -> opt.Optimizer:
        """The optimizer; after ``load_states`` another one than before."""
        if not isinstance(self._optimizer, opt.Optimizer):
            raise UserWarning('Optimizer has not been initialized yet')
        return self._optimizer

    def set_learning_rate(self, lr: float) -> None:
        """Set the learning rate; UserWarning is raised if a scheduler rules it (rule TRAINER-LR-004)."""
        if not isinstance(self._optimizer, opt.Optimizer):
            raise UserWarning('Optimizer has to be defined before its learning rate is mutated.')
        self._optimizer.set_learning_rate(lr)

    def __getattr__(self, name: str) -> Any:
        """``amp_loss_scale`` exists once ``amp.init_trainer`` was called, and is no name of the class.

        Rules AMP-TRAINER-004 and TRAINER-CORE-002, which lists all public names.
        """
        if name == 'amp_loss_scale' and '_amp_loss_scaler' in self.__dict__:
            return self._amp_loss_scaler.loss_scale
        hint = ' before amp.init_trainer(trainer)' if name == 'amp_loss_scale' else ''
        raise AttributeError(f'{type(self).__name__!r} object has no attribute {name!r}{hint}')

    # ---- one iteration ---------------------------------------------------------------------------------------

    def step(self, batch_size: float, ignore_stale_grad: bool = False) -> None:
        """Reduce the gradients over all devices, divide them by ``batch_size``, and update the parameters.

        Call it after ``backward()`` and outside of ``record()``. UserWarning is raised for a gradient that backward
        has not written since the last step, unless ``ignore_stale_grad`` (rules TRAINER-STEP, TRAINER-STALE).
        """
        self._check_and_rescale_grad(self._scale / batch_size)
        self._prepare()
        if self._on_kvstore():
            # the store updates weights as it reduces gradients, so everything is checked before
            if not self._overflow():
                if not ignore_stale_grad:
                    for param in self._params:
                        if param.grad_req != 'null':
                            self._check_fresh(param)
                self._allreduce_grads()
        else:
            self._allreduce_grads()
            self._update(ignore_stale_grad)
        self._end_iteration()

    def allreduce_grads(self) -> None:
        """Sum the gradients of all devices into every device's gradient, to be changed before ``update``.

        AssertionError when the optimizer runs on the store (rule TRAINER-SPLIT-004).
        """
        self._prepare()
        assert not self._on_kvstore(), _NOT_ON_KVSTORE.format('allreduce_grads()')
        self._allreduce_grads()

    def update(self, batch_size: float, ignore_stale_grad: bool = False) -> None:
        """Update the parameters with the gradients as they are, divided by ``batch_size``.

        AssertionError when the optimizer runs on the store (rule TRAINER-SPLIT-005).
        """
        self._prepare()
        assert not self._on_kvstore(), _NOT_ON_KVSTORE.format('update()')
        self._check_and_rescale_grad(self._scale / batch_size)
        self._update(ignore_stale_grad)
        self._end_iteration()

    def _end_iteration(self) -> None:
        self._steps += 1
        if self._amp_scaled:
            # the scale of this iteration's loss is no business of the next one (rule AMP-SCALE-007)
            self._scale, self._amp_scaled = self._amp_original_scale, False

    def _check_and_rescale_grad(self, scale: float) -> None:
        if self._update_on_kvstore and self._distributed and self._kv_initialized \
                and self._optimizer.rescale_grad != scale:
            raise UserWarning('Possible change in the `batch_size` from previous `step` detected. The optimizer on the '
                              'servers of a distributed kvstore keeps the normalization of the first step, so that a '
                              'new batch_size has no effect with update_on_kvstore=True.')
        self._optimizer.rescale_grad = scale

    def _allreduce_grads(self) -> None:
        kvstore = self._kvstore
        if kvstore is None:
            return
        on_kvstore = self._update_on_kvstore
        for index, param in enumerate(self._params):
            if param.grad_req == 'null':
                continue
            gradients = param.list_grad()
            if param._grad_stype == 'default':
                if on_kvstore:
                    kvstore.pushpull(index, gradients, out=param.list_data(), priority=-index)
                else:
                    kvstore.pushpull(index, gradients, priority=-index)
                continue
            kvstore.push(index, gradients, priority=-index)
            if param._stype == 'default':
                kvstore.pull(index, param.list_data() if on_kvstore else gradients, priority=-index,
                             ignore_sparse=bool(self._distributed))

    def _overflow(self) -> bool:
        scaler = getattr(self, '_amp_loss_scaler', None)
        if scaler is not None and scaler.has_overflow(self._params):
            return True
        return any(param._overflowed for param in self._params)

    def _check_fresh(self, param: Any) -> None:
        for data in param._check_and_get(param._data, list):
            if not data._fresh_grad:
                raise UserWarning(
                    f'Gradient of Parameter `{param.name}` on context {data.context} has not been updated by backward '
                    f'since last `step`. Perhaps the loss does not depend on this parameter. If you mean to train only '
                    f'some of the parameters, call step with ignore_stale_grad=True to leave the others as they are')

    def _update(self, ignore_stale_grad: bool = False) -> None:
        """Update the parameters on each device with the device's own gradients."""
        if self._overflow():
            return
        updates: list[tuple[list[int], list[Any], list[Any]]] = [([], [], []) for _ in self._updaters]
        for index, param in enumerate(self._params):
            if param.grad_req == 'null':
                continue
            if not ignore_stale_grad:
                self._check_fresh(param)
            for (indices, gradients, weights), data, grad in zip(updates, param.list_data(), param.list_grad()):
                if not ignore_stale_grad or data._fresh_grad:
                    indices.append(index)
                    gradients.append(grad)
                    weights.append(data)
                    data._fresh_grad = False
        for updater, (indices, gradients, weights) in zip(self._updaters, updates):
            if indices:
                updater(indices, gradients, weights)

    # ---- states ----------------------------------------------------------------------------------------------

    def save_states(self, fname: str) -> None:
        """Write the optimizer and its states (not the weights) to a file (rules TRAINER-STATE-001 to 007)."""
        assert self._optimizer is not None, 'there is no optimizer whose states could be saved'
        self._prepare()
        if self._on_kvstore():
            assert not self._params_to_init, \
                'Cannot save trainer states when some parameters are not yet initialized in kvstore.'
            self._kvstore.save_optimizer_states(fname, dump_optimizer=True)
        else:
            state_file.write_atomically(fname, self._updaters[0].get_states(dump_optimizer=True))

    def load_states(self, fname: str) -> None:
        """Replace the optimizer and its states by those of a file, also one that MXNet wrote.

        Multipliers of the parameters are those of this Trainer's parameters (rules TRAINER-STATE-008, 009).
        pickle.UnpicklingError for a file that is no state file.
        """
        self._prepare()
        if self._on_kvstore():
            self._kvstore.load_optimizer_states(fname)
            self._optimizer = self._kvstore._updater.optimizer
        else:
            with open(fname, 'rb') as file:
                states = file.read()
            for updater in self._updaters:
                updater.set_states(states)
                updater.optimizer = self._updaters[0].optimizer
            self._optimizer = self._updaters[0].optimizer
        self._optimizer.param_dict = dict(enumerate(self._params))


def _as_list(params: Any) -> list[Any]:
    """The parameters in order; ValueError for anything that is no collection of Parameters (TRAINER-INIT-006, 007)."""
    if isinstance(params, (Mapping, ParameterDict)):
        params = [params[key] for key in sorted(params.keys())]
    if not isinstance(params, (list, tuple)):
        raise ValueError(f'First argument must be a list or dict of Parameters, got {type(params)}.')
    for param in params:
        if not isinstance(param, Parameter):
            raise ValueError(f'First argument must be a list or dict of Parameters, got list of {type(param)}.')
    if not params:
        raise ValueError('First argument must be a list or dict of Parameters with at least one of them, got none.')
    return list(params)


def _distinct(params: list[Any]) -> list[Any]:
    """Each parameter once, at its first place: a shared one is updated once per step (rule TRAINER-INIT-009)."""
    return list({param._uuid: param for param in params}.values())
