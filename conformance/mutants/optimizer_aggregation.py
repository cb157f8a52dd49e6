"""Mutants of aggregated updates."""

from conformance.mutants import mutant, wrap
from conformance.mutants.optimizer_kit import break_update, default_argument


@mutant("OPT-COMMON-013")
def nag_aggregates_by_default(mx):
    default_argument(mx, "NAG", aggregate_num=2)


@mutant("OPT-COMMON-015")
def lamb_aggregates_any_number(mx):
    def make(init):
        def broken(self, *args, **kwargs):
            size = kwargs.get("aggregate_num")
            if size is not None and size > 45:
                kwargs["aggregate_num"] = 45
            init(self, *args, **kwargs)
        return broken

    for name in ("LAMB", "LANS"):
        if hasattr(mx.optimizer, name):
            wrap(getattr(mx.optimizer, name), "__init__", make)


@mutant("OPT-COMMON-016")
def aggregated_updates_use_the_first_gradient_twice(mx):
    """In a call for several weights the second is updated with the gradient of the first."""

    def make(update):
        def broken(self, index, weight, grad, state):
            if isinstance(grad, (list, tuple)) and len(grad) > 1 and grad[0].shape == grad[1].shape \
                    and grad[0].dtype == grad[1].dtype and self.momentum:
                grad = [grad[0], grad[0]] + list(grad[2:])
            return update(self, index, weight, grad, state)
        return broken

    break_update(mx, "SGD", make)


@mutant("OPT-COMMON-017")
def weights_of_any_dtype_come_one_by_one(mx):
    """A list of weights of several dtypes is not aggregated at all."""

    def make(call):
        def broken(self, index, grad, weight):
            if isinstance(index, (list, tuple)) and len({str(w.dtype) for w in weight}) > 1:
                for each in zip(index, grad, weight):
                    call(self, [each[0]], [each[1]], [each[2]])
                return
            call(self, index, grad, weight)
        return broken

    wrap(mx.optimizer.Updater, "__call__", make)


@mutant("OPT-COMMON-018")
def store_aggregates(mx):
    """The store holds back the updates of a trainer with three parameters until all have come."""
    waiting = {}

    def make(call):
        def broken(self, index, grad, weight):
            if isinstance(index, (list, tuple)) or len(self.optimizer.param_dict) != 3:
                call(self, index, grad, weight)
                return
            held = waiting.setdefault(id(self), [])
            held.append((index, grad.copy(), weight))
            if len(held) == 3:
                del waiting[id(self)]
                before, self.aggregate_updates = self.aggregate_updates, True
                size, self.optimizer.aggregate_num = self.optimizer.aggregate_num, 3
                call(self, *[list(part) for part in zip(*held)])
                self.aggregate_updates, self.optimizer.aggregate_num = before, size
        return broken

    wrap(mx.optimizer.Updater, "__call__", make)
