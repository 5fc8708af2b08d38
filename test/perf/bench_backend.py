#!/usr/bin/env python3
"""Measures backend net on this machine; appends rows to net_backend.jsonl.

all_reduce of 4 processes over tcp beside Open MPI (over tcp and at its default, where mpicc
and mpirun are there) and beside backend threads; then JAX steps on 4 processes beside 4
threads. Everything is measured alternately in one run; a row holds the medians. Rows are
described in README.md beside this file.
"""

import argparse
import collections
import pathlib
import re
import shutil
import statistics
import tempfile

import bench_steps

HERE = bench_steps.HERE
RANKS = 4
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(RANKS)]
SIZES = [4, 1 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20]
CASES = ("mlp_digits_momentum", "cnn_digits_adam", "gpt_tiny_adamw")


def sizes(command, env=None):
    """Microseconds by bytes, as bench-backend and mpi_peer print them."""
    lines = re.findall(r"^(\d+) ([\d.]+)$", bench_steps.run(command, env)[1], re.M)
    return {int(size): float(time) for size, time in lines}


def sized(size):
    return f"{size >> 20} MiB" if size >> 20 else f"{size >> 10} KiB" if size >> 10 else f"{size} B"


class Bench(bench_steps.Bench):
    def find_peer(self):
        return None

    def all_reduce(self):
        program = str(self.build / "bin" / "bench-backend")
        ours = [program, "net", RANKS, "--processes", *SIZES]
        peers = {"backend threads": [program, "threads", RANKS, *SIZES]}
        with tempfile.TemporaryDirectory() as folder:
            if shutil.which("mpicc") and shutil.which("mpirun"):
                peer = pathlib.Path(folder, "mpi_peer")
                bench_steps.run(["mpicc", "-O2", HERE / "mpi_peer.c", "-o", peer])
                words = [peer, "all_reduce", *SIZES]
                peers["Open MPI, tcp"] = [*MPIRUN, "--mca", "btl", "tcp,self", *words]
                peers["Open MPI, default (shared memory)"] = [*MPIRUN, *words]
            else:
                print("bench: no mpicc and mpirun: rows without MPI")
            mine, theirs = collections.defaultdict(list), collections.defaultdict(list)
            for _ in range(self.args.repeat):
                for size, time in sizes(ours).items():
                    mine[size].append(time)
                for name, command in peers.items():
                    for size, time in sizes(command).items():
                        theirs[name, size].append(time)
        shown = f"bench-backend net {RANKS} --processes"
        for (name, size), times in theirs.items():
            self.peer = name
            self.row("all_reduce f32 sum", sized(size), "us", shown, mine[size], times)

    def steps(self, case):
        def milliseconds(words):
            output = bench_steps.run([self.build / "bin" / words[0], *words[1:]])[1]
            return float(re.search(r"([\d.e+-]+) ms/step", output).group(1))

        steps = f"--steps={50 if self.args.quick else 300}"
        words = self.command(case, RANKS, steps, "--backend=net", "--processes")
        ours, peers = [], []
        for _ in range(self.args.repeat):
            ours.append(milliseconds(words))
            peers.append(milliseconds(self.command(case, RANKS, steps)))
        self.peer = "backend threads"
        self.row(case, f"{RANKS} ranks", "ms per step", self.shown(words), ours, peers)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="folder with bin/bench-backend")
    parser.add_argument("--repeat", type=int, default=5, help="runs per figure; the median counts")
    parser.add_argument("--quick", action="store_true", help="one run per figure, few steps")
    parser.add_argument("--out", default=HERE / "net_backend.jsonl", help="file to append to")
    args = parser.parse_args()
    args.python = None
    if args.quick:
        args.repeat = 1
    bench = Bench(args)
    print(f"on {bench.machine}")
    bench.all_reduce()
    if not (bench.build / "bin" / "coll-run").exists():
        return print("bench: no coll-run in this build: rows without steps")
    for case in CASES:
        bench.steps(case)


if __name__ == "__main__":
    main()
