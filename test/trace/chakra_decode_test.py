#!/usr/bin/env python3
"""Decodes coll-trace's Chakra files by the published schema, without the project's code.

    chakra_decode_test.py TRACE_TESTS COLL_TRACE

TRACE_TESTS --simulate writes traces, COLL_TRACE to-chakra converts them. Each file is read with the field
numbers of Chakra's et_def.proto (version 1.0), and checked: types of fields, known attributes with their
types, dependencies on nodes that come before.
"""

import pathlib
import subprocess
import sys
import tempfile

# Field of Node -> wire type; attributes that the common feeder reads -> field of AttributeProto.
NODE = {1: 0, 2: 2, 3: 0, 4: 2, 5: 2, 6: 0, 7: 0, 8: 2, 9: 2, 10: 2}
ATTRIBUTES = {"is_cpu_op": 27, "comm_size": 9, "comm_type": 9, "pg_name": 29, "comm_src": 7, "comm_dst": 7,
              "comm_tag": 7}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            assert key & 7 == 2, f"wire type {key & 7}"
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size
        yield key >> 3, key & 7, value


def messages(data):
    at = 0
    while at < len(data):
        size, at = varint(data, at)
        assert at + size <= len(data), "a message ends outside of the file"
        yield data[at:at + size]
        at += size


def packed(data):
    at, values = 0, []
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def check(path):
    """The numbers of compute nodes and collectives."""
    metadata, *nodes = messages(path.read_bytes())
    assert [value for number, _, value in fields(metadata) if number == 1] == [b"1.0"]
    seen, kinds = set(), []
    for raw in nodes:
        node = {}
        for number, wire, value in fields(raw):
            assert NODE[number] == wire, (number, wire)
            node.setdefault(number, []).append(value)
        for dependency in packed(b"".join(node.get(4, []) + node.get(5, []))):
            assert dependency in seen, "depends on a node that comes later"
        seen.add(node[1][0])
        kinds.append(node[3][0])
        names = set()
        for attribute in node.get(10, []):
            (_, _, name), (number, _, _) = sorted(fields(attribute))
            assert ATTRIBUTES[name.decode()] == number, name
            names.add(name.decode())
        if node[3][0] == 7:
            assert {"is_cpu_op", "comm_type", "comm_size", "pg_name"} <= names, names
    return kinds.count(4), kinds.count(7)


def main():
    tests, tool = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([tests, f"--simulate={folder}", "--ranks=3", "--collectives=20"], check=True)
        traces = sorted(map(str, pathlib.Path(folder).glob("*.pftrace")))
        subprocess.run([tool, "to-chakra", "-o", f"{folder}/run", *traces], check=True, stdout=subprocess.DEVNULL)
        files = sorted(pathlib.Path(folder).glob("run.*.et"))
        assert [file.name for file in files] == ["run.0.et", "run.1.et", "run.2.et"]
        for file in files:
            assert check(file) == (20, 20), check(file)
    print("3 files decoded")


if __name__ == "__main__":
    main()
