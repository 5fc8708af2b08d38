#!/usr/bin/env python3
"""Times sharded steps of test/data/shardings on threads beside JAX's CPU back end with 8 devices.

usage: bench_sharded_steps.py [--tools=build/bin] [--width=64] [--steps=200] [--repeat=5] [--out=FILE.jsonl] [NAME...]

Both get the same text and the same random arguments, are measured in turn, and wait for each step. Needs JAX.
"""

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
import types

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from rows import begin_row, put_row

HERE = pathlib.Path(__file__).resolve().parent
NAMES = ["megatron_mlp", "megatron_block", "fsdp_mlp", "fsdp_block", "fsdp_clipped", "sequence_block", "xent_vocabulary",
         "tied_vocabulary"]


def load(shardings, width):
    """The module of the steps, with layers of `width`."""
    path = shardings / "steps.py"
    text, count = re.subn(r"^D, H = 64, 256$", f"D, H = {width}, {4 * width}", path.read_text(), flags=re.M)
    if count != 1:
        raise SystemExit(f"{path} has no line D, H = 64, 256")
    module = types.ModuleType("steps")
    module.__file__ = str(path)
    sys.modules["steps"] = module
    exec(compile(text, str(path), "exec"), module.__dict__)
    return module


class Case:
    def __init__(self, steps, name, folder):
        self.step = steps.STEPS[name]
        devices = np.array(jax.devices()[:int(np.prod(list(self.step.mesh.values())))])
        self.mesh = Mesh(devices.reshape(list(self.step.mesh.values())), list(self.step.mesh))
        sharding = lambda spec: NamedSharding(self.mesh, spec)
        random = np.random.default_rng(0)
        self.state = {key: 0.05 * random.standard_normal(shape, np.float32) for key, (shape, _) in self.step.state.items()}
        self.batch = {key: random.integers(0, self.step.highest, shape, np.int32) if dtype == steps.I32
                      else random.standard_normal(shape, np.float32) for key, (shape, dtype, _) in self.step.batch.items()}
        self.state_in = {key: sharding(spec) for key, (_, spec) in self.step.state.items()}
        self.batch_in = {key: sharding(spec) for key, (_, _, spec) in self.step.batch.items()}
        self.text, self.data = folder / f"{name}.mlir", folder / f"{name}.npz"
        with jax.set_mesh(self.mesh):
            jitted = jax.jit(self.step.function, in_shardings=(self.state_in, self.batch_in), keep_unused=True,
                             out_shardings=(self.state_in, sharding(PartitionSpec())), donate_argnums=0)
            lowered = jitted.lower(self.state, self.batch)
            self.text.write_text(lowered.compiler_ir("stablehlo").operation.get_asm(
                print_generic_op_form=True, enable_debug_info=False))
            self.compiled = lowered.compile()
        arrays = {f"state_in_{i}": array for i, array in enumerate(jax.tree.leaves(self.state))}
        arrays |= {f"batch_0_{i}": array for i, array in enumerate(jax.tree.leaves(self.batch))}
        np.savez(self.data, **arrays)

    def jax_ms(self, count):
        state, batch = jax.device_put(self.state, self.state_in), jax.device_put(self.batch, self.batch_in)
        for i in range(10 + count):
            if i == 10:
                begin = time.perf_counter()
            state, _ = jax.block_until_ready(self.compiled(state, batch))
        return 1e3 * (time.perf_counter() - begin) / count

    def coll_ms(self, tool, count):
        done = subprocess.run([*tool, str(self.text), f"--state-args={len(self.state)}", f"--data={self.data}",
                               f"--steps={count}"], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(done.stderr[-2000:])
        return float(re.search(r"([\d.e+-]+) ms/step", done.stdout + done.stderr)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", type=pathlib.Path, default=pathlib.Path("build/bin"))
    parser.add_argument("--shardings", type=pathlib.Path, default=HERE.parent / "data" / "shardings")
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    tool = [options.tools, "run"] if options.tools.is_file() else [options.tools / "coll-run"]
    steps = load(options.shardings, options.width)
    with tempfile.TemporaryDirectory() as folder:
        for name in options.names or NAMES:
            case = Case(steps, name, pathlib.Path(folder))
            ours, theirs = [], []
            for _ in range(options.repeat):
                ours.append(case.coll_ms(tool, options.steps))
                theirs.append(case.jax_ms(options.steps))
            ours, peer = statistics.median(ours), statistics.median(theirs)
            row = {**begin_row(), "case": name, "size": f"8 ranks, width {options.width}", "metric": "ms per step", "ours": round(ours, 4),
                   "peer": round(peer, 4), "peer_name": f"jax {jax.__version__}, 8 devices", "ratio": round(peer / ours, 3)}
            put_row(row, options.out)


if __name__ == "__main__":
    main()
