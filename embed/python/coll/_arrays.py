"""Arrays of any framework on their way to coll and back."""

import functools

import numpy as np

# coll_dtype of embed/c/coll.h, by the names that NumPy, ml_dtypes and JAX give them.
CODES = {
    "float32": 0, "float64": 1, "float16": 2, "bfloat16": 3, "int8": 4, "int16": 5, "int32": 6,
    "int64": 7, "bool": 8, "float8_e4m3fn": 9, "float8_e5m2": 10, "uint8": 11,
    # Unsigned integers have the code of their signed form.
    "uint16": 5, "uint32": 6, "uint64": 7,
}
NAMES = {code: name for name, code in reversed(CODES.items()) if not name.startswith("uint")}
NAMES[11] = "uint8"


def named_dtype(name):
    """The NumPy dtype of this name; those of ml_dtypes need that package."""
    try:
        return np.dtype(name)
    except TypeError:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, name))


@functools.cache
def _carrier(dtype):
    """How arrays of this NumPy type are passed: the type of their bits (None if it is their own) and a code."""
    name = dtype.name
    if name not in CODES:
        raise TypeError(f"coll has no element type {name}")
    if dtype.kind == "V" or name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        return np.dtype(f"u{dtype.itemsize}"), CODES[name]
    return None, -1


@functools.cache
def _dtype_of(code):
    return named_dtype(NAMES[code])


def to_input(value):
    """`value` (NumPy, JAX, PyTorch, a number, …) as the extension takes it: (array, dtype code).

    Nothing is copied where the array lies on the host.
    """
    if not isinstance(value, np.ndarray):
        if hasattr(value, "__dlpack__") and _is_on_host(value):
            if getattr(value, "requires_grad", False):  # PyTorch exports no tensor that records
                value = value.detach()
            try:
                return _through_dlpack(value), -1
            except (TypeError, BufferError, RuntimeError):
                pass  # a type that its framework does not export
        value = np.asarray(value)
    carrier, code = _carrier(value.dtype)
    return (value if carrier is None else value.view(carrier)), code


def _is_on_host(value):
    return value.__dlpack_device__()[0] == 1


def _through_dlpack(value):
    value.__dlpack__()  # whether its framework exports this type
    return value


def from_output(output, dtype=None):
    """The NumPy array of an output of the extension, as `dtype` where that has the same width."""
    array, code = output
    dtype = dtype or _dtype_of(code)
    return array if array.dtype == dtype else array.view(dtype)
