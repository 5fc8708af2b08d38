"""Runs the sharded steps of test/data/shardings on their meshes, each compared with one rank.

usage: run_sharded_steps.py STEPS FOLDER MESH…

MESH is `own`, or sizes in the order of a step's axes: `3,2` makes dp=4,tp=2 into dp=3,tp=2 and dp=8 into dp=3,
which splits unevenly. Steps whose text numbers devices run on their own mesh alone. Prints one line per failure, and how many of the runs agreed.
"""

import json
import pathlib
import random
import re
import subprocess
import sys

import npz


def arguments(text):
    """Shape and element type of each argument of the step."""
    types = re.search(r"function_type = \((.*?)\) ->", text)[1]
    for tensor in re.findall(r"tensor<([^>]*)>", types):
        *shape, element = tensor.split("x")
        yield [int(extent) for extent in shape], element


def write_data(path, text, row):
    """Small parameters; integers are positions in what the step looks them up in."""
    generator = random.Random(7)
    arrays = {}
    for index, (shape, element) in enumerate(arguments(text)):
        count = 1
        for extent in shape:
            count *= extent
        is_state = index < row["state_args"]
        name = f"state_in_{index}" if is_state else f"batch_0_{index - row['state_args']}"
        if element == "f32":
            scale = 0.1 if is_state else 1.0
            values = [scale * generator.gauss(0, 1) for _ in range(count)]
            # Second moments, which are state, are positive.
            arrays[name] = ("f4", shape, [abs(v) for v in values] if is_state else values)
        else:
            arrays[name] = ("i4", shape, [generator.randrange(row["highest"]) for _ in range(count)])
    npz.write(path, arrays)


def with_mesh(text, sizes):
    """The step on a mesh whose first axes have the sizes given."""
    def resize(match):
        axes = re.findall(r'"(\w+)"=(\d+)', match[0])
        wanted = sizes[:len(axes)] + [size for _, size in axes[len(sizes):]]
        return "#sdy.mesh<[" + ", ".join(f'"{axis}"={size}' for (axis, _), size in zip(axes, wanted)) + "]>"
    return re.sub(r"#sdy\.mesh<\[[^\]]*\]>", resize, text)


def main():
    steps, folder, *meshes = sys.argv[1:]
    steps, folder = pathlib.Path(steps), pathlib.Path(folder)
    good = total = 0
    for name, row in json.loads((steps / "xla.json").read_text()).items():
        text = (steps / f"{name}.mlir").read_text()
        data = folder / f"{name}.npz"
        write_data(data, text, row)
        for mesh in meshes:
            if mesh != "own" and "sdy.mesh" not in text:
                continue
            path = folder / f"{name}.mlir"
            path.write_text(text if mesh == "own" else with_mesh(text, mesh.split(",")))
            run = subprocess.run(["coll-run", path, f"--state-args={row['state_args']}", f"--data={data}",
                                  "--check", "--quiet"], capture_output=True, text=True)
            total += 1
            good += run.returncode == 0
            if run.returncode:
                print(f"{name} on mesh {mesh}: {run.stdout[-1500:]}{run.stderr[-500:]}")
    print(f"{good} of {total} agree")


if __name__ == "__main__":
    main()
