"""Runs every exported step, and the tables of operations, on a GPU beside the CPU and JAX.

    every_step.py [--ranks=1,2,4] [--backend=threads] [--only=NAME,…] [--rows=FILE.jsonl]

The ranks share the GPU. Each run is compared with the step on one rank of the CPU and with what JAX
has computed, by coll-run. Prints the largest difference of each run.
"""

import argparse
import json
import time
import zipfile

from common import ROOT, finish, folders, meta_of, rows_of, run, side_by_side, tool

# The tables of operations, with their tolerances; None: by type.
TABLES = {"float32": 1e-6, "float64": 1e-13, "float16": None, "bfloat16": None, "integers": 0,
          "conversions": 0, "windows": 2e-6, "moves": 1e-5}


# What JAX itself is from itself is in test/data/README.md: one in ten of a tensor's largest value at some
# elements, and one percent on average.
LOOSE = {"gpt_tiny_bf16_adam": ["--rms", "--rtol=0.015"]}


def tables():
    for name, rtol in TABLES.items():
        folder = ROOT / "test/data/ops" / name
        with zipfile.ZipFile(folder / "reference.npz") as arrays:
            state = sum(entry.startswith("state_in_") for entry in arrays.namelist())
        yield folder, {"state_args": state, "rtol": rtol}


def check(case):
    folder, meta, ranks, backend = case
    reference = folder / "reference.npz"
    command = [*tool("run"), folder / "step.mlir", f"--ranks={ranks}", "--device=gpu", "--check",
               f"--backend={backend}", f"--state-args={meta['state_args']}",
               f"--data={reference}", f"--reference={reference}"]
    if meta.get("rtol") is not None:
        command.append(f"--rtol={meta['rtol']}")
    command += LOOSE.get(folder.name, [])
    begin = time.monotonic()
    code, output = run(command)
    return folder.name, ranks, code, output, time.monotonic() - begin


def worst_of(rows, verdicts):
    named = [(relative, name) for name, _, _, relative, verdict, _ in rows if verdict in verdicts]
    return max(named, default=(0.0, "-"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=lambda text: text.split(","), default=["1", "2", "4"])
    parser.add_argument("--backend", default="threads")
    parser.add_argument("--only", type=lambda text: text.split(","))
    parser.add_argument("--tables", action="store_true", help="the tables of operations")
    parser.add_argument("--rows")
    parser.add_argument("--at-once", type=int)
    options = parser.parse_args()
    steps = list(tables()) if options.tables else [(f, meta_of(f)) for f in folders()]
    cases = [(folder, meta, ranks, options.backend) for folder, meta in steps
             for ranks in options.ranks if not options.only or folder.name in options.only]
    failures, records = [], []
    print(f"{'step':28} ranks  within tolerance  largest by tolerance  largest by noise  seconds")
    for name, ranks, code, output, seconds in side_by_side(check, cases, options.at_once):
        rows = list(rows_of(output))
        plain, by_tolerance = worst_of(rows, ["ok"])
        noisy, by_noise = worst_of(rows, ["ok by noise", "ok by gradient"])
        within = sum(row[4] == "ok" for row in rows)
        print(f"{name:28} {ranks:>5}  {within:>7} of {len(rows):<5}  {plain:>20.2e}  {noisy:>16.2e}  "
              f"{seconds:>7.1f}", "" if code == 0 else f" EXIT CODE {code}", flush=True)
        records.append({"step": name, "ranks": int(ranks), "code": code, "within": within,
                        "of": len(rows), "largest": plain, "tensor": by_tolerance,
                        "by_noise": noisy, "noisy_tensor": by_noise})
        if code:
            failures.append(f"{name} on {ranks} ranks:\n" + "\n".join(
                line for line in output.splitlines()
                if "FAIL" in line or "error" in line or "within" in line)[-1500:])
    if options.rows:
        with open(options.rows, "w", encoding="utf-8") as file:
            for record in records:
                print(json.dumps(record), file=file)
    print(f"{sum(r['code'] == 0 for r in records)} of {len(records)} runs agree")
    finish(failures)


if __name__ == "__main__":
    main()
