"""Mutants of the learning rate schedulers."""

from conformance.mutants import mutant, wrap


def change_call(mx, name, change):
    """Let ``change(call, self, n)`` answer instead of a scheduler."""
    wrap(getattr(mx.lr_scheduler, name), "__call__", lambda call: lambda self, n: change(call, self, n))


@mutant("LRSCHED-BASE-001")
def base_gives_its_rate(mx):
    def change(call, self, n):
        return self.base_lr if type(self) is mx.lr_scheduler.LRScheduler else call(self, n)

    change_call(mx, "LRScheduler", change)


@mutant("LRSCHED-BASE-002")
def wrong_warm_up_is_accepted(mx):
    """A warm-up that starts above base_lr starts at base_lr."""

    def make(init):
        def broken(self, base_lr=0.01, warmup_steps=0, warmup_begin_lr=0, warmup_mode="linear"):
            init(self, base_lr, warmup_steps, min(warmup_begin_lr, base_lr), warmup_mode)
        return broken

    wrap(mx.lr_scheduler.LRScheduler, "__init__", make)


@mutant("LRSCHED-BASE-003")
def warm_up_is_one_update_ahead(mx):
    def make(get):
        def broken(self, n):
            return get(self, min(n + 1, self.warmup_steps - 1) if n < self.warmup_steps else n)
        return broken

    wrap(mx.lr_scheduler.LRScheduler, "get_warmup_lr", make)


@mutant("LRSCHED-BASE-004")
def warm_up_never_ends(mx):
    def make(get):
        def broken(self, n):
            return get(self, n) if n < self.warmup_steps else self.base_lr
        return broken

    wrap(mx.lr_scheduler.LRScheduler, "get_warmup_lr", make)


@mutant("LRSCHED-FACTOR-001")
def factor_falls_one_update_early(mx):
    """A scheduler that multiplies by .1 does so one update early."""

    def change(call, self, n):
        return call(self, n + 1 if self.factor == 0.1 and self.stop_factor_lr < 1e-3 else n)

    change_call(mx, "FactorScheduler", change)


@mutant("LRSCHED-FACTOR-002")
def factor_has_no_floor(mx):
    def make(init):
        def broken(self, step, factor=1, stop_factor_lr=1e-8, *args, **kwargs):
            init(self, step, factor, min(stop_factor_lr, 1e-8), *args, **kwargs)
        return broken

    wrap(mx.lr_scheduler.FactorScheduler, "__init__", make)


@mutant("LRSCHED-FACTOR-003")
def factor_forgets(mx):
    """The rate depends on the number of updates alone."""

    def change(call, self, n):
        kept = dict(self.__dict__)
        try:
            return call(self, n)
        finally:
            if n >= self.warmup_steps:
                self.__dict__.update(kept)

    change_call(mx, "FactorScheduler", change)


@mutant("LRSCHED-FACTOR-004")
def factor_starts_after_the_warm_up(mx):
    def change(call, self, n):
        if self.warmup_steps and n >= self.warmup_steps and self.count < self.warmup_steps:
            self.count = self.warmup_steps
        return call(self, n)

    change_call(mx, "FactorScheduler", change)


@mutant("LRSCHED-FACTOR-005")
def factor_may_grow(mx):
    def make(init):
        def broken(self, step, factor=1, *args, **kwargs):
            init(self, step, min(factor, 1), *args, **kwargs)
        return broken

    wrap(mx.lr_scheduler.FactorScheduler, "__init__", make)


@mutant("LRSCHED-MULTI-001")
def multi_falls_one_update_early(mx):
    change_call(mx, "MultiFactorScheduler", lambda call, self, n: call(self, n if n == 2 else n + 1))


@mutant("LRSCHED-MULTI-002")
def multi_sorts_its_steps(mx):
    def make(init):
        def broken(self, step, *args, **kwargs):
            init(self, sorted(set(step)) if isinstance(step, list) else step, *args, **kwargs)
        return broken

    wrap(mx.lr_scheduler.MultiFactorScheduler, "__init__", make)


@mutant("LRSCHED-POLY-001")
def poly_ignores_the_final_rate(mx):
    def make(init):
        def broken(self, max_update, base_lr=0.01, pwr=2, final_lr=0, *args, **kwargs):
            del final_lr
            init(self, max_update, base_lr, pwr, 0, *args, **kwargs)
        return broken

    wrap(mx.lr_scheduler.PolyScheduler, "__init__", make)


@mutant("LRSCHED-POLY-002")
def poly_ends_at_its_final_rate(mx):
    def change(call, self, n):
        rate = call(self, n)
        return self.final_lr if n > self.max_update else rate

    change_call(mx, "PolyScheduler", change)


@mutant("LRSCHED-POLY-003")
def poly_takes_fractions(mx):
    def make(init):
        def broken(self, max_update, *args, **kwargs):
            init(self, int(max_update), *args, **kwargs)
        return broken

    wrap(mx.lr_scheduler.PolyScheduler, "__init__", make)


@mutant("LRSCHED-COSINE-001")
def cosine_falls_in_a_straight_line(mx):
    """After a warm-up the rate falls in a straight line."""

    def change(call, self, n):
        rate = call(self, n)
        if 0 < self.warmup_steps < n < self.max_update:
            part = (n - self.warmup_steps) / float(self.max_update - self.warmup_steps)
            return self.base_lr + part * (self.final_lr - self.base_lr)
        return rate

    change_call(mx, "CosineScheduler", change)


@mutant("LRSCHED-COSINE-002")
def cosine_takes_fractions(mx):
    def make(init):
        def broken(self, max_update, *args, **kwargs):
            init(self, int(max_update), *args, **kwargs)
        return broken

    wrap(mx.lr_scheduler.CosineScheduler, "__init__", make)
