#!/usr/bin/env python3
"""Measures backend threads beside Open MPI's shared memory; appends rows to threads.jsonl.

2 ranks, each kept on a processor of its own; then more ranks than this machine has
processors. Ours, the peer's and bench-limit's figures come from the same run, in turns.
Rows are described in README.md beside this file.
"""

import argparse
import collections
import os
import pathlib
import shutil
import sys
import tempfile

import bench_backend
import bench_steps

HERE = bench_steps.HERE
ALL_SIZES = [8 << shift for shift in range(24)]
SOME_SIZES = [8, 1 << 10, 64 << 10, 1 << 20, 16 << 20]
MOVES = ("broadcast", "all_gather", "reduce_scatter", "all_to_all", "send_recv")
LATENCY = "cache-to-cache latency"
CACHES = "cache-to-cache bandwidth"
MEMORY = "memory bandwidth"


def last_cache_bytes():
    """Of the largest cache that a processor has; 0 where the kernel does not say."""
    sizes = pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size")
    return max((int(file.read_text().strip().rstrip("K")) << 10 for file in sizes), default=0)


def limit_name(size):
    """What bounds an all_reduce of this size on 2 ranks; 4 buffers of it are touched."""
    if size <= 2048:
        return LATENCY
    return MEMORY if 4 * size > last_cache_bytes() else CACHES


class Bench(bench_steps.Bench):
    def find_peer(self):
        return None

    def medians(self, commands, env):
        """{name: {size: times}} of commands that are run in turns."""
        found = {name: collections.defaultdict(list) for name in commands}
        for _ in range(self.args.repeat):
            for name, command in commands.items():
                for size, time in bench_backend.sizes(command, env).items():
                    found[name][size].append(time)
        return found

    def compare(self, op, ranks, sizes, peer, pinned):
        program = self.build / "bin" / "bench-backend"
        words = ["bench-backend", "threads", ranks, f"--op={op}", *sizes]
        mpirun = ["mpirun", "--allow-run-as-root", "-n", ranks,
                  *(["--bind-to", "core"] if pinned else ["--oversubscribe"])]
        commands = {"ours": [program, *words[1:]]}
        if peer:
            commands["peer"] = [*mpirun, peer, op, *sizes]
        if pinned and op == "all_reduce":
            commands["limit"] = [self.build / "bin" / "bench-limit", *sizes]
        env = dict(os.environ, COLL_AFFINITY="compact" if pinned else "none")
        found = self.medians(commands, env)
        self.peer = "Open MPI, shared memory" if peer else None
        shown = ("COLL_AFFINITY=compact " if pinned else "") + " ".join(map(str, words[:4]))
        place = "pinned" if pinned else f"on {os.cpu_count()} processors"
        for size in sizes:
            extra = {"limit": round(sorted(found["limit"][size])[self.args.repeat // 2], 3),
                     "limit_name": limit_name(size)} if "limit" in found else {}
            self.row(f"{op} f32, {ranks} ranks {place}", bench_backend.sized(size), "us", shown,
                     found["ours"][size], found["peer"][size] if peer else [], **extra)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="folder with bin/bench-backend")
    parser.add_argument("--repeat", type=int, default=5, help="runs per figure; the median counts")
    parser.add_argument("--quick", action="store_true", help="one run per figure")
    parser.add_argument("--only", help="one operation of 2 ranks, as all_reduce")
    parser.add_argument("--out", default=HERE / "threads.jsonl", help="file to append to")
    args = parser.parse_args()
    args.python = None
    if args.quick:
        args.repeat = 1
    if len(os.sched_getaffinity(0)) < 2:
        sys.exit("SKIPPED: two ranks need two processors")
    bench = Bench(args)
    print(f"on {bench.machine}")
    with tempfile.TemporaryDirectory() as folder:
        peer = None
        if shutil.which("mpicc") and shutil.which("mpirun"):
            peer = pathlib.Path(folder, "mpi_peer")
            bench_steps.run(["mpicc", "-O2", HERE / "mpi_peer.c", "-o", peer])
        else:
            print("bench: no mpicc and mpirun: rows without Open MPI")
        for op in ("all_reduce", *MOVES):
            if args.only in (None, op):
                bench.compare(op, 2, ALL_SIZES if op == "all_reduce" else SOME_SIZES, peer, True)
        for ranks in (4, 8, 64) if not args.only else ():
            bench.compare("all_reduce", ranks, [8, 16 << 10], peer if ranks <= 8 else None, False)


if __name__ == "__main__":
    main()
