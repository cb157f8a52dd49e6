"""One asv class per family; its parameter is ``record/size``, its value the seconds of one call (smaller is better).

The engine is ``refengine`` unless the environment variable GLUON_CONFORMANCE_BENCH_MODULE names another module.
``perfsuite.history`` turns the seconds round into units per second.
"""

import importlib
import os

from perfsuite.record import load_records

MODULE = os.environ.get("GLUON_CONFORMANCE_BENCH_MODULE", "refengine")
RECORDS = load_records()


class Family:
    """Set-up and timing shared by all families; a wrong result before or after the timing leaves no number."""

    timeout = 300
    warmup_time = 0.05
    param_names = ("workload",)

    def setup(self, workload):
        name, size = workload.split("/")
        self.workload = RECORDS[name].build(importlib.import_module(MODULE), size)
        self.workload.verify()

    def teardown(self, workload):
        self.workload.verify()


def parameters(family):
    """``record/size`` of every record of a family, its quick size first."""
    return [
        f"{record.name}/{size}"
        for record in RECORDS.values() if record.family == family
        for size in [record.quick, *(size for size in record.sizes if size != record.quick)]
    ]


class Dispatch(Family):
    params = (parameters("dispatch"),)

    def time_call(self, workload):
        self.workload.call()


class Throughput(Family):
    params = (parameters("throughput"),)

    def time_call(self, workload):
        self.workload.call()


class Bandwidth(Family):
    params = (parameters("bandwidth"),)

    def time_call(self, workload):
        self.workload.call()


class Compression(Family):
    params = (parameters("compression"),)

    def time_call(self, workload):
        self.workload.call()

