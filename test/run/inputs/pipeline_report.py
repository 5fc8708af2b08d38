"""Prints what the JSON inside a report says of its pipeline, and checks that entries come in their order.

usage: pipeline_report.py FILE.html
"""

import sys

from report import load


def follows(spans):
    """Entries of a stage do not overlap; a forward pass begins behind that of the chunk before."""
    ends = {}
    for entries in spans:
        assert all(begin <= end for _, begin, end in entries)
        assert all(a[2] <= b[1] for a, b in zip(entries, entries[1:]))
        ends.update({name: end for name, _, end in entries})
    for entries in spans:
        for name, begin, _ in entries:
            chunk, batch = name[1:].split(".")
            before = ends.get(f"F{int(chunk) - 1}.{batch}")
            assert name[0] != "F" or before is None or before <= begin, (name, before, begin)


def main(path):
    pipeline = load(path)["pipeline"]
    print(f"{pipeline['schedule']}, {pipeline['micro_batches']} micro-batches, peaks {pipeline['peak_activations']}")
    for kind in ("predicted", "measured"):
        spans = pipeline[f"{kind}_ns"]
        print(f"{kind}:", " | ".join(" ".join(name for name, _, _ in entries) for entries in spans))
        assert 0 <= pipeline[f"{kind}_idle_fraction"] < 1
        follows(spans)
    print("in order")


main(sys.argv[1])
