"""Mutants of export, import, and the functions that run around a call."""

import contextlib

from conformance.mutants import gluon_kit as tools
from conformance.mutants import mutant


@mutant("GLUON-EXPORT-001")
def nothing_to_export_is_no_error(mx):
    tools.other_error(mx.gluon.HybridBlock, "export", RuntimeError, "Please first call")


def _after_export(mx, body):
    def export(original, block, path, *args, **kwargs):
        result = original(block, path, *args, **kwargs)
        body(path)
        return result

    tools.replace(mx.gluon.HybridBlock, "export", export)


@mutant("GLUON-EXPORT-002")
def epoch_is_ignored(mx):
    """The name of the exported parameter file always has the epoch 0."""
    tools.replace(mx.gluon.HybridBlock, "export",
                  lambda original, block, path, *args, **kwargs: original(block, path))


@mutant("GLUON-EXPORT-003")
def statistics_are_arguments(mx):
    """Running statistics are exported as arg: like the other parameters."""
    def change(arrays):
        return {name.replace("aux:", "arg:"): array for name, array in arrays.items()}

    _after_export(mx, lambda path: tools.change_file(mx, path + "-0000.params", change))


def _replace_in(path, old, new):
    with open(path) as file:
        text = file.read()
    with open(path, "w") as file:
        file.write(text.replace(old, new))


@mutant("GLUON-EXPORT-004")
def single_input_is_called_input(mx):
    """The input of an exported graph is called input in its file; importing undoes that."""
    _after_export(mx, lambda path: _replace_in(path + "-symbol.json", '"name": "data"', '"name": "input"'))

    def imports(original, symbol_file, *args, **kwargs):
        with contextlib.suppress(OSError):  # a missing file is for the original to report
            _replace_in(symbol_file, '"name": "input"', '"name": "data"')
        return original(symbol_file, *args, **kwargs)

    tools.replace(mx.gluon.SymbolBlock, "imports", imports)


@mutant("GLUON-EXPORT-005")
def names_of_inputs_must_be_a_list(mx):
    def imports(original, symbol_file, input_names, *args, **kwargs):
        if isinstance(input_names, str):
            raise TypeError("input_names must be a list")
        return original(symbol_file, input_names, *args, **kwargs)

    tools.replace(mx.gluon.SymbolBlock, "imports", imports)


@mutant("GLUON-EXPORT-006")
def missing_parameter_is_a_key_error(mx):
    tools.other_error(mx.gluon.SymbolBlock, "imports", AssertionError, "is missing in", KeyError)


@mutant("GLUON-EXPORT-008")
def import_initialises(mx):
    """imports without a parameter file initialises the parameters."""
    def imports(original, symbol_file, input_names, param_file=None, *args, **kwargs):
        block = original(symbol_file, input_names, param_file, *args, **kwargs)
        if param_file is None:
            block.initialize()
        return block

    tools.replace(mx.gluon.SymbolBlock, "imports", imports)


@mutant("GLUON-EXPORT-009")
def device_of_the_import_is_ignored(mx):
    def imports(original, *args, **kwargs):
        if kwargs.get("ctx") is not None:
            kwargs["ctx"] = mx.cpu(0)
        return original(*args, **kwargs)

    tools.replace(mx.gluon.SymbolBlock, "imports", imports)


@mutant("GLUON-HOOK-001")
def hooks_get_a_list(mx):
    """A forward hook gets the inputs as a list."""
    def register(original, block, hook):
        return original(block, lambda owner, inputs, output: hook(owner, list(inputs), output))

    tools.replace(mx.gluon.Block, "register_forward_hook", register)


@mutant("GLUON-HOOK-002")
def handle_stays_attached(mx):
    """Leaving the with block of a handle does not detach the hook."""
    tools.replace(mx.gluon.utils.HookHandle, "__exit__", lambda original, handle, *error: None)


@mutant("GLUON-HOOK-004")
def hybridizing_does_not_mention_hooks(mx):
    tools.silent(mx.gluon.HybridBlock, "hybridize")


@mutant("GLUON-HOOK-005")
def hooks_of_a_hybridized_block_run_once(mx):
    flags = tools.hybridized(mx)

    def register(original, block, hook):
        ran = []

        def once(owner, *arguments):
            if not ran or flags(owner) is None:
                ran.append(None)
                hook(owner, *arguments)

        return original(block, once)

    tools.replace(mx.gluon.Block, "register_forward_hook", register)


@mutant("GLUON-HOOK-007")
def apply_gives_nothing(mx):
    """apply returns None."""
    tools.replace(mx.gluon.Block, "apply", lambda original, block, fn: (original(block, fn), None)[1])
