"""GLUON-HYBRID: the Python code of a block while it is being traced."""

from conformance.case import case
from conformance.suite import kit
from conformance.suite.gluon import _tools
from conformance.suite.gluon._tools import counted, ones


@case("GLUON-HYBRID-001")
def name_space_and_kind_of_input(mx, check):
    seen = []

    class Own(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            seen.append((F, type(x)))
            return F.relu(x) + F.square(x)

    net = Own()
    x = kit.array(mx, [-2.0, 3.0])
    for _ in range(2):
        check.equal(net(x), [4, 12], "eager result")
    check.equal(len(seen), 2, "runs of the Python code in two eager calls")
    for space, kind in seen:
        check.same(space, mx.nd, "F of an eager call")
        check.that(issubclass(kind, mx.nd.NDArray), "the input of an eager call is an NDArray", "NDArray", str(kind))
    del seen[:]
    net.hybridize()
    for _ in range(3):
        check.equal(net(x), [4, 12], "hybridized result")
    check.equal(len(seen), 1, "runs of the Python code in three hybridized calls")
    check.same(seen[0][0], mx.sym, "F while tracing")
    check.that(issubclass(seen[0][1], mx.sym.Symbol), "the input while tracing is a Symbol", "Symbol", str(seen[0][1]))


@case("GLUON-HYBRID-017", samples={"beside_an_array": {"nested": False}, "nested": {"nested": True}})
def only_arrays_may_be_returned(mx, check, nested):
    net = counted(mx, lambda block, F, x: [x, [3]] if nested else (x, 3))[0]
    out = net(ones(mx, (2,)))
    check.equal(out[1], [3] if nested else 3, "what is no array in the eager result")
    net.hybridize()
    check.raises(ValueError, "list of Symbol or NDArray, but got", "3", net, ones(mx, (2,)))
    net.hybridize(active=False)
    check.equal(net(ones(mx, (2,)))[0], [1, 1], "array in the eager result afterwards")


def _same_or_refused(mx, check, body, inputs):
    """The hybridized block gives what the eager one gives, or raises."""
    eager = [counted(mx, body)[0](x).asnumpy() for x in inputs]
    net = counted(mx, body)[0]
    net.hybridize()
    for number, (x, want) in enumerate(zip(inputs, eager)):
        try:
            got = net(x).asnumpy()
        except Exception:  # noqa: BLE001 - any refusal will do; silence about another meaning will not
            check.that(True, "the traced call is refused")
            continue
        check.equal(got, want, "hybridized result of call %d" % number)


@case("GLUON-HYBRID-018")
def index_of_the_input(mx, check):
    _same_or_refused(mx, check, lambda block, F, x: x[0] * 3, [kit.array(mx, [[1.0, 2.0], [3.0, 4.0]])])


@case("GLUON-HYBRID-018")
def length_of_the_input(mx, check):
    _same_or_refused(mx, check, lambda block, F, x: x * len(x),
                     [kit.array(mx, [1.0, 2.0]), kit.array(mx, [1.0, 2.0, 3.0])])


def _write(block, F, x):
    x[:] = 0
    return x


def _add(block, F, x):
    x += 1
    return x


@case("GLUON-HYBRID-019", samples={"assignment": {"body": _write}, "augmented": {"body": _add}})
def write_in_place_is_refused(mx, check, body):
    net = counted(mx, body)[0]
    net.hybridize()
    x = kit.array(mx, [1.0, 2.0])
    kinds = (TypeError, NotImplementedError, mx.base.MXNetError)
    error = check.raises(kinds, net, x)
    check.that(any(word in str(error) for word in ("item assignment", "__iadd__", "Inplace operations")),
               "the message says what is refused", "item assignment, __iadd__ or Inplace operations", str(error))
    check.equal(x, [1, 2], "input afterwards")


@case("GLUON-HYBRID-020")
def conversion_to_numpy_is_refused(mx, check):
    numpy_arrays = _tools.forward_style(mx)

    def body(block, F, x):
        values = x.asnumpy()
        return mx.np.array(values) if numpy_arrays else F.array(values)

    net = counted(mx, body)[0]
    check.equal(net(ones(mx, (2,))), [1, 1], "eager result")
    net.hybridize()
    check.raises((AttributeError, TypeError, NotImplementedError, mx.base.MXNetError), net, ones(mx, (2,)))


@case("GLUON-HYBRID-021")
def shape_is_not_known_while_tracing(mx, check):
    net = counted(mx, lambda block, F, x: x * x.shape[0])[0]
    check.equal(net(ones(mx, (2,))), [2, 2], "eager result")
    net.hybridize()
    check.raises(AttributeError, "shape", net, ones(mx, (2,)))


@case("GLUON-HYBRID-023")
def mode_of_training_is_not_frozen(mx, check):
    def body(block, F, x):
        return x * 2 if mx.autograd.is_training() else x * 3

    net = counted(mx, body)[0]
    net.hybridize()
    x = ones(mx, (1,))
    check.equal(net(x), [3], "result when predicting")
    with mx.autograd.record():
        out = net(x)
    check.equal(out, [2], "result when training")
    check.equal(net(x), [3], "result when predicting again")
