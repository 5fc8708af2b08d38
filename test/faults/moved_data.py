"""Runs exported steps from other states and batches, with --check: a right step has to pass. Needs NumPy, no JAX.

    moved_data.py [--seeds=1,2,3,4,5] [--ranks=1,3,4] FOLDER…     # with step.mlir, meta.json, reference.npz

For each seed the floats of state and batches are multiplied by exp(0.2 n), n normal, so that zeros and signs stay; the
examples of each batch are put in another order.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

INPUT = re.compile(r"state_in_\d+|batch_(\d+)_\d+")


def moved(arrays, seed):
    """State and batches of `arrays` with other values."""
    random = np.random.default_rng(seed)
    orders = {}
    for name, array in arrays.items():
        match = INPUT.fullmatch(name)
        if not match:
            continue
        if array.dtype in (np.float32, np.float64):
            array = (array * np.exp(0.2 * random.standard_normal(array.shape))).astype(array.dtype)
        if match[1] and array.ndim:
            order = orders.setdefault((match[1], len(array)), random.permutation(len(array)))
            array = array[order]
        yield name, array


def write(folder, path, seed):
    """Writes a file of data for the step in `folder` with other values, and returns its path."""
    arrays = dict(np.load(folder / "reference.npz", allow_pickle=False))
    np.savez(path, **dict(moved(arrays, seed)))
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=lambda text: [int(word) for word in text.split(",")], default=[1, 2, 3, 4, 5])
    parser.add_argument("--ranks", type=lambda text: text.split(","), default=["1", "3", "4"])
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    runs = alarms = 0
    for folder in options.folders:
        meta = json.loads((folder / "meta.json").read_text())
        for seed in options.seeds:
            with tempfile.TemporaryDirectory() as work:
                data = write(folder, pathlib.Path(work) / "data.npz", seed)
                command = ["coll-run", folder / "step.mlir", f"--state-args={meta['state_args']}", f"--data={data}",
                           "--check", "--quiet"]
                if "rtol" in meta:
                    command.append(f"--rtol={meta['rtol']}")
                for ranks in options.ranks:
                    done = subprocess.run([*command, f"--ranks={ranks}"], stdin=subprocess.DEVNULL, text=True,
                                          capture_output=True, check=False)
                    runs += 1
                    if done.returncode:
                        alarms += 1
                        print(f"{folder.name}, seed {seed}, {ranks} ranks:\n{done.stdout}{done.stderr}", flush=True)
    print(f"{len(options.folders)} steps, seeds {options.seeds}, {options.ranks} ranks: {runs} runs, {alarms} alarms")
    sys.exit(alarms != 0)


if __name__ == "__main__":
    main()
