"""Mutants of hybridizing: when a block is traced, what its flags do, what its Python code sees."""

from conformance.mutants import gluon_kit as tools
from conformance.mutants import mutant


@mutant("GLUON-HYBRID-001")
def name_space_of_a_trace_is_a_copy(mx):
    """While tracing, F is another object than mx.sym."""
    class Copy(object):
        __name__ = "copy_of_the_symbols"

        def __getattr__(self, name):
            return getattr(mx.sym, name)

    copy = Copy()

    def body(original, block, *args, **kwargs):
        original(block, *args, **kwargs)
        if "hybrid_forward" not in type(block).__dict__ or type(block).__module__.startswith(mx.__name__):
            return
        forward = block.hybrid_forward
        object.__setattr__(block, "hybrid_forward",
                           lambda F, *inputs, **values: forward(F if F is mx.nd else copy, *inputs, **values))

    tools.replace(mx.gluon.HybridBlock, "__init__", body)


@mutant("GLUON-HYBRID-002")
def open_channels_of_a_convolution_are_one(mx):
    """A convolution whose input channels are left open takes one."""
    def body(original, self, *args, **kwargs):
        if not kwargs.get("in_channels"):
            kwargs["in_channels"] = 1
        original(self, *args, **kwargs)

    tools.replace(mx.gluon.nn.Conv2D, "__init__", body)


def _trace_anew(mx, when):
    """Trace a hybridized block anew where ``when(signature, signature before)`` is true."""
    flags, before = tools.hybridized(mx), {}

    def body(original, block, *inputs):
        now = tools.signature(mx, inputs)
        if now is not None and flags(block) is not None:
            last = before.get(id(block), (None, None))[1]
            if last is not None and when(now, last):
                block.hybridize(True, **flags(block))
            before[id(block)] = (block, now)
        return original(block, *inputs)

    tools.call(mx, body)


@mutant("GLUON-HYBRID-003")
def trace_serves_one_call(mx):
    """A block is traced anew when it is called again with an input of the same signature."""
    _trace_anew(mx, lambda now, before: now == before)


@mutant("GLUON-HYBRID-003")
def eager_block_remembers_its_results(mx):
    """The third call of a block that is not hybridized gives the result of the second."""
    flags, kept = tools.hybridized(mx), {}

    def body(original, block, *inputs):
        if flags(block) is not None or tools.signature(mx, inputs) is None or mx.autograd.is_recording():
            return original(block, *inputs)
        results = kept.setdefault(id(block), [block])
        if len(results) < 3:
            results.append(original(block, *inputs))
        return results[-1]

    tools.call(mx, body)


@mutant("GLUON-HYBRID-004")
def each_signature_is_traced(mx):
    """A block is traced anew for another shape, dtype or mode."""
    _trace_anew(mx, lambda now, before: now != before)


@mutant("GLUON-HYBRID-005")
def wrong_shape_is_a_value_error(mx):
    """An input of a wrong shape raises an error of another kind, which does not name the operator."""
    tools.other_error(mx.gluon.HybridBlock, "__call__", mx.base.MXNetError, "Shape inconsistent", ValueError)


@mutant("GLUON-HYBRID-006", "GRAPH-STATIC-003")
def second_hybridize_is_ignored(mx):
    """hybridize() of a block that is hybridized already with the same flags does nothing."""
    flags = tools.hybridized(mx)

    def body(original, block, active=True, **wanted):
        if not active or flags(block) != wanted:
            original(block, active, **wanted)

    tools.replace(mx.gluon.HybridBlock, "hybridize", body)


@mutant("GLUON-HYBRID-007")
def static_shape_brings_static_alloc(mx):
    """static_shape alone is accepted."""
    def body(original, block, active=True, **flags):
        if flags.get("static_shape"):
            flags["static_alloc"] = True
        original(block, active, **flags)

    tools.replace(mx.gluon.HybridBlock, "hybridize", body)


@mutant("GLUON-HYBRID-009")
def outputs_share_memory(mx):
    """With static_alloc a call overwrites the output of the call before."""
    flags, outputs = tools.hybridized(mx), {}

    def body(original, block, *inputs):
        out = original(block, *inputs)
        if not tools.is_array(mx, out) or not (flags(block) or {}).get("static_alloc") or mx.autograd.is_recording():
            return out
        before = outputs.setdefault(id(block), (block, out))[1]
        if before.shape == out.shape:
            before[:] = out
            return before
        return out

    tools.call(mx, body)


@mutant("GLUON-HYBRID-010")
def static_shape_refuses_another_shape(mx):
    """With static_shape the shape of the first call is the only one."""
    flags, shapes = tools.hybridized(mx), {}

    def body(original, block, *inputs):
        if tools.signature(mx, inputs) is not None and (flags(block) or {}).get("static_shape"):
            first = shapes.setdefault(id(block), (block, tuple(inputs[0].shape)))[1]
            if first != tuple(inputs[0].shape):
                raise mx.base.MXNetError("the shape is static")
        return original(block, *inputs)

    tools.call(mx, body)


@mutant("GLUON-HYBRID-011")
def plain_block_hybridizes_nothing(mx):
    """hybridize() of a Block that is no HybridBlock does not reach its children."""
    def body(original, block, *args, **kwargs):
        if isinstance(block, mx.gluon.HybridBlock):
            original(block, *args, **kwargs)

    tools.replace(mx.gluon.Block, "hybridize", body)


@mutant("GLUON-HYBRID-017")
def other_values_vanish(mx):
    """A hybridized block that returns something else than arrays gives None."""
    tools.other_error(mx.gluon.HybridBlock, "__call__", ValueError, "list of Symbol or NDArray")


@mutant("GLUON-HYBRID-019")
def symbols_swallow_writes(mx):
    """An assignment to elements of a symbol is ignored."""
    mx.sym.Symbol.__setitem__ = lambda self, key, value: None


@mutant("GLUON-HYBRID-020")
def symbols_have_values(mx):
    """Converting a symbol to numpy and back gives the symbol."""
    mx.sym.Symbol.asnumpy = lambda self: self
    mx.sym.array = lambda values: values


@mutant("GLUON-HYBRID-021")
def symbols_have_a_shape(mx):
    """A symbol answers to shape."""
    mx.sym.Symbol.shape = property(lambda self: (2,))
