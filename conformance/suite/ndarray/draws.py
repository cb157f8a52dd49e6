"""ND-RANDOM: random draws and their seed."""

import numpy as np

from conformance.case import case
from conformance.suite.ndarray._tools import fails_at_the_wait

DRAWS = {
    "uniform": {"draw": lambda mx: mx.nd.random.uniform(shape=(20,))},
    "normal": {"draw": lambda mx: mx.nd.random.normal(shape=(20,))},
    "randint": {"draw": lambda mx: mx.nd.random.randint(0, 1000, shape=(20,))},
    "gamma": {"draw": lambda mx: mx.nd.random.gamma(2.0, 1.0, shape=(20,))},
    "exponential": {"draw": lambda mx: mx.nd.random.exponential(shape=(20,))},
    "shuffle": {"draw": lambda mx: mx.nd.random.shuffle(mx.nd.arange(50))},
    "dropout": {"draw": lambda mx: mx.nd.Dropout(mx.nd.ones((50,)), p=0.5, mode="always")},
}


@case("ND-RANDOM-001", samples=DRAWS)
def same_seed_same_draws(mx, check, draw):
    mx.random.seed(7)
    first, second = draw(mx).asnumpy(), draw(mx).asnumpy()
    mx.random.seed(7)
    check.equal(draw(mx), first, "first draw after the same seed")
    check.equal(draw(mx), second, "second draw after the same seed")
    check.that(bool((first != second).any()), "two draws in a row differ", "other values", second)


@case("ND-RANDOM-001")
def other_seed_other_draws(mx, check):
    mx.random.seed(7)
    first = mx.nd.random.uniform(shape=(20,)).asnumpy()
    mx.random.seed(8)
    other = mx.nd.random.uniform(shape=(20,)).asnumpy()
    check.that(bool((first != other).any()), "draws after another seed differ", "other values", other)


@case("ND-RANDOM-001")
def draws_of_several_kinds(mx, check):
    def draws():
        mx.random.seed(3)
        uniform = mx.nd.random.uniform(shape=(3,))
        mx.nd.random.normal(shape=(5,))
        return np.concatenate([uniform.asnumpy(), mx.nd.random.uniform(shape=(3,)).asnumpy()])

    check.equal(draws(), draws(), "draws around a draw of another kind")


@case("ND-RANDOM-002", samples={"text": {"seed": "x"}, "fraction": {"seed": 1.5}, "none": {"seed": None}})
def seed_must_be_an_int(mx, check, seed):
    check.raises(ValueError, "must be int", mx.random.seed, seed)


@case("ND-RANDOM-002")
def numpy_seed_has_no_influence(mx, check):
    mx.random.seed(1)
    np.random.seed(4)
    first = mx.nd.random.normal(shape=(4,)).asnumpy()
    mx.random.seed(1)
    np.random.seed(5)
    check.equal(mx.nd.random.normal(shape=(4,)), first, "draws after another seed of numpy")


@case("ND-RANDOM-003")
def stream_of_a_fresh_process(mx, check):
    status, printed, _ = check.python("print('drawn', mx.nd.random.uniform(shape=(3,)).asnumpy().tolist())")
    check.equal(status, 0, "exit status")
    mx.random.seed(0)
    want = mx.nd.random.uniform(shape=(3,)).asnumpy().tolist()
    check.contains(printed, "drawn %s" % want, doing="draws of a process that sets no seed")


def _draw(mx, device):
    return float(mx.nd.random.uniform(shape=(1,), ctx=mx.cpu(device)).asnumpy()[0])


@case("ND-RANDOM-004")
def one_stream_for_all_cpu_contexts(mx, check):
    mx.random.seed(5)
    stream = [_draw(mx, 0), _draw(mx, 1), _draw(mx, 0)]
    mx.random.seed(5, ctx=mx.cpu(1))
    check.equal([_draw(mx, 0), _draw(mx, 0), _draw(mx, 0)], stream, "draws on cpu(0) after a seed for cpu(1)")
    mx.random.seed(5, ctx="all")
    check.equal(_draw(mx, 1), stream[0], "draw on cpu(1) after a seed for all")


@case("ND-RANDOM-005", samples={
    "uniform": {"draw": lambda r: r.uniform(), "shape": (1,), "dtype": "float32"},
    "normal": {"draw": lambda r: r.normal(0, 1, (32, 10)), "shape": (32, 10), "dtype": "float32"},
    "number_as_shape": {"draw": lambda r: r.normal(shape=3), "shape": (3,), "dtype": "float32"},
    "float64": {"draw": lambda r: r.uniform(shape=(2,), dtype="float64"), "shape": (2,), "dtype": "float64"},
    "randint": {"draw": lambda r: r.randint(0, 5, shape=(4,)), "shape": (4,), "dtype": "int32"},
    "randint_int64": {"draw": lambda r: r.randint(0, 5, shape=(4,), dtype="int64"), "shape": (4,), "dtype": "int64"}})
def shape_and_dtype(mx, check, draw, shape, dtype):
    made = draw(mx.nd.random)
    check.shape(made, shape)
    check.dtype(made, dtype)


@case("ND-RANDOM-005")
def dtype_of_categories(mx, check):
    """2.0 calls the draw categorical, and draws counts under the old name."""
    draw = getattr(mx.nd.random, "categorical", None) or mx.nd.random.multinomial
    made = draw(mx.nd.array([0.0, 1.0, 0.0]), shape=(5,))
    check.equal(made, [1] * 5, "positions")
    check.dtype(made, "int32")


@case("ND-RANDOM-005", samples={
    "normal": {"draw": lambda r: r.normal(shape=(3,), dtype="int32"),
               "fragment": "valid values are: {'None', 'float16', 'float32', 'float64'}"},
    "uniform": {"draw": lambda r: r.uniform(shape=(3,), dtype="int32"),
                "fragment": "valid values are: {'None', 'float16', 'float32', 'float64'}"},
    "randint": {"draw": lambda r: r.randint(0, 5, shape=(4,), dtype="float32"),
                "fragment": "Invalid Input: 'float32'"}})
def dtype_is_refused(mx, check, draw, fragment):
    check.raises(mx.MXNetError, fragment, draw, mx.nd.random)


@case("ND-RANDOM-006")
def block_for_every_parameter(mx, check):
    made = mx.nd.random.uniform(low=mx.nd.array([0, 10]), high=mx.nd.array([1, 20]), shape=(300,))
    check.shape(made, (2, 300))
    values = made.asnumpy()
    check.that(bool((values[0] >= 0).all() and (values[0] <= 1).all()), "the first row lies in [0, 1]", got=values[0])
    check.that(bool((values[1] >= 10).all() and (values[1] <= 20).all()), "the second row lies in [10, 20]",
               got=values[1])
    check.that(len(set(values[0].tolist())) > 200, "the values of a row differ", got=values[0])


@case("ND-RANDOM-006")
def array_beside_a_number(mx, check):
    check.raises(AssertionError, "Distribution parameters must all have the same type", mx.nd.random.uniform, 0,
                 mx.nd.array([1]))


@case("ND-RANDOM-007")
def limits_in_the_wrong_order(mx, check):
    fails_at_the_wait(check, mx.MXNetError, "low must be less or equal to high",
                      lambda: mx.nd.random.uniform(1, 0, shape=(2,)))
    _drain(mx)


@case("ND-RANDOM-007", samples={"negative": {"scale": -1}, "zero": {"scale": 0}})
def scale_is_not_positive(mx, check, scale):
    fails_at_the_wait(check, mx.MXNetError, "scale parameter in gaussian has to be positive",
                      lambda: mx.nd.random.normal(0, scale, shape=(2,)))
    _drain(mx)


def _drain(mx):
    """Take the failure off the generator of an engine that keeps it there, so that later cases do not see it."""
    for _ in range(3):
        try:
            mx.nd.random.uniform(shape=(1,)).wait_to_read()
        except mx.MXNetError:
            continue
        return


@case("ND-RANDOM-008")
def shuffle_gives_a_new_array(mx, check):
    source = mx.nd.arange(100).reshape((50, 2))
    made = mx.nd.random.shuffle(source).asnumpy()
    check.equal(source, np.arange(100).reshape(50, 2), "source afterwards")
    check.equal(made[np.argsort(made[:, 0])], np.arange(100).reshape(50, 2), "rows, sorted")
    check.that(bool((made[:, 0] != np.arange(0, 100, 2)).any()), "the order of the rows changed", got=made[:, 0])


@case("ND-RANDOM-008")
def dimensions_as_arguments(mx, check):
    made = mx.nd.random.randn(2, 300)
    check.shape(made, (2, 300))
    check.that(bool((made.asnumpy() < 0).any() and (made.asnumpy() > 0).any()), "values of both signs")


@case("ND-RANDOM-008")
def context_of_a_draw(mx, check):
    check.equal(mx.nd.random.uniform(shape=(2,), ctx=mx.cpu(1)).context, mx.cpu(1), "context of uniform")
    check.equal(mx.nd.random.normal(shape=(2,), ctx=mx.cpu(2)).context, mx.cpu(2), "context of normal")


@case("ND-RANDOM-008")
def draw_into_an_array(mx, check):
    target = mx.nd.full((50,), -5)
    check.same(mx.nd.random.uniform(shape=(50,), out=target), target, "what the draw returns")
    values = target.asnumpy()
    check.that(bool((values >= 0).all() and (values < 1).all()), "the array holds the draw", "numbers in [0, 1)",
               values)
