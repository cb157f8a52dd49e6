"""What the cases of graphs share: executors, graph files, marked arrays.

Symbols work on ``mx.nd`` arrays in every engine. What is about gluon or recorded code works on the arrays of gluon.

Runs in the engine's interpreter: Python 3.8, standard library and numpy >= 1.17 only.
"""

import json

from conformance.suite import kit


def bind(mx, symbol, arrays, gradients=None, **options):
    """An executor of a symbol on the CPU; 2.x keeps the function under a private name."""
    function = getattr(symbol, "bind", None) or symbol._bind
    return function(mx.cpu(), arrays, args_grad=gradients, **options)


def numbers(mx, **values):
    """Arrays of symbols, name -> mx.nd array."""
    return {name: mx.nd.array(value) for name, value in values.items()}


def evaluate(mx, symbol, **values):
    """The outputs of a symbol as numpy arrays."""
    return [output.asnumpy() for output in symbol.eval(ctx=mx.cpu(), **numbers(mx, **values))]


def nodes(symbol):
    """The nodes of the graph of a symbol, as its JSON lists them."""
    return json.loads(symbol.tojson())["nodes"]


def sources(node):
    """The numbers of the nodes that a node reads."""
    return [entry[0] for entry in node["inputs"]]


def from_json(mx, text):
    """The symbol of a JSON text: load_json in 1.x, fromjson in 2.x."""
    return (mx.sym.load_json if hasattr(mx.sym, "load_json") else mx.sym.fromjson)(text)


def marked(mx, values, grad_req="write", dtype="float32"):
    """An array that gradients are wanted for."""
    made = kit.array(mx, values, dtype=dtype)
    made.attach_grad(grad_req)
    return made


def layer(mx):
    """FullyConnected(4) named fc of the variable a."""
    return mx.sym.FullyConnected(mx.sym.var("a"), num_hidden=4, name="fc")
