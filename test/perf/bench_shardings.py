#!/usr/bin/env python3
"""Counts what a rank sends in the sharded steps of test/data/shardings, beside XLA's partitioner.

usage: bench_shardings.py [--tools=build/bin] [--limit=FACTOR] [--calls=FACTOR] [NAME…]

Prints per step the bytes per rank and the calls of both, and the calls of each kind; XLA's stand in xla.json, so that no
JAX is needed. With --limit, fails where coll sends more than FACTOR times XLA's bytes, with --calls where it makes more
than FACTOR times as many calls.
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys

DATA = pathlib.Path(__file__).resolve().parent.parent / "data" / "shardings"
PIPELINE = ("builtin.module(coll-import{{state-args={}}},inline,coll-drop-empty,coll-propagate,coll-insert-reshards,"
            "coll-partition,canonicalize,cse,coll-combine-collectives)")
KINDS = "all_reduce|all_gather|reduce_scatter|all_to_all|permute|broadcast"


def size(tensor):
    """Bytes of `8x4xf32`."""
    *shape, element = tensor.split("x")
    total = max(int(re.sub(r"\D", "", element.split("E")[0]) or 64), 8) // 8
    for extent in shape:
        total *= int(extent)
    return total


def sent(kind, operand, result, ranks):
    """Bytes that a rank sends, by the algorithm that sends least."""
    share = (ranks - 1) / ranks
    return {"all_reduce": 2 * share * operand, "all_gather": share * result,
            "reduce_scatter": share * operand, "all_to_all": share * operand,
            "permute": operand, "broadcast": share * operand}[kind]


def trips(line, loop, constants):
    """How often a loop's body runs, as far as its text says."""
    match = re.search(r"scf\.for %\S+ = (%\S+) to (%\S+) step (%\S+)", line)
    if match:
        first, end, step = (constants.get(name) for name in match.groups())
        if None not in (first, end, step):
            return max(0, -(-(end - first) // step))
    return loop


def add(totals, more):
    for key, value in more.items():
        totals[key] = totals.get(key, 0) + value


def count(text, loop):
    """Totals over the text of one rank's program; `loop` is how often a scf.while runs. Of two branches the one
    that sends more counts, as in the counts of XLA's programs. The operations of a coll.start are one call."""
    axes = dict((name, int(n)) for name, n in re.findall(r'"([^"]+)" = (\d+)', text.split("func.func")[0]))
    constants = {name: int(value) for name, value in
                 re.findall(r"(%\S+) = arith\.constant (-?\d+) : index", text)}
    # Per open region: how often it runs, its totals, and those of the branch before it.
    stack = [(1, {"bytes": 0}, None)]
    shares_call = is_started = False
    for line in text[text.index("@step"):].splitlines():
        match = re.search(rf"coll\.({KINDS}) .* over @\w+\[([^\]]*)\].* : tensor<([^>]*)>(?: -> tensor<([^>]*)>)?", line)
        times, totals, _ = stack[-1]
        if match:
            kind, group, operand, result = match.groups()
            ranks = 1
            for axis in re.findall(r'"([^"]+)"', group):
                ranks *= axes[axis]
            if ranks > 1:
                add(totals, {kind: 0 if shares_call else times,
                             "bytes": times * sent(kind, size(operand), size(result or operand), ranks)})
            shares_call = is_started
        if "coll.start" in line or "coll.yield" in line:
            is_started, shares_call = "coll.start" in line, False
        first = None
        while re.search(r"\{[^{}]*\}", line):
            line = re.sub(r"\{[^{}]*\}", "", line)
        for _ in range(min(line.count("}"), len(stack) - 1)):
            _, totals, first = stack.pop()
            if "else {" in line:
                first = totals
            else:
                add(stack[-1][1], max(totals, first or {}, key=lambda branch: branch.get("bytes", 0)))
        is_loop = "scf.while" in line or "scf.for" in line or "} do {" in line
        for _ in range(line.count("{")):
            stack.append((stack[-1][0] * (trips(line, loop, constants) if is_loop else 1), {}, first))
    while len(stack) > 1:
        _, totals, _ = stack.pop()
        add(stack[-1][1], totals)
    return stack[0][1]


def measure(name, row, tool):
    command = [tool, "--allow-unregistered-dialect", str(DATA / f"{name}.mlir"),
               f"--pass-pipeline={PIPELINE.format(row['state_args'])}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{name}: {done.stderr}")
    return count(done.stdout, row.get("trips", 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", type=pathlib.Path)
    parser.add_argument("--limit", type=float)
    parser.add_argument("--calls", type=float)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    tool = options.tools / "coll-opt" if options.tools else shutil.which("coll-opt") or "build/bin/coll-opt"
    rows = json.loads((DATA / "xla.json").read_text())
    print(f"{'step':20}{'coll':>10}{'XLA':>10}{'ratio':>7}{'coll':>6}{'XLA':>5}  calls of coll / of XLA")
    too_many = []
    for name in options.names or rows:
        row = rows[name]
        ours = measure(name, row, tool)
        sent_bytes = round(ours.pop("bytes"))
        words = [" ".join(f"{kind}={n}" for kind, n in sorted(each.items()))
                 for each in (ours, row["collectives"])]
        calls, peer = sum(ours.values()), sum(row["collectives"].values())
        print(f"{name:20}{sent_bytes:10}{row['bytes']:10}{sent_bytes / max(row['bytes'], 1):7.2f}{calls:6}{peer:5}"
              f"  {words[0]} / {words[1]}")
        if options.limit is not None and sent_bytes > options.limit * row["bytes"]:
            too_many.append(f"{name} sends {sent_bytes} bytes, more than {options.limit:g} x {row['bytes']}")
        if options.calls is not None and calls > options.calls * peer:
            too_many.append(f"{name} makes {calls} calls, more than {options.calls:g} x {peer}")
    if too_many:
        sys.exit("\n".join(too_many))


if __name__ == "__main__":
    main()
