"""Explanations: why shapes do not fit, why a gradient is missing, what an error means, what keeps memory.

* ``shapes(a, b, op=...)`` goes through five layers: shapes, broadcasting, memory, contexts, graph.
* ``gradient(w, loss)`` goes through five layers: variable, recording, path, graph, values.
* ``error()`` finds the call behind an error and explains that; ``with explain():`` adds it to tracebacks, and
  REFENGINE_DIAGNOSE=1 to every uncaught error of a program.
* ``with watch():`` logs which line made which array, so that diagnoses can name it.
* ``with find_leaks():`` counts the arrays that stay; ``check_gpu_memory`` says how full a device is.

Each layer says what it found and what to change; a ``Diagnosis`` is text when printed and true when there is a problem.
"""

from __future__ import annotations

from .errors import error, explain, install
from .gradients import gradient
from .layers import shapes
from .leaks import census, check_gpu_memory, find_leaks
from .report import Diagnosis, Finding
from .source import Place
from .watching import forget, watch

__all__ = ['Diagnosis', 'Finding', 'Place', 'census', 'check_gpu_memory', 'error', 'explain', 'find_leaks', 'forget',
           'gradient', 'install', 'shapes', 'watch']
