"""Runs steps exported from JAX on several numbers of ranks, each run compared with one rank and with
what JAX computed.

    jax_steps.py --ranks=1,3,4 FOLDER…     # folders with step.mlir, meta.json, reference.npz
"""

import argparse
import json
import pathlib
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=lambda text: text.split(","), default=["1", "3", "4"])
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    failed = []
    for folder in options.folders:
        meta = json.loads((folder / "meta.json").read_text())
        reference = folder / "reference.npz"
        command = ["coll-run", folder / "step.mlir", f"--state-args={meta['state_args']}",
                   f"--data={reference}", f"--reference={reference}", "--check", "--quiet"]
        if "rtol" in meta:
            command.append(f"--rtol={meta['rtol']}")
        for ranks in options.ranks:
            if subprocess.run([*command, f"--ranks={ranks}"], stdin=subprocess.DEVNULL).returncode:
                failed.append(f"{folder.name} on {ranks} ranks")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
