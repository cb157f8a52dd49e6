"""CTX-COPY, CTX-MIX: arrays copied between contexts, and operators over several."""

import numpy as np

from conformance.case import case


@case("CTX-MIX-001", needs=["gpu"])
def cpu_and_gpu_in_one_operator(mx, check):
    here, there = mx.nd.ones((2,)), mx.nd.ones((2,), ctx=mx.gpu(0))
    same = "require all inputs live on the same context"
    check.raises(mx.MXNetError, "Operator broadcast_add " + same, "the first argument is on cpu(0)",
                 "2-th argument is on gpu(0)", lambda: here + there)
    check.raises(mx.MXNetError, same, "the first argument is on gpu(0)", "2-th argument is on cpu(0)",
                 lambda: there + here)
    check.raises(mx.MXNetError, "Operator stack " + same, mx.nd.stack, here, here, there)
    check.equal(here, [1, 1], "array on the cpu afterwards")


MIXED = {
    "add": {"make": lambda nd, a, b: a + b, "want": [[2, 3], [4, 5]]},
    "dot": {"make": lambda nd, a, b: nd.dot(a, b), "want": [[4, 6], [4, 6]]},
    "concat": {"make": lambda nd, a, b: nd.concat(a, b, dim=0), "want": [[1, 1], [1, 1], [1, 2], [3, 4]]},
    "take": {"make": lambda nd, a, b: nd.take(b, a[0], axis=0), "want": [[3, 4], [3, 4]]},
}


@case("CTX-MIX-002", samples=MIXED)
def two_cpu_contexts_in_one_operator(mx, check, make, want):
    first, second = mx.nd.ones((2, 2)), mx.nd.array([[1, 2], [3, 4]], ctx=mx.cpu(1))
    check.equal(make(mx.nd, first, second), want, "result")


@case("CTX-MIX-002")
def two_cpu_contexts_in_place(mx, check):
    array = mx.nd.ones((2,))
    array += mx.nd.array([1, 2], ctx=mx.cpu(1))
    check.equal(array, [2, 3], "array")
    check.equal(array.context, mx.cpu(0), "context")


@case("CTX-MIX-003", samples={"copyto": {"name": "copyto"}, "as_in_context": {"name": "as_in_context"}})
def one_array_is_copied_to_the_other(mx, check, name):
    here, there = mx.nd.array([1, 2]), mx.nd.ones((2,), ctx=mx.cpu(1))
    moved = getattr(here, name)(there.context)
    check.equal(here.context, mx.cpu(0), "context of the source")
    check.equal(moved.context, mx.cpu(1), "context of the copy")
    total = there + moved
    check.equal(total, [2, 3], "sum")
    check.equal(total.context, mx.cpu(1), "context of the sum")
    moved[:] = 9
    check.equal(here, [1, 2], "source after a write into the copy")


@case("CTX-COPY-001", samples={"same": {"number": 0}, "other": {"number": 1}})
def copyto_a_context_makes_an_array(mx, check, number):
    array = mx.nd.array([1, 2, 3])
    copy = array.copyto(mx.cpu(number))
    check.not_same(copy, array, "copy")
    check.equal(copy.context, mx.cpu(number), "context of the copy")
    check.equal(copy, [1, 2, 3], "copy")
    copy[:] = 0
    check.equal(array, [1, 2, 3], "array after a write into the copy")


@case("CTX-COPY-001")
def as_in_context_keeps_an_array_in_place(mx, check):
    array = mx.nd.array([1, 2, 3])
    check.same(array.as_in_context(mx.cpu(0)), array, "as_in_context of its own context")
    for context in (mx.cpu(1), mx.cpu_pinned()):
        moved = array.as_in_context(context)
        check.not_same(moved, array, "as_in_context(%s)" % context)
        check.equal(moved.context, context, "context")
        check.equal(moved, [1, 2, 3], "values")


@case("CTX-COPY-002")
def copyto_an_array(mx, check):
    source, target = mx.nd.array([1.7, 2, 3]), mx.nd.zeros((3,), dtype="int32", ctx=mx.cpu(2))
    view = target[1:]
    check.same(source.copyto(target), target, "what copyto returns")
    check.equal(target, [1, 2, 3], "target")
    check.dtype(target, "int32")
    check.equal(target.context, mx.cpu(2), "context of the target")
    check.equal(view, [2, 3], "a view of the target that was taken before")


@case("CTX-COPY-002", samples={"longer": {"source": [1, 2, 3], "shape": (4,)},
                               "column": {"source": [1, 2, 3], "shape": (3, 1)},
                               "row": {"source": [1, 2, 3], "shape": (1, 3)}, "one": {"source": [5], "shape": (3,)}})
def copyto_another_shape(mx, check, source, shape):
    target = mx.nd.zeros(shape)
    check.raises(mx.MXNetError, "Incompatible attr in node", "expected [%d], got" % len(source),
                 mx.nd.array(source).copyto, target)
    check.equal(target, np.zeros(shape), "target afterwards")


@case("CTX-COPY-003", samples={"text": {"make": lambda mx: "cpu"}, "none": {"make": lambda mx: None},
                               "numpy": {"make": lambda mx: np.zeros(2)}})
def copyto_something_else(mx, check, make):
    check.raises(TypeError, "copyto does not support type", mx.nd.array([1, 2]).copyto, make(mx))


@case("CTX-COPY-003")
def copyto_itself(mx, check):
    array = mx.nd.array([1, 2])
    with check.warns(Warning, "copy an array to itself"):
        made = array.copyto(array)
    check.equal(made, False, "what copyto returns")
    check.equal(array, [1, 2], "array afterwards")


@case("CTX-COPY-004")
def copy_on_the_same_context(mx, check):
    array = mx.nd.ones((2,), ctx=mx.cpu(1))
    copy = array.copy()
    check.not_same(copy, array, "copy")
    check.equal(copy.context, mx.cpu(1), "context of the copy")
    copy[:] = 9
    check.equal(array, [1, 1], "array after a write into the copy")
    array[:] = 5
    check.equal(copy, [9, 9], "copy after a write into the array")


@case("CTX-COPY-005")
def zeros_like_copied_back(mx, check):
    image = mx.nd.ones((2, 2))
    check.same(mx.nd.zeros_like(image).copyto(image), image, "what copyto returns")
    check.equal(image, [[0, 0]] * 2, "array")


@case("CTX-COPY-005")
def broadcast_zeros_are_another_array(mx, check):
    image = mx.nd.ones((2, 2))
    made = mx.nd.broadcast_to(mx.nd.zeros_like(image), image.shape)
    check.equal(made, [[0, 0]] * 2, "zeros")
    check.equal(image, [[1, 1]] * 2, "array")


@case("CTX-COPY-005")
def copy_into_a_recorded_array(mx, check):
    array = mx.nd.ones((2, 2))
    array.attach_grad()
    with mx.autograd.record():
        check.raises(mx.MXNetError, "Assigning to NDArrays that are already in a computational graph",
                     lambda: mx.nd.zeros_like(array).copyto(array))
    array[:] = 0
    check.equal(array, [[0, 0]] * 2, "array cleared outside record")


@case("CTX-COPY-006", samples={"as_in_context": {"name": "as_in_context"}, "copyto": {"name": "copyto"}})
def gradient_comes_back(mx, check, name):
    array = mx.nd.array([1.0, 2.0], ctx=mx.cpu(1))
    array.attach_grad()
    with mx.autograd.record():
        total = (getattr(array, name)(mx.cpu(0)) * mx.nd.array([3.0, 4.0])).sum()
    total.backward()
    check.equal(array.grad, [3, 4], "gradient")
    check.equal(array.grad.context, mx.cpu(1), "context of the gradient")


@case("CTX-COPY-007")
def copy_of_pinned_memory(mx, check):
    pinned = mx.nd.ones((4,), ctx=mx.cpu_pinned())
    copy = pinned.copyto(mx.cpu(0))
    copy[:] = 5
    check.equal(pinned, [1, 1, 1, 1], "pinned array after a write into the copy")
    pinned[:] = 7
    check.equal(copy, [5, 5, 5, 5], "copy after a write into the pinned array")
