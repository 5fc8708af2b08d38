"""Tensors of any framework by DLPack, and views of the exchange's memory."""

import ctypes
import math
from ctypes import POINTER, c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint64, c_void_p

from .errors import Error

# Name: CollDtype, DLPack's code and bits.
DTYPES = {
    "float32": (0, 2, 32), "float64": (1, 2, 64), "float16": (2, 2, 16), "bfloat16": (3, 4, 16),
    "int8": (4, 0, 8), "int16": (5, 0, 16), "int32": (6, 0, 32), "int64": (7, 0, 64),
    "uint8": (11, 1, 8), "uint32": (6, 1, 32), "uint64": (7, 1, 64), "bool": (8, 6, 8), "float8_e4m3fn": (9, 10, 8), "float8_e5m2": (10, 12, 8),
}


def structure(name, **fields):
    return type(name, (ctypes.Structure,), {"_fields_": list(fields.items())})


_DLDevice = structure("DLDevice", type=c_int32, id=c_int32)
_DLType = structure("DLType", code=c_uint8, bits=c_uint8, lanes=c_uint16)
_DLTensor = structure(
    "DLTensor", data=c_void_p, device=_DLDevice, ndim=c_int32, dtype=_DLType, shape=POINTER(c_int64),
    strides=POINTER(c_int64), offset=c_uint64)


class _DLManaged(ctypes.Structure):
    pass


_Deleter = ctypes.CFUNCTYPE(None, POINTER(_DLManaged))
_DLManaged._fields_ = [("tensor", _DLTensor), ("context", c_void_p), ("deleter", _Deleter)]

_capsule = ctypes.pythonapi
_capsule.PyCapsule_New.restype = ctypes.py_object
_capsule.PyCapsule_New.argtypes = [c_void_p, c_char_p, c_void_p]
_capsule.PyCapsule_IsValid.argtypes = [ctypes.py_object, c_char_p]
_capsule.PyCapsule_GetPointer.restype = c_void_p
_capsule.PyCapsule_GetPointer.argtypes = [ctypes.py_object, c_char_p]
_DLTENSOR = b"dltensor"  # has to outlive capsules
HOST, GPU, MANAGED = 1, 2, 13  # kDLCPU, kDLCUDA, kDLCUDAManaged

_exported = {}  # by address: what a consumer of a capsule still uses


@_Deleter
def _release(managed):
    _exported.pop(ctypes.addressof(managed.contents), None)


# The same functions for a capsule that is on its way out: no reference is to be made of it.
_ending = ctypes.PyDLL(None)
_ending.PyCapsule_IsValid.argtypes = [c_void_p, c_char_p]
_ending.PyCapsule_GetPointer.restype = c_void_p
_ending.PyCapsule_GetPointer.argtypes = [c_void_p, c_char_p]


@ctypes.CFUNCTYPE(None, c_void_p)
def _end_capsule(capsule):
    if _ending.PyCapsule_IsValid(capsule, _DLTENSOR):  # it was not taken
        _exported.pop(_ending.PyCapsule_GetPointer(capsule, _DLTENSOR), None)


class View:
    """A contiguous part of a buffer, for `from_dlpack`."""

    def __init__(self, address, dtype, shape, device, owner, device_type=GPU):
        self.address, self.dtype, self.shape = address, dtype, tuple(shape)
        self._device, self._owner = (device_type, device), owner

    def __dlpack_device__(self):
        return self._device

    def __dlpack__(self, stream=None, **_):
        _, code, bits = DTYPES[self.dtype]
        shape = (c_int64 * len(self.shape))(*self.shape)
        tensor = _DLTensor(self.address, _DLDevice(*self._device), len(self.shape),
                           _DLType(code, bits, 1), shape, None, 0)
        managed = _DLManaged(tensor, None, _release)
        _exported[ctypes.addressof(managed)] = (managed, shape, self)
        return _capsule.PyCapsule_New(ctypes.addressof(managed), _DLTENSOR, _end_capsule)


class Taken:
    """The device, address, type and shape of a tensor. For None and for an address nothing else is known."""

    def __init__(self, tensor):
        self.address, self.dtype, self.shape, self.strides, self.device = tensor, None, None, None, None
        if tensor is None or isinstance(tensor, int):
            return
        self.device = tuple(int(part) for part in tensor.__dlpack_device__())  # some have enums
        # The call itself waits for its stream, so the producer need not.
        capsule = tensor.__dlpack__() if self.device[0] == HOST else tensor.__dlpack__(stream=-1)
        managed = ctypes.cast(_capsule.PyCapsule_GetPointer(capsule, _DLTENSOR), POINTER(_DLManaged))
        found = managed.contents.tensor
        self.address = (found.data or 0) + found.offset
        self.shape = tuple(found.shape[:found.ndim])
        packed = tuple(math.prod(self.shape[i + 1:]) for i in range(found.ndim))
        self.strides = tuple(found.strides[:found.ndim]) if found.strides else packed
        self.is_contiguous = 0 in self.shape or all(
            size == 1 or stride == step for size, stride, step in zip(self.shape, self.strides, packed))
        code, bits, lanes = found.dtype.code, found.dtype.bits, found.dtype.lanes
        self.dtype = next((name for name, d in DTYPES.items() if d[1:] == (code, bits) and lanes == 1),
                          f"of DLPack's type ({code}, {bits}, {lanes})")
        self.bytes = math.prod(self.shape) * bits * lanes // 8

    def __str__(self):
        if self.shape is None:
            return "an address" if self.address else "None"
        strides = "" if self.is_contiguous else f" with strides {list(self.strides)}"
        return f"{self.dtype} {list(self.shape)}{strides} {place(*self.device)}"


def place(kind, number):
    return {HOST: "on the host", GPU: f"on GPU {number}", MANAGED: f"on GPU {number}"}.get(
        kind, f"on DLPack's device ({kind}, {number})")


def dtype_code(what, name):
    if name not in DTYPES:
        raise Error(1, f"moe: `{what}` is {name!r}; it has to be one of {', '.join(DTYPES)}")
    return DTYPES[name][0]
