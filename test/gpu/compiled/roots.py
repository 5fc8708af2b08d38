"""Root updates of steps on GPUs: as one kernel on the memory of all ranks, and as calls of their own.

    roots.py FOLDER_FOR_FILES [--ranks=2,4] [--modes=MODE,…] [--only=STEP,…] [--rows=FILE.jsonl] [--at-once=N]
             [--seconds=N]

Each step runs with each root mode, its ranks on all GPUs of the machine and sharing one of them. The log has
to say which form ran. One kernel is compared with the step on one rank of the CPU, by coll-run; without CUDA
graphs, and as calls over backend direct, the bits have to be the same. Sums over nccl and with `--route=ring`,
which are calls of their own, have other orders: they are compared with the CPU.
"""

import argparse
import itertools
import json
import os
import pathlib
import re
import time

from common import STEPS, finish, meta_of, rows_of, run, side_by_side, tool
from repeat import contents

# The optimizers that the runtime has kernels of its own for, and others.
CASES = ["mlp_digits_momentum", "gpt_tiny_adamw_noclip", "gpt_tiny_adamw", "equinox_mlp_adabelief",
         "gpt_lion_key_bias", "graph_segments_yogi"]
MODES = ["shard", "hash", "balanced"]
# Name, backend, whether one kernel is asked for, further options.
FORMS = [("one kernel", "direct", 1, ["--check"]), ("without graphs", "direct", 1, ["--no-graph"]),
         ("calls", "direct", 0, []), ("nccl", "nccl", 1, ["--check"]),
         ("ring", "direct", 1, ["--check", "--route=ring"])]
SAME_BITS = {"without graphs", "calls"}
SAYS = re.compile(r"root updates of .*? run as (one kernel|calls)")
# Updates that no pass makes one kernel, because something else reads the sum as well: the norm of all gradients.
NOT_FORMED = {"gpt_tiny_adamw"}


def visible():
    """The numbers of the GPUs that this process may use."""
    if "CUDA_VISIBLE_DEVICES" in os.environ:
        return os.environ["CUDA_VISIBLE_DEVICES"].split(",")
    code, output = run(["nvidia-smi", "--query-gpu=index", "--format=csv,noheader"])
    return output.split() if code == 0 else ["0"]


def one(step, ranks, mode, gpus, form, saved, cache):
    """Runs one form; its exit code, output and results."""
    _, backend, is_one, options = form
    folder = STEPS / step
    reference = folder / "reference.npz"
    code, output = run([*tool("run"), folder / "step.mlir", f"--ranks={ranks}", "--device=gpu",
                        f"--backend={backend}", f"--root={mode}", f"--state-args={meta_of(folder)['state_args']}",
                        f"--data={reference}", f"--save={saved}", *options], 120, COLL_LOG="info",
                       COLL_CACHE_DIR=cache, COLL_GPU_ROOT_UPDATE=is_one, CUDA_DEVICE_MAX_CONNECTIONS=32,
                       CUDA_MODULE_LOADING="EAGER", CUDA_VISIBLE_DEVICES=",".join(gpus))
    results = contents(saved) if code == 0 and saved.exists() else {}
    saved.unlink(missing_ok=True)
    return code, output, results


def judge(row, is_one, results, first):
    """What is wrong with a run; empty: nothing."""
    expected = "one kernel" if is_one and row["backend"] == "direct" else "calls"
    if row["code"]:
        return f"exit code {row['code']}"
    if row["form"] != "ring" and row["step"] not in NOT_FORMED and row["ran"] != expected:
        return f"ran as {row['ran']}, expected {expected}"
    if row["form"] in SAME_BITS and results != first:
        return "other bits than the first run"
    return ""


def combination(case):
    """All forms of a step on some ranks with a root mode; a row for each."""
    step, ranks, mode, gpus, folder, end = case
    name = f"{step}_{ranks}_{mode}_{len(gpus)}"
    rows, first = [], {}
    for form in FORMS:
        if time.monotonic() > end or (form[1] == "nccl" and len(gpus) < ranks):
            continue  # nccl takes one rank of a GPU
        code, output, results = one(step, ranks, mode, gpus, form, folder / f"{name}.npz", folder / f"cache_{name}")
        tensors = list(rows_of(output))
        says = SAYS.search(output)
        row = {"step": step, "ranks": ranks, "gpus": min(len(gpus), ranks), "root": mode, "form": form[0],
               "backend": form[1], "code": code, "ran": says.group(1) if says else "not formed",
               "within": sum(tensor[4] == "ok" for tensor in tensors), "of": len(tensors),
               "largest": max((tensor[3] for tensor in tensors if tensor[4] == "ok"), default=None)}
        first = first or results
        if form[0] in SAME_BITS:
            row["same_bits"] = results == first
        row["wrong"] = judge(row, form[2], results, first)
        rows.append((row, output))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--ranks", type=lambda text: [int(word) for word in text.split(",")], default=[2, 4])
    parser.add_argument("--modes", type=lambda text: text.split(","), default=MODES)
    parser.add_argument("--only", type=lambda text: text.split(","), default=CASES)
    parser.add_argument("--rows", default=os.devnull)
    parser.add_argument("--at-once", type=int)
    parser.add_argument("--seconds", type=float, default=3600, help="no run begins later")
    options = parser.parse_args()
    gpus, end = visible(), time.monotonic() + options.seconds
    cases = []
    for mode, step, ranks in itertools.product(options.modes, options.only, options.ranks):
        own = gpus[len(cases) // 2 % len(gpus)]
        for place in [[own], *([gpus] if len(gpus) > 1 else [])]:
            cases.append((step, ranks, mode, place, options.folder, end))
    failures = []
    with open(options.rows, "a", encoding="utf-8") as file:
        for rows in side_by_side(combination, cases, options.at_once):
            for row, output in rows:
                print(json.dumps(row), file=file, flush=True)
                print(f"{row['step']:24} {row['ranks']} ranks on {row['gpus']}  {row['root']:8} {row['form']:14} "
                      f"{row['ran']:10} {row['within']:>3} of {row['of']:<3} {row['wrong'] or 'ok'}", flush=True)
                if row["wrong"]:
                    failures.append(f"{row}:\n{output[-1500:]}")
    finish(failures)


if __name__ == "__main__":
    main()
