"""Annotates a step (L0) with random shardings and checks each against one rank.

usage: run_shardings.py STEP.mlir DATA.npz FOLDER COUNT SEED

Every argument gets a random sharding over a random mesh. Whatever the shardings are, the
result is that of one rank; only the communication differs. Prints one line per failure,
and how many of the runs agreed.
"""

import pathlib
import random
import re
import subprocess
import sys

MESHES = [{"a": 2}, {"a": 3}, {"a": 4}, {"a": 2, "b": 2}, {"a": 2, "b": 3}]


def sharding(extents, mesh, probability):
    free = list(mesh)
    dims = []
    for _ in extents:
        axes = []
        if free and random.random() < probability:
            for _ in range(min(random.choice([1, 1, 2]), len(free))):
                axes.append(free.pop(random.randrange(len(free))))
        dims.append("[" + ", ".join(f'"{axis}"' for axis in axes) + "]")
    return f"#coll.sharding<@mesh, [{', '.join(dims)}]>"


def annotate(source, mesh, probability):
    def add(match):
        extents = match[2].split("x")[:-1]
        return (f"{match[1]}tensor<{match[2]}> "
                f"{{coll.sharding = {sharding(extents, mesh, probability)}, ")

    start = source.index("func.func @step(")
    end = source.index(") -> (", start)
    arguments = re.sub(r"(%\w+: )tensor<([^>]*)> \{", add, source[start:end])
    axes = ", ".join(f'"{axis}" = {size}' for axis, size in mesh.items())
    return f"{source[:start]}coll.mesh @mesh [{axes}]\n  {arguments}{source[end:]}"


step, data, folder, count, seed = sys.argv[1:]
random.seed(int(seed))
source = pathlib.Path(step).read_text()
good = 0
for number in range(int(count)):
    path = pathlib.Path(folder) / f"{number}.mlir"
    path.write_text(annotate(source, random.choice(MESHES), random.choice([0.15, 0.4, 0.8])))
    run = subprocess.run(["coll-run", path, f"--data={data}", "--check", "--quiet", "--steps=2"],
                         capture_output=True, text=True)
    good += run.returncode == 0
    if run.returncode != 0:
        print(f"{path}: {run.stdout[-1500:]}{run.stderr[-500:]}")
print(f"{good} of {count} agree")
