"""Compares the bytes of collectives that --plan-only predicts with those of a run.

usage: predicted_bytes.py MESH:STRATEGY… -- FOLDER…

For each step of a FOLDER and each strategy (dp=2,tp=2:fsdp,tensor), the calls in a step and the bytes that an average
rank sends in them are the same, per kind of collective, in the forecast and in the report of a run on threads. The
report counts what ranks put into a call; a call's algorithm sends the least that its kind allows.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

# Bytes that a rank of n sends, of those that it puts in.
SENT = {"all_reduce": lambda n: 2 * (n - 1) / n, "all_gather": lambda n: n - 1, "reduce_scatter": lambda n: (n - 1) / n,
        "all_to_all": lambda n: (n - 1) / n, "permute": lambda n: 1}


def run(step, *flags):
    done = subprocess.run(["coll-run", str(step), *flags], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        sys.exit(f"{step} {flags}: {done.stderr[-1000:]}")


def predicted(step, flags, folder):
    run(step, *flags, "--plan-only", f"--explain={folder}/plan.json")
    totals = collections.defaultdict(lambda: [0, 0])
    for row in json.loads((folder / "plan.json").read_text())["collectives"]:
        if not row["is_counted"]:
            return None
        totals[row["kind"]][0] += 0 if row["shares_call"] else row["calls_per_step"]
        totals[row["kind"]][1] += row["calls_per_step"] * row["bytes_per_call"]
    return totals


def measured(step, flags, folder):
    run(step, *flags, "--steps=2", "--quiet", f"--report={folder}/report.html")
    text = (folder / "report.html").read_text()
    totals = collections.defaultdict(lambda: [0, 0])
    for row in json.loads(re.search(r'id="coll-data">(.*?)</script>', text, re.S)[1])["collectives"]:
        if row["function"] != "step":
            continue
        totals[row["kind"]][0] += row["calls_per_step"]
        totals[row["kind"]][1] += row["payload_bytes_per_step"] * SENT[row["kind"]](len(row["groups"][0]))
    return totals


def differences(want, have):
    for kind in sorted({*want, *have}):
        calls, size = want[kind]
        if calls != have[kind][0] or abs(size - have[kind][1]) > 1e-6 * size:
            yield f"{kind}: predicted {calls} calls, {size:.0f} bytes, measured {have[kind][0]}, {have[kind][1]:.0f}"


def main():
    split = sys.argv.index("--")
    good = total = left = 0
    with tempfile.TemporaryDirectory() as name:
        for folder in map(pathlib.Path, sys.argv[split + 1:]):
            meta = json.loads((folder / "meta.json").read_text())
            for choice in sys.argv[1:split]:
                mesh, strategy = choice.split(":")
                flags = [f"--state-args={meta['state_args']}", f"--mesh={mesh}", f"--strategy={strategy}"]
                want = predicted(folder / "step.mlir", flags, pathlib.Path(name))
                if want is None:
                    left += 1  # a loop whose rounds depend on values
                    continue
                wrong = list(differences(want, measured(folder / "step.mlir", flags, pathlib.Path(name))))
                total += 1
                good += not wrong
                for text in wrong:
                    print(f"{folder.name} {choice}: {text}")
    print(f"{good} of {total} as predicted, {left} not counted")


if __name__ == "__main__":
    main()
