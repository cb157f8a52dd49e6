"""Executor: a symbol bound to arrays, which runs forward and backward through a plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .. import dispatch
from .. import ndarray as nd
from ..base import MXNetError
from ..graph.cached import CachedGraph
from ..graph.node import Node
from ..graph.plan import State
from ..graph.program import build
from ..tape import Leaf
from ..tape import state as tape_state
from ..tape_backward import gradients
from . import watching
from .symbol import Symbol

_LOSSES = frozenset({'SoftmaxOutput', 'LinearRegressionOutput', 'LogisticRegressionOutput', 'MAERegressionOutput',
                     'SVMOutput', 'MakeLoss', 'make_loss', 'BlockGrad', 'CTCLoss', 'Custom',
                     'IdentityAttachKLSparseReg'})
NO_HEAD = ('Check failed: i < head_grads.size() && !head_grads[i].is_none(): Because the last operator is not Loss '
           'function, head_gradient is required when calling backward. If you are attempting to minimize the output as '
           'an objective, please modify your network and pass it through the make_loss symbol.')

Monitor = Callable[[str, Any], Any]


class Executor:
    """A bound symbol: ``forward``, ``backward``, and its arrays by name.

    >>> import refengine as mx
    >>> a, b = mx.sym.var('a'), mx.sym.var('b')
    >>> e = mx.sym.make_loss((a + b) * a).simple_bind(mx.cpu(), a=(1,), b=(1,))
    >>> e.copy_params_from({'a': mx.nd.array([2.]), 'b': mx.nd.array([3.])})
    >>> e.forward(is_train=True)[0].asnumpy().tolist()
    [10.0]
    >>> e.backward(); e.grad_dict['a'].asnumpy().tolist()
    [7.0]
    """

    def __init__(self, symbol: Symbol, ctx: Any, args: Sequence[Any], grads: Sequence[Any], words: Sequence[str],
                 aux: Sequence[Any]) -> None:
        self._symbol = symbol
        self._ctx = ctx
        self.arg_arrays = list(args)
        self.grad_arrays = [None if word == 'null' else g for g, word in zip(grads, words, strict=True)]
        self.aux_arrays = list(aux)
        self._words = list(words)
        variables, states = symbol._variables()
        self._names = [node.name for node in variables]
        self._aux_names = [node.name for node in states]
        self._graph = CachedGraph(build(symbol._entries, [*variables, *states]), backend=symbol._backend)
        self._outputs: list[Any] | None = None
        self._state: State | _Watched | None = None
        self._monitor: Monitor | None = None
        self._monitor_all = False

    # ---- arrays ------------------------------------------------------------------------------------------------

    def _dict(self, names: Sequence[str], arrays: Sequence[Any]) -> dict[str, Any]:
        if len(set(names)) != len(names):
            raise ValueError(f'Duplicate names detected, {names}')
        return dict(zip(names, arrays, strict=True))

    @property
    def arg_dict(self) -> dict[str, Any]:
        """The arguments by name."""
        return self._dict(self._names, self.arg_arrays)

    @property
    def grad_dict(self) -> dict[str, Any]:
        """The gradients of the arguments by name, None where none is wanted."""
        return self._dict(self._names, self.grad_arrays)

    @property
    def aux_dict(self) -> dict[str, Any]:
        """The auxiliary states by name."""
        return self._dict(self._aux_names, self.aux_arrays)

    @property
    def outputs(self) -> list[Any]:
        """The results of the last forward; before the first, arrays of the right shape without content."""
        if self._outputs is None:
            _, shapes, _ = self._symbol.infer_shape(**{n: a.shape for n, a in zip(self._names, self.arg_arrays,
                                                                                strict=True)})
            _, kinds, _ = self._symbol.infer_type(**{n: a.dtype for n, a in zip(self._names, self.arg_arrays,
                                                                               strict=True)})
            self._outputs = [nd.zeros(s, ctx=self._ctx, dtype=k) for s, k in zip(shapes or (), kinds or (),
                                                                                strict=True)]
        return self._outputs

    @property
    def output_dict(self) -> dict[str, Any]:
        """The results by name."""
        return self._dict(self._symbol.list_outputs(), self.outputs)

    # ---- running -----------------------------------------------------------------------------------------------

    def forward(self, is_train: bool = False, **kwargs: Any) -> list[Any]:
        """Run; keywords are written into the arguments of that name first.

        TypeError for a name that no argument has, ValueError for a wrong shape.
        """
        if kwargs:
            arguments = self.arg_dict
            for name, array in kwargs.items():
                if not isinstance(array, nd.NDArray | np.ndarray):
                    raise ValueError('only accept keyword argument of NDArrays')
                if name not in arguments:
                    raise TypeError(f'Unknown argument {name}')
                if arguments[name].shape != array.shape:
                    raise ValueError(f'Shape not match! Argument {name}, need: {arguments[name].shape}, received: '
                                     f'{array.shape}')
                arguments[name][:] = array
        arrays = [a._data for a in (*self.arg_arrays, *self.aux_arrays)]
        training, tape_state.training = tape_state.training, bool(is_train)
        recording, tape_state.recording = tape_state.recording, False
        try:
            plan = self._graph.plan_for(arrays, self._ctx.home, bool(is_train))
            record = bool(is_train) and any(word != 'null' for word in self._words)
            if self._monitor is not None:
                self._state = _Watched(self, self._monitor, self._monitor_all, record)
                heads = self._state.heads
            else:
                heads, self._state = plan.forward(arrays, record)
        finally:
            tape_state.training, tape_state.recording = training, recording
        variables = set(self._graph.program.inputs)
        self._outputs = [dispatch.wrap(h.copy() if slot in variables else h, self._ctx.home)
                         for slot, h in zip(self._graph.program.heads, heads, strict=True)]
        return self._outputs

    def backward(self, out_grads: Any = None, is_train: bool = True) -> None:
        """Write gradients; without ``out_grads`` every output must come from a loss (MXNetError otherwise).

        ``out_grads`` is an array, a list or a dict by output name.
        """
        if self._state is None:
            raise MXNetError('backward needs forward(is_train=True) before it')
        given = self._heads(out_grads)
        wanted = [i for i, word in enumerate(self._words) if word != 'null' and self.grad_arrays[i] is not None]
        recording, tape_state.recording = tape_state.recording, False
        try:
            if isinstance(self._state, _Watched):
                found = self._state.backward(given, wanted)
            else:
                found = self._state.plan.backward(self._state, given, wanted)
        finally:
            tape_state.recording = recording
        for index, gradient in zip(wanted, found, strict=True):
            target = self.grad_arrays[index]
            if gradient is None:
                if self._words[index] == 'write':
                    target._data[...] = 0
            elif self._words[index] == 'add':
                target._data[...] += gradient
            else:
                target._data[...] = gradient

    def _heads(self, out_grads: Any) -> list[Any]:
        names = self._symbol.list_outputs()
        if isinstance(out_grads, Mapping):
            out_grads = [out_grads[name] for name in names]
        elif isinstance(out_grads, nd.NDArray):
            out_grads = [out_grads]
        elif out_grads is None:
            out_grads = []
        given = []
        for index, (node, _) in enumerate(self._symbol._entries):
            output = self.outputs[index]
            gradient = out_grads[index] if index < len(out_grads) else None
            if gradient is None:
                if node.op is None or node.op.name not in _LOSSES:
                    raise MXNetError(NO_HEAD)
                given.append(np.ones(output.shape, np.dtype(output.dtype)))
                continue
            if not isinstance(gradient, nd.NDArray):
                raise TypeError(f'out_grads must be NDArrays, got {type(gradient)}')
            if gradient.shape != output.shape:
                raise MXNetError(f'the gradient of output {names[index]} has shape {gradient.shape}, expected '
                                 f'{output.shape}')
            given.append(gradient._data)
        return given

    def set_monitor_callback(self, callback: Monitor, monitor_all: bool = False) -> None:
        """Have ``callback(name, array)`` called with every output of every node, and with inputs too if asked for.

        In backward it hears of the gradients that every node passes back, as ``NAME_backward_output``.
        """
        self._monitor = callback
        self._monitor_all = monitor_all

    # ---- parameters --------------------------------------------------------------------------------------------

    def copy_params_from(self, arg_params: Mapping[str, Any], aux_params: Mapping[str, Any] | None = None,
                         allow_extra_params: bool = False) -> None:
        """Write values into arguments and states by name; ValueError for names that are not there."""
        for given, own, what in ((arg_params, self.arg_dict, 'arguments'), (aux_params or {}, self.aux_dict,
                                                                            'auxiliary states')):
            for name, array in given.items():
                if name in own:
                    target = own[name]
                    array.astype(target.dtype).copyto(target)
                elif not allow_extra_params:
                    raise ValueError(f'Find name "{name}" that is not in the {what}')

    def reshape(self, partial_shaping: bool = False, allow_up_sizing: bool = False, **kwargs: Any) -> Executor:
        """An executor for other input shapes that shares the arrays whose shapes stay.

        Without ``partial_shaping`` only given arguments may change, without ``allow_up_sizing`` none may grow.
        """
        shapes, _, states = self._symbol.infer_shape(**kwargs)
        if shapes is None:
            raise ValueError('Insufficient argument shapes provided.')
        args, grads = [], []
        for name, shape, array, grad in zip(self._names, shapes, self.arg_arrays, self.grad_arrays, strict=True):
            if shape == array.shape:
                args.append(array)
                grads.append(grad)
                continue
            if not partial_shaping and name not in kwargs:
                raise AssertionError(f'Shape of unspecified array arg:{name} changed. This can cause the new executor '
                                     f'to not share parameters with the old one. Please check for error in network. If '
                                     f'this is intended, set partial_shaping=True to suppress this warning.')
            if int(np.prod(shape)) > array.size and not allow_up_sizing:
                raise AssertionError(f'New shape of arg:{name} larger than original. First making a big executor and '
                                     f'then down sizing it is more efficient than the reverse. If you really want to '
                                     f'up size, set allow_up_sizing=True to enable allocation of new arrays.')
            args.append(nd.zeros(shape, ctx=self._ctx, dtype=array.dtype))
            grads.append(None if grad is None else nd.zeros(shape, ctx=self._ctx, dtype=array.dtype))
        aux = [a if a.shape == s else nd.zeros(s, ctx=self._ctx, dtype=a.dtype)
               for a, s in zip(self.aux_arrays, states, strict=True)]
        return Executor(self._symbol, self._ctx, args, grads, self._words, aux)

    def get_optimized_symbol(self) -> Symbol:
        """The symbol that runs."""
        return self._symbol

    def debug_str(self) -> str:
        """The graph as text, and how many bytes its intermediate values take when they share memory."""
        from ..graph import memory, mirror, places
        shapes = {n: a.shape for n, a in zip((*self._names, *self._aux_names), (*self.arg_arrays, *self.aux_arrays),
                                             strict=True)}
        kinds = {n: a.dtype for n, a in zip((*self._names, *self._aux_names), (*self.arg_arrays, *self.aux_arrays),
                                            strict=True)}
        wanted = [n for n, word in zip(self._names, self._words, strict=True) if word != 'null']
        share, in_place = places.switches()
        planned = memory.plan(self._symbol, shapes, kinds, train=bool(wanted), wanted=wanted, share=share,
                              in_place=in_place, mirror=mirror.enabled())
        return (f'{self._symbol.debug_str()}Total {-(-planned.planned_bytes // (1 << 20))} MB allocated\n'
                f'Total 0 TempSpace resource requested\n')


class _Watched(watching.Listener):
    """One run of an executor, node by node, with everything told to a monitor."""

    def __init__(self, executor: Executor, monitor: Monitor, monitor_all: bool, record: bool) -> None:
        self._tell = monitor
        self._all = monitor_all
        ctx = executor._ctx.home
        arguments, states = executor._symbol._variables()
        self._arguments = [dispatch.wrap(array._data, ctx) for array in executor.arg_arrays]
        values = {id(node): [array] for node, array in zip(arguments, self._arguments, strict=True)}
        for node, array in zip(states, executor.aux_arrays, strict=True):
            values[id(node)] = [dispatch.wrap(array._data, ctx)]
        if executor._graph.program.open:        # dimensions of sources that follow from the arguments
            from .inference import known_shapes
            known = known_shapes(executor._symbol, {node.name: values[id(node)][0].shape
                                                    for node in (*arguments, *states)})
            for node in executor._symbol.nodes():
                if node.op is not None and node.op.source and 'shape' in node.op.params:
                    given = {key: value for key, value in node.params.items() if key in node.op.params}
                    values[id(node)] = [dispatch.invoke(node.op, [], {**given, 'shape': known.shape((node, 0))},
                                                        ctx=ctx)]
        if record:
            for array, word in zip(self._arguments, executor._words, strict=True):
                if word != 'null':
                    array._node = Leaf(nd.zeros_like(array), 'write', array._data.dtype)
        tape_state.recording = record
        try:
            self._results = watching.run(executor._symbol._entries, values, ctx, self)
        finally:
            tape_state.recording = False
        self.heads = [result._data for result in self._results]

    def enters(self, node: Node, index: int, source: Any, array: Any) -> None:
        if self._all:
            if source[0].op is None:
                self._tell(source[0].name, array)
            self._tell(f'{node.name}_{watching.input_words(node)[index]}', array)

    def leaves(self, node: Node, index: int, array: Any) -> None:
        self._tell(f'{node.name}_{watching.output_words(node)[index]}', array)

    def returns(self, node: Node, index: int, array: Any) -> None:
        single = len(node.inputs) - len(node.states()) == 1
        self._tell(f'{node.name}_backward_output{"" if single else index}', array)

    def backward(self, given: Sequence[Any], wanted: Sequence[int]) -> list[Any]:
        """The gradients of the wanted arguments; None for one that no result depends on."""
        pairs = [(result, dispatch.wrap(head, result._ctx)) for result, head in zip(self._results, given, strict=True)
                 if result._node is not None]
        for array in self._arguments:
            if array._node is not None:
                array._node.fresh = False
        if pairs:
            gradients([result for result, _ in pairs], [head for _, head in pairs], retain_graph=True)
        found = []
        for place in wanted:
            leaf = self._arguments[place]._node
            found.append(leaf.grad._data if leaf is not None and leaf.fresh else None)
        return found
