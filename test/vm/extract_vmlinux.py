#!/usr/bin/env python3
"""extract_vmlinux.py BZIMAGE OUT: the uncompressed kernel, or BZIMAGE itself where its
compression is none that Python knows. Field offsets: the kernel's
Documentation/arch/x86/boot.rst."""

import bz2
import gzip
import lzma
import struct
import sys


def payload(image):
    """The compressed kernel inside a bzImage."""
    sectors = image[0x1F1] or 4  # setup_sects
    offset, length = struct.unpack_from("<II", image, 0x248)  # payload_offset, payload_length
    start = (sectors + 1) * 512 + offset
    return image[start:start + length]


def unpack(data):
    """The kernel; the four bytes behind each kind of stream are its size."""
    if data[:6] == b"\xfd7zXZ\0":
        return lzma.LZMADecompressor().decompress(data)
    if data[:2] == b"\x1f\x8b":
        return gzip.decompress(data[:-4])
    if data[:3] == b"BZh":
        return bz2.BZ2Decompressor().decompress(data)
    return None


def main(source, target):
    with open(source, "rb") as file:
        image = file.read()
    with open(target, "wb") as file:
        file.write(unpack(payload(image)) or image)


if __name__ == "__main__":
    main(*sys.argv[1:])
