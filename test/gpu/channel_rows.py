#!/usr/bin/env python3
"""Turns what bench-channel and nccl-net-test measured in one run into rows of test/perf.

  channel_rows.py MEASURED ROWS.jsonl MACHINE [NOTE]

MEASURED holds one JSON object per label, operation and size. Labels of NCCL over its own
Socket transport begin with "socket"; all others are backend net on GPU buffers. Each of ours
gets two rows' worth of peer: NCCL as it comes where ours is "default", the best Socket else.
Targets: 45 GB/s one way, 30 both ways, for the largest size.
"""

import datetime
import json
import sys

TARGETS = {"send": 45.0, "both": 30.0}


def peer_of(entry, measured):
    peers = [other for other in measured if other["label"].startswith("socket")
             and (other["op"], other["bytes"]) == (entry["op"], entry["bytes"])]
    if entry["label"] == "default":
        peers = [other for other in peers if other["label"] == "socket default"]
    return min(peers, key=lambda other: other["us"], default=None)


def row(entry, measured, machine, note):
    largest = max(other["bytes"] for other in measured)
    peer = peer_of(entry, measured)
    result = {
        "machine": machine, "date": datetime.date.today().isoformat(),
        "command": "test/gpu/channel.sh", "case": f"net, GPU buffers, {entry['op']}: {entry['label']}",
        "size": f"{entry['bytes']} B", "metric": "us", "ours": entry["us"],
        "ours_gbs": entry["gbs"],
        "peer": peer["us"] if peer else None,
        "peer_name": f"NCCL, {peer['label']}" if peer else None,
        "peer_gbs": peer["gbs"] if peer else None,
        "ratio": round(peer["us"] / entry["us"], 3) if peer else None,
        "target": TARGETS.get(entry["op"]) if entry["bytes"] == largest else None,
        "target_of": "ours_gbs",
    }
    if note:
        result["note"] = note
    return result


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        measured = [json.loads(line) for line in file if line.startswith("{")]
    note = sys.argv[4] if len(sys.argv) > 4 else ""
    # What was not correct is no measurement.
    ours = [entry for entry in measured
            if not entry["label"].startswith("socket") and entry.get("correct", True)]
    with open(sys.argv[2], "a", encoding="utf-8") as file:
        for entry in ours:
            made = row(entry, measured, sys.argv[3], note)
            file.write(json.dumps(made) + "\n")
            print(f"{made['case']:52} {made['size']:>12} {made['ours']:10.1f} us "
                  f"{made['ours_gbs']:7.2f} GB/s  x{made['ratio'] or 0:.2f} of {made['peer_name']}")


if __name__ == "__main__":
    main()
