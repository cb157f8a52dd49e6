"""Take down what a release answers: run this file with the release's own Python, ``python record.py``."""

import json
import sys
from pathlib import Path

HERE = Path(__file__).parent
ANSWERS = HERE / 'answers-mxnet-1.9.1.json'


def collect(mx, cases):
    """The answers of an engine to all cases."""
    return [cases.ask(mx, case, number) for number, case in enumerate(cases.cases())]


if __name__ == '__main__':
    sys.path.insert(0, str(HERE))
    import cases as listed
    import mxnet

    found = collect(mxnet, listed)
    lines = ',\n'.join(json.dumps(answer, separators=(',', ':')) for answer in found)
    Path(sys.argv[1] if len(sys.argv) > 1 else ANSWERS).write_text('[\n' + lines + '\n]\n')
