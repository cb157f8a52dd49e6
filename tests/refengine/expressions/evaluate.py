"""Answer expressions under an engine: ``python evaluate.py MODULE QUESTIONS ANSWERS``.

Runs in the engine's own interpreter, so it keeps to Python 3.8, the standard library and numpy. QUESTIONS is a JSON
file with ``prelude`` and ``expressions``; ANSWERS becomes a JSON file from expression to answer.
"""

import importlib
import json
import sys
import warnings


def describe(value):
    """An answer as plain data: kind, shape, dtype and elements to seven digits, or the class of an error."""
    import numpy as np
    if hasattr(value, 'asnumpy'):
        array = value.asnumpy()
        return ['array', list(array.shape), str(array.dtype), [float(format(x, '.7g')) for x in array.ravel()]]
    if isinstance(value, (list, tuple)):
        return ['list', [describe(v) for v in value]]
    if isinstance(value, np.generic):
        return ['number', str(value.dtype), float(format(value, '.7g'))]
    if callable(value) and not isinstance(value, type):
        return ['callable']
    return ['value', str(value)]


def answer(mx, prelude, expressions):
    """The answers of an engine, each expression in a fresh set of operands."""
    import numpy as np
    found = {}
    for expression in expressions:
        scope = {'mx': mx, 'np': np, 'nd': mx.nd, 'autograd': mx.autograd}
        try:
            exec(prelude, scope)
            found[expression] = describe(eval(expression, scope))
            mx.nd.waitall()
        except Exception as error:  # noqa: BLE001 - any error is an answer
            found[expression] = ['error', [c.__name__ for c in type(error).__mro__[:-2]]]
            mx.autograd.set_recording(False)
            try:
                mx.nd.waitall()
            except Exception as late:  # noqa: BLE001 - as above
                found[expression] += [type(late).__name__]
    return found


def main(module, questions, answers):
    """Read questions, write answers."""
    warnings.simplefilter('ignore')
    mx = importlib.import_module(module)
    with open(questions) as file:
        asked = json.load(file)
    with open(answers, 'w') as file:
        json.dump(answer(mx, asked['prelude'], asked['expressions']), file)


if __name__ == '__main__':
    main(*sys.argv[1:])
