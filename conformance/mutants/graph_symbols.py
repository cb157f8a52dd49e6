"""Mutants of symbols: their graphs, names, attributes, executors and files."""

import copy
import re

from conformance.mutants import gluon_kit as tools
from conformance.mutants import mutant


@mutant("GRAPH-DAG-001")
def sine_is_another_operator(mx):
    """sym.sin makes a node of the operator sinh."""
    mx.sym.sin = mx.sym.sinh


@mutant("GRAPH-DAG-002")
def difference_copies_its_second_operand(mx):
    tools.replace(mx.sym.Symbol, "__sub__", lambda original, left, right: original(left, copy.deepcopy(right)))


@mutant("GRAPH-DAG-003")
def eval_remembers(mx):
    """A symbol that is evaluated again gives the result of the first time."""
    kept = {}

    def body(original, symbol, *args, **kwargs):
        if id(symbol) not in kept:
            kept[id(symbol)] = (symbol, original(symbol, *args, **kwargs))
        return kept[id(symbol)][1]

    tools.replace(mx.sym.Symbol, "eval", body)


@mutant("GRAPH-DAG-004")
def executor_doubles_gradients(mx):
    def body(original, executor, out_grads=None, *args, **kwargs):
        if isinstance(out_grads, list):
            out_grads = [gradient * 2 for gradient in out_grads]
        return original(executor, out_grads, *args, **kwargs)

    tools.replace(mx.executor.Executor, "backward", body)


@mutant("GRAPH-STATIC-001")
def symbol_has_the_value_none(mx):
    mx.sym.Symbol.asnumpy = lambda self: None


@mutant("GRAPH-STATIC-002")
def executor_ignores_new_data(mx):
    """Arrays given to Executor.forward are not used."""
    tools.replace(mx.executor.Executor, "forward",
                  lambda original, executor, is_train=False, **ignored: original(executor, is_train))


@mutant("GRAPH-STATIC-004")
def symbol_is_true(mx):
    """A branch on a symbol is taken while tracing."""
    mx.sym.Symbol.__bool__ = lambda self: True


@mutant("GRAPH-STATIC-008")
def inconsistent_shapes_give_nothing(mx):
    tools.other_error(mx.sym.Symbol, "infer_shape", mx.base.MXNetError, "Shape inconsistent")


@mutant("GRAPH-STATIC-009")
def double_is_single(mx):
    """infer_type says float32 where it should say float64."""
    import numpy

    def single(kind):
        return numpy.float32 if kind is not None and numpy.dtype(kind) == numpy.float64 else kind

    def body(original, symbol, *args, **kwargs):
        return tuple(kinds and [single(kind) for kind in kinds] for kinds in original(symbol, *args, **kwargs))

    tools.replace(mx.sym.Symbol, "infer_type", body)


@mutant("GRAPH-SYM-001")
def short_names_are_sorted(mx):
    """Arguments whose names have one letter come in order of the alphabet."""
    def body(original, symbol):
        names = original(symbol)
        return sorted(names) if all(len(name) == 1 for name in names) else names

    tools.replace(mx.sym.Symbol, "list_arguments", body)


@mutant("GRAPH-SYM-002")
def bias_comes_anyway(mx):
    """FullyConnected makes a variable for the bias although it is told not to."""
    def body(original, *args, **kwargs):
        kwargs.pop("no_bias", None)
        return original(*args, **kwargs)

    tools.replace(mx.sym, "FullyConnected", body)


@mutant("GRAPH-SYM-003")
def given_names_get_no_prefix(mx):
    def body(original, prefix, name, hint):
        return name if name else original(prefix, name, hint)

    tools.replace(mx.name.Prefix, "get", body)


@mutant("GRAPH-SYM-004")
def missing_parameter_is_a_key_error(mx):
    tools.other_error(mx.sym, "FullyConnected", mx.base.MXNetError, "Required parameter num_hidden", KeyError)


@mutant("GRAPH-SYM-005")
def unknown_output_is_a_key_error(mx):
    tools.other_error(mx.sym.Symbol, "__getitem__", ValueError, "Cannot find output", KeyError)


@mutant("GRAPH-SYM-006")
def internals_come_backwards(mx):
    def body(original, symbol):
        inner = original(symbol)
        return mx.sym.Group([inner[k] for k in range(len(inner.list_outputs()))][::-1])

    tools.replace(mx.sym.Symbol, "get_internals", body)


@mutant("GRAPH-SYM-007")
def unknown_variable_is_ignored(mx):
    tools.other_error(mx.sym.Symbol, "__call__", mx.base.MXNetError, "")


@mutant("GRAPH-SYM-008")
def attributes_may_be_numbers(mx):
    tools.other_error(mx.AttrScope, "__init__", ValueError, "need to be string")


@mutant("GRAPH-SYM-009")
def half_a_decay_is_forgotten(mx):
    """A variable does not carry a wd_mult of 0.5."""
    def body(original, *args, **kwargs):
        if kwargs.get("wd_mult") == 0.5:
            del kwargs["wd_mult"]
        return original(*args, **kwargs)

    tools.replace(mx.sym, "var", body)


@mutant("GRAPH-SYM-011")
def missing_array_is_a_key_error(mx):
    tools.other_error(mx.sym.Symbol, "bind", ValueError, "is missing in `args`", KeyError)


@mutant("GRAPH-SYM-012")
def deep_copy_is_the_symbol(mx):
    mx.sym.Symbol.__deepcopy__ = lambda self, memory: self


@mutant("GRAPH-SYM-013")
def exp_takes_the_first_output(mx):
    """sym.exp of several outputs takes the first."""
    def body(original, data, *args, **kwargs):
        return original(data[0] if len(data.list_outputs()) > 1 else data, *args, **kwargs)

    tools.replace(mx.sym, "exp", body)


def _edit_export(mx, pattern, replacement):
    """Replace a pattern in the graph file that export writes."""
    def export(original, block, path, *args, **kwargs):
        result = original(block, path, *args, **kwargs)
        with open(path + "-symbol.json") as file:
            text = file.read()
        with open(path + "-symbol.json", "w") as file:
            file.write(re.sub(pattern, replacement, text))
        return result

    tools.replace(mx.gluon.HybridBlock, "export", export)


def _edit_text(mx, pattern, replacement):
    """Replace a pattern in the JSON text of every symbol."""
    tools.replace(mx.sym.Symbol, "tojson",
                  lambda original, symbol, *args, **kwargs: re.sub(pattern, replacement,
                                                                   original(symbol, *args, **kwargs)))


@mutant("GRAPH-JSON-001")
def version_is_older(mx):
    """An exported graph names another version than that of the engine."""
    _edit_export(mx, r'("mxnet_version":\s*\[\s*"int",\s*)\d+', r"\g<1>10800")


@mutant("GRAPH-JSON-002")
def factor_is_a_number(mx):
    """The factor of a product with 3 is written as a number."""
    _edit_text(mx, r'"scalar":\s*"3[.0]*"', '"scalar": 3')


@mutant("GRAPH-JSON-003")
def outputs_are_not_counted(mx):
    """node_row_ptr counts nodes."""
    _edit_text(mx, r'("node_row_ptr":\s*)\[\s*0,\s*1,\s*3,\s*4\s*\]', r"\g<1>[0, 1, 2, 3]")


@mutant("GRAPH-JSON-004")
def saved_graph_has_another_name(mx):
    """Symbol.save renames biases, except in the file of an export."""
    def save(original, symbol, path, *args, **kwargs):
        original(symbol, path, *args, **kwargs)
        if not path.endswith("-symbol.json"):
            with open(path) as file:
                text = file.read()
            with open(path, "w") as file:
                file.write(text.replace("fc_bias", "fc_offset"))

    tools.replace(mx.sym.Symbol, "save", save)


@mutant("GRAPH-JSON-005")
def missing_field_is_a_value_error(mx):
    name = "load_json" if hasattr(mx.sym, "load_json") else "fromjson"
    tools.other_error(mx.sym, name, mx.base.MXNetError, "Missing field", ValueError)


@mutant("GRAPH-JSON-006")
def learning_rates_are_not_exported(mx):
    """An exported graph says that every lr_mult is 1."""
    _edit_export(mx, r'("__lr_mult__":\s*)"2.0"', r'\g<1>"1.0"')
