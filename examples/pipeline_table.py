"""Trains JAX steps as pipelines, compares each run with one device, and prints the outcome as a table.

    pipeline_table.py [--full | --steps] [--rows=FILE.jsonl] [--compare=pipelines.md] FOLDER   # test/data/jax

By default a few runs; --full takes every schedule with 1, 4 and 7 micro-batches, alone, with data parallelism
and with tensor parallelism, on threads and on processes over net. --steps takes every step in the folder, in
two stages. What is refused is shown with its reason. --rows appends a row for each run, with the commit.
With --compare, the table has to stand in that file; memory and differences may be others there.
"""

import argparse
import collections
import concurrent.futures
import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile

SCHEDULES = ["gpipe", "1f1b", "interleaved", "zb-h1", "zb-h2", "zbv", "dualpipev"]
MICRO_BATCHES = [1, 4, 7]
SMALL = ["mlp_digits_momentum", "cnn_digits_adam", "gpt_tiny_adamw", "gpt_tiny_adamw_noclip"]
LARGE = "gpt_12layer_adamw"
# The feed-forward layers of the GPTs, by columns and by rows.
SHARDS = ["Dense_3/kernel: [-, tp]", "Dense_3/bias: [tp]", "Dense_2/kernel: [tp, -]"]
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


def all_cases():
    meshes = [("pp=2", ""), ("pp=4", ""), ("pp=2,dp=2", ""), ("pp=2,tp=2", "tensor")]
    for backend in ("threads", "net"):
        for step, (mesh, strategy), schedule, count in itertools.product(SMALL, meshes, SCHEDULES, MICRO_BATCHES):
            by_hand = strategy and step.startswith("gpt")
            yield Case(step, mesh, "shards" if by_hand else strategy, schedule, count, backend)
        for mesh, schedule, count in itertools.product(("pp=4", "pp=8"), SCHEDULES, MICRO_BATCHES):
            yield Case(LARGE, mesh, "", schedule, count, backend)


def step_cases(folder):
    for path in sorted(folder.glob("*/step.mlir")):
        yield Case(path.parent.name, "pp=2", "", "1f1b", 4, "threads")


def run(folder, case):
    """The data of coll-run's report, or the first error."""
    data = folder / case.step
    meta = json.loads((data / "meta.json").read_text())
    stages = re.search(r"pp=(\d+)", case.mesh).group(1)
    with tempfile.TemporaryDirectory() as scratch:
        page = pathlib.Path(scratch) / "report.html"
        command = ["coll-run", data / "step.mlir", f"--state-args={meta['state_args']}", "--check", "--quiet",
                   f"--mesh={case.mesh}", f"--stages={stages}", f"--schedule={case.schedule}",
                   f"--micro-batches={case.micro_batches}", f"--report={page}"]
        has_data = (data / "reference.npz").exists()
        command += [f"--data={data / 'reference.npz'}", "--steps=2"] if has_data else ["--steps=1"]
        if case.strategy == "shards":
            command += [f"--shard={shard}" for shard in SHARDS]
        elif case.strategy:
            command += [f"--strategy={case.strategy}"]
        command += ["--backend=net", "--processes"] if case.backend == "net" else []
        done = subprocess.run(command, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode == 0:
            text = page.read_text(encoding="utf-8")
            return json.loads(re.search(r'id="coll-data">(.*?)</script>', text, re.DOTALL).group(1)), None
    error = re.search(r"error: (.*)", done.stderr)
    place = re.search(r'"?([\w/.<>-]+\.py)"?:(\d+)', done.stderr)
    is_refusal = done.returncode == 1 and error and "against one" not in done.stdout
    reason = error.group(1) if error else f"exit status {done.returncode}"
    return None, ("refused" if is_refusal else "FAILED") + f": {reason}" + (
        f" ({place.group(1)}:{place.group(2)})" if place else "")


def summarize(data):
    """Collectives and transfers, KiB sent and KiB of memory, of a rank on average or at most; the difference."""
    counts, sent, ranks = collections.Counter(), 0.0, len(data["ranks"])
    for row in data["collectives"]:
        if row["function"] == "step":
            counts[row["kind"]] += row["calls_per_step"] * row["ranks"] / ranks
            sent += (row["kind"] != "recv") * row["bytes_per_step"] * row["ranks"] / ranks
    kinds = ", ".join(f"{count:g} {kind}" for kind, count in sorted(counts.items()))
    memory = max(rank["memory_bytes"]["total"] for rank in data["ranks"])
    difference = max((tensor["relative"] or 0) for check in data["checks"] for tensor in check["tensors"])
    return kinds, f"{sent / 1024:.1f}", f"{memory / 1024:.1f}", f"{difference:.1e}"


def make_row(case, data, reason):
    mesh = case.mesh + (f", {case.strategy}" if case.strategy else "") + (", net" if case.backend == "net" else "")
    head = f"| {case.step} | {mesh} | {case.schedule} | {case.micro_batches} | "
    return head + (" | ".join(summarize(data)) if data else f"{reason} | | | ") + " |"


def fixed_part(row):
    """Without memory and difference."""
    return row.rsplit("|", 3)[0]


def append_row(path, case, data, reason):
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], check=True, capture_output=True, text=True,
                            cwd=pathlib.Path(__file__).parent).stdout.strip()
    row = {"commit": commit, **case._asdict(), "outcome": "ok" if data else reason}
    if data:
        row.update(zip(("operations", "sent_kib", "memory_kib", "largest_difference"), summarize(data)))
        row["predicted_idle"] = round(data["pipeline"]["predicted_idle_fraction"], 4)
    with path.open("a") as file:
        file.write(json.dumps(row) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--steps", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--match", default="", help="only cases whose words hold this text")
    parser.add_argument("--rows", type=pathlib.Path)
    parser.add_argument("--compare", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    cases = all_cases() if options.full else step_cases(options.folder) if options.steps else few_cases()
    cases = [case for case in cases if options.match in " ".join(map(str, case))]
    print(HEADER + "\n|" + "---|" * (HEADER.count("|") - 1), flush=True)
    rows = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for case, (data, reason) in zip(cases, pool.map(lambda case: run(options.folder, case), cases)):
            rows.append(make_row(case, data, reason))
            print(rows[-1], flush=True)
            if options.rows:
                append_row(options.rows, case, data, reason)
    failed = [row for row in rows if "FAILED" in row]
    if options.compare:
        known = {fixed_part(line) for line in options.compare.read_text().splitlines()
                 if line.startswith("|")}
        failed += [f"not in {options.compare}: {row}" for row in rows if fixed_part(row) not in known]
    if failed:
        sys.exit("\n".join(failed))


if __name__ == "__main__":
    main()
