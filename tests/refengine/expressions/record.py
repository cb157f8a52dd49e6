"""Take down the answers of a release: ``python -m tests.refengine.expressions.record INTERPRETER``.

INTERPRETER is the Python of an environment with the release. Where an expression ends the process, it is asked again
alone, and the answer is ``crash``.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from .tables import PRELUDE, expressions

HERE = Path(__file__).parent
ANSWERS = HERE / 'answers-mxnet-1.9.1.json'
TOGETHER = 60


def ask(interpreter: str, module: str, some: list[str]) -> dict[str, list] | None:
    """The answers of one process, or None when it did not live to give them."""
    with tempfile.TemporaryDirectory() as folder:
        questions, answers = Path(folder) / 'questions.json', Path(folder) / 'answers.json'
        questions.write_text(json.dumps({'prelude': PRELUDE, 'expressions': some}))
        command = [interpreter, str(HERE / 'evaluate.py'), module, str(questions), str(answers)]
        try:
            done = subprocess.run(command, capture_output=True, timeout=120, check=False)
        except subprocess.TimeoutExpired:
            return None
        return json.loads(answers.read_text()) if done.returncode == 0 and answers.exists() else None


def collect(interpreter: str, module: str, some: list[str]) -> dict[str, list]:
    """The answers to some expressions, in ever smaller groups around a crash."""
    found = ask(interpreter, module, some)
    if found is not None:
        return found
    if len(some) == 1:
        return {some[0]: ['crash']}
    step = max(1, len(some) // 4)
    parts = [collect(interpreter, module, some[i:i + step]) for i in range(0, len(some), step)]
    return {k: v for part in parts for k, v in part.items()}


def main(interpreter: str) -> None:
    """Write the file of answers, an expression a line."""
    everything = expressions()
    found: dict[str, list] = {}
    for start in range(0, len(everything), TOGETHER):
        found.update(collect(interpreter, 'mxnet', everything[start:start + TOGETHER]))
    lines = ',\n'.join(f'{json.dumps(k)}: {json.dumps(v, separators=(",", ":"))}' for k, v in found.items())
    ANSWERS.write_text('{\n' + lines + '\n}\n')


if __name__ == '__main__':
    main(sys.argv[1])
