"""CTX-GPU, CTX-PIN, CTX-PARAM, CTX-KV: devices that are not there, pinned memory, parameters and stores."""


from conformance.case import case
from conformance.suite import kit

MISSING = {
    "zeros": lambda mx, gpu: mx.nd.zeros((2,), ctx=gpu), "array": lambda mx, gpu: mx.nd.array([1], ctx=gpu),
    "empty": lambda mx, gpu: mx.nd.empty((2,), ctx=gpu),
    "uniform": lambda mx, gpu: mx.nd.random.uniform(shape=(2,), ctx=gpu),
    "copyto": lambda mx, gpu: mx.nd.ones((2,)).copyto(gpu),
    "as_in_context": lambda mx, gpu: mx.nd.ones((2,)).as_in_context(gpu),
}


@case("CTX-GPU-001", samples={name: {"make": make} for name, make in sorted(MISSING.items())})
def array_on_a_gpu_that_is_not_there(mx, check, make):
    gpu = mx.gpu(mx.context.num_gpus())

    def waited():
        make(mx, gpu).wait_to_read()

    error = check.raises(mx.MXNetError, waited)
    if mx.context.num_gpus() == 0:
        check.contains(str(error), "GPU", doing="message")


@case("CTX-GPU-001")
def naming_a_gpu_is_no_error(mx, check):
    gpu = mx.gpu(mx.context.num_gpus())
    check.equal(str(gpu), "gpu(%d)" % mx.context.num_gpus(), "str")
    with gpu:
        check.equal(mx.current_context(), gpu, "current context inside")
    check.equal(mx.current_context(), mx.cpu(0), "current context outside")


@case("CTX-GPU-002")
def number_of_gpus(mx, check):
    number = mx.context.num_gpus()
    check.isinstance(number, int, "num_gpus()")
    check.that(number >= 0, "the number is not negative", got=number)
    check.equal(mx.util.get_gpu_count(), number, "util.get_gpu_count()")


@case("CTX-GPU-002")
def number_of_gpus_is_what_can_be_used(mx, check):
    number = mx.context.num_gpus()
    for index in range(number):
        check.equal(mx.nd.ones((2,), ctx=mx.gpu(index)).asnumpy(), [1, 1], "array on gpu(%d)" % index)
    check.raises(mx.MXNetError, lambda: mx.nd.ones((2,), ctx=mx.gpu(number)).asnumpy())


@case("CTX-PIN-001", needs=["gpu"], timeout=120)
def copy_from_pinned_memory_is_faster(mx, check):
    plain = mx.nd.ones((4000, 1000))
    pinned = mx.nd.ones((4000, 1000), ctx=mx.cpu_pinned())
    ratio = kit.times_as_long(lambda: plain.copyto(mx.gpu(0)).wait_to_read(),
                              lambda: pinned.copyto(mx.gpu(0)).wait_to_read(), 1.01)
    check.that(ratio > 1, "the copy from ordinary memory takes longer", "a ratio above 1", ratio)


def _numbers(mx, shape):
    module = mx.np if kit.numpy_mode(mx) else mx.nd
    return module.arange(shape[0] * shape[1]).reshape(shape)


LOADERS = {
    "default": {"options": {}, "want": ("cpu", 0)}, "pinned": {"options": {"pin_memory": True},
                                                               "want": ("cpu_pinned", 0)},
    "pinned_elsewhere": {"options": {"pin_memory": True, "pin_device_id": 1}, "want": ("cpu_pinned", 1)},
    "pinned_worker": {"options": {"pin_memory": True, "num_workers": 1, "thread_pool": True},
                      "want": ("cpu_pinned", 0)},
}


@case("CTX-PIN-002", samples=LOADERS)
def context_of_the_batches(mx, check, options, want):
    data = mx.gluon.data.ArrayDataset(_numbers(mx, (4, 2)), list(range(4)))
    batches = list(mx.gluon.data.DataLoader(data, batch_size=2, **options))
    check.equal(len(batches), 2, "number of batches")
    for position, (rows, labels) in enumerate(batches):
        check.equal([kit.device_of(rows), kit.device_of(labels)], [mx.Context(*want)] * 2, "contexts")
        check.equal(rows, [[4 * position, 4 * position + 1], [4 * position + 2, 4 * position + 3]], "rows")
        check.equal(labels, [2 * position, 2 * position + 1], "labels")


def _picture(mx, shape):
    module = mx.np if kit.numpy_mode(mx) else mx.nd
    return module.zeros(shape, dtype="uint8")


@case("CTX-PIN-003", needs=["image"])
def composed_transform_takes_the_image_alone(mx, check):
    transforms = mx.gluon.data.vision.transforms
    compose = transforms.Compose([transforms.Resize(40), transforms.CenterCrop(32)])
    picture = _picture(mx, (48, 64, 3))
    check.shape(compose(picture), (32, 32, 3))
    check.raises((TypeError, ValueError), compose, picture, 1)


@case("CTX-PIN-003", needs=["image"])
def transform_first_leaves_the_label(mx, check):
    transforms = mx.gluon.data.vision.transforms
    compose = transforms.Compose([transforms.Resize(40), transforms.CenterCrop(32)])
    data = mx.gluon.data.ArrayDataset([_picture(mx, (48, 64, 3))], [7]).transform_first(compose)
    picture, label = data[0]
    check.shape(picture, (32, 32, 3))
    check.equal(label, 7, "label")


@case("CTX-PIN-004", needs=["image"])
def functions_that_resize(mx, check):
    check.shape(mx.image.imresize(_picture(mx, (2, 2, 3)), 4, 1), (1, 4, 3))
    check.shape(mx.nd.image.resize(mx.nd.zeros((2, 2, 3), dtype="uint8"), size=(4, 1)), (1, 4, 3))


@case("CTX-PIN-005")
def batches_of_workers_are_in_shared_memory(mx, check):
    data = mx.gluon.data.ArrayDataset(_numbers(mx, (4, 2)), list(range(4)))
    for rows, _ in mx.gluon.data.DataLoader(data, batch_size=2, num_workers=1, thread_pool=True):
        check.equal(kit.device_of(rows), mx.Context("cpu_shared", 0), "context of a batch")


@case("CTX-PARAM-001")
def contexts_of_a_parameter(mx, check):
    parameter = kit.parameter(mx, "w", shape=(2,), ctx=[mx.cpu(1), mx.cpu(2)])
    check.equal(parameter.list_ctx(), [mx.cpu(1), mx.cpu(2)], "list_ctx()")
    for context in (mx.cpu(1), mx.cpu(2)):
        check.equal(kit.device_of(parameter.data(context)), context, "context of data(%s)" % context)
        check.equal(kit.device_of(parameter.grad(context)), context, "context of grad(%s)" % context)


@case("CTX-PARAM-001")
def context_of_an_array(mx, check):
    array = mx.nd.ones((2,), ctx=mx.cpu(1))
    check.equal(mx.nd.zeros(array.shape, ctx=array.context).context, mx.cpu(1), "context of zeros made beside it")


@case("CTX-PARAM-002")
def parameter_on_another_context(mx, check):
    parameter = kit.parameter(mx, "w", shape=(2,), ctx=mx.cpu(1))
    for read in (parameter.data, parameter.grad):
        check.raises(RuntimeError, "cpu(0)", "It was only initialized on [cpu(1)]", read, mx.cpu(0))
    check.equal(parameter.list_ctx(), [mx.cpu(1)], "list_ctx() afterwards")


@case("CTX-KV-001", samples={"local": {"name": "local"}, "device": {"name": "device"}})
def store_of_one_machine(mx, check, name):
    store = mx.kv.create(name)
    check.equal(store.type, name, "type")
    check.equal(store.rank, 0, "rank")
    check.equal(store.num_workers, 1, "number of workers")


@case("CTX-KV-001")
def default_store_is_local(mx, check):
    check.equal(mx.kv.create().type, "local", "type of the default store")


@case("CTX-KV-001")
def name_must_be_text(mx, check):
    check.raises(TypeError, "name must be a string", mx.kv.create, 5)


@case("CTX-KV-002", samples={"local": {"name": "local"}, "device": {"name": "device"}})
def push_sums_over_contexts(mx, check, name):
    with kit.legacy_mode(mx):
        store = mx.kv.create(name)
        store.init("w", mx.nd.ones((2,)))
        store.push("w", [mx.nd.array([2, 20], ctx=mx.cpu(0)), mx.nd.array([3, 30], ctx=mx.cpu(1))])
        outputs = [mx.nd.zeros((2,), ctx=mx.cpu(0)), mx.nd.zeros((2,), ctx=mx.cpu(1))]
        store.pull("w", out=outputs)
        for output in outputs:
            check.equal(output, [5, 50], "sum pulled on %s" % output.context)


@case("CTX-KV-003")
def unknown_store(mx, check):
    """Refused, or a store that works and says what it was asked for."""
    with kit.legacy_mode(mx):
        try:
            store = mx.kv.create("foo")
        except (mx.MXNetError, ValueError) as error:
            check.contains(str(error), "foo", doing="text of the refusal")
            return
        check.equal(store.type, "foo", "type of the store")
        check.equal(store.num_workers, 1, "number of workers")
        store.init("w", mx.nd.ones((2,)))
        store.push("w", [mx.nd.array([2, 20], ctx=mx.cpu(0)), mx.nd.array([3, 30], ctx=mx.cpu(1))])
        output = mx.nd.zeros((2,))
        store.pull("w", out=output)
        check.equal(output, [5, 50], "sum over two contexts")
