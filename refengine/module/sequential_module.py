"""SequentialModule: modules one after the other."""

from __future__ import annotations

import logging
from typing import Any

from ..io.base import DataBatch, DataDesc
from .base_module import BaseModule


class SequentialModule(BaseModule):
    """A chain: the outputs of each module are the data of the next. ``take_labels=True`` gives a module the labels.

    ``auto_wiring=True`` renames the outputs before to the data names of the module.
    """

    META_TAKE_LABELS = 'take_labels'
    META_AUTO_WIRING = 'auto_wiring'

    def __init__(self, logger: Any = logging) -> None:
        super().__init__(logger)
        self._modules: list[Any] = []
        self._metas: list[dict[str, Any]] = []
        self._label_shapes: Any = None
        self._data_shapes: Any = None

    def add(self, module: Any, **kwargs: Any) -> SequentialModule:
        """Append a module; returns the chain."""
        for key in kwargs:
            assert key in (self.META_TAKE_LABELS, self.META_AUTO_WIRING), f'Unknown meta "{key}", a typo?'
        self._modules.append(module)
        self._metas.append(kwargs)
        self.binded = self.params_initialized = self.optimizer_initialized = False
        return self

    @property
    def data_names(self) -> list[str]:
        """The names of the data of the first module."""
        return self._modules[0].data_names if self._modules else []

    @property
    def output_names(self) -> list[str]:
        """The names of the outputs of the last module."""
        return self._modules[-1].output_names if self._modules else []

    @property
    def data_shapes(self) -> Any:
        """The descriptions of the data."""
        return self._data_shapes

    @property
    def label_shapes(self) -> Any:
        """The descriptions of the labels."""
        return self._label_shapes

    @property
    def output_shapes(self) -> Any:
        """Names and shapes of the outputs."""
        return self._modules[-1].output_shapes

    def bind(self, data_shapes: Any, label_shapes: Any = None, for_training: bool = True,
             inputs_need_grad: bool = False, force_rebind: bool = False, shared_module: Any = None,
             grad_req: Any = 'write') -> None:
        """Bind every module with the shapes that those before it give."""
        if self.binded and not force_rebind:
            self.logger.warning('Already bound, ignoring bind()')
            return
        assert shared_module is None, 'Shared module is not supported'
        assert self._modules, 'Attempting to bind an empty SequentialModule'
        if inputs_need_grad:
            assert for_training, 'gradients of the data need training'
        self.for_training, self.inputs_need_grad = for_training, inputs_need_grad
        self._data_shapes, self._label_shapes = data_shapes, label_shapes
        shapes = data_shapes
        taken = False
        for number, (module, meta) in enumerate(zip(self._modules, self._metas, strict=True)):
            labels = label_shapes if meta.get(self.META_TAKE_LABELS) else None
            taken = taken or labels is not None
            if meta.get(self.META_AUTO_WIRING):
                names = module.data_names
                assert len(names) == len(shapes), f'{len(shapes)} arrays for the data {names}'
                shapes = [DataDesc(new, shape[1]) for new, shape in zip(names, shapes, strict=True)]
            module.bind(shapes, labels, for_training, bool(inputs_need_grad or (for_training and number > 0)),
                        force_rebind, None, grad_req)
            shapes = module.output_shapes
        if not taken:
            self._label_shapes = None
        self.binded = True

    def init_params(self, initializer: Any = None, arg_params: Any = None, aux_params: Any = None,
                    allow_missing: bool = False, force_init: bool = False, allow_extra: bool = False) -> None:
        """Give the parameters of every module values; AssertionError when two modules share a name."""
        if self.params_initialized and not force_init:
            return
        assert self.binded, 'call bind before initializing the parameters'
        for module in self._modules:
            module.init_params(initializer, arg_params, aux_params, allow_missing, force_init,
                               allow_extra or arg_params is not None)
        seen: set[str] = set()
        for module in self._modules:
            for group in module.get_params():
                for name in group:
                    assert name not in seen, f'Duplicated parameter names: {name} is in two modules'
                    seen.add(name)
        self.params_initialized = True

    def get_params(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Arguments and auxiliary states of all modules."""
        self._ready()
        args: dict[str, Any] = {}
        aux: dict[str, Any] = {}
        for module in self._modules:
            one, other = module.get_params()
            args.update(one)
            aux.update(other)
        return args, aux

    def init_optimizer(self, kvstore: Any = 'local', optimizer: Any = 'sgd',
                       optimizer_params: Any = (('learning_rate', 0.01),), force_init: bool = False) -> None:
        """Give every module an optimizer."""
        self._ready()
        if self.optimizer_initialized and not force_init:
            self.logger.warning('optimizer already initialized, ignoring.')
            return
        for module in self._modules:
            module.init_optimizer(kvstore, optimizer, optimizer_params, force_init)
        self.optimizer_initialized = True

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Run all modules, each on the outputs of the one before."""
        self._ready()
        batch = DataBatch(data_batch.data, data_batch.label, data_batch.pad, data_batch.index,
                          provide_data=data_batch.provide_data, provide_label=data_batch.provide_label)
        for number, module in enumerate(self._modules):
            module.forward(batch, is_train)
            if number + 1 < len(self._modules):
                batch.data = module.get_outputs()
                batch.provide_data = None

    def backward(self, out_grads: Any = None) -> None:
        """Run all modules backward, from the last to the first."""
        self._ready()
        for number in range(len(self._modules) - 1, -1, -1):
            self._modules[number].backward(out_grads)
            if number:
                out_grads = self._modules[number].get_input_grads()

    def update(self) -> None:
        """Change the parameters of every module."""
        for module in self._modules:
            module.update()

    def get_outputs(self, merge_multi_context: bool = True) -> Any:
        """The outputs of the last module."""
        self._ready()
        return self._modules[-1].get_outputs(merge_multi_context)

    def get_input_grads(self, merge_multi_context: bool = True) -> Any:
        """The gradients of the data of the first module."""
        return self._modules[0].get_input_grads(merge_multi_context)

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Count the last outputs in the modules that take labels."""
        for module, meta in zip(self._modules, self._metas, strict=True):
            if meta.get(self.META_TAKE_LABELS):
                module.update_metric(eval_metric, labels)

    def install_monitor(self, mon: Any) -> None:
        """Let a monitor watch every module."""
        for module in self._modules:
            module.install_monitor(mon)
