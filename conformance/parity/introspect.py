"""List the public functions and classes of an engine: ``python introspect.py MODULE FILE``.

Runs in the engine's own interpreter, so it keeps to Python 3.8 and the standard library. FILE becomes a JSON list of
entries ``{"name", "kind", "parameters"}``. A parameter is ``[name, default]``; the default is text, with ``array`` for
array inputs, ``required`` for what has none, ``unstated`` where the release's description says neither, and ``_Null``
for what the operator decides.
"""

import ctypes
import importlib
import inspect
import json
import os
import re
import sys
import types
import warnings
from typing import Any

SPACES = ("nd", "nd.op", "nd.contrib", "nd.linalg", "nd.random", "nd.image", "nd.sparse", "nd.utils")
"""The name spaces of arrays; ``NDArray`` comes on top."""

SYMBOLS = ("sym", "sym.contrib", "sym.linalg", "sym.random", "sym.image")
"""Those of graphs."""

LIBRARIES = ("gluon", "gluon.nn", "gluon.rnn", "gluon.loss", "gluon.utils", "gluon.data", "gluon.data.vision",
             "gluon.data.vision.transforms", "gluon.contrib.nn", "gluon.contrib.rnn", "gluon.contrib.cnn",
             "gluon.contrib.data", "gluon.contrib.estimator", "gluon.model_zoo.vision", "mod", "model", "metric",
             "init", "callback", "monitor", "viz", "profiler", "rnn", "recordio")
"""Packages of classes and functions; names that were imported into them from elsewhere do not count."""

PREFIXES = {"nd": "", "nd.op": "", "nd.contrib": "_contrib_", "nd.linalg": "_linalg_", "nd.random": "_random_",
            "nd.image": "_image_", "nd.sparse": "_sparse_", "sym": "", "sym.contrib": "_contrib_",
            "sym.linalg": "_linalg_", "sym.random": "_random_", "sym.image": "_image_"}
"""What the operators behind the functions of a name space begin with."""

ARRAY = "array"
REQUIRED = "required"
UNSTATED = "unstated"


# ---- a value as text -------------------------------------------------------------------------------------------

def text_of(value):
    """A default value as text that two engines have in common."""
    if inspect.isclass(value):
        return value.__name__
    if inspect.ismodule(value):
        return value.__name__
    if type(value).__name__ == "_NullType":
        return "_Null"
    if isinstance(value, float):
        return number(value)
    if type(value).__name__ == "Context":
        return "None"           # the current one: whichever that is when the module is imported
    if callable(value) or hasattr(value, "write") or (isinstance(value, str) and os.path.isabs(value)):
        return UNSTATED         # depends on the machine
    if isinstance(value, (list, tuple)):
        return "(" + ", ".join(text_of(v) for v in value) + ("," if len(value) == 1 else "") + ")"
    return repr(value)


def number(value):
    """A number to seven digits: the release writes single precision with nine."""
    value = float("%.7g" % float(value))
    return str(int(value)) if abs(value) < 1e15 and value == int(value) else repr(value)


def default_of(kind):
    """The default in the release's description of a parameter, such as ``float, optional, default=0.25``."""
    found = re.search(r"default=(.*)$", kind)
    if not found:
        return REQUIRED if "required" in kind else UNSTATED
    text = found.group(1).strip()
    quoted = len(text) > 1 and text[0] == text[-1] == "'"
    bare = text[1:-1] if quoted else text
    if bare == "None":
        return "None"
    if kind.startswith("boolean"):
        return {"0": "False", "1": "True"}.get(bare, bare)
    if bare and bare[0] in "[(" and bare[-1] in "])":
        items = [item.strip() for item in bare[1:-1].split(",") if item.strip()]
        return text_of([_item(item) for item in items])
    if kind.startswith(("{", "string")):
        return repr(bare)
    try:
        return number(bare)
    except ValueError:
        return repr(bare)


def _item(text):
    if text == "None":
        return None
    return float(text) if re.match(r"^[-+0-9.eE]+$", text) else text


# ---- operators through the C interface of the release ------------------------------------------------------------

class Operators:
    """What the C library of a release says about its operators; empty for engines without one."""

    def __init__(self, mx):
        self._library: Any = getattr(getattr(mx, "base", None), "_LIB", None)
        self.names = set()
        if isinstance(self._library, ctypes.CDLL):
            count, names = ctypes.c_uint(), ctypes.POINTER(ctypes.c_char_p)()
            self._library.MXListAllOpNames(ctypes.byref(count), ctypes.byref(names))
            self.names = {names[i].decode() for i in range(count.value)}

    def parameters(self, name):
        """The parameters of an operator, arrays first as the functions take them."""
        handle = ctypes.c_void_p()
        self._library.NNGetOpHandle(name.encode(), ctypes.byref(handle))
        real, text, variable, result = (ctypes.c_char_p() for _ in range(4))
        count = ctypes.c_uint()
        names, kinds, docs = (ctypes.POINTER(ctypes.c_char_p)() for _ in range(3))
        done = self._library.MXSymbolGetAtomicSymbolInfo(
            handle, ctypes.byref(real), ctypes.byref(text), ctypes.byref(count), ctypes.byref(names),
            ctypes.byref(kinds), ctypes.byref(docs), ctypes.byref(variable), ctypes.byref(result))
        if done:
            raise RuntimeError("no description of operator " + name)
        arrays, rest = [], []
        counter = (variable.value or b"").decode()
        for i in range(count.value):
            key, kind = names[i].decode(), kinds[i].decode()
            if kind.startswith(("NDArray", "ndarray-or-symbol", "Symbol")):
                arrays.append(["*" + key if "[]" in kind else key, ARRAY])
            elif key not in (counter, "out", "name"):
                rest.append([key, default_of(kind)])
        return arrays + rest


# ---- functions ---------------------------------------------------------------------------------------------------

def signature_of(function, skip_self):
    """The parameters of a Python function; None when it does not tell."""
    try:
        found = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    result = []
    for place, parameter in enumerate(found.parameters.values()):
        if skip_self and place == 0:
            continue
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            result.append(["*" + parameter.name, ARRAY])
        else:
            default = parameter.default
            result.append([parameter.name, REQUIRED if default is parameter.empty else text_of(default)])
    return result


def _own(value, package, kind):
    """Whether a value is a function of the package's arrays (or symbols), not a helper that was imported."""
    if not callable(value) or inspect.isclass(value) or inspect.ismodule(value):
        return False
    module = getattr(value, "__module__", None) or ""
    return module == kind or module.startswith((package + "." + kind, kind + "."))


def _entry(name, function, space, operators):
    short = name.rsplit(".", 1)[1]
    generated = getattr(getattr(function, "__code__", None), "co_filename", "") == "<string>"
    operator = PREFIXES.get(space, "") + short
    if generated and operator in operators.names:
        return {"name": name, "kind": "operator", "parameters": operators.parameters(operator)}
    return {"name": name, "kind": "function", "parameters": signature_of(function, False)}


def _module(mx, space):
    module = mx
    for part in space.split("."):
        module = getattr(module, part, None)
    return module


def functions(mx, package):
    """The public functions of all name spaces, by name."""
    operators = Operators(mx)
    found = {}
    for space in SPACES + SYMBOLS:
        module = _module(mx, space)
        for short in dir(module):
            if short.startswith("_"):
                continue
            value = getattr(module, short, None)
            if _own(value, package, "symbol" if space in SYMBOLS else "ndarray"):
                name = space + "." + short
                found[name] = _entry(name, value, space, operators)
    return found


def methods(mx):
    """The methods, operators and properties of NDArray, by name."""
    found = {}
    cls = mx.nd.NDArray
    for short in dir(cls):
        special = short.startswith("__") and short.endswith("__")
        if short.startswith("_") and not special:
            continue
        value = inspect.getattr_static(cls, short)
        if special and (getattr(cls, short) is getattr(object, short, None) or not callable(value)):
            continue
        if special and not isinstance(value, (types.FunctionType, staticmethod, classmethod)):
            continue
        name = "NDArray." + short
        if isinstance(value, property) or inspect.isdatadescriptor(value):
            found[name] = {"name": name, "kind": "property", "parameters": []}
        elif callable(value) or isinstance(value, (staticmethod, classmethod)):
            kind = "operator method" if special else "method"
            found[name] = {"name": name, "kind": kind, "parameters": signature_of(getattr(cls, short), True)}
    return found


def libraries(mx, package):
    """The classes and functions of the packages around arrays and graphs, by name.

    Of a class of the release there are only the methods that it defines itself; an engine may inherit them.
    """
    release = package == "mxnet"
    found = {}
    for space in LIBRARIES + ("sym",):
        module = _module(mx, space)
        for short in dir(module):
            value = getattr(module, short, None)
            home = getattr(value, "__module__", None) or ""
            if short.startswith("_") or not callable(value) or (release and not _within(home, module.__name__)):
                continue
            name = space + "." + short
            if not inspect.isclass(value):
                if space != "sym":
                    found[name] = {"name": name, "kind": "library function", "parameters": signature_of(value, False)}
                continue
            start = value.__init__
            own = start is not object.__init__ and (not release or "__init__" in vars(value))
            taken = signature_of(start, True) if own else None
            if release and taken and taken[0][0] == "handle":
                taken = None                # of the C library: programs get such objects from functions
            found[name] = {"name": name, "kind": "class", "parameters": taken}
            for method in dir(value):
                static = inspect.getattr_static(value, method)
                if method.startswith("_") or method in ENGINE_CALLS or (release and method not in vars(value)):
                    continue
                key = name + "." + method
                if isinstance(static, property):
                    found[key] = {"name": key, "kind": "class property", "parameters": []}
                elif callable(static) or isinstance(static, (staticmethod, classmethod)):
                    bound = isinstance(static, (staticmethod, classmethod))
                    found[key] = {"name": key, "kind": "class method",
                                  "parameters": signature_of(getattr(value, method), not bound)}
    return found


def _within(home, package):
    return home == package or home.startswith(package + ".")


ENGINE_CALLS = ("hybrid_forward",)
"""Methods that the engine calls, with parameters that are its own affair."""


def survey(mx, package):
    """Everything public, by name."""
    found = functions(mx, package)
    found.update(methods(mx))
    found.update(libraries(mx, package))
    return [found[name] for name in sorted(found)]


NO_ARRAYS = 9
"""Exit status for a module without arrays: it is no engine, and nothing in it can be held against the table."""


def main(module, path):
    """Write the list of a module's functions to a file."""
    warnings.simplefilter("ignore")
    mx = importlib.import_module(module)
    if not inspect.isclass(getattr(getattr(mx, "nd", None), "NDArray", None)):
        sys.exit(NO_ARRAYS)
    with open(path, "w") as file:
        json.dump(survey(mx, module), file, indent=1)


if __name__ == "__main__":
    main(*sys.argv[1:])
