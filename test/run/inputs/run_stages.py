"""Runs every stage in a folder on the same data and compares the saved outcomes.

usage: run_stages.py FOLDER DATA.npz EXPECTED.npz
"""

import filecmp
import os
import subprocess
import sys

folder, data, expected = sys.argv[1:]
for name in sorted(os.listdir(folder)):
    out = os.path.join(folder, name + ".npz")
    command = ["coll-run", os.path.join(folder, name), f"--data={data}", "--quiet", f"--save={out}"]
    if name == "00-input.mlir":
        command += ["--ranks=4", "--state-args=8"]
    elif name.endswith("import-stablehlo.mlir"):
        command += ["--ranks=4"]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        print(f"{name}: differs: {run.stderr[-500:]}")
    else:
        print(f"{name}: {'same' if filecmp.cmp(out, expected, shallow=False) else 'differs'}")
