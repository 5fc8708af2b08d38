#!/usr/bin/env python3
"""Times the way from exported text to verified rank programs for steps that are distributed on three axes.

usage: bench_programs.py [--tools=build/bin] [--out=FILE.jsonl] [--keep=FOLDER] [NAME...]

The steps are LLaMA-shaped, with every layer written out, and exported by their shapes alone. Needs JAX.
"""

import argparse
import os
import pathlib
import resource
import subprocess
import tempfile
import time

import bench_auto
from rows import begin_row, put_row

# Name -> layers, width, inner width, heads, heads of keys, vocabulary, batch, length; mesh; target in seconds, and MiB.
ROWS = {"gpt2_small": ((12, 768, 3072, 12, 12, 50257, 128, 128), "dp=8,fsdp=16,tp=8", 2, None),
        "operations_100k": ((187, 1024, 4096, 16, 16, 8000, 1024, 128), "dp=32,fsdp=32,tp=16", 6, 1024)}


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
        shape, mesh, target, mib = ROWS[name]
        bench_auto.SHAPES[name] = shape
        path = folder / f"{name}.mlir"
        states = bench_auto.export(name, path)
        words = [*tool, path, f"--coll-import=state-args={states}", f"--coll-insert-strategy=mesh={mesh} strategy=data,fsdp,tensor",
                 "--coll-propagate", "--coll-insert-reshards", "--coll-narrow-reshards", "--coll-partition", "--canonicalize",
                 "--cse", "--coll-rank-programs", "-o", os.devnull]
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        done = subprocess.run(words, capture_output=True, text=True)
        seconds, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            raise SystemExit(done.stderr[-2000:])
        row = {**begin_row(" ".join(map(str, words[1:]))), "case": name, "size": mesh, "metric": "s to verified rank programs",
               "ours": round(seconds, 2), "peer": None, "peer_name": None, "ratio": None, "target": target,
               "ours_cpu": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 2),
               "ours_mib": after.ru_maxrss >> 10, "target_mib": mib, "operations": path.read_text().count(" = \"stablehlo.")}
        put_row(row, options.out)


if __name__ == "__main__":
    main()
