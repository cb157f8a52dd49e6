"""Mutants of ND-RANDOM."""

import numpy as np

from conformance.mutants import mutant
from conformance.mutants.ndarray_kit import function, is_array


@mutant("ND-RANDOM-001")
def shuffle_has_a_stream_of_its_own(mx):
    stream = np.random.RandomState(1)
    function(mx.nd.random, "shuffle", lambda original, data, **options:
             mx.nd.take(data, mx.nd.array(stream.permutation(data.shape[0]))))


@mutant("ND-RANDOM-002")
def fraction_is_a_seed(mx):
    function(mx.random, "seed", lambda original, seed_state, *args, **options:
             original(int(seed_state) if isinstance(seed_state, float) else seed_state, *args, **options))


@mutant("ND-RANDOM-005")
def integers_are_long(mx):
    function(mx.nd.random, "randint", lambda original, *args, **options:
             original(*args, **dict({"dtype": "int64"}, **options)))


@mutant("ND-RANDOM-006")
def blocks_are_columns(mx):
    def body(original, *args, **options):
        made = original(*args, **options)
        return made.T if is_array(options.get("low")) else made

    function(mx.nd.random, "uniform", body)


@mutant("ND-RANDOM-007")
def scale_of_zero_is_allowed(mx):
    def body(original, *args, **options):
        if len(args) > 1 and not is_array(args[1]) and args[1] == 0:
            args = (args[0], 1e-30) + args[2:]
        return original(*args, **options)

    function(mx.nd.random, "normal", body)


@mutant("ND-RANDOM-008")
def standard_normal_is_never_negative(mx):
    function(mx.nd.random, "randn", lambda original, *args, **options: mx.nd.abs(original(*args, **options)))
