"""CUSTOMOP-LIB: libraries of compiled operators, and the list of all operators."""

import glob
import os
import shutil
import subprocess

import numpy as np

from conformance.case import case
from conformance.suite import kit


@case("CUSTOMOP-LIB-001", samples={"relative": {"path": "no_such_library.so"}, "absolute": {"path": "/nowhere/x.so"}})
def file_that_does_not_exist(mx, check, path):
    error = check.raises(mx.base.MXNetError, "does NOT exist", mx.library.load, path)
    check.contains(str(error), path, doing="message")


@case("CUSTOMOP-LIB-001")
def file_that_is_no_library(mx, check):
    path = check.path("text.txt")
    open(path, "w").close()
    check.raises(mx.base.MXNetError, "is NOT a library file", mx.library.load, path)


@case("CUSTOMOP-LIB-001")
def path_that_is_not_absolute(mx, check):
    path = check.path("empty.so")
    open(path, "w").close()
    before = os.getcwd()
    os.chdir(os.path.dirname(path))
    try:
        check.raises(mx.base.MXNetError, "is not an absolute path", mx.library.load, "empty.so")
    finally:
        os.chdir(before)
    check.raises(mx.base.MXNetError, "Error loading library", mx.library.load, path)


@case("CUSTOMOP-LIB-002")
def shared_library_without_the_version_entry_point(mx, check):
    folder = os.path.join(os.path.dirname(np.__file__), "linalg")
    path = sorted(glob.glob(os.path.join(folder, "_umath_linalg*.so")))[0]
    check.raises(mx.base.MXNetError, "_opVersion", mx.library.load, path)


@case("CUSTOMOP-LIB-003")
def operator_that_was_not_registered_from_python(mx, check):
    with kit.legacy_mode(mx):
        data, mask = mx.sym.Variable("data"), mx.sym.Variable("mask")
        check.raises(mx.base.MXNetError, "Cannot find custom operator", "conform_softmask",
                     lambda: mx.sym.Custom(op_type="conform_softmask", data=data, mask=mask))


@case("CUSTOMOP-LIB-003")
def symbols_are_evaluated_and_arrays_are_not(mx, check):
    with kit.legacy_mode(mx):
        outputs = (mx.sym.Variable("a") * 2).eval(ctx=mx.cpu(), a=mx.nd.ones(2))
        check.isinstance(outputs, list, "result of eval")
        check.equal(outputs[0], [2, 2], "output")
        check.that(not hasattr(mx.nd.ones(1), "eval"), "an NDArray has no eval")


#: A library with one operator, three times its input, written against the header that engines come with.
TRIPLED = r"""
#include "mxnet/lib_api.h"
using namespace mxnet::ext;
typedef std::unordered_map<std::string, std::string> Attributes;
typedef std::vector<std::vector<unsigned int>> Shapes;

static MXReturnValue triple(const Attributes&, std::vector<MXTensor>* in, std::vector<MXTensor>* out,
                            const OpResource&) {
    const float* source = in->at(0).data<float>();
    float* target = out->at(0).data<float>();
    for (int64_t i = 0; i < in->at(0).size(); ++i) target[i] = 3.0f * source[i];
    return MX_SUCCESS;
}
static MXReturnValue counts(const Attributes&, int* inputs, int* outputs) {
    *inputs = 1;
    *outputs = 1;
    return MX_SUCCESS;
}
static MXReturnValue types(const Attributes&, std::vector<int>* in, std::vector<int>* out) {
    out->at(0) = in->at(0);
    return MX_SUCCESS;
}
static MXReturnValue shapes(const Attributes&, Shapes* in, Shapes* out) {
    out->at(0) = in->at(0);
    return MX_SUCCESS;
}
REGISTER_OP(conform_tripled).setForward(triple, "cpu").setBackward(triple, "cpu").setParseAttrs(counts)
    .setInferType(types).setInferShape(shapes);
MXReturnValue initialize(int version) { return version >= 10000 ? MX_SUCCESS : MX_FAIL; }
"""


def _built(mx, check):
    """The path of the library, compiled against the header beside the engine; AttributeError if that cannot be done."""
    root, compiler = os.path.dirname(os.path.abspath(mx.__file__)), shutil.which("g++")
    header, body = os.path.join(root, "include", "mxnet", "lib_api.h"), os.path.join(root, "src", "lib_api.cc")
    if compiler is None or not os.path.exists(header) or not os.path.exists(body):
        raise AttributeError("the engine comes without lib_api.h, or there is no g++ here to build a library with")
    source, library = check.path("tripled.cc"), check.path("tripled.so")
    with open(source, "w") as file:
        file.write(TRIPLED)
    command = [compiler, "-shared", "-fPIC", "-std=c++17", "-O0", "-w", "-I" + os.path.join(root, "include"), source,
               body, "-o", library]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    check.equal(done.returncode, 0, "exit status of the compiler, which said %r" % done.stdout[-300:])
    return library


@case("CUSTOMOP-LIB-004", timeout=240)
def operators_of_a_loaded_library(mx, check):
    status, out, error = check.python("""
mx.library.load(%r, verbose=False)
x = mx.nd.array([1.0, 2.0])
x.attach_grad()
with mx.autograd.record():
    y = mx.nd.conform_tripled(x)
y.backward()
print("=" + str((y.asnumpy().tolist(), x.grad.asnumpy().tolist(), callable(mx.sym.conform_tripled))))
""" % _built(mx, check))
    check.contains(out, "=([3.0, 6.0], [3.0, 3.0], True)",
                   doing="result, gradient and symbol of the operator (%s, %s)" % (status, error[-200:]))


@case("CUSTOMOP-LIB-005")
def names_of_all_operators(mx, check):
    names = mx.operator.get_all_registered_operators()
    check.isinstance(names, list, "result")
    check.that(len(names) > 100, "there are more than a hundred", "> 100", len(names))
    check.equal(sorted(set(names) & {"Custom", "broadcast_add", "FullyConnected", "no such operator"}),
                ["Custom", "FullyConnected", "broadcast_add"], "which of four names are listed")
