"""Writes a NumPy archive without NumPy.

usage: npz.py FILE.npz NAME=TYPE[EXTENTS]:VALUES …

TYPE is f4, f8, i4, i8, u1 or b1; VALUES are numbers separated by commas, repeated as
often as the shape needs, or `iota`: 0, 1, 2, …
"""

import math
import re
import struct
import sys
import zipfile

CODES = {"f4": "f", "f8": "d", "i4": "i", "i8": "q", "u1": "B", "b1": "?"}


def encode(dtype, shape, numbers):
    """A .npy file's bytes; `dtype` is one of CODES."""
    order = "|" if dtype[1] == "1" else "<"
    text = f"{{'descr': '{order}{dtype}', 'fortran_order': False, 'shape': {tuple(shape)}, }}\n"
    header = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()
    return header + struct.pack(f"<{len(numbers)}{CODES[dtype]}", *numbers)


def write(path, arrays):
    """Writes name -> (dtype, shape, numbers)."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            archive.writestr(name + ".npy", encode(*array))


def parse(argument):
    """(name, (dtype, shape, numbers)) of NAME=TYPE[EXTENTS]:VALUES."""
    name, dtype, extents, values = re.fullmatch(r"(\w+)=(\w\d)\[([\d,]*)\]:(.*)",
                                                argument).groups()
    shape = [int(e) for e in extents.split(",") if e]
    count = math.prod(shape)
    if values == "iota":
        return name, (dtype, shape, list(range(count)))
    given = [float(v) if dtype[0] == "f" else int(v) for v in values.split(",")]
    return name, (dtype, shape, [given[i % len(given)] for i in range(count)])


if __name__ == "__main__":
    write(sys.argv[1], dict(parse(argument) for argument in sys.argv[2:]))
