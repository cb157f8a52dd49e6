"""Modules whose computation is code of the program: a stage of a SequentialModule, or a loss."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from .. import ndarray as nd
from .base_module import BaseModule
from .executor_group import described


class PythonModule(BaseModule):
    """A module without parameters; a subclass says ``forward``, ``backward``, ``get_outputs`` and the like.

    It also says ``_compute_output_shapes``, from ``data_shapes`` and ``label_shapes``.
    """

    def __init__(self, data_names: Any, label_names: Any, output_names: Any, logger: Any = logging) -> None:
        super().__init__(logger)
        self._data_names = list(data_names)
        self._label_names = None if label_names is None else list(label_names)
        self._output_names = list(output_names)
        self._data_shapes: Any = None
        self._label_shapes: Any = None
        self._output_shapes: Any = None

    @property
    def data_names(self) -> list[str]:
        """The names of the data."""
        return self._data_names

    @property
    def output_names(self) -> list[str]:
        """The names of the outputs."""
        return self._output_names

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
        """Pairs of name and shape of the outputs."""
        return self._output_shapes

    def get_params(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """There are no parameters."""
        return {}, {}

    def init_params(self, initializer: Any = None, arg_params: Any = None, aux_params: Any = None,
                    allow_missing: bool = False, force_init: bool = False, allow_extra: bool = False) -> None:
        """There is nothing to initialise."""
        self.params_initialized = True

    def update(self) -> None:
        """There is nothing to update."""

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Count the last outputs, if there are labels."""
        if self._label_shapes is None:
            return
        if pre_sliced:
            raise RuntimeError('PythonModule does not support presliced labels')
        eval_metric.update_dict(dict(zip(self._label_names or (), labels, strict=False)),
                                dict(zip(self._output_names, self.get_outputs(), strict=False)))

    def bind(self, data_shapes: Any, label_shapes: Any = None, for_training: bool = True,
             inputs_need_grad: bool = False, force_rebind: bool = False, shared_module: Any = None,
             grad_req: Any = 'write') -> None:
        """Take note of the shapes; AssertionError for data or labels of other names than the module has."""
        if self.binded and not force_rebind:
            self.logger.warning('Already bound, ignoring bind()')
            return
        assert grad_req == 'write', 'Python module only support write gradient'
        self.for_training, self.inputs_need_grad = for_training, inputs_need_grad
        names = [item[0] for item in data_shapes]
        assert names == self._data_names, f'data are {names}, expected {self._data_names}'
        self._data_shapes = described(data_shapes)
        if label_shapes is not None:
            assert self._label_names is not None, 'the module has no labels'
            found = [item[0] for item in label_shapes]
            assert found == self._label_names, f'labels are {found}, expected {self._label_names}'
            self._label_shapes = described(label_shapes)
        self._output_shapes = self._compute_output_shapes()
        self.binded = True

    def _compute_output_shapes(self) -> Any:
        raise NotImplementedError

    def init_optimizer(self, kvstore: Any = 'local', optimizer: Any = 'sgd',
                       optimizer_params: Any = (('learning_rate', 0.01),), force_init: bool = False) -> None:
        """There is nothing to optimise."""
        self.optimizer_initialized = True


class PythonLossModule(PythonModule):
    """A loss as code: forward hands its one input on, backward calls ``grad_func(scores, labels)``.

    >>> import refengine as mx
    >>> loss = PythonLossModule(grad_func=lambda scores, labels: scores - labels)
    >>> loss.bind([('data', (2, 1))], [('softmax_label', (2, 1))])
    >>> loss.init_params()
    >>> loss.forward(mx.io.DataBatch([mx.nd.ones((2, 1))], [mx.nd.zeros((2, 1))]), is_train=True)
    >>> loss.backward()
    >>> loss.get_input_grads()[0].asnumpy().ravel().tolist()
    [1.0, 1.0]
    """

    def __init__(self, name: str = 'pyloss', data_names: Any = ('data',), label_names: Any = ('softmax_label',),
                 logger: Any = logging, grad_func: Callable[[Any, Any], Any] | None = None) -> None:
        super().__init__(data_names, label_names, [f'{name}_output'], logger)
        assert len(self._data_names) == 1, f'a loss has one input, got {self._data_names}'
        assert len(self._label_names or ()) == 1, f'a loss has one label, got {self._label_names}'
        assert grad_func is None or callable(grad_func), f'grad_func must be callable, got {grad_func!r}'
        self._grad_func = grad_func
        self._scores: Any = None
        self._labels: Any = None
        self._scores_grad: Any = None

    def _compute_output_shapes(self) -> Any:
        return [(self._output_names[0], tuple(self._data_shapes[0].shape))]

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Keep the input, and in training the label."""
        self._scores = data_batch.data[0]
        if self.for_training if is_train is None else is_train:
            self._labels = data_batch.label[0]

    def get_outputs(self, merge_multi_context: bool = True) -> Any:
        """The input of the last forward."""
        assert merge_multi_context, 'a loss of this kind has one context'
        return [self._scores]

    def backward(self, out_grads: Any = None) -> None:
        """Compute the gradient by the input; AssertionError for gradients of the output, a loss has none."""
        assert out_grads is None, 'For a loss module, out_grads should be None'
        assert self.for_training, 'bind for training before this'
        self._backward_impl()

    def _backward_impl(self) -> None:
        if self._grad_func is None:
            raise NotImplementedError('give grad_func, or say _backward_impl in a subclass')
        gradient = self._grad_func(self._scores, self._labels)
        self._scores_grad = gradient if isinstance(gradient, nd.NDArray) else nd.array(gradient)

    def get_input_grads(self, merge_multi_context: bool = True) -> Any:
        """The gradient by the input."""
        assert merge_multi_context, 'a loss of this kind has one context'
        return [self._scores_grad]

    def install_monitor(self, mon: Any) -> None:
        """Not available: there are no executors to watch."""
        raise NotImplementedError
