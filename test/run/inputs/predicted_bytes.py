"""Compares the bytes that are predicted of a plan with those of a run: of collectives, and of memory.

usage: predicted_bytes.py [--rows=FILE.jsonl] MESH:STRATEGY… -- FOLDER…

For each step of a FOLDER, the shortest first, and each strategy (dp=2,tp=2:fsdp,tensor), forecast and report of a run on
threads say the same, to the byte: for each kind of collective the calls in a step and what all ranks send in them, and
the most that the buffers of all ranks take at once; and so do the totals of calls and of the payload that ranks put into
them. The report counts the payload; a call's algorithm sends the least that its kind allows. Left out are the collectives of steps in which values decide how many run (in
loops and branches), and plans whose strategy finds nothing to split in a step, such as spatial where there are no
images.

With --rows each plan is a line of FILE as soon as it has run, and plans that have one are not run again.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

# Bytes that n ranks send, of those that they put in together.
SENT = {"all_reduce": lambda n, put: 2 * (n - 1) * put // n, "all_gather": lambda n, put: (n - 1) * put,
        "reduce_scatter": lambda n, put: (n - 1) * put // n, "all_to_all": lambda n, put: (n - 1) * put // n,
        "permute": lambda n, put: put}


def predicted(plan):
    totals = collections.defaultdict(lambda: [0, 0])
    for row in plan["collectives"]:
        totals[row["kind"]][0] += 0 if row["shares_call"] else row["calls_per_step"]
        totals[row["kind"]][1] += row["calls_per_step"] * row["group_bytes_per_call"] * plan["ranks"] // row["group_size"]
    memory = sum((last - first + 1) * rank["total_bytes"] for rank in plan["memory"] for first, last in rank["ranks"])
    return dict(totals), memory


def measured(report):
    totals = collections.defaultdict(lambda: [0, 0])
    for row in report["collectives"]:
        if row["function"] != "step":
            continue
        put = round(row["payload_bytes_per_step"] * row["ranks"])
        totals[row["kind"]][0] += row["calls_per_step"]
        totals[row["kind"]][1] += SENT[row["kind"]](len(row["groups"][0]), put)
    return dict(totals), report["ranks"][0]["peak_buffer_bytes"]


def differences(want, have):
    for kind in sorted({*want, *have}):
        (calls, size), (ran, sent) = want.get(kind, (0, 0)), have.get(kind, (0, 0))
        if (calls, size) != (ran, sent):
            yield f"{kind}: predicted {calls} calls, {size} bytes, measured {ran}, {sent}"


def compare(folder, choice, work):
    """A row: memory and the differences that were found, or the error of the command."""
    mesh, strategy = choice.split(":")
    meta = json.loads((folder / "meta.json").read_text())
    done = subprocess.run(["coll-run", folder / "step.mlir", f"--state-args={meta['state_args']}", f"--mesh={mesh}",
                           f"--strategy={strategy}", "--steps=1", "--quiet", f"--explain={work}/plan.json",
                           f"--report={work}/report.html"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    row = {"step": folder.name, "plan": choice, "wrong": []}
    if re.search(r"strategy '\w+' finds no", done.stderr):
        return {**row, "empty": True}
    if done.returncode:
        return {**row, "wrong": [done.stderr[-500:]]}
    plan = json.loads((work / "plan.json").read_text())
    text = (work / "report.html").read_text()
    report = json.loads(re.search(r'id="coll-data">(.*?)</script>', text, re.S)[1])
    (want, memory), (have, peak) = predicted(plan), measured(report)
    row |= {"memory": memory, "measured_memory": peak, "counted": all(c["is_counted"] for c in plan["collectives"])}
    if memory != peak:
        row["wrong"].append(f"memory: predicted {memory}, measured {peak} bytes")
    if row["counted"]:
        row |= {"sent": sum(size for _, size in want.values())}
        row["wrong"] += differences(want, have)
        ran = [r for r in report["collectives"] if r["function"] == "step"]
        for name, field in (("calls", "calls_per_step"), ("payload bytes", "payload_bytes_per_step")):
            said = plan["predicted"][field]
            took = sum(r[field] * r["ranks"] for r in ran) / plan["ranks"]
            if abs(said - took) > 1e-9 * max(said, took):
                row["wrong"].append(f"{name} of a rank: predicted {said}, measured {took}")
    return row


def main():
    words = sys.argv[1:]
    path = pathlib.Path(words.pop(0).removeprefix("--rows=")) if words[0].startswith("--rows=") else None
    split = words.index("--")
    folders = sorted(map(pathlib.Path, words[split + 1:]), key=lambda folder: (folder / "step.mlir").stat().st_size)
    kept = [json.loads(line) for line in path.read_text().splitlines()] if path and path.exists() else []
    known = {(row["step"], row["plan"]): row for row in kept}
    rows = []
    with tempfile.TemporaryDirectory() as work:
        for folder in folders:
            for choice in words[:split]:
                row = known.get((folder.name, choice)) or compare(folder, choice, pathlib.Path(work))
                rows.append(row)
                for text in row["wrong"]:
                    print(f"{folder.name} {choice}: {text}", flush=True)
                if path and (folder.name, choice) not in known:
                    with path.open("a") as file:
                        print(json.dumps(row), file=file)
    ran = [row for row in rows if "empty" not in row]
    good, left = sum(not row["wrong"] for row in ran), sum(not row.get("counted", True) for row in ran)
    print(f"{good} of {len(ran)} as predicted, collectives of {left} not counted; {len(rows) - len(ran)} had nothing to split")


if __name__ == "__main__":
    main()
