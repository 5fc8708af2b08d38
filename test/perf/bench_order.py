#!/usr/bin/env python3
"""Runs a step with `order rank` on its sums many times, and under several strategies; counts different bits.

usage: bench_order.py [--tools=build/bin] [--runs=100] [--steps=3] [NAME...]
"""

import argparse
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

from rows import begin_row, put_row

HERE = pathlib.Path(__file__).resolve().parent
SUM = re.compile(r"(coll\.(?:all_reduce|reduce_scatter) sum (?:in f32 )?%\S+(?: dim \d+)? over @mesh\[[^\]]*\])")


def tool(tools, name):
    path = pathlib.Path(tools)
    return [str(path), name.removeprefix("coll-")] if path.is_file() else [str(path / name)]


def distribute(options, data, mesh, strategy, path):
    meta = json.loads((data / "meta.json").read_text())
    text = subprocess.run([*tool(options.tools, "coll-opt"), f"--coll-import=state-args={meta['state_args']}",
                           f"--coll-insert-strategy=mesh={mesh} strategy={strategy}", "--coll-propagate",
                           "--coll-insert-reshards", "--coll-partition", "--canonicalize", "--cse", str(data / "step.mlir")],
                          capture_output=True, text=True, check=True).stdout
    text, count = SUM.subn(r"\1 order rank", text)
    path.write_text(text)
    return count


def digest(path):
    """Of the losses, and of everything that is saved."""
    with np.load(path) as saved:
        arrays = {name: saved[name] for name in sorted(saved.files)}
    losses = hashlib.sha256(arrays["losses"].tobytes()).hexdigest()[:16]
    every = hashlib.sha256(b"".join(name.encode() + array.tobytes() for name, array in arrays.items())).hexdigest()[:16]
    return losses, every


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", default="build/bin")
    parser.add_argument("--data", type=pathlib.Path, default=HERE.parent / "data" / "jax")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--mesh", default="dp=4")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name in options.names or ["gpt_tiny_adamw_noclip", "mlp_digits_momentum"]:
            data = options.data / name
            for strategy in ("data", "zero1", "fsdp"):
                step = folder / f"{name}.{strategy}.mlir"
                sums = distribute(options, data, options.mesh, strategy, step)
                seen = {}
                for run in range(options.runs):
                    saved = folder / "out.npz"
                    subprocess.run([*tool(options.tools, "coll-run"), str(step), f"--data={data / 'reference.npz'}",
                                    f"--steps={options.steps}", "--quiet", f"--save={saved}"], check=True)
                    key = digest(saved)
                    seen[key] = seen.get(key, 0) + 1
                row = {**begin_row(), "case": name, "size": f"{options.mesh}, {strategy}",
                       "metric": f"different results of {options.runs} runs", "ours": len(seen), "peer": None,
                       "peer_name": None, "ratio": None, "sums": sums, "losses": sorted({key[0] for key in seen})}
                failed |= len(seen) > 1
                put_row(row, options.out)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
