"""What the mutants of automatic differentiation share: gradients falsified behind right values, methods changed.

Runs in the engine's interpreter: Python 3.8, standard library and numpy >= 1.17 only.
"""

from conformance.mutants import wrap


class Operators(object):
    """Operators as they are before any mutant touches them, for use inside mutants."""

    def __init__(self, mx):
        self.add, self.subtract, self.block = mx.nd.elemwise_add, mx.nd.elemwise_sub, mx.nd.BlockGrad

    def doubled(self, y):
        """The value of *y*, with twice its gradient."""
        return self.subtract(self.add(y, y), self.block(y))

    def leaking(self, y, x):
        """The value of *y*, with the gradient 1 for *x* beside its own; *x* is of the same shape."""
        return self.add(y, self.subtract(x, self.block(x)))


def is_array(mx, value):
    """True for an engine array."""
    return isinstance(value, mx.nd.NDArray)


def replace(owner, name, body):
    """Replace a function or method by ``body(original, *arguments)``."""
    def make(original):
        def broken(*args, **kwargs):
            return body(original, *args, **kwargs)
        return broken

    wrap(owner, name, make)


def after(mx, owner, name, change, when=None):
    """Change the result of a recorded call: ``change(result, *arguments)``.

    when: called with the arguments; the result is changed where it returns true.
    """
    def body(original, *args, **kwargs):
        result = original(*args, **kwargs)
        if mx.autograd.is_recording() and (when is None or when(*args, **kwargs)):
            return change(result, *args, **kwargs)
        return result

    replace(owner, name, body)


def doubles(mx, owner, name, when=None):
    """Double the gradient of a function or method, and leave its value as it is."""
    operators = Operators(mx)
    after(mx, owner, name, lambda result, *args, **kwargs: operators.doubled(result), when)


def scope(mx, name, enter=None, leave=None):
    """Change the scopes that ``autograd.<name>()`` makes: *enter* and *leave* replace their methods.

    Both are called with the original scope; the arguments of ``__exit__`` follow.
    """
    class Changed(object):
        def __init__(self, original):
            self.original = original

        def __enter__(self):
            return self.original.__enter__() if enter is None else enter(self.original)

        def __exit__(self, *error):
            return self.original.__exit__(*error) if leave is None else leave(self.original, *error)

    replace(mx.autograd, name, lambda original, *args, **kwargs: Changed(original(*args, **kwargs)))


def depth_of(mx, name):
    """A list whose length is the number of ``autograd.<name>()`` blocks entered and not left."""
    entered = []

    def enter(original):
        original.__enter__()
        entered.append(original)

    def leave(original, *error):
        entered.remove(original)
        return original.__exit__(*error)

    scope(mx, name, enter, leave)
    return entered


def backward(mx, body):
    """Replace NDArray.backward by ``body(original, head, out_grad, retain_graph)``; both arguments may be changed."""
    def make(original):
        def broken(self, out_grad=None, retain_graph=False, train_mode=True):
            def call(head, out_grad, retain_graph):
                return original(head, out_grad, retain_graph, train_mode)
            return body(call, self, out_grad, retain_graph)
        return broken

    wrap(mx.nd.NDArray, "backward", make)


def attached(mx, body):
    """Replace NDArray.attach_grad by ``body(original, array, grad_req, keywords)``."""
    def make(original):
        def broken(self, grad_req="write", stype=None):
            def call(array, grad_req, stype=stype):
                return original(array, grad_req) if stype is None else original(array, grad_req, stype=stype)
            return body(call, self, grad_req)
        return broken

    wrap(mx.nd.NDArray, "attach_grad", make)


def other_error(owner, name, kind, fragment, make):
    """Where ``owner.name`` raises *kind* with a fragment in its message: ``make(error, *arguments)`` instead."""
    def body(original, *args, **kwargs):
        try:
            return original(*args, **kwargs)
        except kind as error:
            if fragment not in str(error):
                raise
            return make(error, *args, **kwargs)

    replace(owner, name, body)
