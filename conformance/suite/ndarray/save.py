"""ND-SAVE: files of arrays."""

import os
import struct

from conformance.case import case
from conformance.suite import kit
from conformance.suite.ndarray._tools import expect

DTYPES = {"float32": 0, "float64": 1, "float16": 2, "uint8": 3, "int32": 4, "int8": 5, "int64": 6, "bool": 7}

LEGACY_MAGIC, NUMPY_MAGIC = 0xF993FAC9, 0xF993FACA


def _bytes(path):
    with open(path, "rb") as file:
        return file.read()


@case("ND-SAVE-001")
def list_of_arrays(mx, check):
    path = check.path("list")
    mx.nd.save(path, [mx.nd.array([[1, 2], [3, 4]]), mx.nd.array([1, 2], dtype="int32", ctx=mx.cpu(1))])
    loaded = mx.nd.load(path)
    check.same(type(loaded), list, "type of what was loaded")
    check.equal(len(loaded), 2, "number of arrays")
    expect(check, loaded[0], [[1, 2], [3, 4]], "float32", "first array")
    expect(check, loaded[1], [1, 2], "int32", "second array")
    check.equal(loaded[1].context, mx.cpu(0), "context of the array that was saved on cpu(1)")


@case("ND-SAVE-001")
def dictionary_of_arrays(mx, check):
    path = check.path("dict")
    mx.nd.save(path, {"a": mx.nd.array([1, 2]), "arg:b": mx.nd.array([3], dtype="uint8")})
    loaded = mx.nd.load(path)
    check.same(type(loaded), dict, "type of what was loaded")
    check.equal(sorted(loaded), ["a", "arg:b"], "names")
    expect(check, loaded["a"], [1, 2], "float32", "a")
    expect(check, loaded["arg:b"], [3], "uint8", "arg:b")


@case("ND-SAVE-001")
def single_array(mx, check):
    path = check.path("single")
    mx.nd.save(path, mx.nd.array([[1, 2]]))
    loaded = mx.nd.load(path)
    check.same(type(loaded), list, "type of what was loaded")
    check.equal(len(loaded), 1, "number of arrays")
    check.equal(loaded[0], [[1, 2]], "the array")


@case("ND-SAVE-002", samples={"list": {"empty": []}, "dict": {"empty": {}}})
def nothing_is_saved(mx, check, empty):
    path = check.path("empty")
    mx.nd.save(path, empty)
    loaded = mx.nd.load(path)
    check.same(type(loaded), list, "type of what was loaded")
    check.equal(len(loaded), 0, "number of arrays")


@case("ND-SAVE-002")
def view_is_saved(mx, check):
    path = check.path("view")
    mx.nd.save(path, [mx.nd.array([[1, 2], [3, 4]])[1]])
    check.equal(mx.nd.load(path)[0], [3, 4], "view")


@case("ND-SAVE-002", samples={dtype: {"dtype": dtype} for dtype in sorted(DTYPES)})
def dtype_survives(mx, check, dtype):
    path = check.path("dtype")
    mx.nd.save(path, [mx.nd.array([[1, 0]], dtype=dtype)])
    expect(check, mx.nd.load(path)[0], [[1, 0]], dtype)


@case("ND-SAVE-003", samples={
    "text": {"kind": ValueError, "fragment": "data needs to either be a NDArray", "make": lambda array: "x"},
    "tuple": {"kind": ValueError, "fragment": "data needs to either be a NDArray",
              "make": lambda array: (array, array)},
    "number_in_a_list": {"kind": TypeError, "fragment": "save only accept dict str->NDArray or list of NDArray",
                         "make": lambda array: [array, 5]},
    "number_as_name": {"kind": TypeError, "fragment": "save only accept dict", "make": lambda array: {1: array}},
    "number_as_value": {"kind": TypeError, "fragment": "save only accept dict", "make": lambda array: {"a": 1}}})
def other_data(mx, check, kind, fragment, make):
    path = check.path("other")
    check.raises(kind, fragment, mx.nd.save, path, make(mx.nd.ones((2,))))
    check.that(not os.path.exists(path), "no file is left")


@case("ND-SAVE-004")
def missing_file(mx, check):
    check.raises(mx.MXNetError, "No such file", mx.nd.load, check.path("missing"))


@case("ND-SAVE-004", samples={"text": {"content": b"abc"}, "empty": {"content": b""}, "zeros": {"content": b"\0" * 64}})
def file_of_another_kind(mx, check, content):
    path = check.path("other")
    with open(path, "wb") as file:
        file.write(content)
    check.raises(mx.MXNetError, mx.nd.load, path)


@case("ND-SAVE-004")
def file_cut_short(mx, check):
    path = check.path("short")
    mx.nd.save(path, [mx.nd.ones((4,))])
    content = _bytes(path)
    with open(path, "wb") as file:
        file.write(content[:-20])
    check.raises(mx.MXNetError, mx.nd.load, path)


def _file(arrays, names=()):
    """The bytes of a file; arrays: (shape, device id, number of the dtype, raw content)."""
    made = struct.pack("<QQQ", 0x112, 0, len(arrays))
    for shape, device, dtype, content in arrays:
        made += struct.pack("<Iii", LEGACY_MAGIC, 0, len(shape)) + struct.pack("<%dq" % len(shape), *shape)
        made += struct.pack("<iii", 1, device, dtype) + content
    made += struct.pack("<Q", len(names))
    for name in names:
        made += struct.pack("<Q", len(name)) + name.encode()
    return made


@case("ND-SAVE-005")
def layout_of_a_dictionary(mx, check):
    path = check.path("file")
    with kit.legacy_mode(mx):
        mx.nd.save(path, {"ab": mx.nd.array([[1, 2], [3, 4]])})
    check.equal(_bytes(path), _file([((2, 2), 0, 0, struct.pack("<4f", 1, 2, 3, 4))], ["ab"]), "bytes of the file")


@case("ND-SAVE-005")
def layout_of_a_list(mx, check):
    path = check.path("file")
    with kit.legacy_mode(mx):
        mx.nd.save(path, [mx.nd.array([1, 2], dtype="int32", ctx=mx.cpu(1)), mx.nd.array([7], dtype="int64")])
    check.equal(_bytes(path), _file([((2,), 1, 4, struct.pack("<2i", 1, 2)), ((1,), 0, 6, struct.pack("<q", 7))]),
                "bytes of the file")


@case("ND-SAVE-005", samples={dtype: {"dtype": dtype} for dtype in sorted(DTYPES)})
def file_written_by_hand(mx, check, dtype):
    content = mx.nd.array([1, 0, 1], dtype=dtype).asnumpy().tobytes()
    path = check.path("file")
    with open(path, "wb") as file:
        file.write(_file([((3, 1), 0, DTYPES[dtype], content)], ["w"]))
    with kit.legacy_mode(mx):
        loaded = mx.nd.load(path)
        check.equal(sorted(loaded), ["w"], "names")
        expect(check, loaded["w"], [[1], [0], [1]], dtype)


def _magic(path):
    return struct.unpack("<I", _bytes(path)[24:28])[0]


@case("ND-SAVE-006")
def file_of_numpy_shapes(mx, check):
    path = check.path("file")
    with kit.legacy_mode(mx):
        with mx.util.np_shape(True):
            mx.nd.save(path, [mx.nd.ones((2,))])
            check.equal(_magic(path), NUMPY_MAGIC, "magic number")
            check.equal(mx.nd.load(path)[0], [1, 1], "array loaded under numpy shapes")
        check.raises(mx.MXNetError, "np shape semantics", mx.nd.load, path)


@case("ND-SAVE-006")
def file_of_legacy_shapes(mx, check):
    path = check.path("file")
    with kit.legacy_mode(mx):
        mx.nd.save(path, [mx.nd.ones((2,))])
        check.equal(_magic(path), LEGACY_MAGIC, "magic number")
        check.equal(mx.nd.load(path)[0], [1, 1], "array loaded under legacy shapes")
        with mx.util.np_shape(True):
            check.raises(mx.MXNetError, "np shape semantics", mx.nd.load, path)


@case("ND-SAVE-007")
def bytes_in_memory(mx, check):
    path = check.path("file")
    mx.nd.save(path, {"a": mx.nd.array([1, 2], dtype="int32")})
    loaded = mx.nd.load_frombuffer(_bytes(path))
    check.equal(sorted(loaded), ["a"], "names")
    expect(check, loaded["a"], [1, 2], "int32")


@case("ND-SAVE-007")
def other_bytes(mx, check):
    check.raises(mx.MXNetError, mx.nd.load_frombuffer, b"abc")


@case("ND-SAVE-008")
def sparse_storage_survives(mx, check):
    path = check.path("sparse")
    with kit.legacy_mode(mx):
        rows = mx.nd.sparse.row_sparse_array(([[1, 2]], [1]), shape=(3, 2))
        matrix = mx.nd.array([[0, 5], [6, 0]]).tostype("csr")
        mx.nd.save(path, {"rows": rows, "matrix": matrix})
        loaded = mx.nd.load(path)
    check.equal({name: value.stype for name, value in loaded.items()}, {"rows": "row_sparse", "matrix": "csr"},
                "storage types")
    check.equal(loaded["rows"], [[0, 0], [1, 2], [0, 0]], "rows")
    check.equal(loaded["matrix"], [[0, 5], [6, 0]], "matrix")


@case("ND-SAVE-009")
def no_dimensions(mx, check):
    """Saving is refused or loading is, unless the array comes back whole."""
    path = check.path("file")
    with kit.legacy_mode(mx):
        try:
            mx.nd.save(path, mx.nd.array(5))
            loaded = mx.nd.load(path)
        except mx.MXNetError as error:
            check.isinstance(error, mx.MXNetError, "refusal")
        else:
            check.equal(loaded[0].asnumpy(), 5.0, "array that came back")
