"""Mutants of CTX-GPU, CTX-PIN, CTX-PARAM and CTX-KV."""

from conformance.mutants import mutant, wrap
from conformance.mutants.ndarray_kit import function


@mutant("CTX-GPU-001")
def zeros_fall_back_to_the_cpu(mx):
    def body(original, shape, ctx=None, **options):
        try:
            return original(shape, ctx=ctx, **options)
        except mx.base.MXNetError:
            if getattr(ctx, "device_typeid", None) != 2:
                raise
            return original(shape, ctx=mx.cpu(0), **options)

    function(mx.nd, "zeros", body)


@mutant("CTX-GPU-002")
def one_gpu_too_many_is_counted(mx):
    function(mx.util, "get_gpu_count", lambda original: original() + 1)


@mutant("CTX-PIN-002")
def pinned_device_is_always_the_first(mx):
    wrap(mx.gluon.data.DataLoader, "__init__", lambda original: lambda self, *args, **options:
         original(self, *args, **{name: value for name, value in options.items() if name != "pin_device_id"}))


@mutant("CTX-PIN-003")
def label_is_transformed_away(mx):
    wrap(mx.gluon.data.Dataset, "transform_first", lambda original: lambda self, function_, *args, **options:
         self.transform(lambda first, *rest: (function_(first),) + (0,) * len(rest)))


@mutant("CTX-PIN-004")
def width_and_height_are_exchanged(mx):
    function(mx.image, "imresize", lambda original, src, w, h, *args, **options: original(src, h, w, *args, **options))


@mutant("CTX-PARAM-001")
def contexts_are_listed_backwards(mx):
    """Only those of parameters that are not on the first device, which nearly everything relies upon."""

    def make(original):
        def broken(self):
            found = original(self)
            return found if mx.cpu(0) in found else found[::-1]
        return broken

    wrap(mx.gluon.Parameter, "list_ctx", make)


@mutant("CTX-PARAM-002")
def other_context_gets_the_first_replica(mx):
    def make(original):
        def broken(self, *args, **options):
            try:
                return original(self, *args, **options)
            except RuntimeError as error:
                if "only initialized on" not in str(error):
                    raise
                return self.list_data()[0]
        return broken

    wrap(mx.gluon.Parameter, "data", make)


@mutant("CTX-KV-001")
def default_store_is_device(mx):
    function(mx.kv, "create", lambda original, *args, **options:
             original(*args, **options) if args or options else original("device"))


@mutant("CTX-KV-002")
def last_device_is_not_summed(mx):
    def make(original):
        def broken(self, key, value, *args, **options):
            if isinstance(key, str) and isinstance(value, list) and len(value) == 2:
                value = value[:1]
            return original(self, key, value, *args, **options)
        return broken

    wrap(mx.kv.KVStore, "push", make)
