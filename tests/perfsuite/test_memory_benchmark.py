"""The asv benchmarks of memory give the numbers of the command."""

import pytest

from perfsuite.benchmarks.memory import Memory
from perfsuite.memory_models import MODELS


@pytest.mark.parametrize("workload", Memory.params[0])
def test_tracked_bytes(workload):
    benchmark = Memory()
    benchmark.setup(workload)
    planned, no_reuse = benchmark.track_planned(workload), benchmark.track_no_reuse(workload)
    assert 0 < planned < no_reuse
    assert benchmark.unit == "bytes"


def test_the_small_models_are_tracked():
    assert {workload.split("/")[0] for workload in Memory.params[0]} == {
        name for name, model in MODELS.items() if model.quick_batch}


def test_the_steps_run():
    benchmark = Memory()
    benchmark.setup("lenet/training")
    benchmark.batch = 2
    benchmark.peakmem_steps("lenet/training")
