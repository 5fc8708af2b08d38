#!/usr/bin/env python3
"""Measures the plan that --strategy=auto finds beside hand-written strategies: time a step, predicted and measured.

usage: bench_strategies.py [--tools=build/bin] [--ranks=8] [--steps=40] [--repeat=3] [--out=FILE.jsonl] [NAME...]
"""

import argparse
import json
import pathlib
import re
import shlex
import statistics
import subprocess
import tempfile

from rows import begin_row, put_row

HERE = pathlib.Path(__file__).resolve().parent
NAMES = ["gpt_tiny_adamw", "gpt_12layer_adamw", "llama_scan_layers_adamw", "resnet_remat_lamb", "moe_top_k_momentum", "dlrm"]
HAND = ["--mesh=dp=8 --strategy=data", "--mesh=dp=8 --strategy=zero1", "--mesh=dp=8 --strategy=fsdp", "--mesh=tp=8 --strategy=tensor",
        "--mesh=sp=8 --strategy=sequence", "--mesh=dp=4,tp=2 --strategy=data,tensor", "--mesh=dp=2,tp=4 --strategy=data,tensor",
        "--mesh=dp=4,tp=2 --strategy=zero1,tensor", "--mesh=fsdp=4,tp=2 --strategy=fsdp,tensor",
        "--mesh=fsdp=2,tp=4 --strategy=fsdp,tensor", "--mesh=dp=2,fsdp=4 --strategy=data,fsdp", "--mesh=dp=4,sp=2 --strategy=data,sequence",
        "--mesh=dp=2,fsdp=2,tp=2 --strategy=data,fsdp,tensor"]
UNITS = {"ns": 1e-3, "us": 1, "\u00b5s": 1, "ms": 1e3, "s": 1e6}


def export_dlrm(folder):
    """Embedding tables, products of pairs, and a network on top, with SGD with momentum."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    tables, rows, width, batch = 8, 4096, 32, 512
    random = np.random.default_rng(0)
    params = {f"table_{i}": 0.05 * random.standard_normal((rows, width), np.float32) for i in range(tables)}
    sizes = {"b1": (16, 64), "b2": (64, width), "t1": (width + (tables + 1) * tables // 2, 256), "t2": (256, 128), "t3": (128, 1)}
    params |= {name: 0.1 * random.standard_normal(shape, np.float32) for name, shape in sizes.items()}

    def loss(p, dense, ids, y):
        x = jax.nn.relu(jax.nn.relu(dense @ p["b1"]) @ p["b2"])
        vectors = jnp.stack([x] + [p[f"table_{i}"][ids[:, i]] for i in range(tables)], 1)
        products = jnp.einsum("bif,bjf->bij", vectors, vectors)
        left, right = np.tril_indices(tables + 1, -1)
        z = jnp.concatenate([x, products[:, left, right]], 1)
        logits = (jax.nn.relu(jax.nn.relu(z @ p["t1"]) @ p["t2"]) @ p["t3"])[:, 0]
        return jnp.mean(jnp.maximum(logits, 0) - logits * y + jnp.log1p(jnp.exp(-jnp.abs(logits))))

    def step(state, dense, ids, y):
        value, gradients = jax.value_and_grad(loss)(state["params"], dense, ids, y)
        momentum = jax.tree.map(lambda m, g: 0.9 * m + g, state["momentum"], gradients)
        return {"params": jax.tree.map(lambda p, m: p - 0.01 * m, state["params"], momentum), "momentum": momentum}, value

    state = {"params": params, "momentum": jax.tree.map(np.zeros_like, params)}
    arguments = (random.standard_normal((batch, 16), np.float32), random.integers(0, rows, (batch, tables), np.int32),
                 random.integers(0, 2, batch).astype(np.float32))
    text = jax.jit(step, keep_unused=True).lower(state, *arguments).compiler_ir("stablehlo").operation.get_asm(
        print_generic_op_form=True, enable_debug_info=False)
    (folder / "dlrm.mlir").write_text(text)
    leaves = jax.tree.leaves(state)
    np.savez(folder / "dlrm.npz", **{f"state_in_{i}": array for i, array in enumerate(leaves)},
             **{f"batch_0_{i}": array for i, array in enumerate(arguments)})
    return [str(folder / "dlrm.mlir"), f"--state-args={len(leaves)}"], [f"--data={folder / 'dlrm.npz'}"]


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.run_tool = [options.tools, "run"] if options.tools.is_file() else [options.tools / "coll-run"]
        info = [options.tools, "info"] if options.tools.is_file() else [options.tools / "coll-info"]
        self.topology = folder / "topology.json"
        text = subprocess.run([*info, "--topology"], capture_output=True, text=True, check=True).stdout
        topology = json.loads(text)
        topology["hosts"][0]["ranks"] = max(topology["hosts"][0]["ranks"], options.ranks)
        self.topology.write_text(json.dumps(topology))

    def call(self, *words):
        done = subprocess.run([*self.run_tool, *words, f"--ranks={self.options.ranks}", "--no-cache"], capture_output=True, text=True)
        return done.stdout + done.stderr if done.returncode == 0 else None

    def predict(self, step, plan):
        said = self.call(*step, *plan, f"--topology={self.topology}", "--plan-only")
        if said is None:
            return None, None
        time = re.search(r"a step, predicted: ([\d.,e+]+) (\S+)", said)
        return (float(time[1].replace(",", "")) * UNITS[time[2].rstrip(",;:")] if time else None), said

    def measure(self, step, data, plan):
        said = self.call(*step, *data, *plan, f"--topology={self.topology}", f"--steps={self.options.steps}")
        found = said and re.search(r"([\d.e+-]+) ms/step", said)
        return 1e3 * float(found[1]) if found else None

    def compare(self, name):
        if name == "dlrm":
            step, data = export_dlrm(self.folder)
        else:
            where = self.options.data / name
            step = [str(where / "step.mlir"), f"--state-args={json.loads((where / 'meta.json').read_text())['state_args']}"]
            data = [f"--data={where / 'reference.npz'}"] if (where / "reference.npz").exists() else []
        said = self.predict(step, ["--strategy=auto"])[1]
        chosen = said and re.search(r"chosen of (\d+) plans: (.*)", said)
        if not chosen:
            raise SystemExit(f"{name}: --strategy=auto found no plan")
        plans = {"auto": shlex.split(chosen[2])} | {hand: shlex.split(hand) for hand in HAND}
        times = {plan: [] for plan in plans}
        predicted = {plan: self.predict(step, words)[0] for plan, words in plans.items()}
        for _ in range(self.options.repeat):
            for plan, words in plans.items():
                took = self.measure(step, data, words) if predicted[plan] else None
                if took:
                    times[plan].append(took)
        rows = [{"plan": plan, "predicted_us": predicted[plan], "measured_us": round(statistics.median(times[plan]), 1)}
                for plan in plans if times[plan]]
        hand = [row for row in rows if row["plan"] != "auto"]
        auto = next((row for row in rows if row["plan"] == "auto"), None)
        best = min(hand, key=lambda row: row["measured_us"])
        put_row({**begin_row(), "case": name, "size": f"{self.options.ranks} ranks", "metric": "us a step", "ours": auto["measured_us"],
                  "peer": best["measured_us"], "peer_name": best["plan"],
                  "ratio": round(best["measured_us"] / auto["measured_us"], 3), "chosen": chosen[2],
                  "ours_predicted": auto["predicted_us"],
                  "peer_predicted": min(row["predicted_us"] for row in hand)}, self.options.out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", type=pathlib.Path, default=pathlib.Path("build/bin"))
    parser.add_argument("--data", type=pathlib.Path, default=HERE.parent / "data" / "jax")
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, pathlib.Path(folder))
        for name in options.names or NAMES:
            bench.compare(name)


if __name__ == "__main__":
    main()
