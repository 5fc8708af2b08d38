#!/usr/bin/env python3
"""Turns what nccl-net-test measured into rows of test/perf: ours beside NCCL's Socket.

  nccl_rows.py MEASURED ROWS.jsonl [NOTE]

MEASURED holds one JSON object per label, operation and size, labels beginning with
"socket", "host" or "unpack", then "default" or "tuned". For each operation and size:
host default / socket default (target 3, latency 1), the same with the one variable of NCCL's
that the plugin cannot set, the best host / the best socket (target 1.1), unpack tuned / host
tuned (target 0.9).
"""

import datetime
import json
import os
import shutil
import subprocess
import sys


def machine():
    names = []
    if shutil.which("nvidia-smi"):
        listed = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"],
                                capture_output=True, text=True, check=False).stdout
        names = [name for name in listed.split("\n") if name]
    return f"{len(names)} x {names[0] if names else 'no GPU'}, {os.cpu_count()} cores, loopback"


def measurement(rows, label, key):
    return best([row for row in rows if row["label"] == label], label, key)


def best(rows, label, key):
    """The fastest measurement of a configuration whose label begins so."""
    found = [row for row in rows
             if row["label"].startswith(label) and (row["op"], row["bytes"]) == key]
    return min(found, key=lambda row: row["us"], default=None)


def row(case, key, ours, peer, target):
    op, size = key
    if ours is None or peer is None:
        return None
    return {"machine": machine(), "date": datetime.date.today().isoformat(),
            "command": "test/gpu/nccl.sh BUILD OUT perf", "case": f"nccl {op}: {case}",
            "size": f"{size} B", "metric": "us", "ours": ours["us"], "ours_name": ours["label"],
            "ours_gbs": ours["gbs"], "peer": peer["us"], "peer_name": peer["label"],
            "peer_gbs": peer["gbs"], "ratio": round(peer["us"] / ours["us"], 3), "target": target}


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        measured = [json.loads(line) for line in file if line.startswith("{")]
    keys = sorted({(entry["op"], entry["bytes"]) for entry in measured})
    rows = []
    for key in keys:
        small = key[1] <= 8
        rows.append(row("host beside Socket, both as they come", key,
                        measurement(measured, "host default", key),
                        measurement(measured, "socket default", key),
                        1.0 if small else 3.0))
        rows.append(row("host with NCCL_NCHANNELS_PER_NET_PEER=8 beside Socket as it comes", key,
                        measurement(measured, "host with 8 channels per peer", key),
                        measurement(measured, "socket default", key),
                        1.0 if small else 3.0))
        rows.append(row("host beside Socket, each at its best", key, best(measured, "host", key),
                        best(measured, "socket", key), 1.0 if small else 1.1))
        rows.append(row("unpack beside host, 16 channels", key,
                        measurement(measured, "unpack tuned, 16ch 512k", key),
                        measurement(measured, "host tuned, 16ch 512k", key), 0.9))
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        for entry in rows:
            if entry:
                if len(sys.argv) > 3:
                    entry["note"] = sys.argv[3]
                file.write(json.dumps(entry) + "\n")
                print(f"{entry['case']:58} {entry['size']:>12} {entry['ours']:10.1f} us "
                      f"{entry['peer']:10.1f} us  x{entry['ratio']:.2f} (target {entry['target']})")


if __name__ == "__main__":
    main()
