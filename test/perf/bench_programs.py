#!/usr/bin/env python3
"""Times the way from exported text to verified rank programs for steps that are distributed on three axes.

usage: bench_programs.py [--tools=build/bin] [--out=FILE.jsonl] [--keep=FOLDER] [NAME...]

The steps are LLaMA-shaped, with every layer written out, and exported by their shapes alone. Needs JAX.
"""

import argparse
import multiprocessing
import os
import pathlib
import subprocess
import tempfile
import time

from rows import begin_row, put_row

# Name -> layers, width, inner width, heads, heads of keys, vocabulary, batch, length; mesh; target in seconds, and MiB.
ROWS = {"gpt2_small": ((12, 768, 3072, 12, 12, 50257, 128, 128), "dp=8,fsdp=16,tp=8", 2, None),
        "operations_100k": ((187, 1024, 4096, 16, 16, 8000, 1024, 128), "dp=32,fsdp=32,tp=16", 6, 1024)}


def export(name, path):
    """In a process of its own: the peak memory of a child is at least its parent's at the fork, and JAX is large."""
    import bench_auto
    bench_auto.SHAPES[name] = ROWS[name][0]
    return bench_auto.export(name, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", type=pathlib.Path, default=pathlib.Path("build/bin"))
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    folder = options.keep or pathlib.Path(tempfile.mkdtemp())
    tool = [options.tools, "opt"] if options.tools.is_file() else [options.tools / "coll-opt"]
    for name in options.names or ROWS:
        _, mesh, target, mib = ROWS[name]
        path = folder / f"{name}.mlir"
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            states = pool.apply(export, (name, path))
        # As buildStrategyPipeline() in passes/pipelines.cc has them.
        words = [*tool, path, f"--coll-import=state-args={states}", f"--coll-insert-strategy=mesh={mesh} strategy=data,fsdp,tensor",
                 "--coll-propagate", "--coll-insert-reshards", "--coll-narrow-reshards", "--coll-partition",
                 "--canonicalize=region-simplify=disabled", "--cse", "--coll-rank-programs", "-o", os.devnull]
        load, begin = os.getloadavg()[0], time.monotonic()
        with tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(words, stderr=errors)
            _, process.returncode, usage = os.wait4(process.pid, 0)
            seconds = time.monotonic() - begin
            if process.returncode:
                errors.seek(0)
                raise SystemExit(errors.read().decode()[-2000:])
        row = {**begin_row(f"bench_programs.py {name}"), "case": name, "size": mesh, "metric": "s to verified rank programs",
               "ours": round(seconds, 2), "peer": None, "peer_name": None, "ratio": None, "target": target,
               "ours_cpu": round(usage.ru_utime + usage.ru_stime, 2), "load_before": round(load, 1),
               "ours_mib": usage.ru_maxrss >> 10, "target_mib": mib,
               "operations": path.read_text().count(" = \"stablehlo.")}
        put_row(row, options.out)


if __name__ == "__main__":
    main()
