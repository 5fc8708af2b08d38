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


def encode(dtype, extents, values):
    shape = tuple(int(e) for e in extents.split(",") if e)
    count = math.prod(shape)
    if values == "iota":
        numbers = list(range(count))
    else:
        given = [float(v) if dtype[0] == "f" else int(v) for v in values.split(",")]
        numbers = [given[i % len(given)] for i in range(count)]
    order = "|" if dtype[1] == "1" else "<"
    text = f"{{'descr': '{order}{dtype}', 'fortran_order': False, 'shape': {shape}, }}\n"
    header = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()
    return header + struct.pack(f"<{count}{CODES[dtype]}", *numbers)


with zipfile.ZipFile(sys.argv[1], "w") as archive:
    for argument in sys.argv[2:]:
        name, dtype, extents, values = re.fullmatch(r"(\w+)=(\w\d)\[([\d,]*)\]:(.*)",
                                                    argument).groups()
        archive.writestr(name + ".npy", encode(dtype, extents, values))
