"""LRSCHED-BASE, -FACTOR, -MULTI, -POLY, -COSINE: the learning rate schedulers by themselves."""

import inspect
import math

from conformance.case import case


def check_rates(check, scheduler, wanted):
    """The rates for 0, 1, 2, ... updates."""
    check.close([scheduler(n) for n in range(len(wanted))], wanted, "rates for 0, 1, 2, ... updates", rtol=2e-6,
                atol=1e-6)


def check_default(check, kind, **wanted):
    """The defaults of a constructor."""
    parameters = inspect.signature(kind.__init__).parameters
    got = {name: parameters[name].default if name in parameters else "no such argument" for name in wanted}
    check.equal(got, wanted, "defaults of the arguments")


@case("LRSCHED-BASE-001")
def base_defaults(mx, check):
    check_default(check, mx.lr_scheduler.LRScheduler, base_lr=0.01, warmup_steps=0, warmup_begin_lr=0,
                  warmup_mode="linear")
    made = mx.lr_scheduler.LRScheduler()
    check.equal((made.base_lr, made.warmup_steps, made.warmup_begin_lr), (0.01, 0, 0), "attributes")


@case("LRSCHED-BASE-001")
def base_is_abstract(mx, check):
    made = mx.lr_scheduler.LRScheduler(base_lr=0.5)
    check.equal(made.base_lr, 0.5, "base_lr that was given")
    check.raises(NotImplementedError, "must override this", made, 1)


@case("LRSCHED-BASE-001")
def base_can_be_extended(mx, check):
    class Doubling(mx.lr_scheduler.LRScheduler):
        def __call__(self, num_update):
            return self.base_lr * 2 ** num_update

    check_rates(check, Doubling(base_lr=0.5), [0.5, 1.0, 2.0])


@case("LRSCHED-BASE-002", samples={
    "start_above_base": {"kind": ValueError, "text": "Base lr has to be higher than warmup_begin_lr",
                         "given": {"base_lr": 0.1, "warmup_begin_lr": 0.5, "warmup_steps": 2}},
    "negative_steps": {"kind": ValueError, "text": "Warmup steps has to be positive or 0",
                       "given": {"warmup_steps": -1}},
    "unknown_mode": {"kind": ValueError, "text": "Supports only linear and constant modes of warmup",
                     "given": {"warmup_mode": "cubic"}},
    "fractional_steps": {"kind": AssertionError, "text": "", "given": {"warmup_steps": 1.5}}})
def warm_up_arguments(mx, check, kind, text, given):
    allowed = mx.lr_scheduler.LRScheduler(base_lr=0.5, warmup_steps=2, warmup_begin_lr=0.25, warmup_mode="constant")
    check.equal(allowed.base_lr, 0.5, "base_lr of a scheduler with allowed arguments")
    check.raises(kind, text, mx.lr_scheduler.LRScheduler, **given)


@case("LRSCHED-BASE-003")
def linear_warm_up(mx, check):
    made = mx.lr_scheduler.PolyScheduler(6, base_lr=1.0, pwr=1, warmup_steps=2, warmup_begin_lr=0.1)
    check_rates(check, made, [0.1, 0.55, 1.0, 0.75, 0.5, 0.25, 0.0, 0.0, 0.0])


@case("LRSCHED-BASE-003")
def constant_warm_up(mx, check):
    made = mx.lr_scheduler.FactorScheduler(2, 0.5, base_lr=1.0, warmup_steps=3, warmup_begin_lr=0.2,
                                           warmup_mode="constant")
    check_rates(check, made, [0.2, 0.2, 0.2, 0.5, 0.5, 0.25])


@case("LRSCHED-BASE-003", samples={"linear": {"mode": "linear", "wanted": [0.2, 0.4, 0.6, 0.8]},
                                   "constant": {"mode": "constant", "wanted": [0.2, 0.2, 0.2, 0.2]}})
def warm_up_of_the_base_class(mx, check, mode, wanted):
    made = mx.lr_scheduler.LRScheduler(base_lr=1.0, warmup_steps=4, warmup_begin_lr=0.2, warmup_mode=mode)
    check.close([made.get_warmup_lr(n) for n in range(4)], wanted, "get_warmup_lr for 0, 1, 2, 3", rtol=2e-6)


@case("LRSCHED-BASE-004", samples={"at_the_end": {"n": 3}, "after_it": {"n": 10}})
def warm_up_is_over(mx, check, n):
    made = mx.lr_scheduler.LRScheduler(base_lr=0.5, warmup_steps=3)
    check.close(made.get_warmup_lr(2), 0.5 * 2 / 3, "get_warmup_lr within the warm-up", rtol=1e-6)
    check.raises(AssertionError, made.get_warmup_lr, n)


@case("LRSCHED-FACTOR-001")
def factor_defaults(mx, check):
    check_default(check, mx.lr_scheduler.FactorScheduler, factor=1, stop_factor_lr=1e-8, base_lr=0.01)


@case("LRSCHED-FACTOR-001", samples={
    "3_half": {"step": 3, "factor": 0.5, "wanted": [1, 1, 1, 1, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.125, 0.125]},
    "1_tenth": {"step": 1, "factor": 0.1, "wanted": [1, 1, 0.1, 0.01, 0.001]},
    "2_one": {"step": 2, "factor": 1, "wanted": [1, 1, 1, 1, 1, 1]}})
def factor_rates(mx, check, step, factor, wanted):
    check_rates(check, mx.lr_scheduler.FactorScheduler(step, factor, base_lr=1.0), wanted)


@case("LRSCHED-FACTOR-002")
def factor_floor(mx, check):
    made = mx.lr_scheduler.FactorScheduler(1, 0.1, stop_factor_lr=0.01, base_lr=1.0)
    check_rates(check, made, [1, 1, 0.1, 0.01, 0.01, 0.01])


@case("LRSCHED-FACTOR-003")
def factor_remembers(mx, check):
    made = mx.lr_scheduler.FactorScheduler(2, 0.5, base_lr=1.0)
    check.equal([made(9), made(1), made(9)], [0.0625] * 3, "rates for 9, 1 and 9 updates")


@case("LRSCHED-FACTOR-004")
def factor_counts_the_warm_up(mx, check):
    made = mx.lr_scheduler.FactorScheduler(2, 0.5, base_lr=1.0, warmup_steps=4, warmup_begin_lr=0.2)
    check_rates(check, made, [0.2, 0.4, 0.6, 0.8, 0.5, 0.25, 0.25, 0.125, 0.125, 0.0625])


@case("LRSCHED-FACTOR-005", samples={
    "step_zero": {"given": (0, 0.5), "text": "Schedule step must be greater or equal than 1 round"},
    "step_negative": {"given": (-2, 0.5), "text": "Schedule step must be greater or equal than 1 round"},
    "factor_two": {"given": (2, 2.0), "text": "Factor must be no more than 1 to make lr reduce"},
    "factor_just_above_one": {"given": (2, 1.01), "text": "Factor must be no more than 1 to make lr reduce"}})
def factor_arguments(mx, check, given, text):
    check.equal(mx.lr_scheduler.FactorScheduler(1, 1, base_lr=0.5)(4), 0.5, "rate with step 1 and factor 1")
    check.raises(ValueError, text, mx.lr_scheduler.FactorScheduler, *given)


@case("LRSCHED-MULTI-001")
def multi_defaults(mx, check):
    check_default(check, mx.lr_scheduler.MultiFactorScheduler, factor=1, base_lr=0.01)


@case("LRSCHED-MULTI-001", samples={
    "plain": {"options": {}, "wanted": [1, 1, 1, 1, 0.1, 0.1, 0.01, 0.01, 0.01]},
    "warm_up": {"options": {"warmup_steps": 4}, "wanted": [0, 0.25, 0.5, 0.75, 0.1, 0.1, 0.01, 0.01, 0.01]}})
def multi_rates(mx, check, options, wanted):
    check_rates(check, mx.lr_scheduler.MultiFactorScheduler([3, 5], 0.1, base_lr=1.0, **options), wanted)


@case("LRSCHED-MULTI-001")
def multi_jump(mx, check):
    made = mx.lr_scheduler.MultiFactorScheduler([2, 4, 8], 0.5, base_lr=1.0)
    check.equal([made(5), made(9), made(100)], [0.25, 0.125, 0.125], "rates for 5, 9 and 100 updates")


@case("LRSCHED-MULTI-002", samples={
    "tuple": {"kind": AssertionError, "text": "", "given": ((1, 2), 0.5)},
    "empty": {"kind": AssertionError, "text": "", "given": ([], 0.5)},
    "equal": {"kind": ValueError, "text": "Schedule step must be an increasing integer list", "given": ([3, 3], 0.5)},
    "falling": {"kind": ValueError, "text": "Schedule step must be an increasing integer list", "given": ([3, 2], 0.5)},
    "zero": {"kind": ValueError, "text": "Schedule step must be greater or equal than 1 round", "given": ([0], 0.5)},
    "factor": {"kind": ValueError, "text": "Factor must be no more than 1", "given": ([3], 2)}})
def multi_arguments(mx, check, kind, text, given):
    check.equal(mx.lr_scheduler.MultiFactorScheduler([1, 3], 0.5, base_lr=1.0)(2), 0.5, "rate with allowed arguments")
    check.raises(kind, text, mx.lr_scheduler.MultiFactorScheduler, *given)


def decaying(shape, warm, longest, base, final, count):
    """Rates of a schedule that falls from base to final by ``shape(progress)`` after *warm* updates."""
    return [final + (base - final) * shape((min(n, longest) - warm) / float(longest - warm))
            for n in range(warm, count)]


def cosine(progress):
    return (1 + math.cos(math.pi * progress)) / 2


@case("LRSCHED-POLY-001")
def poly_defaults(mx, check):
    check_default(check, mx.lr_scheduler.PolyScheduler, base_lr=0.01, pwr=2, final_lr=0)


@case("LRSCHED-POLY-001")
def poly_rates(mx, check):
    made = mx.lr_scheduler.PolyScheduler(5, base_lr=1.0, pwr=2, final_lr=0.1)
    check_rates(check, made, [1, 0.676, 0.424, 0.244, 0.136, 0.1, 0.1, 0.1])


@case("LRSCHED-POLY-001", samples={
    "square_root": {"pwr": 0.5, "warm": 0, "longest": 7}, "cube": {"pwr": 3, "warm": 0, "longest": 9},
    "warm_up": {"pwr": 2, "warm": 3, "longest": 8}})
def poly_follows_the_formula(mx, check, pwr, warm, longest):
    made = mx.lr_scheduler.PolyScheduler(longest, base_lr=0.8, pwr=pwr, final_lr=0.05, warmup_steps=warm)
    wanted = decaying(lambda progress: (1 - progress) ** pwr, warm, longest, 0.8, 0.05, longest + 3)
    check.close([made(n) for n in range(warm, longest + 3)], wanted, "rates after the warm-up", rtol=2e-6)


@case("LRSCHED-POLY-002")
def poly_first_call_beyond_the_end(mx, check):
    made = mx.lr_scheduler.PolyScheduler(5, base_lr=1.0)
    check.close([made(7), made(2), made(7)], [1.0, 0.36, 0.36], "rates for 7, 2 and 7 updates", rtol=2e-6)


@case("LRSCHED-POLY-002")
def poly_depends_on_the_number_alone(mx, check):
    made = mx.lr_scheduler.PolyScheduler(5, base_lr=1.0)
    check.close([made(4), made(1), made(4), made(0)], [0.04, 0.64, 0.04, 1.0], "rates for 4, 1, 4 and 0 updates",
                rtol=2e-6)


def end_of_schedule(mx, check, kind):
    check.close(kind(4, base_lr=1.0)(4), 0.0, "rate at the end of a schedule with allowed arguments", atol=1e-9)
    check.close(kind(4, base_lr=1.0)(0), 1.0, "rate at its start")


@case("LRSCHED-POLY-003", samples={
    "fraction": {"kind": AssertionError, "text": "", "given": 1.5},
    "zero": {"kind": ValueError, "text": "maximum number of updates must be strictly positive", "given": 0},
    "negative": {"kind": ValueError, "text": "maximum number of updates must be strictly positive", "given": -3}})
def poly_arguments(mx, check, kind, text, given):
    end_of_schedule(mx, check, mx.lr_scheduler.PolyScheduler)
    check.raises(kind, text, mx.lr_scheduler.PolyScheduler, given)


@case("LRSCHED-COSINE-001")
def cosine_defaults(mx, check):
    check_default(check, mx.lr_scheduler.CosineScheduler, base_lr=0.01, final_lr=0)


@case("LRSCHED-COSINE-001", samples={
    "final": {"longest": 4, "options": {"final_lr": 0.1},
              "wanted": [1, 0.868198, 0.55, 0.231802, 0.1, 0.1, 0.1]},
    "warm_up": {"longest": 6, "options": {"warmup_steps": 2, "warmup_begin_lr": 0.1},
                "wanted": [0.1, 0.55, 1, 0.853553, 0.5, 0.146447, 0, 0, 0]}})
def cosine_rates(mx, check, longest, options, wanted):
    check_rates(check, mx.lr_scheduler.CosineScheduler(longest, base_lr=1.0, **options), wanted)


@case("LRSCHED-COSINE-001", samples={"plain": {"warm": 0, "longest": 9}, "warm_up": {"warm": 3, "longest": 8}})
def cosine_follows_the_formula(mx, check, warm, longest):
    made = mx.lr_scheduler.CosineScheduler(longest, base_lr=0.8, final_lr=0.05, warmup_steps=warm)
    wanted = decaying(cosine, warm, longest, 0.8, 0.05, longest + 3)
    check.close([made(n) for n in range(warm, longest + 3)], wanted, "rates after the warm-up", rtol=2e-6)


@case("LRSCHED-COSINE-002", samples={
    "fraction": {"kind": AssertionError, "text": "", "given": 1.5},
    "zero": {"kind": ValueError, "text": "maximum number of updates must be strictly positive", "given": 0},
    "negative": {"kind": ValueError, "text": "maximum number of updates must be strictly positive", "given": -3}})
def cosine_arguments(mx, check, kind, text, given):
    end_of_schedule(mx, check, mx.lr_scheduler.CosineScheduler)
    check.raises(kind, text, mx.lr_scheduler.CosineScheduler, given)


@case("LRSCHED-COSINE-002")
def cosine_first_call_beyond_the_end(mx, check):
    made = mx.lr_scheduler.CosineScheduler(5, base_lr=1.0)
    check.close([made(7), made(2), made(7)], [1.0, 0.654508, 0.654508], "rates for 7, 2 and 7 updates", rtol=2e-6)


@case("LRSCHED-POLY-003")
def poly_of_warm_up_alone(mx, check):
    made = mx.lr_scheduler.PolyScheduler(4, base_lr=1.0, warmup_steps=4)
    check.close(made(3), 0.75, "rate within the warm-up")
    check.raises(ZeroDivisionError, made, 4)
