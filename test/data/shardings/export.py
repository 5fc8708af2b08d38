#!/usr/bin/env python3
"""Writes the steps of steps.py as text, and beside them what XLA's partitioner makes of each.

usage: export.py [NAME…]

NAME.mlir is the step as JAX exports it, with its shardings; xla.json holds per step the number of state arguments,
the collectives of XLA's program for the mesh's devices, and the bytes that a rank sends in it. Needs JAX;
nothing that runs in CI does.
"""

import json
import os
import pathlib
import re
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

import steps

HERE = pathlib.Path(__file__).resolve().parent
BITS = {"pred": 8, "s8": 8, "u8": 8, "bf16": 16, "f16": 16, "s32": 32, "u32": 32, "f32": 32, "s64": 64, "f64": 64}
KINDS = "all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute"


def size(types):
    """Bytes of all tensors in a type, tuples included."""
    total = 0
    for element, shape in re.findall(r"(\w+)\[([\d,]*)\]", types):
        total += BITS[element] // 8 * int(np.prod([int(n) for n in shape.split(",") if n]))
    return total


def group_size(line):
    axes = re.search(r"replica_groups=mesh\[([^\]]*)\].*? \{('[^}]*)\}", line)
    if axes:
        sizes = dict(re.findall(r"'([^']+)'=(\d+)", axes[1]))
        named = re.findall(r"'([^']+)'(?::\(\d+\)(\d+))?", axes[2])
        return int(np.prod([int(part or sizes[axis]) for axis, part in named]))
    iota = re.search(r"replica_groups=\[(\d+),(\d+)\]", line)
    if iota:
        return int(iota[2])
    first = re.search(r"replica_groups=\{\{([\d,]+)\}", line)
    return len(first[1].split(",")) if first else 1


def sent(kind, result, ranks):
    """Bytes that a rank sends, by the algorithm that sends least, given those of its result."""
    share = (ranks - 1) / ranks
    return {"all-reduce": 2 * share * result, "all-gather": share * result,
            "reduce-scatter": (ranks - 1) * result, "all-to-all": share * result,
            "collective-permute": result}[kind]


def computations(text):
    """name -> (lines, is entry)."""
    found, name = {}, None
    for line in text.splitlines():
        head = re.match(r"(ENTRY )?%?([\w.\-]+) \(.*\{$", line)
        if head:
            name = head[2]
            found[name] = []
            entry = name if head[1] else found.get("")
            if head[1]:
                found[""] = name
        elif name and line.startswith("  "):
            found[name].append(line)
    return found


def count(found, name, times, totals):
    for line in found.get(name, []):
        match = re.match(rf"\s*(?:ROOT )?%?[\w.\-]+ = (.*?) ({KINDS})(-start)?\(", line)
        if match:
            kind = match[2]
            bytes_sent = sent(kind, size(match[1]), group_size(line))
            if bytes_sent == 0:
                continue
            totals[kind] = totals.get(kind, 0) + times
            totals["bytes"] = totals.get("bytes", 0) + times * bytes_sent
        trips = re.search(r'"known_trip_count":\{"n":"(\d+)"\}', line)
        for callee in re.findall(r"(?:body|to_apply|calls|true_computation|false_computation)=%?([\w.\-]+)", line):
            count(found, callee, times * (int(trips[1]) if trips else 1), totals)
        branches = re.search(r"branch_computations=\{([^}]*)\}", line)
        if branches:
            options = []
            for callee in branches[1].split(","):
                options.append({})
                count(found, callee.strip().lstrip("%"), times, options[-1])
            worst = max(options, key=lambda option: option.get("bytes", 0))
            for key, value in worst.items():
                totals[key] = totals.get(key, 0) + value


def export(name, step):
    devices = np.array(jax.devices()[:int(np.prod(list(step.mesh.values())))])
    kind = AxisType.Explicit if step.axes == "explicit" else AxisType.Auto
    mesh = Mesh(devices.reshape(list(step.mesh.values())), list(step.mesh), axis_types=(kind,) * len(step.mesh))
    jax.config.update("jax_use_shardy_partitioner", step.text == "shardy")
    sharding = lambda spec: NamedSharding(mesh, spec)
    state_in = {key: sharding(spec) for key, (_, spec) in step.state.items()}
    batch_in = {key: sharding(spec) for key, (_, _, spec) in step.batch.items()}
    state = {key: jax.ShapeDtypeStruct(shape, steps.F32, sharding=state_in[key])
             for key, (shape, _) in step.state.items()}
    batch = {key: jax.ShapeDtypeStruct(shape, dtype, sharding=batch_in[key])
             for key, (shape, dtype, _) in step.batch.items()}
    with jax.set_mesh(mesh):
        jitted = jax.jit(step.function, in_shardings=(state_in, batch_in), keep_unused=True,
                         out_shardings=(state_in, sharding(PartitionSpec())))
        lowered = jitted.lower(state, batch)
        text = lowered.compiler_ir("stablehlo").operation.get_asm(print_generic_op_form=True,
                                                                 enable_debug_info=False)
        (HERE / f"{name}.mlir").write_text(text)
        found = computations(lowered.compile().as_text())
    totals = {"bytes": 0}
    count(found, found[""], 1, totals)
    return {"state_args": len(step.state), "trips": step.trips, "highest": step.highest, "ranks": devices.size, "bytes": round(totals.pop("bytes")),
            "collectives": dict(sorted(totals.items()))}


def main():
    path = HERE / "xla.json"
    rows = json.loads(path.read_text()) if path.exists() else {}
    for name in sys.argv[1:] or steps.STEPS:
        rows[name] = {"jax": jax.__version__, **export(name, steps.STEPS[name])}
        print(name, rows[name])
    lines = [f'  "{name}": {json.dumps(row)}' for name, row in sorted(rows.items())]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
