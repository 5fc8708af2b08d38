#!/usr/bin/env python3
"""Root updates beside plain data parallelism, and a ring beside a direct route; appends to roots.jsonl.

usage: bench_roots.py [--tools=build/bin] [--rows=FILE] [--repeat=N] [--steps=N]

Both sides of a row run alternately; medians count. The ranks of backend `net` run in network namespaces where
this process may make some (it needs root), else on the loopback device.
"""

import argparse
import datetime
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

from bench_steps import DATA, HERE, machine, run

NETNS = HERE.parent / "run" / "inputs" / "netns_job.py"


def has_namespaces():
    if not shutil.which("ip"):
        return False
    try:
        return subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def measure(tools, case, ranks, steps, flags, spread):
    """(ms per step, bytes of state on a rank)."""
    meta = json.loads((DATA / case / "meta.json").read_text())
    with tempfile.TemporaryDirectory() as scratch:
        page = pathlib.Path(scratch) / "report.html"
        words = [tools / "coll-run", DATA / case / "step.mlir", f"--ranks={ranks}", f"--steps={steps}",
                 f"--state-args={meta['state_args']}", f"--data={DATA / case / 'reference.npz'}", *flags]
        output = run([*spread, *words])[1] if spread else run([*words, f"--report={page}"])[1]
        state = 0
        if not spread:
            text = page.read_text(encoding="utf-8")
            data = json.loads(re.search(r'id="coll-data">(.*?)</script>', text, re.DOTALL).group(1))
            state = max(rank["memory_bytes"]["state"] for rank in data["ranks"])
    return float(re.search(r"([\d.e+-]+) ms/step", output).group(1)), state


def compare(args, case, ranks, ours, peer, backend=(), spread=()):
    """Appends a row: the flags `ours` beside the flags `peer`."""
    times, states = ([], []), [0, 0]
    for _ in range(args.repeat):
        for side, flags in enumerate((ours, peer)):
            time, states[side] = measure(args.tools, case, ranks, args.steps, [*flags, *backend], spread)
            times[side].append(time)
    own, other = (statistics.median(side) for side in times)
    place = "namespaces" if spread else "threads" if not backend else "loopback"
    row = {"machine": machine(), "date": datetime.date.today().isoformat(), "command": "bench_roots.py",
           "case": f"{case}, {' '.join(ours)}", "size": f"{ranks} ranks, {place}", "metric": "ms per step",
           "ours": own, "peer": other, "peer_name": " ".join(peer) or "plain data parallelism",
           "ratio": round(other / own, 3)}
    if states[0]:
        row |= {"ours_state_bytes": states[0], "peer_state_bytes": states[1]}
    with open(args.rows, "a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
    print(row["case"], row["size"], f"{own:.4g} ms beside {other:.4g} of {row['peer_name']}", *states, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=pathlib.Path, default=HERE.parent.parent / "build" / "bin")
    parser.add_argument("--rows", type=pathlib.Path, default=HERE / "roots.jsonl")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--steps", type=int, default=200)
    args = parser.parse_args()
    for case in ("gpt_tiny_adamw", "cnn_digits_adam"):
        for ranks in (2, 4):
            compare(args, case, ranks, ["--root=shard"], [])
    for case in ("gpt_tiny_adamw", "cnn_digits_adam"):
        if has_namespaces():
            compare(args, case, 4, ["--root=hash", "--route=ring"], ["--root=hash"], ["--backend=net"],
                    [sys.executable, NETNS, "4"])
        else:
            compare(args, case, 4, ["--root=hash", "--route=ring"], ["--root=hash"],
                    ["--backend=net", "--processes"])


if __name__ == "__main__":
    main()
