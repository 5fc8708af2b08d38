"""Trains a JAX step by several strategies and prints, as a table, what each sends and stores, and how
far its results are from those of one device.

    strategy_table.py [--ranks=4,8] [--compare=strategies.md] FOLDER    # with step.mlir, meta.json, reference.npz

With --compare, the table has to be in that file, except for differences.
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

STRATEGIES = [
    ("data", []),
    ("zero1", ["--strategy=zero1"]),
    *[(f"root={root}, route={route}", [f"--root={root}", f"--route={route}"])
      for root in ("hash", "balanced", "shard") for route in ("direct", "ring")],
    ("accumulate=2", ["--accumulate=2"]),
    ("root=shard, accumulate=2", ["--root=shard", "--accumulate=2"]),
    ("staleness=1", ["--staleness=1"]),
    ("root=shard, staleness=1", ["--root=shard", "--staleness=1"]),
]
HEADER = "| strategy | ranks | collectives of a step | payload of a rank, KiB | state on a rank, KiB | largest difference |"
REMARK = re.compile(r"optimizer state: (\d+) bytes on each rank, (\d+) in all")
ALIGNMENT = 64  # bytes added to each buffer


def run(folder, ranks, flags):
    """The data of coll-run's report; None where each rank has too few rows for micro-batches."""
    meta = json.loads((folder / "meta.json").read_text())
    with tempfile.TemporaryDirectory() as scratch:
        page = pathlib.Path(scratch) / "report.html"
        command = ["coll-run", folder / "step.mlir", f"--state-args={meta['state_args']}",
                   f"--data={folder / 'reference.npz'}", "--steps=2", "--check", "--quiet",
                   f"--ranks={ranks}", f"--report={page}", *flags]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode and "cannot be cut into" in done.stderr:
            return None
        if done.returncode:
            sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
        text = page.read_text(encoding="utf-8")
    return json.loads(re.search(r'id="coll-data">(.*?)</script>', text, re.DOTALL).group(1))


def state_bytes(data):
    return max(rank["memory_bytes"]["state"] for rank in data["ranks"])


def check_prediction(data, whole):
    """Checks that the optimizer's state that the compiler predicts is what a rank stores less."""
    predicted = [tuple(map(int, found)) for note in data["run"]["notes"]
                 for found in REMARK.findall(note)]
    saved = sum(total - own for own, total in predicted)
    rest = whole - state_bytes(data) - saved
    assert predicted and rest >= 0 and rest % ALIGNMENT == 0, (predicted, whole, state_bytes(data))


def make_row(name, ranks, data):
    counts, sent = collections.Counter(), 0.0
    for row in data["collectives"]:
        if row["function"] == "step":
            counts[row["kind"]] += row["calls_per_step"]
            sent += row["bytes_per_step"]
    kinds = ", ".join(f"{count:g} {kind}" for kind, count in sorted(counts.items()))
    difference = max((tensor["relative"] or 0) for check in data["checks"] for tensor in check["tensors"])
    return (f"| {name} | {ranks} | {kinds} | {sent / 1024:.1f} | "
            f"{state_bytes(data) / 1024:.1f} | {difference:.1e} |")


def make_table(folder, ranks_list):
    rows = [HEADER, "|" + "---|" * (HEADER.count("|") - 1)]
    for ranks in ranks_list:
        whole = {}  # bytes of the state on every rank where none has a root, without and with late gradients
        for name, flags in STRATEGIES:
            data = run(folder, ranks, flags)
            if not data:
                continue
            whole.setdefault("staleness" in name, state_bytes(data))
            if "root=" in name:
                check_prediction(data, whole["staleness" in name])
            rows.append(make_row(name, ranks, data))
    return rows


def without_difference(row):
    return row.rsplit("|", 2)[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=lambda text: text.split(","), default=["4"])
    parser.add_argument("--compare", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    rows = make_table(options.folder, [int(ranks) for ranks in options.ranks])
    print("\n".join(rows))
    if options.compare:
        known = {without_difference(line) for line in options.compare.read_text().splitlines()
                 if line.startswith("|")}
        missing = [row for row in rows[2:] if without_difference(row) not in known]
        if missing:
            sys.exit(f"not in {options.compare}:\n" + "\n".join(missing))


if __name__ == "__main__":
    main()
