#!/usr/bin/env python3
"""Decodes a trace of runtime/profiler/perfetto by means that share nothing with it.

    perfetto_decode_test.py PROGRAM

PROGRAM --sample=FILE writes the sample trace. It is decoded with trace.proto, the published
field numbers: by protoc if there is one, and always by the small decoder below. Slices must nest,
times must be those written, interned names must resolve.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value, at
        shift += 7


def message(data):
    """Field number -> list of values; nested messages stay bytes."""
    fields, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = int.from_bytes(data[at:at + 8], "little"), at + 8
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size, "a field ends outside of its message"
        else:
            raise AssertionError(f"wire type {kind}")
        fields.setdefault(key >> 3, []).append(value)
    return fields


class Trace:
    """Events of a trace by track, checked as they come."""

    def __init__(self, data):
        self.tracks, self.events, self.clocks = {}, {}, 0
        self.names, self.categories, self.keys, self.texts = {}, {}, {}, {}
        for raw in message(data)[1]:
            self.packet(message(raw))

    def packet(self, packet):
        for data in packet.get(12, []):
            for number, table in ((1, self.categories), (2, self.names), (3, self.keys), (29, self.texts)):
                for raw in message(data).get(number, []):
                    entry = message(raw)
                    table[entry[1][0]] = entry[2][0].decode()
        for data in packet.get(60, []):
            track = message(data)
            self.tracks[track[1][0]] = (track[2][0].decode(), track.get(5, [0])[0])
        for data in packet.get(6, []):
            self.clocks += len(message(data)[1])
        for data in packet.get(11, []):
            event = message(data)
            notes = {}
            for raw in event.get(4, []):
                note = message(raw)
                value = next(note[n][0] for n in (2, 3, 4, 5, 6, 17) if n in note)
                notes[self.keys[note[1][0]]] = self.texts[value] if 17 in note else value
            self.events.setdefault(event[11][0], []).append(
                (packet[8][0], event[9][0], self.names.get(event.get(10, [0])[0], ""), notes))


def check(data):
    trace = Trace(data)
    assert trace.clocks == 3, trace.clocks
    ranks = [uuid for uuid, (name, parent) in trace.tracks.items() if parent == 0]
    assert sorted(trace.tracks[uuid][0] for uuid in ranks) == ["rank 0", "rank 1"]
    calls = [uuid for uuid, (name, parent) in trace.tracks.items() if name == "calls"]
    assert len(calls) == 2 and all(trace.tracks[uuid][1] in ranks for uuid in calls)
    for uuid in calls:
        depth = slices = 0
        for ns, kind, name, notes in sorted(trace.events[uuid], key=lambda event: event[0]):
            depth += {1: 1, 2: -1}.get(kind, 0)
            assert depth in (0, 1, 2), "slices do not nest"
            if kind == 1 and name == "AllReduce":
                seq = notes["seq"]
                assert ns == 1000 * seq + 100 and notes["location"] == "train.py:12"
                assert notes["root"] == 2 ** 64 - 1
                slices += 1
        assert depth == 0 and slices == 100, (depth, slices)
        assert [e[3] for e in trace.events[uuid] if e[2] == "events dropped"] == [{"dropped": 5}]


def check_with_protoc(data):
    if not shutil.which("protoc"):
        print("protoc is not there: the small decoder alone")
        return
    text = subprocess.run(["protoc", "--decode=coll.test.Trace", f"-I{HERE}", str(HERE / "trace.proto")],
                          input=data, capture_output=True, check=True).stdout.decode()
    assert text.count("type: TYPE_SLICE_BEGIN") == 400 and text.count("type: TYPE_SLICE_END") == 400
    unknown = [line for line in text.splitlines() if line.strip().split(":")[0].split(" ")[0].isdigit()]
    assert not unknown, f"fields that are not published: {unknown[:3]}"
    print("protoc agrees")


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "sample.pftrace")
        subprocess.run([sys.argv[1], f"--sample={path}"], check=True)
        data = pathlib.Path(path).read_bytes()
    check(data)
    check_with_protoc(data)


if __name__ == "__main__":
    main()
