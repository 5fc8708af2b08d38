#!/usr/bin/env python3
"""Records what XLA's partitioner sends for changes of layout, so that tests need no JAX.

    python3 test/plan/xla_reshards.py > test/plan/xla_reshards.json    # needs jax

Each case is a mesh, a shape and two layouts; a source that is partial is a product whose contracted
dimension is split. For each: XLA's collectives, and the bytes that all ranks send together, an
all_gather of n ranks sending n - 1 blocks a rank, an all_reduce twice that of its operand's n-th part.
"""

import json
import os
import re
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

# name, axes, shape, from, to, axes over which the source is partial
XY = {"x": 2, "y": 4}
XYZ = {"x": 2, "y": 2, "z": 2}
CASES = [
    ("slice before gather", XY, (16, 32), "x,-", "-,y", ""),
    ("split further", XY, (16, 32), "x,-", "xy,-", ""),
    ("join the minor axis", XY, (16, 32), "xy,-", "x,-", ""),
    ("join the major axis", XY, (16, 32), "xy,-", "y,-", ""),
    ("swap the order", XY, (16, 32), "xy,-", "yx,-", ""),
    ("minor axis to another dimension", XY, (16, 32), "xy,-", "x,y", ""),
    ("back from another dimension", XY, (16, 32), "x,y", "xy,-", ""),
    ("both axes to another dimension", XY, (16, 32), "xy,-", "-,xy", ""),
    ("swap dimensions", XYZ, (16, 32), "x,y", "y,x", ""),
    ("transposed dimensions", XY, (16, 32), "x,y", "y,x", ""),
    ("one dimension to another", XY, (16, 32), "y,-", "-,y", ""),
    ("gather all", XY, (16, 32), "x,y", "-,-", ""),
    ("three axes, one leaves", XYZ, (16, 32), "xyz,-", "xy,-", ""),
    ("three axes over two dimensions", XYZ, (16, 32), "xyz,-", "x,yz", ""),
    ("sum to one of two axes", XY, (16, 32), "-,-", "x,-", "xy"),
    ("sum to both axes", XY, (16, 32), "-,-", "xy,-", "xy"),
    ("sum everywhere", XY, (16, 32), "-,-", "-,-", "xy"),
    ("sum to another axis", XY, (16, 32), "-,-", "y,-", "x"),
]
BYTES = {"f32": 4}


def spec(text):
    return PartitionSpec(*[tuple(dim) if dim != "-" else None for dim in text.split(",")])


def compiled(axes, shape, source, target, partial):
    mesh = Mesh(np.array(jax.devices()[:8]).reshape(*axes.values()), tuple(axes))
    place = lambda s: NamedSharding(mesh, s)
    if not partial:
        function = jax.jit(lambda v: v, in_shardings=place(spec(source)),
                           out_shardings=place(spec(target)))
        return function.lower(jax.ShapeDtypeStruct(shape, jnp.float32)).compile().as_text()
    # Operands are arguments: what is sent is the sum alone.
    function = jax.jit(lambda a, b: a @ b,
                       in_shardings=(place(PartitionSpec(None, tuple(partial))),
                                     place(PartitionSpec(tuple(partial), None))),
                       out_shardings=place(spec(target)))
    return function.lower(jax.ShapeDtypeStruct((shape[0], 64), jnp.float32),
                          jax.ShapeDtypeStruct((64, shape[1]), jnp.float32)).compile().as_text()


def group_size(text, ranks):
    """Of replica_groups={{0,1},{2,3}}, [2,4]<=[8], mesh['a'=2,'b'=4] {'b'} or {'b':(1)2}."""
    if match := re.search(r"replica_groups=mesh\[(.*?)\] \{(.*?)\}", text):
        sizes = dict(re.findall(r"'(\w+)'=(\d+)", match.group(1)))
        parts = re.findall(r"'(\w+)'(?::\(\d+\)(\d+))?", match.group(2))
        return int(np.prod([int(part or sizes[axis]) for axis, part in parts]))
    if match := re.search(r"replica_groups=\[\d+,(\d+)\]", text):
        return int(match.group(1))
    if match := re.search(r"replica_groups=\{\{([\d,]*)\}", text):
        return len(match.group(1).split(","))
    return ranks


def collectives(text, ranks):
    """(operation, bytes that all ranks send) for each collective of an HLO text."""
    kinds = "all-gather|all-reduce|reduce-scatter|all-to-all|collective-permute"
    for match in re.finditer(rf"= (.*?) ({kinds})(?:-start)?\((.*)", text):
        result, kind, rest = match.groups()
        size = sum(BYTES[t] * int(np.prod([int(d) for d in dims.split(",") if d]))
                   for t, dims in re.findall(r"(f32)\[([\d,]*)\]", result))
        if kind == "collective-permute":
            pairs = re.search(r"source_target_pairs=\{(.*?)\}\}", rest).group(1)
            pairs = re.findall(r"(\d+),(\d+)", pairs)
            yield kind, size * sum(a != b for a, b in pairs)
            continue
        n = group_size(rest, ranks)
        factor = {"all-gather": (n - 1) / n, "all-to-all": (n - 1) / n,
                  "all-reduce": 2 * (n - 1) / n, "reduce-scatter": n - 1}[kind]
        yield kind, round(ranks * factor * size)


def main():
    rows = []
    for name, axes, shape, source, target, partial in CASES:
        text = compiled(axes, shape, source, target, partial)
        sent = list(collectives(text, 8))
        rows.append({"name": name, "mesh": [[axis, size] for axis, size in axes.items()],
                     "shape": list(shape), "from": source, "to": target, "partial": partial,
                     "xla": [kind for kind, _ in sent], "xla_bytes": sum(b for _, b in sent)})
        print(name, rows[-1]["xla"], rows[-1]["xla_bytes"], file=sys.stderr)
    head = f'{{"jax": "{jax.__version__}", "cases": [\n'
    print(head + ",\n".join("  " + json.dumps(row) for row in rows) + "\n]}")


if __name__ == "__main__":
    main()
