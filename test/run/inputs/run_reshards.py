"""Runs steps of random reshards and checks each against one rank.

usage: run_reshards.py FOLDER COUNT SEED

Every value of a step is resharded twice, and doubled in between: from a random sharding to another,
which may be partial, and from there to a third. Meshes have one to three axes, of size 1, too;
extents are uneven, and blocks have units. Prints one line per failure, and how many steps agreed.
"""

import pathlib
import random
import subprocess
import sys

MESHES = [{"a": 2}, {"a": 3}, {"a": 4}, {"a": 2, "b": 2}, {"a": 2, "b": 3}, {"a": 1, "b": 4},
          {"a": 2, "b": 2, "c": 2}, {"a": 2, "b": 1, "c": 3}]
VALUES = 6


def sharding(rank, mesh, partial):
    free = random.sample(list(mesh), len(mesh))
    dims = []
    for _ in range(rank):
        axes = [free.pop() for _ in range(random.choice([0, 1, 1, 2])) if free]
        unit = f" unit {random.choice([2, 3])}" if axes and random.random() < 0.15 else ""
        dims.append("[" + ", ".join(f'"{axis}"' for axis in axes) + "]" + unit)
    random.shuffle(dims)
    end = ""
    if partial and free:
        axes = random.sample(free, random.randint(1, len(free)))
        end = ", partial sum [" + ", ".join(f'"{axis}"' for axis in axes) + "]"
    return f"<@mesh, [{', '.join(dims)}]{end}>"


def step(mesh):
    arguments, results, lines, names = [], [], [], []
    for i in range(VALUES):
        shape = [random.choice([1, 5, 6, 8, 7]) for _ in range(random.choice([1, 2, 2, 3]))]
        kind = "tensor<" + "x".join(map(str, shape)) + "xf32>"
        first, second, third = (sharding(len(shape), mesh, partial)
                                for partial in (False, random.random() < 0.4, False))
        arguments.append(f'%x{i}: {kind} {{coll.role = "state", coll.name = "x{i}", '
                         f"coll.sharding = #coll.sharding{first}}}")
        results.append(f'{kind} {{coll.name = "x{i}"}}')
        lines += [f"  %r{i} = coll.reshard %x{i} from {first} to {second} : {kind}",
                  f"  %d{i} = arith.addf %r{i}, %r{i} : {kind}",
                  f"  %t{i} = coll.reshard %d{i} from {second} to {third} : {kind}",
                  f"  %z{i} = arith.addf %t{i}, %t{i} : {kind}"]
        names.append(f"%z{i}")
    kinds = ", ".join(result.split(" {")[0] for result in results)
    axes = ", ".join(f'"{axis}" = {size}' for axis, size in mesh.items())
    return (f"coll.mesh @mesh [{axes}]\n"
            f"func.func @step({', '.join(arguments)})\n    -> ({', '.join(results)}) {{\n"
            + "\n".join(lines) + f"\n  return {', '.join(names)} : {kinds}\n}}\n")


folder, count, seed = sys.argv[1:]
random.seed(int(seed))
good = 0
for number in range(int(count)):
    path = pathlib.Path(folder) / f"{number}.mlir"
    path.write_text(step(MESHES[number % len(MESHES)]))
    run = subprocess.run(["coll-run", path, "--check", "--quiet", "--steps=2"],
                         capture_output=True, text=True)
    good += run.returncode == 0
    if run.returncode != 0:
        print(f"{path}: {run.stdout[-1500:]}{run.stderr[-500:]}")
print(f"{good} of {count} agree")
