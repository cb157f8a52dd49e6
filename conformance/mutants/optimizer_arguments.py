"""Mutants of the arguments that all optimizers share, and of defaults."""

import warnings

from conformance.mutants import mutant, wrap
from conformance.mutants.optimizer_kit import default_argument, options_during_update


@mutant("OPT-COMMON-001")
def test_takes_no_clip_gradient(mx):
    def make(init):
        def broken(self, *args, **kwargs):
            if kwargs.get("clip_gradient") is not None:
                raise TypeError("__init__() got an unexpected keyword argument 'clip_gradient'")
            init(self, *args, **kwargs)
        return broken

    wrap(mx.optimizer.Test, "__init__", make)


@mutant("OPT-COMMON-002")
def test_has_a_default_rate_of_a_tenth(mx):
    default_argument(mx, "Test", learning_rate=0.1)


@mutant("OPT-COMMON-003")
def no_rate_means_a_tenth(mx):
    """An explicit learning_rate=None gives 0.1."""

    def make(init):
        def broken(self, *args, **kwargs):
            init(self, *args, **kwargs)
            if "learning_rate" in kwargs and kwargs["learning_rate"] is None and self.lr_scheduler is None:
                self.lr = 0.1
        return broken

    for name in ("SGD", "Adam"):
        wrap(getattr(mx.optimizer, name), "__init__", make)


@mutant("OPT-COMMON-004")
def test_decays_by_default(mx):
    default_argument(mx, "Test", wd=0.001)


@mutant("OPT-COMMON-005")
def clipping_keeps_negative_gradients(mx):
    """Only values above the limit are clipped."""

    def make(update):
        def broken(self, index, weight, grad, state):
            limit, alone = self.clip_gradient, not isinstance(grad, (list, tuple))
            if limit is None or (not alone and len(grad) != 1):
                return update(self, index, weight, grad, state)
            values = (grad if alone else grad[0]).asnumpy()
            self.clip_gradient = None if (values < 0).any() else limit
            try:
                return update(self, index, weight, grad, state)
            finally:
                self.clip_gradient = limit
        return broken

    wrap(mx.optimizer.SGD, "update_multi_precision", make)


@mutant("OPT-COMMON-006")
def rescaling_is_a_half_by_default(mx):
    default_argument(mx, "Test", rescale_grad=0.5)


@mutant("OPT-DEFAULTS-001")
def signum_has_less_momentum(mx):
    default_argument(mx, "Signum", momentum=0.8)


@mutant("OPT-COMMON-024")
def given_rate_leaves_the_base_alone(mx):
    def make(init):
        def broken(self, *args, **kwargs):
            scheduler = kwargs.get("lr_scheduler")
            base = getattr(scheduler, "base_lr", None)
            init(self, *args, **kwargs)
            if scheduler is not None and base is not None:
                scheduler.base_lr = base
        return broken

    wrap(mx.optimizer.SGD, "__init__", make)


@mutant("OPT-COMMON-027")
def rate_is_one_update_late(mx):
    def make(rate):
        def broken(self):
            if self.lr_scheduler is None or self.num_update == 0:
                return rate(self)
            return self.lr_scheduler(self.num_update - 1)
        return broken

    wrap(mx.optimizer.Optimizer, "learning_rate", make)


@mutant("OPT-COMMON-028")
def setting_the_rate_of_a_schedule_is_ignored(mx):
    def make(set_learning_rate):
        def broken(self, lr):
            if self.lr_scheduler is None:
                set_learning_rate(self, lr)
        return broken

    wrap(mx.optimizer.Optimizer, "set_learning_rate", make)


@mutant("OPT-COMMON-007")
def multi_precision_is_forgotten(mx):
    """Updates work on the float16 weight, although there is a float32 copy."""

    def make(update):
        def broken(self, index, weight, grad, state):
            result = update(self, index, weight, grad, state)
            weights, states = (weight, state) if isinstance(weight, (list, tuple)) else ([weight], [state])
            for one, kept in zip(weights, states):
                if self.multi_precision and str(one.asnumpy().dtype) == "float16":
                    master = next(part for part in kept if "float32" in str(getattr(part, "dtype", "")))
                    master[:] = one.astype("float32")
            return result
        return broken

    for name in ("SGD", "Adam"):
        wrap(getattr(mx.optimizer, name), "update_multi_precision", make)


@mutant("OPT-COMMON-008")
def float32_has_a_copy_too(mx):
    def make(create):
        def broken(self, index, weight):
            state = create(self, index, weight)
            if self.multi_precision and weight.asnumpy().dtype == "float32":
                return (weight.copy(), state)
            return state
        return broken

    for name in ("SGD", "Adam"):
        wrap(getattr(mx.optimizer, name), "create_state_multi_precision", make)


@mutant("OPT-COMMON-009")
def float16_is_accepted_silently(mx):
    def make(create):
        def broken(self, index, weight):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return create(self, index, weight)
        return broken

    for kind in set(mx.optimizer.Optimizer.opt_registry.values()):
        wrap(kind, "create_state_multi_precision", make)


@mutant("OPT-COMMON-010")
def state_comes_before_the_copy(mx):
    def make(create):
        def broken(self, index, weight):
            state = create(self, index, weight)
            if self.multi_precision and weight.asnumpy().dtype == "float16":
                return state[1], state[0]
            return state
        return broken

    wrap(mx.optimizer.Signum, "create_state_multi_precision", make)


@mutant("OPT-COUNT-003")
def bias_correction_counts_all_updates(mx):
    """Adam's t is num_update, whichever parameter is updated."""

    def make(count):
        def broken(self, index):
            count(self, index)
            if type(self).__name__ == "Adam":
                for one in index if isinstance(index, (list, tuple)) else [index]:
                    self._index_update_count[one] = self.num_update
        return broken

    wrap(mx.optimizer.Optimizer, "_update_count", make)


@mutant("OPT-COMMON-005")
def nothing_is_clipped_by_one(mx):
    options_during_update(mx, "SGD", lambda self: {"clip_gradient": None}, lambda self: self.clip_gradient == 1.0)
