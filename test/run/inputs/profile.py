"""Says what is in a timeline of coll-run --profile, by a decoder that shares nothing with its
writer (test/profiler/perfetto_decode_test.py), and fails where slices do not nest.

    profile.py FILE.pftrace
"""

import collections
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "profiler"))

from perfetto_decode_test import Trace, message  # noqa: E402

BEGIN, END = 1, 2


class Timeline(Trace):
    """Also the flows: id -> number of slices that it joins."""

    def __init__(self, data):
        self.flows = collections.Counter()
        super().__init__(data)

    def packet(self, packet):
        super().packet(packet)
        for data in packet.get(11, []):
            event = message(data)
            self.flows.update(event.get(47, []) + event.get(48, []))


def slices(events):
    """(begin, end, name, notes) of a track, in the order of time; they must nest."""
    stack, spans, outer = [], [], []
    for ns, kind, name, notes in events:
        if kind == BEGIN:
            stack.append((ns, name, notes))
        elif kind == END:
            begin, name, notes = stack.pop()
            assert begin <= ns, f"{name} ends before it begins"
            spans.append((begin, ns, name, notes))
    assert not stack, f"{stack} do not end"
    spans.sort(key=lambda span: (span[0], -span[1]))
    for begin, end, name, _ in spans:
        while outer and outer[-1] <= begin:
            outer.pop()
        assert not outer or end <= outer[-1], f"{name} does not end in what it began in"
        outer.append(end)
    return spans


def main():
    trace = Timeline(pathlib.Path(sys.argv[1]).read_bytes())
    ranks = {uuid: name for uuid, (name, parent) in trace.tracks.items() if parent == 0}
    counts = {name: collections.Counter() for name in ranks.values()}
    unexplained = computations = unplaced = 0
    for uuid, (track, parent) in trace.tracks.items():
        if parent == 0:
            continue
        kind, rank = track.split(" ")[0], ranks[parent]
        for _, _, name, notes in slices(trace.events.get(uuid, [])):
            counts[rank][kind] += 1
            counts[rank]["steps"] += name.startswith("step ")
            if kind == "program" and notes.get("op", 0) >= 1 << 63: # below zero: a computation
                computations += 1
                unplaced += "location" not in notes
            if kind != "operations":
                continue
            assert notes["completion"] == "reported", notes
            # The creation of a communicator needs none.
            unexplained += "reason" not in notes and name.split(" ")[0] != "init"
            if rank == "rank 0":
                print(f"{name}: {notes['bytes']} B, op {notes['op']} at {notes.get('location', '?')}:",
                      notes.get("reason", ""))
    for rank in sorted(counts, key=lambda name: int(name.split(" ")[1])):
        print(rank + ":", ", ".join(f"{count} {kind}" for kind, count in sorted(counts[rank].items())))
    print(f"{unexplained} operations without a reason")
    print(f"{computations} computations, {unplaced} without a line")
    joined = sum(count == 2 for count in trace.flows.values())
    print(f"{joined} of {len(trace.flows)} flows join two slices")


if __name__ == "__main__":
    main()
