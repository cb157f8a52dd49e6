"""Where the data of an array lies, and how many arrays are alive.

Runs in the engine's interpreter: Python 3.8, standard library and numpy >= 1.17 only.
"""

import ctypes
import gc
from typing import Any

#: Code for a process of its own: `high()` is the most memory it has used, in megabytes. The kernel's other number,
#: ru_maxrss, begins with what the process used that started it.
HIGH = """
def high():
    with open('/proc/self/status') as file:
        for line in file:
            if line.startswith('VmHWM'):
                return int(line.split()[1]) // 1024
"""


class _Tensor(ctypes.Structure):
    """The tensor of DLPack: address, device, shape, element type, strides and offset."""

    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int), ("device_id", ctypes.c_int), ("ndim", ctypes.c_int),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64)]


class _Versioned(ctypes.Structure):
    """What a capsule of DLPack 1.0 holds; older ones hold the tensor first."""

    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", _Tensor)]


def seen(check, code):
    """The words of the lines that *code* prints after the word `seen`, run in a process of its own, with ``high``."""
    status, printed, errors = check.python(HIGH + code)
    check.equal(status, 0, "exit status of the process, which wrote %s" % errors[-600:])
    return [line.split()[1:] for line in printed.splitlines() if line.startswith("seen ")]


def _capsule_functions() -> Any:
    """The functions that look into a capsule, of a library handle of their own: others keep their types."""
    api = ctypes.PyDLL(None)
    api.PyCapsule_IsValid.argtypes = [ctypes.py_object, ctypes.c_char_p]
    api.PyCapsule_IsValid.restype = ctypes.c_int
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    return api


def layout(mx, array):
    """The address of the first element and the strides in elements (None: row-major), by way of DLPack."""
    api = _capsule_functions()
    capsule = mx.nd.to_dlpack_for_read(array)
    if api.PyCapsule_IsValid(capsule, b"dltensor_versioned"):
        tensor = _Versioned.from_address(api.PyCapsule_GetPointer(capsule, b"dltensor_versioned")).tensor
    else:
        tensor = _Tensor.from_address(api.PyCapsule_GetPointer(capsule, b"dltensor"))
    strides = tuple(tensor.strides[axis] for axis in range(tensor.ndim)) if tensor.strides else None
    return tensor.data + tensor.byte_offset, strides


def address(mx, array):
    """The address of the first element."""
    return layout(mx, array)[0]


def alive(mx, **wanted):
    """The arrays that the garbage collector tracks and that have the attributes given."""
    found = []
    for thing in gc.get_objects():
        if isinstance(thing, mx.nd.NDArray) and all(getattr(thing, name) == value for name, value in wanted.items()):
            found.append(thing)
    return found
