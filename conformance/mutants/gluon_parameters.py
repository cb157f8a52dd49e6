"""Mutants of parameters: collecting, naming, gradients, sharing, devices, dtypes, files, deferred initialisation."""

import contextlib

from conformance.mutants import gluon_kit as tools
from conformance.mutants import mutant
from conformance.suite import kit


@mutant("GLUON-PARAMS-001")
def select_searches_anywhere(mx):
    """The expression may match in the middle of a name."""
    def body(original, block, select=None):
        return original(block, select if select is None else ".*(?:%s)" % select)

    tools.replace(mx.gluon.Block, "collect_params", body)


@mutant("GLUON-PARAMS-002")
def scope_gives_no_prefix(mx):
    """Layers made within name_scope() do not get the prefix of their block."""
    tools.replace(mx.gluon.Block, "name_scope", lambda original, block: contextlib.nullcontext())


@mutant("GLUON-PARAMS-003")
def unknown_grad_req_is_taken(mx):
    """A grad_req that does not exist is taken for write."""
    kept = mx.gluon.Parameter.__dict__["grad_req"]

    def set_(self, value):
        kept.fset(self, value if value in ("write", "add", "null") else "write")

    mx.gluon.Parameter.grad_req = property(kept.fget, set_)


@mutant("GLUON-PARAMS-003")
def without_grad_req_the_gradient_is_none(mx):
    tools.other_error(mx.gluon.Parameter, "grad", RuntimeError, "Cannot get gradient array")


@mutant("GLUON-PARAMS-004")
def constant_says_nothing(mx):
    """Setting the grad_req of a constant is ignored without a warning."""
    kept = mx.gluon.Constant.__dict__["grad_req"]

    def set_(self, value):
        if value == "null":
            kept.fset(self, value)

    mx.gluon.Constant.grad_req = property(kept.fget, set_)


@mutant("GLUON-PARAMS-005")
def dense_layers_share_nothing(mx):
    """A Dense layer makes its own parameters even if it is given those of another."""
    def body(original, layer, *args, **kwargs):
        kwargs.pop("params", None)
        original(layer, *args, **kwargs)

    tools.replace(mx.gluon.nn.Dense, "__init__", body)


@mutant("GLUON-PARAMS-006")
def hidden_blocks_are_not_mentioned(mx):
    tools.silent(mx.gluon.Block, "collect_params")


@mutant("GLUON-PARAMS-007")
def child_keeps_its_place_silently(mx):
    """Replacing a child by something else is ignored."""
    tools.other_error(mx.gluon.Block, "__setattr__", TypeError, "Changing attribute type")


@mutant("GLUON-PARAMS-008")
def other_device_is_a_key_error(mx):
    tools.other_error(mx.gluon.Parameter, "data", RuntimeError, "was not initialized on", KeyError)


@mutant("GLUON-PARAMS-009")
def third_weight_is_saved_doubled(mx):
    def change(arrays):
        if "2.weight" in arrays:
            arrays["2.weight"] = arrays["2.weight"] * 2
        return arrays

    def body(original, block, filename, *args, **kwargs):
        original(block, filename, *args, **kwargs)
        tools.change_file(mx, filename, change)

    tools.replace(mx.gluon.Block, "save_parameters", body)


@mutant("GLUON-PARAMS-010")
def missing_parameter_is_a_key_error(mx):
    tools.other_error(mx.gluon.Block, "load_parameters", AssertionError, "is missing in", KeyError)


@mutant("GLUON-PARAMS-010")
def extra_parameter_is_ignored(mx):
    tools.other_error(mx.gluon.Block, "load_parameters", ValueError, "is not present in")


@mutant("GLUON-PARAMS-011")
def other_dtype_is_ignored(mx):
    tools.other_error(mx.gluon.Block, "load_parameters", AssertionError, "dtype incompatible")


@mutant("GLUON-PARAMS-012")
def loaded_on_the_first_device_only(mx):
    """load_parameters puts a net on the first of the devices that it is given."""
    def body(original, block, filename, ctx=None, **kwargs):
        if isinstance(ctx, list) and not any(p._data for p in block.collect_params().values()):
            ctx = ctx[:1]
        original(block, filename, ctx=ctx, **kwargs)

    tools.replace(mx.gluon.Block, "load_parameters", body)


@mutant("GLUON-PARAMS-013")
def nothing_to_save_is_no_error(mx):
    kinds = (RuntimeError, mx.gluon.parameter.DeferredInitializationError)
    tools.other_error(mx.gluon.Block, "save_parameters", kinds, "has not been initialized")


@mutant("GLUON-PARAMS-014")
def missing_file_is_ignored(mx):
    tools.other_error(mx.gluon.Block, "load_parameters", (mx.base.MXNetError, ValueError, OSError), "No such file")


@mutant("GLUON-PARAMS-016")
def cast_forgets_beta(mx):
    """cast leaves parameters called beta as they are."""
    def body(original, parameter, dtype):
        if not parameter.name.endswith("beta"):
            original(parameter, dtype)

    tools.replace(mx.gluon.Parameter, "cast", body)


@mutant("GLUON-PARAMS-017")
def parameters_move_to_one_device(mx):
    """reset_ctx takes the first device only."""
    def body(original, parameter, ctx):
        original(parameter, ctx[:1] if isinstance(ctx, list) else ctx)

    tools.replace(mx.gluon.Parameter, "reset_ctx", body)


@mutant("GLUON-PARAMS-019")
def other_attributes_are_ignored(mx):
    tools.other_error(mx.gluon.ParameterDict, "get", AssertionError, "desired attribute does not match")


@mutant("GLUON-DEFER-001")
def deferred_weight_is_none(mx):
    """The data of a weight whose initialisation is deferred is None outside of a call."""
    outside, kind = tools.outside(mx), mx.gluon.parameter.DeferredInitializationError

    def body(original, parameter, *args, **kwargs):
        try:
            return original(parameter, *args, **kwargs)
        except kind:
            if outside() and parameter.name.endswith("weight"):
                return None
            raise

    tools.replace(mx.gluon.Parameter, "data", body)


@mutant("GLUON-DEFER-002")
def uninitialised_layer_is_a_key_error(mx):
    tools.other_error(mx.gluon.nn.Dense, "__call__", RuntimeError, "has not been initialized", KeyError)


@mutant("GLUON-DEFER-003")
def infer_shape_infers_nothing(mx):
    """infer_shape called by a user does nothing."""
    outside = tools.outside(mx)

    def body(original, block, *args):
        if not outside():
            original(block, *args)

    tools.replace(mx.gluon.HybridBlock, "infer_shape", body)


@mutant("GLUON-DEFER-004")
def unknown_shape_is_not_explained(mx):
    """A shape that cannot be inferred raises an error that does not say so."""
    tools.other_error(mx.gluon.HybridBlock, "__call__", (ValueError, RuntimeError), "cannot be inferred", ValueError)


@mutant("GLUON-DEFER-005")
def open_shape_is_initialised(mx):
    """initialize of a parameter with an open shape does nothing."""
    tools.other_error(mx.gluon.Parameter, "initialize", ValueError, "invalid shape")


@mutant("GLUON-DEFER-006")
def trainer_wants_known_shapes(mx):
    def body(original, trainer, params, *args, **kwargs):
        listed = params.values() if hasattr(params, "values") else params
        if any(0 in (getattr(item, "shape", None) or ()) for item in listed):
            raise ValueError("a parameter has no shape yet")
        original(trainer, params, *args, **kwargs)

    tools.replace(mx.gluon.Trainer, "__init__", body)


@mutant("GLUON-DEFER-007")
def second_initialize_says_nothing(mx):
    tools.silent(mx.gluon.Parameter, "initialize")


@mutant("GLUON-ACC-001")
def step_clears_sums(mx):
    """A step sets accumulated gradients to zero."""
    def body(original, trainer, *args, **kwargs):
        original(trainer, *args, **kwargs)
        for parameter in trainer._params:
            if parameter.grad_req == "add":
                for gradient in parameter.list_grad():
                    gradient[:] = 0

    tools.replace(mx.gluon.Trainer, "step", body)


@mutant("GLUON-UTIL-001")
def one_slice_is_no_list(mx):
    """split_data into one slice gives the array."""
    def body(original, data, num_slice, *args, **kwargs):
        return data if num_slice == 1 else original(data, num_slice, *args, **kwargs)

    tools.replace(mx.gluon.utils, "split_data", body)


@mutant("GLUON-UTIL-002")
def uneven_split_is_not_explained(mx):
    tools.other_error(mx.gluon.utils, "split_data", ValueError, "cannot be evenly split", ValueError)


@mutant("GLUON-UTIL-003")
def last_slices_are_longer(mx):
    """Uneven slices called for by a user have the longer ones at the end."""
    loading = []

    def load(original, *args, **kwargs):
        loading.append(None)
        try:
            return original(*args, **kwargs)
        finally:
            loading.pop()

    def split(original, data, num_slice, batch_axis=0, even_split=True):
        pieces = original(data, num_slice, batch_axis, even_split)
        sizes, begin, changed = [piece.shape[batch_axis] for piece in pieces][::-1], 0, []
        if loading or len(set(sizes)) < 2:
            return pieces
        for size in sizes:
            changed.append(mx.nd.slice_axis(data, axis=batch_axis, begin=begin, end=begin + size))
            begin += size
        return changed

    tools.replace(mx.gluon.utils, "split_and_load", load)
    tools.replace(mx.gluon.utils, "split_data", split)


@mutant("GLUON-UTIL-006")
def numpy_arrays_keep_their_dtype(mx):
    """split_and_load makes an array of the dtype of what it is given."""
    def body(original, data, *args, **kwargs):
        if type(data).__module__ == "numpy":
            data = kit.array(mx, data, dtype=str(data.dtype))
        return original(data, *args, **kwargs)

    tools.replace(mx.gluon.utils, "split_and_load", body)


@mutant("GLUON-UTIL-007")
def split_mode_is_ignored(mx):
    def body(original, data, ctx_list, batch_axis=0, even_split=True, **ignored):
        return original(data, ctx_list, batch_axis, even_split)

    tools.replace(mx.gluon.utils, "split_and_load", body)


@mutant("GLUON-UTIL-008")
def matrices_are_not_clipped(mx):
    """clip_global_norm leaves arrays of more than one dimension as they are."""
    def body(original, arrays, *args, **kwargs):
        before = [array.copy() for array in arrays]
        norm = original(arrays, *args, **kwargs)
        for array, kept in zip(arrays, before):
            if array.ndim > 1:
                array[:] = kept
        return norm

    tools.replace(mx.gluon.utils, "clip_global_norm", body)


@mutant("GLUON-UTIL-009")
def infinite_norm_is_not_mentioned(mx):
    tools.silent(mx.gluon.utils, "clip_global_norm")


@mutant("GLUON-UTIL-010")
def devices_must_be_equal(mx):
    """clip_global_norm refuses arrays on two devices."""
    def body(original, arrays, *args, **kwargs):
        if len({str(kit.device_of(array)) for array in arrays}) > 1:
            raise mx.base.MXNetError("the arrays are on two devices")
        return original(arrays, *args, **kwargs)

    tools.replace(mx.gluon.utils, "clip_global_norm", body)
