"""CTX-OBJ, CTX-DEFAULT: contexts as values, and which one an array gets."""

import threading

from conformance.case import case


@case("CTX-OBJ-001")
def equal_contexts(mx, check):
    first = mx.cpu()
    check.that(first == mx.cpu(0), "cpu() equals cpu(0)")
    check.equal(hash(first), hash(mx.cpu(0)), "hash of cpu(0)")
    check.equal({mx.cpu(0): "found"}[mx.cpu()], "found", "value under cpu() in a dictionary")


@case("CTX-OBJ-001")
def unequal_contexts(mx, check):
    for name, other in (("cpu(1)", mx.cpu(1)), ("gpu(0)", mx.gpu(0)), ("cpu_pinned(0)", mx.cpu_pinned(0)),
                        ("the text cpu(0)", "cpu(0)")):
        check.that(mx.cpu(0) != other, "cpu(0) differs from %s" % name)
        check.equal(mx.cpu(0) == other, False, "cpu(0) == %s" % name)


@case("CTX-OBJ-001", samples={
    "cpu": {"make": lambda mx: mx.cpu(), "kind": "cpu", "number": 0},
    "gpu": {"make": lambda mx: mx.gpu(1), "kind": "gpu", "number": 1},
    "gpu_default": {"make": lambda mx: mx.gpu(), "kind": "gpu", "number": 0},
    "pinned": {"make": lambda mx: mx.cpu_pinned(), "kind": "cpu_pinned", "number": 0}})
def type_id_and_text(mx, check, make, kind, number):
    context = make(mx)
    check.equal(context.device_type, kind, "device_type")
    check.equal(context.device_id, number, "device_id")
    check.equal(str(context), "%s(%d)" % (kind, number), "str")
    check.equal(repr(context), "%s(%d)" % (kind, number), "repr")


@case("CTX-OBJ-002", samples={"cpu": {"number": 1}, "gpu": {"number": 2}, "cpu_pinned": {"number": 3},
                              "cpu_shared": {"number": 5}})
def number_of_a_device_type(mx, check, number):
    name = check.case_id.split("[")[1].rstrip("]")
    context = mx.Context(name)
    check.equal(context.device_typeid, number, "device_typeid")
    check.equal(str(context), name + "(0)", "str")


@case("CTX-OBJ-002")
def context_from_type_and_id(mx, check):
    check.equal(mx.Context("gpu", 3), mx.gpu(3), "Context('gpu', 3)")
    check.equal(mx.Context(mx.cpu(2)), mx.cpu(2), "Context(cpu(2))")


@case("CTX-OBJ-002", samples={"unknown": {"name": "tpu"}, "with_id": {"name": "cpu(0)"}})
def unknown_device_type(mx, check, name):
    check.raises(KeyError, name, mx.Context, name)


@case("CTX-OBJ-003")
def three_kinds_of_host_memory(mx, check):
    kinds = [mx.cpu(), mx.cpu_pinned(), mx.Context("cpu_shared", 0)]
    for position, kind in enumerate(kinds):
        for other in kinds[position + 1:]:
            check.that(kind != other, "%s differs from %s" % (kind, other))
        check.equal(mx.nd.ones((2,), ctx=kind).context, kind, "context of an array made on %s" % kind)
    check.equal(mx.nd.ones((2,)).context, mx.cpu(0), "context of an array made without ctx=")


@case("CTX-OBJ-004", samples={"one": {"number": 1}, "many": {"number": 99}})
def any_cpu_id(mx, check, number):
    array = mx.nd.ones((2,), ctx=mx.cpu(number))
    array.attach_grad()
    with mx.autograd.record():
        made = array * 2 + 1
    made.backward()
    check.equal(array.context, mx.cpu(number), "context of the array")
    check.equal(made, [3, 3], "result")
    check.equal(made.context, mx.cpu(number), "context of the result")
    check.equal(array.grad.context, mx.cpu(number), "context of the gradient")
    check.equal(array.copyto(mx.cpu(0)).context, mx.cpu(0), "context of a copy to cpu(0)")


@case("CTX-OBJ-005", samples={"cpu_pinned": {}, "cpu_shared": {}})
def special_host_memory_without_a_gpu(mx, check):
    context = mx.Context(check.case_id.split("[")[1].rstrip("]"), 0)
    array = mx.nd.ones((2,), ctx=context)
    check.equal(array.context, context, "context of the array")
    made = array + 1
    check.equal(made, [2, 2], "sum with a number")
    check.equal(made.context, mx.cpu(0), "context of the result")
    check.equal(array + mx.nd.ones((2,)), [2, 2], "sum with an array on cpu(0)")


MAKERS = {
    "array": lambda nd: nd.array([1]), "zeros": lambda nd: nd.zeros((2,)), "ones": lambda nd: nd.ones((2,)),
    "full": lambda nd: nd.full((2,), 1), "empty": lambda nd: nd.empty((2,)), "arange": lambda nd: nd.arange(3),
    "eye": lambda nd: nd.eye(2), "linspace": lambda nd: nd.linspace(0, 1, 3),
    "uniform": lambda nd: nd.random.uniform(shape=(2,)), "normal": lambda nd: nd.random.normal(shape=(2,)),
    "randint": lambda nd: nd.random.randint(0, 5, shape=(2,)),
}


@case("CTX-DEFAULT-001", samples={name: {"make": make} for name, make in sorted(MAKERS.items())})
def current_context_is_used(mx, check, make):
    check.equal(make(mx.nd).context, mx.cpu(0), "context outside")
    with mx.cpu(1):
        check.equal(make(mx.nd).context, mx.cpu(1), "context inside `with cpu(1)`")


@case("CTX-DEFAULT-001")
def current_context_is_known(mx, check):
    check.equal(mx.current_context(), mx.cpu(0), "current context")
    with mx.cpu(1):
        check.equal(mx.current_context(), mx.cpu(1), "current context inside `with cpu(1)`")


@case("CTX-DEFAULT-002")
def contexts_nest(mx, check):
    with mx.cpu(1):
        with mx.cpu(2):
            check.equal(mx.nd.ones((2,)).context, mx.cpu(2), "inner context")
            check.equal(mx.nd.ones((2,)) + 1, [2, 2], "values inside")
        check.equal(mx.nd.ones((2,)).context, mx.cpu(1), "outer context")
    check.equal(mx.nd.ones((2,)).context, mx.cpu(0), "context afterwards")


@case("CTX-DEFAULT-002")
def exception_restores_the_context(mx, check):
    with check.raises(KeyError, "on purpose"), mx.cpu(1):
        raise KeyError("on purpose")
    check.equal(mx.current_context(), mx.cpu(0), "current context afterwards")


@case("CTX-DEFAULT-002")
def new_thread_starts_at_cpu_0(mx, check):
    seen = []

    def look():
        seen.append(mx.current_context())
        with mx.cpu(3):
            seen.append(mx.nd.ones((1,)).context)

    with mx.cpu(1):
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        seen.append(mx.current_context())
    check.equal(seen, [mx.cpu(0), mx.cpu(3), mx.cpu(1)], "contexts of the new thread and of this one")


RESULTS = {
    "sum": {"make": lambda nd, a, b: a + b, "number": 1}, "sum_reversed": {"make": lambda nd, a, b: b + a, "number": 0},
    "number": {"make": lambda nd, a, b: a * 2, "number": 1},
    "concat": {"make": lambda nd, a, b: nd.concat(b, a, dim=0), "number": 0},
    "reduction": {"make": lambda nd, a, b: a.sum(), "number": 1},
    "slice": {"make": lambda nd, a, b: a[0:1], "number": 1},
    "copy": {"make": lambda nd, a, b: a.copy(), "number": 1}, "ones_like": {"make": lambda nd, a, b: nd.ones_like(a),
                                                                            "number": 1}}


@case("CTX-DEFAULT-003", samples=RESULTS)
def result_lives_with_the_first_input(mx, check, make, number):
    first, second = mx.nd.ones((2,), ctx=mx.cpu(1)), mx.nd.ones((2,))
    with mx.cpu(3):
        check.equal(make(mx.nd, first, second).context, mx.cpu(number), "context of the result")


@case("CTX-DEFAULT-003")
def value_beside_another_current_context(mx, check):
    first, second = mx.nd.array([1, 2], ctx=mx.cpu(1)), mx.nd.array([10, 20])
    with mx.cpu(3):
        total = first + second
    check.equal(total, [11, 22], "sum")
    check.equal(total.context, mx.cpu(1), "context of the sum")


@case("CTX-DEFAULT-004", samples={"zeros": {"name": "zeros"}, "ones": {"name": "ones"}})
def context_as_text(mx, check, name):
    check.equal(getattr(mx.nd, name)((2,), ctx="cpu(1)").context, mx.cpu(1), "context")
    check.raises(mx.MXNetError, "Invalid context string", getattr(mx.nd, name), (2,), ctx="cpu")


@case("CTX-DEFAULT-004", samples={"array": {"make": lambda nd: nd.array([1], ctx="cpu(1)")},
                                  "empty": {"make": lambda nd: nd.empty((1,), ctx="cpu(1)")}})
def text_is_no_context(mx, check, make):
    check.raises(AttributeError, make, mx.nd)
