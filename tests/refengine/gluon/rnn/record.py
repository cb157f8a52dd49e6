"""Take down what a release answers: run this file with the release's own Python, ``python record.py``."""

import json
import sys
from pathlib import Path

HERE = Path(__file__).parent
ANSWERS = HERE / 'answers-mxnet-1.9.1.json'

if __name__ == '__main__':
    sys.path.insert(0, str(HERE))
    import cases as listed
    import mxnet

    lines = ',\n'.join('{}:{}'.format(json.dumps(case[0]), json.dumps(listed.ask(mxnet, case), separators=(',', ':')))
                       for case in listed.cases())
    Path(sys.argv[1] if len(sys.argv) > 1 else ANSWERS).write_text('{\n' + lines + '\n}\n')
