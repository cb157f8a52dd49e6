"""MEM-REUSE, MEM-OUT, MEM-ALLOC: which memory an array uses."""

import numpy as np

from conformance.case import case
from conformance.suite import kit
from conformance.suite.memory._tools import address, layout, seen


@case("MEM-REUSE-001")
def cleared_in_place(mx, check):
    buffer = mx.nd.ones((4, 4))
    view, alias = buffer[1:2], buffer
    buffer[:] = 0
    check.same(buffer, alias, "the array object")
    check.equal(view, [[0] * 4], "a view taken before")
    view[:] = 3
    check.equal(buffer, [[0] * 4, [3] * 4, [0] * 4, [0] * 4], "buffer after a write into the view")


IN_PLACE = {
    "assign_number": lambda mx, b: b.__setitem__(slice(None), 2), "+=": lambda mx, b: b.__iadd__(1),
    "assign_array": lambda mx, b: b.__setitem__(slice(None), mx.nd.ones((4, 4)) * 2),
    "-=": lambda mx, b: b.__isub__(-1), "*=": lambda mx, b: b.__imul__(2), "/=": lambda mx, b: b.__itruediv__(0.5),
    "out": lambda mx, b: mx.nd.elemwise_add(b, b, out=b), "copyto": lambda mx, b: (b * 2).copyto(b),
}


@case("MEM-REUSE-002", samples={name: {"use": use} for name, use in sorted(IN_PLACE.items())})
def memory_stays(mx, check, use):
    buffer = mx.nd.ones((4, 4))
    before = address(mx, buffer)
    use(mx, buffer)
    check.equal(buffer, np.full((4, 4), 2.0), "buffer")
    check.equal(address(mx, buffer), before, "address of the buffer")


@case("MEM-REUSE-002")
def new_memory_for_a_new_array(mx, check):
    buffer = mx.nd.ones((4, 4))
    made = buffer + 1
    check.that(address(mx, made) != address(mx, buffer), "the sum lies elsewhere")


@case("MEM-REUSE-002", samples={
    "reshape": {"make": lambda b: b.reshape((16,)), "offset": 0}, "detach": {"make": lambda b: b.detach(), "offset": 0},
    "slice": {"make": lambda b: b[1:2], "offset": 16}, "row": {"make": lambda b: b[3], "offset": 48}})
def address_of_a_view(mx, check, make, offset):
    buffer = mx.nd.ones((4, 4))
    check.equal(address(mx, make(buffer)) - address(mx, buffer), offset, "distance from the start of the buffer")


@case("MEM-REUSE-003", timeout=120)
def peak_of_a_steady_loop(mx, check):
    """A hundred temporaries of 4 MB each, and a buffer that is cleared fifty times."""
    grown, cleared = seen(check, """
def loop(count):
    for _ in range(count):
        made = mx.nd.zeros((1000, 1000))
        made += 1
        made.wait_to_read()
        del made
    return high()
before = loop(3)
print('seen', loop(100) - before)
buffer = mx.nd.ones((1000, 1000))
for _ in range(50):
    buffer[:] = 0
    buffer += 1
print('seen', buffer.asnumpy().max(), high() - before)
""")
    check.that(int(grown[0]) < 100, "the temporaries need less than 100 MB more than three of them did", got=grown[0])
    check.equal(cleared[0], "1.0", "largest value of the buffer")
    check.that(int(cleared[1]) < 100, "the buffer needs less than 100 MB more", got=cleared[1])


@case("MEM-REUSE-004")
def dropped_block_is_used_again(mx, check):
    seen = set()
    for _ in range(20):
        made = mx.nd.zeros((100, 100))
        made.wait_to_read()
        seen.add(address(mx, made))
        del made
    check.that(len(seen) < 20, "twenty temporaries in a row share blocks", "fewer than 20 addresses", str(len(seen)))


@case("MEM-REUSE-005")
def views_are_written_in_order(mx, check):
    buffer = mx.nd.zeros((4, 2))
    views = [buffer[row] for row in range(4)]
    for row, view in enumerate(views):
        view[:] = row + 1
    buffer += 1
    views[0][:] = 9
    check.equal(buffer, [[9, 9], [3, 3], [4, 4], [5, 5]], "buffer")
    check.equal(views[1], [3, 3], "a view that was written before")


@case("MEM-OUT-001")
def result_is_written_into_an_array(mx, check):
    source, target = mx.nd.array([0, 1]), mx.nd.zeros((2,))
    view = target[1:]
    check.same(mx.nd.exp(source, out=target), target, "what the operator returns")
    check.close(target, [1.0, np.e], "target")
    check.close(view, [np.e], "a view of the target that was taken before")


@case("MEM-OUT-001", samples={
    "shape": {"shape": (3,), "dtype": "float32", "fragment": "expected [2], got [3]"},
    "dtype": {"shape": (2,), "dtype": "float64", "fragment": "expected float32, got float64"}})
def target_does_not_fit(mx, check, shape, dtype, fragment):
    target = mx.nd.zeros(shape, dtype=dtype)
    check.raises(mx.MXNetError, fragment, lambda: mx.nd.exp(mx.nd.ones((2,)), out=target))
    check.equal(target, np.zeros(shape), "target afterwards")


@case("MEM-OUT-001")
def target_on_another_context(mx, check):
    target = mx.nd.zeros((2,), ctx=mx.cpu(1))
    mx.nd.exp(mx.nd.array([0, 1]), out=target)
    check.close(target, [1.0, np.e], "target")
    check.equal(target.context, mx.cpu(1), "context of the target")


@case("MEM-OUT-001")
def target_is_the_source(mx, check):
    array = mx.nd.array([0, 1])
    check.same(mx.nd.exp(array, out=array), array, "what the operator returns")
    check.close(array, [1.0, np.e], "array")


@case("MEM-OUT-002")
def list_of_targets(mx, check):
    values, positions = mx.nd.zeros((2,)), mx.nd.zeros((2,))
    mx.nd.topk(mx.nd.array([3, 1, 5]), k=2, ret_typ="both", out=[values, positions])
    check.equal(values, [5, 3], "values")
    check.equal(positions, [2, 0], "positions")


@case("MEM-ALLOC-001", samples={"small": {"shape": (4,)}, "odd": {"shape": (7, 3)}, "large": {"shape": (1000, 1000)},
                                "transposed": {"shape": (5, 9)}})
def contiguous_and_aligned(mx, check, shape):
    array = mx.nd.ones(shape)
    if check.case_id.endswith("[transposed]"):
        array = array.T
    start, strides = layout(mx, array)
    check.equal(start % 16, 0, "address modulo 16")
    row_major = tuple(int(np.prod(array.shape[axis + 1:])) for axis in range(len(shape)))
    check.that(strides is None or strides == row_major, "the strides are row-major", row_major, strides)


@case("MEM-ALLOC-002")
def every_array_has_a_handle(mx, check):
    check.that(mx.nd.ones((2,)).handle is not None, "the handle is there")


@case("MEM-ALLOC-002", samples={"numpy": {"make": lambda: np.ones(3, dtype="float32")},
                                "list": {"make": lambda: [1.0, 1.0, 1.0]}})
def values_are_copied(mx, check, make):
    source = make()
    made, assigned = mx.nd.array(source), mx.nd.zeros((3,))
    assigned[:] = source
    for position in range(3):
        source[position] = 9
    check.equal(made, [1, 1, 1], "array made from the values, which were changed then")
    check.equal(assigned, [1, 1, 1], "array that was assigned the values")
    made[:] = 5
    check.equal(list(source), [9, 9, 9], "source after a write into the array")


@case("MEM-ALLOC-003", samples={"number": {"value": 3.5}, "dict": {"value": {"a": 1}}, "none": {"value": None},
                                "list": {"value": [1, 2]}})
def block_returns_anything(mx, check, value):
    class Answer(mx.gluon.Block):
        def forward(self, x):
            return value

    check.equal(Answer()(kit.array(mx, [1, 2])), value, "what the block returns")


@case("MEM-ALLOC-003", needs=["symbol"])
def hybridized_block_returns_arrays_only(mx, check):
    class Answer(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return 3.5

    class NumpyAnswer(mx.gluon.HybridBlock):
        def forward(self, x):
            return 3.5

    block = NumpyAnswer() if kit.numpy_mode(mx) else Answer()
    check.equal(block(kit.array(mx, [1, 2])), 3.5, "what the block returns")
    block.hybridize()
    check.raises(ValueError, "must be (nested) list of Symbol or NDArray", block, kit.array(mx, [1, 2]))
