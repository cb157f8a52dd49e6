"""Memory of the small models over commits: what the planner says in bytes, and the peak of asv's process.

The parameter is ``model/mode``. Plans depend on neither the machine nor its load; the peak has the interpreter in it.
"""

import importlib
import os

from perfsuite.memory_models import MODELS, initialized
from perfsuite.memory_plan import observe
from perfsuite.memory_worker import FIRST_STEPS, stepper

MODULE = os.environ.get("GLUON_CONFORMANCE_BENCH_MODULE", "refengine")
SMALL = [name for name, model in MODELS.items() if model.quick_batch is not None]


class Memory:
    """Planned bytes, bytes without reuse, and the peak of some steps, for inference and for training."""

    timeout = 300
    unit = "bytes"
    param_names = ("workload",)
    params = ([f"{name}/{mode}" for name in SMALL for mode in ("inference", "training")],)

    def setup(self, workload):
        name, mode = workload.split("/")
        self.mx, self.model, self.train = importlib.import_module(MODULE), MODELS[name], mode == "training"
        self.batch = self.model.quick_batch

    def _observed(self, what):
        return observe(self.mx, self.model.build(self.mx), self.model.shapes(self.batch), self.train)[what]

    def track_planned(self, workload):
        return self._observed("planned")

    def track_no_reuse(self, workload):
        return self._observed("no_reuse")

    def peakmem_steps(self, workload):
        step, _ = stepper(self.mx, initialized(self.mx, self.model, self.batch), self.model, self.train, self.batch)
        for _ in range(FIRST_STEPS):
            step()
