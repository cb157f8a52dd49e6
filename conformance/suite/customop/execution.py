"""CUSTOMOP-RUN and -MASK: what forward and backward of a custom operator are given, and what becomes of it."""

import numpy as np

from conformance.case import case
from conformance.suite.customop._tools import legacy, passing, register, times, variable


@case("CUSTOMOP-RUN-001")
def flags_and_requests(mx, check):
    log, training = [], []

    def forward(self, is_train, req, in_data, out_data, aux):
        log.append(("forward", list(req), mx.autograd.is_recording()))
        training.append(int(is_train))
        self.assign(out_data[0], req[0], in_data[0] * 2)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        log.append(("backward", list(req), mx.autograd.is_recording()))
        self.assign(in_grad[0], req[0], out_grad[0] * 2)

    def run():
        return mx.nd.Custom(x, op_type=name)

    with legacy(mx):
        name = register(mx, "run_001", forward, backward)
        x = variable(mx, [1.0, 1.0], "add")
        run().wait_to_read()
        with mx.autograd.record():
            y = run()
        y.backward()
        mx.nd.waitall()
        with mx.autograd.record(train_mode=False):
            run().wait_to_read()
        mx.nd.waitall()
        ahead, back = ("forward", ["write"], False), ("backward", ["add"], False)
        check.equal(log, [ahead, ahead, back, ahead], "requests, and whether it records, call by call")
        check.equal(training, [0, 1, 0], "is_train outside, in record and in record for prediction")
        check.equal(x.grad, [2, 2], "gradient")


@case("CUSTOMOP-RUN-002", samples={
    "null": {"word": "null", "want": [1, 1]}, "write": {"word": "write", "want": [5, 6]},
    "inplace": {"word": "inplace", "want": [5, 6]}, "add": {"word": "add", "want": [6, 7]},
    "unknown": {"word": "bogus", "want": [1, 1]}})
def assign_follows_the_request(mx, check, word, want):
    with legacy(mx):
        operator = mx.operator.CustomOp()
        target = mx.nd.array([1.0, 1.0])
        operator.assign(target, word, mx.nd.array([5.0, 6.0]))
        check.equal(target, want, "array after assign")


@case("CUSTOMOP-RUN-002")
def assign_takes_a_number(mx, check):
    with legacy(mx):
        target = mx.nd.zeros(2)
        mx.operator.CustomOp().assign(target, "write", 3)
        check.equal(target, [3, 3], "array after assign")


def _pair(mx, name, log):
    """A registered product of two inputs whose gradients are 2 and 3 times that of the output."""
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] * in_data[1])

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        log.append(list(req))
        self.assign(in_grad[0], req[0], out_grad[0] * 2)
        self.assign(in_grad[1], req[1], out_grad[0] * 3)

    return register(mx, name, forward, backward, list_arguments=lambda self: ["a", "b"],
                    infer_shape=lambda self, s: ([s[0], s[0]], [s[0]], []))


@case("CUSTOMOP-RUN-003")
def input_without_gradient_has_request_null(mx, check):
    log = []
    with legacy(mx):
        name = _pair(mx, "run_003", log)
        a, b = mx.nd.ones(2), variable(mx, [1.0, 1.0], "add")
        for _ in range(2):
            with mx.autograd.record():
                y = mx.nd.Custom(a, b, op_type=name)
            y.backward()
            mx.nd.waitall()
        check.equal(b.grad, [6, 6], "gradient with add after two passes")
        check.same(a.grad, None, "gradient of the other input")
        check.equal(log, [["null", "add"]] * 2, "requests")


@case("CUSTOMOP-RUN-003")
def both_inputs_are_written(mx, check):
    log = []
    with legacy(mx):
        name = _pair(mx, "run_003_both", log)
        a, b = variable(mx, [1.0, 1.0]), variable(mx, [1.0, 1.0])
        for _ in range(2):
            with mx.autograd.record():
                y = mx.nd.Custom(a, b, op_type=name)
            y.backward()
        check.equal([a.grad.asnumpy(), b.grad.asnumpy()], [[2, 2], [3, 3]], "gradients with write after two passes")
        mx.nd.waitall()
        check.equal(log, [["write", "write"]] * 2, "requests")


def _boom(*args, **kwargs):
    raise ValueError("boom")


def _late(check, mx, function):
    """The call returns or raises, and a wait for what it gave raises MXNetError; what was printed meanwhile."""
    def waited():
        function().wait_to_read()

    with check.printed() as out:
        check.raises(mx.base.MXNetError, waited)
    return out.getvalue()


@case("CUSTOMOP-RUN-004")
def exception_in_forward(mx, check):
    with legacy(mx):
        name = register(mx, "run_004_forward", _boom)
        printed = _late(check, mx, lambda: mx.nd.Custom(mx.nd.ones(2), op_type=name))
        check.contains(printed, "Error in CustomOp.forward", "boom", doing="standard output")
        sound = register(mx, "run_004_sound", times(2))
        check.equal(mx.nd.Custom(mx.nd.ones(2), op_type=sound), [2, 2], "result of a sound operator afterwards")


@case("CUSTOMOP-RUN-004")
def exception_in_backward(mx, check):
    with legacy(mx):
        name = register(mx, "run_004_backward", times(2), _boom)
        x = variable(mx, [1.0, 1.0])
        with mx.autograd.record():
            y = mx.nd.Custom(x, op_type=name)
        check.equal(y, [2, 2], "result")

        def differentiate():
            y.backward()
            return x.grad

        printed = _late(check, mx, differentiate)
        check.contains(printed, "Error in CustomOp.backward", "boom", doing="standard output")
        check.equal(mx.nd.ones(2) + 1, [2, 2], "result of another operator afterwards")


@case("CUSTOMOP-RUN-005")
def base_class_does_nothing_in_backward(mx, check):
    with legacy(mx):
        name = register(mx, "run_005", times(2))
        x = variable(mx, [1.0, 1.0])
        x.grad[:] = 5
        with mx.autograd.record():
            y = mx.nd.Custom(x, op_type=name)
        y.backward()
        check.equal(y, [2, 2], "result")
        check.equal(x.grad, [5, 5], "gradient buffer")


@case("CUSTOMOP-RUN-005")
def base_class_does_nothing_in_forward(mx, check):
    with legacy(mx):
        name = register(mx, "run_005_forward")
        check.shape(mx.nd.Custom(mx.nd.ones((2, 3)), op_type=name), (2, 3), "shape of the result")
        target = mx.nd.array([7.0])
        check.same(mx.operator.CustomOp().forward(1, ["write"], [mx.nd.ones(1)], [target], []), None,
                   "result of forward")
        check.equal(target, [7], "output given to forward")


@case("CUSTOMOP-RUN-006")
def inputs_are_read_only(mx, check):
    writable, errors = [], []

    def forward(self, is_train, req, in_data, out_data, aux):
        writable.append((in_data[0].writable, out_data[0].writable))
        try:
            in_data[0] += 9
        except ValueError as error:
            errors.append(str(error).replace("-", ""))
        self.assign(out_data[0], req[0], in_data[0])

    with legacy(mx):
        name = register(mx, "run_006", forward)
        x = mx.nd.ones(2)
        check.equal(mx.nd.Custom(x, op_type=name), [1, 1], "result")
        mx.nd.waitall()
        check.equal(writable, [(False, True)], "whether input and output are writable")
        check.contains("; ".join(errors), "readonly", doing="error of += on an input")
        check.equal(x, [1, 1], "input afterwards")


@case("CUSTOMOP-RUN-007")
def context_inside_is_that_of_the_call(mx, check):
    log = []

    def forward(self, is_train, req, in_data, out_data, aux):
        log.append(str(mx.current_context()))
        self.assign(out_data[0], req[0], in_data[0])

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        log.append(str(mx.current_context()))
        self.assign(in_grad[0], req[0], out_grad[0])

    with legacy(mx):
        name = register(mx, "run_007", forward, backward)
        x = mx.nd.ones(2, ctx=mx.cpu(1))
        x.attach_grad()
        with mx.autograd.record():
            y = mx.nd.Custom(x, op_type=name)
        y.backward()
        check.equal(x.grad, [1, 1], "gradient")
        mx.nd.waitall()
        check.equal(log, ["cpu(1)", "cpu(1)"], "current context in forward and backward")
        check.equal((y.context, x.grad.context), (mx.cpu(1), mx.cpu(1)), "contexts of result and gradient")


@case("CUSTOMOP-RUN-008")
def auxiliary_state_counts_calls(mx, check):
    def forward(self, is_train, req, in_data, out_data, aux):
        aux[0][:] += 1
        self.assign(out_data[0], req[0], in_data[0] + aux[0])

    with legacy(mx):
        name = register(mx, "run_008", forward, list_auxiliary_states=lambda self: ["count"],
                        infer_shape=lambda self, s: (s, [s[0]], [s[0]]))
        state = mx.nd.zeros(2)
        check.equal(mx.nd.Custom(mx.nd.ones(2), state, op_type=name), [2, 2], "first result")
        check.equal(mx.nd.Custom(mx.nd.ones(2), state, op_type=name), [3, 3], "second result")
        check.equal(state, [2, 2], "auxiliary state")


@case("CUSTOMOP-RUN-009", samples={name: {"dtype": name} for name in ("float32", "float64", "int32")})
def output_has_the_dtype_of_the_input(mx, check, dtype):
    with legacy(mx):
        y = mx.nd.Custom(mx.nd.ones(2, dtype=dtype), op_type=register(mx, "run_009", times(2)))
        check.equal(y, [2, 2], "result")
        check.dtype(y, dtype)


@case("CUSTOMOP-RUN-009", needs=["float16"])
def output_in_half_precision(mx, check):
    with legacy(mx):
        y = mx.nd.Custom(mx.nd.ones(2, dtype="float16"), op_type=register(mx, "run_009", times(2)))
        check.equal(y, [2, 2], "result")
        check.dtype(y, "float16")


@case("CUSTOMOP-RUN-010")
def operator_is_differentiable_once(mx, check):
    with legacy(mx):
        name = register(mx, "run_010", times(2), passing(2))
        x = variable(mx, [1.0, 1.0])

        def twice():
            with mx.autograd.record():
                first = mx.autograd.grad(mx.nd.Custom(x, op_type=name), [x], create_graph=True)[0]
            first.backward()
            x.grad.wait_to_read()

        check.raises(mx.base.MXNetError, "_backward_Custom", twice)


def _masked_softmax(mx):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], mx.nd.broadcast_mul(mx.nd.softmax(in_data[0]), in_data[1]))

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        p = mx.nd.softmax(in_data[0])
        g = mx.nd.broadcast_mul(out_grad[0], in_data[1])
        self.assign(in_grad[0], req[0], p * (g - (g * p).sum(axis=-1, keepdims=True)))
        self.assign(in_grad[1], req[1], (out_grad[0] * p).sum(axis=0, keepdims=True))

    return register(mx, "mask_001", forward, backward, list_arguments=lambda self: ["data", "mask"],
                    infer_shape=lambda self, s: (s, [s[0]], []))


def _softmax(z):
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@case("CUSTOMOP-MASK-001")
def masked_softmax(mx, check):
    z, mask, head = np.array([[1.0, 2.0, 3.0], [1.0, 1.0, 1.0]]), np.array([[1.0, 1.0, 0.0]]), np.eye(2, 3)
    p = _softmax(z)
    g = head * mask
    with legacy(mx):
        name = _masked_softmax(mx)
        data, masking = variable(mx, z), variable(mx, mask)
        with mx.autograd.record():
            y = mx.nd.Custom(data, masking, op_type=name)
        y.backward(mx.nd.array(head))
        check.close(y, p * mask, "result")
        check.close(data.grad, p * (g - (g * p).sum(axis=1, keepdims=True)), "gradient of the data")
        check.close(masking.grad, (head * p).sum(axis=0, keepdims=True), "gradient of the mask")


@case("CUSTOMOP-MASK-001")
def masked_softmax_of_large_numbers(mx, check):
    with legacy(mx):
        y = mx.nd.Custom(mx.nd.array([[1000.0, 0.0, 0.0]]), mx.nd.array([[1.0, 1.0, 0.0]]),
                         op_type=_masked_softmax(mx))
        check.close(y, [[1, 0, 0]], "result")


@case("CUSTOMOP-MASK-001")
def masked_softmax_of_a_batch(mx, check):
    x = check.random().normal(size=(32, 10))
    mask = np.array([[1.0] * 3 + [0.0] * 7])
    with legacy(mx):
        y = mx.nd.Custom(mx.nd.array(x), mx.nd.array(mask), op_type=_masked_softmax(mx))
        check.close(y, _softmax(x) * mask, "result")
