#!/usr/bin/env python3
"""Measures compile time and steps per second, beside JAX; appends rows to steps.jsonl.

Ours and the peer's are measured alternately in one run, several times each; a row
holds the medians. Rows are described in README.md beside this file.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / "data" / "jax"


def machine():
    """Processor, cores and memory in one line."""
    try:
        model = re.search(r"model name\s*:\s*(.+)", pathlib.Path("/proc/cpuinfo").read_text())
        memory = re.search(r"MemTotal:\s*(\d+)", pathlib.Path("/proc/meminfo").read_text())
        return f"{model.group(1)}, {os.cpu_count()} cores, {int(memory.group(1)) >> 20} GiB"
    except (OSError, AttributeError):
        return f"{platform.machine()}, {os.cpu_count()} cores"


def run(command, env=None):
    """(seconds, output) of a command, which must succeed."""
    begin = time.perf_counter()
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, env=env)
    seconds = time.perf_counter() - begin
    if done.returncode:
        sys.exit(f"bench: failed: {' '.join(map(str, command))}\n{done.stderr[-2000:]}")
    return seconds, done.stdout + done.stderr


class Bench:
    def __init__(self, args):
        self.args = args
        self.build = pathlib.Path(args.build).resolve()
        self.machine = machine()
        self.peer = args.python and self.find_peer()

    def find_peer(self):
        done = subprocess.run([self.args.python, "-c", "import jax; print(jax.__version__)"],
                              capture_output=True, text=True)
        if done.returncode:
            print(f"bench: {self.args.python} has no jax: rows will have no peer")
            return None
        return f"jax {done.stdout.strip()}"

    def jax(self, case, devices, steps):
        return json.loads(run([self.args.python, HERE / "jax_peer.py", DATA / case, devices,
                               steps])[1].strip().splitlines()[-1])

    def row(self, case, size, metric, command, ours, peers, **extra):
        """Appends one row; smaller is better for both figures. `extra`: more of its fields."""
        ours, peer = statistics.median(ours), statistics.median(peers) if peers else None
        row = {"machine": self.machine, "date": datetime.date.today().isoformat(),
               "command": command, "case": case, "size": size, "metric": metric,
               "ours": round(ours, 4), "peer": peer and round(peer, 4),
               "peer_name": self.peer if peers else None,
               "ratio": peer and round(peer / ours, 3), **extra}
        with open(self.args.out, "a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        beside = f"   {self.peer}: {peer:.4g}   peer / ours: {peer / ours:.2f}" if peers else ""
        more = "".join(f"   {name}: {value}" for name, value in extra.items())
        print(f"{case:<24} {size:<10} {metric:<32} {ours:.4g}{beside}{more}", flush=True)

    def command(self, case, ranks, *more):
        meta = json.loads((DATA / case / "meta.json").read_text())
        words = ["coll-run", DATA / case / "step.mlir", f"--ranks={ranks}",
                 f"--state-args={meta['state_args']}", *more]
        data = DATA / case / "reference.npz"
        return words + ([f"--data={data}"] if data.exists() else [])

    def shown(self, words):
        return " ".join(str(w).replace(str(HERE.parent.parent) + "/", "") for w in words)

    def compile_time(self, case, ranks):
        meta = json.loads((DATA / case / "meta.json").read_text())
        words = ["coll-opt", f"--coll-import=state-args={meta['state_args']}",
                 f"--coll-data-parallel=ranks={ranks}", "--coll-rank-programs",
                 DATA / case / "step.mlir", "-o", os.devnull]
        ours = [run([self.build / "bin" / words[0], *words[1:]])[0]
                for _ in range(self.args.repeat)]
        self.row(case, f"{ranks} ranks", "s to verified rank programs", self.shown(words), ours, [])
        words = self.command(case, ranks, "--steps=1", "--quiet", "--no-cache")
        ours, peers = [], []
        for _ in range(self.args.repeat):
            ours.append(run([self.build / "bin" / words[0], *words[1:]])[0])
            if self.peer:
                peers.append(self.jax(case, ranks, 0)["first_step_s"])
        self.row(case, f"{ranks} ranks", "s to the first step's results", self.shown(words), ours,
                 peers)
        words = ["taskset", "-c", "0", *words]
        ours = [run([*words[:3], self.build / "bin" / words[3], *words[4:]])[0]
                for _ in range(self.args.repeat)]
        self.row(case, f"{ranks} ranks", "s to the first step's results, on one core",
                 self.shown(words), ours, [])

    def second_start(self, case, ranks):
        words = self.command(case, ranks, "--steps=1", "--quiet")
        with tempfile.TemporaryDirectory() as cache:
            env = dict(os.environ, COLL_CACHE_DIR=cache)
            ours = [run([self.build / "bin" / words[0], *words[1:]], env)[0]
                    for _ in range(self.args.repeat + 1)]
        self.row(case, f"{ranks} ranks", "s to the first step's results, second start",
                 self.shown(words), ours[1:], [])

    def step_time(self, case, ranks, steps):
        words = self.command(case, ranks, f"--steps={steps}")
        ours, peers = [], []
        for _ in range(self.args.repeat):
            output = run([self.build / "bin" / words[0], *words[1:]])[1]
            ours.append(float(re.search(r"([\d.e+-]+) ms/step", output).group(1)))
            if self.peer:
                peers.append(self.jax(case, ranks, steps)["ms_per_step"])
        self.row(case, f"{ranks} ranks", "ms per step", self.shown(words), ours, peers)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="folder with bin/coll-run")
    parser.add_argument("--python", default=sys.executable, help="a Python that has jax")
    parser.add_argument("--repeat", type=int, default=5, help="runs per figure; the median counts")
    parser.add_argument("--quick", action="store_true", help="one run per figure, few steps")
    parser.add_argument("--out", default=HERE / "steps.jsonl", help="file to append to")
    args = parser.parse_args()
    if args.quick:
        args.repeat = 1
    bench = Bench(args)
    print(f"on {bench.machine}")
    bench.compile_time("gpt_12layer_adamw", 8)
    cases = ("gpt_tiny_adamw", "cnn_digits_adam", "rnn_scan_nesterov")
    for case in (*cases, "gpt_12layer_adamw"):
        bench.second_start(case, 4)
    for case in cases:
        for ranks in (1, 4):
            bench.step_time(case, ranks, 50 if args.quick else 500)


if __name__ == "__main__":
    main()
