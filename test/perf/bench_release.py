#!/usr/bin/env python3
"""Size and start-up time of the static executable, the latter beside the tools that load MLIR's
shared libraries; appends to release.jsonl.

usage: bench_release.py [--build=build-release] [--rows=FILE]
"""

import argparse
import datetime
import json
import lzma
import pathlib
import statistics
import subprocess
import time

from bench_steps import machine

HERE = pathlib.Path(__file__).resolve().parent


def milliseconds(commands, rounds=31):
    """Median time of each command, one after the other in each round."""
    times = [[] for _ in commands]
    for _ in range(rounds):
        for command, spent in zip(commands, times):
            start = time.perf_counter()
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
            spent.append((time.perf_counter() - start) * 1e3)
    return [round(statistics.median(spent), 2) for spent in times]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", type=pathlib.Path, default=HERE.parents[1] / "build-release")
    parser.add_argument("--rows", type=pathlib.Path, default=HERE / "release.jsonl")
    words = parser.parse_args()
    coll = words.build / "bin/coll"
    rows = []

    def add(command, case, metric, ours, peer=None, peer_name=None):
        rows.append({"machine": machine(), "date": datetime.date.today().isoformat(),
                     "command": command, "case": case, "size": None, "metric": metric,
                     "ours": ours, "peer": peer, "peer_name": peer_name,
                     "ratio": round(peer / ours, 3) if peer else None})

    data = coll.read_bytes()
    add("stat coll", "size", "MB", round(len(data) / 1e6, 1))
    add("xz coll", "size, compressed", "MB", round(len(lzma.compress(data, preset=6)) / 1e6, 1))
    for tool in ("opt", "run"):
        peer = words.build / f"bin/coll-{tool}"
        commands = [[coll, tool, "--version"]] + ([[peer, "--version"]] if peer.exists() else [])
        ours, *theirs = milliseconds(commands)
        add(f"coll {tool} --version", f"start of {tool}", "ms", ours, *theirs,
            *(["shared libraries"] if theirs else []))
    with words.rows.open("a") as file:
        for row in rows:
            file.write(json.dumps(row) + "\n")
            print(row["case"], row["ours"], row["metric"], row["peer"] or "")


if __name__ == "__main__":
    main()
