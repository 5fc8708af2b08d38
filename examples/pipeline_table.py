"""Trains JAX steps as pipelines, compares each run with one device, and prints the outcome as a table.

    pipeline_table.py [--compare=pipelines.md] FOLDER   # test/data/jax

A refused run is shown with its reason. With --compare, the table has to be in that file, except for
memory and differences. matrix.py runs every schedule on every mesh.
"""

import argparse
import collections
import pathlib
import sys

from checked_run import run, summarize
from matrix import SHARDS

HEADER = ("| step | mesh | schedule | micro-batches | collectives and transfers of a rank | sent by a rank, KiB | "
          "memory of a rank, KiB | largest difference |")

Case = collections.namedtuple("Case", "step mesh strategy schedule micro_batches backend")


def few_cases():
    yield Case("mlp_digits_momentum", "pp=2", "", "gpipe", 4, "threads")
    yield Case("mlp_digits_momentum", "pp=2,dp=2", "", "1f1b", 7, "threads")
    yield Case("mlp_digits_momentum", "pp=2", "", "1f1b", 4, "net")
    yield Case("cnn_digits_adam", "pp=2", "", "zb-h1", 4, "threads")
    yield Case("gpt_tiny_adamw", "pp=2", "", "interleaved", 4, "threads")
    yield Case("gpt_tiny_adamw", "pp=2,tp=2", "shards", "1f1b", 4, "threads")


def flags_of(case):
    stages = case.mesh.split(",")[0].split("=")[1]
    shards = SHARDS if case.strategy == "shards" else []
    return [f"--mesh={case.mesh}", f"--stages={stages}", f"--schedule={case.schedule}",
            f"--micro-batches={case.micro_batches}", *[f"--shard={shard}" for shard in shards]]


def make_row(case, data, reason):
    mesh = case.mesh + (f", {case.strategy}" if case.strategy else "") + (", net" if case.backend == "net" else "")
    head = f"| {case.step} | {mesh} | {case.schedule} | {case.micro_batches} | "
    return head + (" | ".join(summarize(data)) if data else f"{reason} | | | ") + " |"


def fixed_part(row):
    """Without memory and difference."""
    return row.rsplit("|", 3)[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compare", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    print(HEADER + "\n|" + "---|" * (HEADER.count("|") - 1), flush=True)
    rows = []
    for case in few_cases():
        data, reason = run(options.folder / case.step, flags_of(case), case.backend)
        rows.append(make_row(case, data, reason))
        print(rows[-1], flush=True)
    failed = [row for row in rows if "FAILED" in row]
    if options.compare:
        known = {fixed_part(line) for line in options.compare.read_text().splitlines()
                 if line.startswith("|")}
        failed += [f"not in {options.compare}: {row}" for row in rows if fixed_part(row) not in known]
    if failed:
        sys.exit("\n".join(failed))


if __name__ == "__main__":
    main()
