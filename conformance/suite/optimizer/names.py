"""The optimizers by name, for rules on all of them.

Runs in the engine's interpreter: Python 3.8, standard library and numpy >= 1.17 only.
"""

#: The optimizers that every release has.
COMMON = ("adadelta", "adagrad", "adam", "adamax", "dcasgd", "ftml", "ftrl", "groupadagrad", "lamb", "lars", "nadam",
          "nag", "rmsprop", "sgd", "sgld", "signum", "test")

#: The optimizers of the current API.
ALL = tuple(sorted(COMMON + ("adabelief", "adamw", "lans")))

#: The shapes of weight that an optimizer takes: GroupAdaGrad works on matrices only.
SHAPES = {"groupadagrad": (1, 1)}


def shape_for(name):
    """A shape of one element that this optimizer takes."""
    return SHAPES.get(name, (1,))


def registered(mx, check):
    """The names of all registered optimizers, after a look that none of the common ones is missing."""
    found = sorted(mx.optimizer.Optimizer.opt_registry)
    missing = [name for name in COMMON if name not in found]
    check.equal(missing, [], "common optimizers that are not registered")
    return found


def each(*skipped, **options):
    """One sample per name of ``names=`` (by default the common ones) without the skipped ones."""
    return {name: {"name": name} for name in options.get("names", COMMON) if name not in skipped}
