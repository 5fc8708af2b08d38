"""Trains exported steps by every root, route, schedule and mesh, on threads and on processes over net, and
compares each run with one device.

    matrix.py [--part=roots,pipelines,steps] [--jobs=N] [--match=TEXT] [--rows=FILE.jsonl] [--summary=FILE.md] FOLDER

FOLDER is test/data/jax. A run is right, refused with a reason, or has failed; the exit code is 1 if one failed.
--rows appends a row for each, with the commit; runs that are in the file already are not repeated, so that a
matrix can be made in several parts. --summary writes counts by step, and every kind of reason, as a page.
"""

import argparse
import collections
import concurrent.futures
import itertools
import json
import pathlib
import re
import sys
import time

from checked_run import commit, run, summarize

SCHEDULES = ["gpipe", "1f1b", "interleaved", "zb-h1", "zb-h2", "zbv", "dualpipev"]
MICRO_BATCHES = [1, 4, 7]
SMALL = ["mlp_digits_momentum", "cnn_digits_adam", "gpt_tiny_adamw", "gpt_tiny_adamw_noclip"]
LARGE = "gpt_12layer_adamw"
ROOTS = list(itertools.product(("hash", "balanced", "shard"), ("direct", "ring")))
BACKENDS = ("threads", "net")
# The feed-forward layers of the GPTs, by columns and by rows.
SHARDS = ["Dense_3/kernel: [-, tp]", "Dense_3/bias: [tp]", "Dense_2/kernel: [tp, -]"]

Case = collections.namedtuple("Case", "part step mesh strategy backend")


def root_cases(folder):
    """Roots and accumulation of the small steps and of the large one."""
    strategies = [f"root={root} route={route}" for root, route in ROOTS]
    for accumulate in (1, 3):
        strategies += [f"accumulate={accumulate}", f"root=shard accumulate={accumulate}"]
    for backend, step, strategy, ranks in itertools.product(BACKENDS, [*SMALL, LARGE], strategies, (2, 4, 8)):
        if (folder / step).exists():
            yield Case("roots", step, f"dp={ranks}", strategy, backend)


def pipeline(step, mesh, schedule, count, backend, strategy=""):
    stages = mesh.split(",")[0].split("=")[1]
    words = f"stages={stages} schedule={schedule} micro-batches={count}"
    return Case("pipelines", step, mesh, f"{words} {strategy}".strip(), backend)


def pipeline_cases(folder):
    """Schedules, micro-batches and meshes: stages alone, with data and with tensor parallelism."""
    meshes = ["pp=2", "pp=4", "pp=2,dp=2", "pp=2,tp=2", "pp=2,dp=4", "pp=4,tp=2", "pp=2,dp=2,tp=2"]
    for backend in BACKENDS:
        for step, mesh, schedule, count in itertools.product(SMALL, meshes, SCHEDULES, MICRO_BATCHES):
            strategy = "" if "tp" not in mesh else "shards" if step.startswith("gpt") else "tensor"
            if strategy == "tensor" and "dp" in mesh:
                strategy = "data,tensor"
            yield pipeline(step, mesh, schedule, count, backend, strategy)
        for mesh, schedule, count in itertools.product(("pp=4", "pp=8"), SCHEDULES, MICRO_BATCHES):
            if (folder / LARGE).exists():
                yield pipeline(LARGE, mesh, schedule, count, backend)


def step_cases(folder):
    """Every other step: roots on 2, 4 and 8 ranks, accumulation, every schedule on two stages, stages with data."""
    steps = [path.parent.name for path in sorted(folder.glob("*/step.mlir"))]
    for backend, step in itertools.product(BACKENDS, steps):
        if step in SMALL or step == LARGE:
            continue
        for ranks, (root, route) in itertools.product((2, 4, 8), ROOTS):
            yield Case("steps", step, f"dp={ranks}", f"root={root} route={route}", backend)
        yield Case("steps", step, "dp=4", "accumulate=3", backend)
        for schedule, count in itertools.product(SCHEDULES, MICRO_BATCHES):
            yield pipeline(step, "pp=2", schedule, count, backend)._replace(part="steps")
        yield pipeline(step, "pp=2,dp=2", "1f1b", 4, backend)._replace(part="steps")


PARTS = {"roots": root_cases, "pipelines": pipeline_cases, "steps": step_cases}


def flags_of(case):
    flags = [f"--mesh={case.mesh}"]
    for word in case.strategy.split():
        if word == "shards":
            flags += [f"--shard={shard}" for shard in SHARDS] + (["--strategy=data"] if "dp" in case.mesh else [])
        elif "=" in word:
            flags.append(f"--{word}")
        else:
            flags.append(f"--strategy={word}")
    return flags


def measure(folder, case, timeout, end):
    begin = time.time()
    if begin > end:
        return None
    data, reason = run(folder / case.step, flags_of(case), case.backend, timeout=timeout)
    row = {**case._asdict(), "outcome": "right" if data else reason, "seconds": round(time.time() - begin, 1)}
    if data:
        row.update(zip(("operations", "sent_kib", "memory_kib", "largest_difference"), summarize(data)))
    return row


def read_rows(path):
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path and path.exists() else []
    return {Case(*(row[field] for field in Case._fields)): row for row in rows}


def kind_of(row):
    return row["outcome"].split(":")[0]


def kind_of_reason(outcome):
    """The outcome without numbers and places, which differ from run to run."""
    return re.sub(r"\b\d+\b", "N", re.sub(r"""( \(\S+:\d+\)$)|(loc\("[^"]*"\): )""", "", outcome))


def write_summary(path, rows):
    """Counts by part, step and backend; then every reason with its count."""
    counts = collections.defaultdict(collections.Counter)
    reasons = collections.defaultdict(collections.Counter)
    worst = collections.defaultdict(float)
    for row in rows:
        key = (row["part"], row["step"], row["backend"])
        counts[key][kind_of(row)] += 1
        worst[key] = max(worst[key], float(row.get("largest_difference", 0)))
        if row["outcome"] != "right":
            reasons[kind_of_reason(row["outcome"])][row["step"]] += 1
    commits = ", ".join(sorted({row["commit"] for row in rows}))
    kinds = collections.Counter(map(kind_of, rows))
    lines = [f"{len(rows)} runs of commit {commits}: {kinds['right']} right, {kinds['refused']} refused, "
             f"{kinds['FAILED']} failed.", "",
             "| part | step | backend | right | refused | failed | largest difference |", "|---|---|---|---|---|---|---|"]
    for key, count in sorted(counts.items()):
        lines.append(f"| {' | '.join(key)} | {count['right']} | {count['refused']} | {count['FAILED']} | {worst[key]:.1e} |")
    lines += ["", "| runs | outcome | steps |", "|---|---|---|"]
    for outcome, steps in sorted(reasons.items(), key=lambda item: -sum(item[1].values())):
        places = ", ".join(sorted(steps)[:6]) + (" …" if len(steps) > 6 else "")
        lines.append(f"| {sum(steps.values())} | {outcome} | {places} |")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", type=lambda text: text.split(","), default=list(PARTS))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--match", default="", help="only cases whose words hold this text")
    parser.add_argument("--timeout", type=float, default=300, help="seconds that a run may take")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="no run begins later")
    parser.add_argument("--commit", help="of the programs; by default that of this checkout")
    parser.add_argument("--rows", type=pathlib.Path)
    parser.add_argument("--summary", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    cases = [case for part in options.part for case in PARTS[part](options.folder)]
    cases = [case for case in cases if options.match in " ".join(case)]
    known, made, version = read_rows(options.rows), [], options.commit or commit()
    end = time.time() + options.seconds
    # The ranks of net take what threads have compiled from the cache; what takes longest begins first.
    cases.sort(key=lambda case: (case.backend != "threads", case.step != LARGE, not case.step.startswith("gpt")))
    open_cases = [case for case in cases if case not in known]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = [pool.submit(measure, options.folder, case, options.timeout, end) for case in open_cases]
        for done in concurrent.futures.as_completed(running):
            if not done.result():
                continue
            row = {"commit": version, **done.result()}
            made.append(row)
            if kind_of(row) == "FAILED":
                print(json.dumps(row), flush=True)
            if options.rows:
                with options.rows.open("a") as file:
                    file.write(json.dumps(row) + "\n")
    rows = [known[case] for case in cases if case in known] + made
    if options.summary:
        write_summary(options.summary, rows)
    kinds = collections.Counter(map(kind_of, rows))
    print(f"{len(rows)} runs: {kinds['right']} right, {kinds['refused']} refused, {kinds['FAILED']} failed, "
          f"{len(cases) - len(rows)} not begun")
    sys.exit(kinds["FAILED"] > 0)


if __name__ == "__main__":
    main()
