"""The measuring worker: runs in the engine's own interpreter and times workloads on request.

Started as ``interpreter -m perfsuite.worker``; reads one JSON object a line and answers each with one:

``{"load": {"module": ..., "setup": ..., "kind": "mx"}}`` -> ``{"version", "python", "numpy", "records": [...]}``
``{"prepare": {"record": ..., "size": ...}}``  -> ``{"amount", "facts", "calls", "seconds"}``; verified and calibrated
``{"measure": {"calls": n}}``                  -> ``{"wall": seconds, "cpu": seconds}`` of n calls
``{"finish": {}}``                             -> ``{}`` after the result was verified once more
``{"quit": {}}`` ends it. What fails is answered with ``{"error": kind, "message": text}``.

Runs in the engine's interpreter: Python 3.8, standard library and numpy >= 1.20 only.
"""

import gc
import importlib
import json
import os
import sys
import time
from typing import Any

#: One sample lasts about this long, so that the clock's step and the loop do not count.
SAMPLE_SECONDS = 0.05
#: Calls before the first sample: caches, pools and branch predictors settle.
WARM_CALLS = 3


class Bench(object):
    """The state of one worker: the engine module and the workload made ready last."""

    def __init__(self):
        self.module, self.kind, self.records = None, "mx", {}
        self.workload: Any = None

    def load(self, module, setup="", kind="mx"):
        """Import the engine (or baseline library) and the records."""
        from perfsuite.record import load_records

        self.module, self.kind = importlib.import_module(module), kind
        if setup:
            exec(setup, {"mx": self.module})  # the engine table's own text, as for the cases
        self.records = {n: r for n, r in load_records().items() if kind in r.builders}
        import numpy

        return {"version": str(getattr(self.module, "__version__", "unknown")), "python": sys.version.split()[0],
                "numpy": numpy.__version__, "records": list(self.records)}

    def prepare(self, record, size, sample_seconds=SAMPLE_SECONDS):
        """Build and verify the workload; tell how many calls make a sample."""
        made = self.records[record]
        self.workload = None
        gc.collect()
        self.workload = made.build(self.module, size, self.kind)
        self.workload.verify()
        for _ in range(WARM_CALLS):
            self.workload.call()
        calls = 1
        while True:
            taken = self.measure(calls)["wall"]
            if taken >= sample_seconds or calls >= 1 << 20:
                break
            calls = max(calls + 1, int(calls * min(10.0, 1.2 * sample_seconds / max(taken, 1e-9))))
        return {"amount": made.amount(size), "facts": self.workload.facts, "calls": calls, "seconds": taken / calls}

    def measure(self, calls):
        """Time that many calls, with the garbage collector held off."""
        call = self.workload.call
        collecting = gc.isenabled()
        gc.disable()
        try:
            wall, cpu = time.perf_counter(), time.process_time()
            for _ in range(calls):
                call()
            return {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
        finally:
            if collecting:
                gc.enable()

    def finish(self):
        """Verify once more: what was timed last must still be right."""
        self.workload.verify()
        self.workload = None
        return {}


def serve(lines, answer):
    """Answer requests until ``quit`` or the end of the input."""
    bench = Bench()
    for line in lines:
        (name, arguments), = json.loads(line).items()
        if name == "quit":
            return
        try:
            reply = getattr(bench, name)(**arguments)
        except Exception as error:  # noqa: BLE001 - whatever an engine raises is reported, and the worker goes on
            reply = {"error": type(error).__name__, "message": str(error)[:2000]}
        answer(reply)


def main():
    """Serve on stdin and on a private copy of stdout; what the engine prints goes to stderr."""
    private = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def answer(reply):
        private.write(json.dumps(reply) + "\n")
        private.flush()

    serve(sys.stdin, answer)


if __name__ == "__main__":
    main()
