#!/usr/bin/env python3
"""Compiles steps for GPUs and runs their kernels in emulation, beside the CPU's.

usage: check_steps.py [--chip=sm_90] [--no-run] STEP.mlir…

For each step: coll-opt makes its kernels, kernel-diff compares their launches with CPU
kernels, and ptxas, where it is installed, has to accept the PTX. The programs are found in PATH.
"""

import argparse
import glob
import os
import shutil
import subprocess
import sys
import tempfile

KERNELS = ["--coll-import", "--inline", "--coll-drop-empty", "--coll-count-loops",
           "--coll-lower-indexed=gpu", "--coll-lower-contractions=narrow",
           "--coll-fuse-kernels=recompute", "--coll-outline-kernels", "--coll-fuse-rows",
           "--coll-fuse-root-updates", "--coll-fuse-updates"]


def find_ptxas():
    """ptxas of PATH or of the usual place; None if there is none."""
    return shutil.which("ptxas") or shutil.which("ptxas", path="/usr/local/cuda/bin")


def call(*command):
    """Runs a command; its output, or an error that ends with it."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError((done.stdout + done.stderr).strip()[-2000:])
    return done.stdout


def assemble(ptxas, folder, chip):
    """The number of PTX texts that ptxas accepted."""
    texts = sorted(glob.glob(os.path.join(folder, "*.ptx")))
    for text in texts if ptxas else []:
        call(ptxas, f"-arch={chip}", "-O1", text, "-o", os.path.join(folder, "cubin"))
    return len(texts)


def check(step, args, ptxas):
    """One line about the step; raises RuntimeError where something fails."""
    with tempfile.TemporaryDirectory() as folder:
        kernels = os.path.join(folder, "kernels.mlir")
        call("coll-opt", step, *KERNELS, "-o", kernels)
        prefix = os.path.join(folder, "code")
        call("coll-opt", kernels, f"--coll-kernels-to-gpu=chip={args.chip} ptx={prefix}",
             "-o", os.devnull)
        texts = assemble(ptxas, folder, args.chip)
        compared = "not run" if args.no_run else call("kernel-diff", kernels).strip()
        return f"{compared}; {texts} PTX texts {'assembled' if ptxas else 'written'}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--chip", default="sm_90")
    parser.add_argument("--no-run", action="store_true")
    parser.add_argument("steps", nargs="+")
    args = parser.parse_args()
    ptxas, failed = find_ptxas(), 0
    for step in args.steps:
        name = os.path.basename(os.path.dirname(os.path.abspath(step)))
        try:
            print(f"{name}: {check(step, args, ptxas)}", flush=True)
        except RuntimeError as error:
            failed += 1
            print(f"{name}: FAILED: {error}", flush=True)
    print(f"{len(args.steps)} steps, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
