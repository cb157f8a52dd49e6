"""Dependencies point one way: between the packages, between worker and harness, and inside the reference engine."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import pytest

from tests.contracts.sources import PACKAGES, Import, imports_of, python_files, worker_side_files

#: Package -> which of our other packages it may import.
MAY_IMPORT = {
    "refengine": set(),
    "conformance": {"reports"},
    "perfsuite": {"conformance"},
    "reports": set(),
}

#: Files with a further permission: commands bring the packages together.
FURTHER = {"conformance/cli/": {"perfsuite"}}

#: What each package may import beside the standard library and our own: everything else has to be justified here.
THIRD_PARTY = {
    "refengine": {"numpy", "numba", "cupy", "PIL", "psutil", "graphviz"},
    "conformance": {"numpy", "click", "rich", "yaml", "jsonschema", "filelock", "platformdirs", "pytest", "hypothesis"},
    "perfsuite": {"numpy", "click", "rich", "pandas", "asv", "asv_runner", "threadpoolctl"},
    "reports": {"rich", "jinja2", "markupsafe", "jsonschema"},
}

#: Third-party modules of the reference engine that belong in one place -> that place.
ONLY_IN = {"cupy": "refengine/device.py", "numba": "refengine/kernels/", "PIL": "refengine/image/",
           "graphviz": "refengine/visualization.py"}

#: The layers of the reference engine, lowest first: a module imports from its own layer and those below it.
LAYERS = (
    ("ground", {"base", "env", "error", "files", "forksafe", "log", "misc", "registry", "rtc", "util"}),
    ("device", {"context", "device", "memory", "pool", "storage"}),
    ("operators", {"fields", "op", "ops", "samples", "name_space"}),
    ("dispatch", {"engine", "tape", "tape_walk", "tape_backward", "dispatch", "random", "autograd", "kernels", "lazy",
                  "threaded"}),
    ("graphs", {"graph"}),
    ("front ends", {"ndarray", "numpy", "symbol", "attribute", "name"}),
    (
        "libraries",
        {
            "initializer", "optimizer", "lr_scheduler", "kvstore", "compression", "gluon", "metric", "amp",
            "quantization", "io", "recordio", "image", "profiler", "operator", "callback", "monitor", "visualization",
            "contrib", "distributed", "launch", "native", "module", "model", "library", "board", "rnn",
        },
    ),
    ("outside", {"compat", "runtime", "test_utils", "diagnose", "libinfo", "__init__", "__main__"}),
)  # fmt: skip

#: Imports inside functions that point upwards, each with its reason.
UPWARD = {
    ("autograd", "symbol"): "a recorded computation is handed out as a symbol",
    ("graph", "ndarray"): "results of a cached graph are arrays of the front end",
    ("ops", "dispatch"): "a custom operator runs the program's own code, which works on arrays",
    ("ops", "operator"): "a custom operator is looked up where the program registered it",
    ("ops", "tape"): "the program's own code runs with recording off",
    ("ndarray", "compat"): "files are read and written in the format of MXNet",
    ("ndarray", "image"): "image files are decoded where the package that reads them is imported",
    ("random", "ndarray"): "random functions of the public name space return arrays",
    ("tape_walk", "ndarray"): "gradients are handed to the user as arrays",
    ("util", "context"): "the number and memory of gpu devices are asked of their context",
    ("util", "ndarray"): "arrays of the two front ends are told apart by their class",
}

RANK = {module: rank for rank, (_, modules) in enumerate(LAYERS) for module in modules}


def found(complaints: Iterable[str]) -> None:
    complaints = list(complaints)
    assert not complaints, "\n" + "\n".join(complaints)


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_import_only_what_they_may(package: str) -> None:
    def complaints() -> Iterable[str]:
        for path in python_files(package):
            allowed = {package, *MAY_IMPORT[package]}
            for start, further in FURTHER.items():
                if path.startswith(start):
                    allowed |= further
            for item in imports_of(path):
                if item.top in PACKAGES and item.top not in allowed:
                    yield f"{item}: {package} must not import {item.module}"

    found(complaints())


@pytest.mark.parametrize("package", PACKAGES)
def test_third_party_packages_are_known(package: str) -> None:
    def complaints() -> Iterable[str]:
        for path in python_files(package):
            for item in imports_of(path):
                outside = item.top not in sys.stdlib_module_names and item.top not in PACKAGES
                if outside and item.top not in THIRD_PARTY[package]:
                    yield f"{item}: {package} is not known to need {item.top}"
                place = ONLY_IN.get(item.top)
                if package == "refengine" and place and not path.startswith(place):
                    yield f"{item}: {item.top} is imported in {place} only"

    found(complaints())


def test_no_package_names_an_engine_but_its_own() -> None:
    """The suite, the benchmarks and the reports know engines by name, never by import."""

    def complaints() -> Iterable[str]:
        for path in python_files(*PACKAGES):
            for item in imports_of(path):
                if item.top in ("mxnet", "torch"):
                    yield f"{item}: imports the engine {item.top}"

    found(complaints())


def test_worker_side_files_import_only_what_every_engine_has() -> None:
    files = worker_side_files()
    for path in ("worker.py", "forked.py", "check.py", "suite/kit.py", "mutants/__init__.py", "nulls/zeros.py"):
        assert f"conformance/{path}" in files, "pyproject.toml lists what runs in an engine's interpreter"
    ours = {path.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for path in files}
    ours |= {"conformance", "perfsuite"}

    def complaints() -> Iterable[str]:
        for path in files:
            for item in imports_of(path):
                if item.top in ("conformance", "perfsuite"):
                    for module in item.modules:
                        if module not in ours:
                            yield f"{item}: {module} does not run in an engine's interpreter"
                elif item.top != "numpy" and item.top not in sys.stdlib_module_names:
                    yield f"{item}: {item.module} is not there in every engine's interpreter"

    found(complaints())


def _part(module: str) -> str:
    """``refengine.gluon.nn`` -> ``gluon``; the package itself -> ``__init__``."""
    return module.split(".")[1] if "." in module else "__init__"


def _inner_imports() -> Iterable[tuple[Import, str, str]]:
    for path in python_files("refengine"):
        mine = path.split("/")[1].removesuffix(".py")
        for item in imports_of(path):
            if item.top == "refengine":
                for module in item.modules:
                    if _part(module) != mine:
                        yield item, mine, _part(module)


def test_every_module_of_the_reference_engine_has_a_layer() -> None:
    parts = {path.split("/")[1].removesuffix(".py") for path in python_files("refengine")}
    found(f"refengine/{part}: name its layer in LAYERS" for part in sorted(parts - RANK.keys()))


def test_the_reference_engine_imports_downwards() -> None:
    def complaints() -> Iterable[str]:
        for item, mine, other in _inner_imports():
            if other == "__init__" or not {mine, other} <= RANK.keys() or RANK[other] <= RANK[mine]:
                continue
            layer, above = LAYERS[RANK[mine]][0], LAYERS[RANK[other]][0]
            if not item.lazy:
                yield f"{item}: {mine} ({layer}) imports {other} ({above}), which lies above it"
            elif (mine, other) not in UPWARD:
                yield f"{item}: {mine} ({layer}) imports {other} ({above}) in a function; UPWARD has no reason for it"

    found(complaints())


def test_no_reason_is_left_over() -> None:
    used = {(mine, other) for item, mine, other in _inner_imports() if item.lazy}
    assert not UPWARD.keys() - used, "remove these from UPWARD"
