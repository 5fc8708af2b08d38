#!/usr/bin/env python3
"""Measures the plans that --strategy=auto finds beside hand-written strategies: time a step, predicted and measured.

usage: bench_strategies.py [--tools=build/bin] [--ranks=8] [--cores=LIST] [--repeat=10] [--busy] [--out=FILE.jsonl] [NAME...]

Two plans of auto are measured: the one that is predicted to be best, and the one that --time-plans takes of the eight
that are. A plan that is also written by hand is measured once. Where a processor is left for the thread that calls the
steps, ranks are kept on processors of their own (--cores, COLL_AFFINITY=compact); where not, that thread is rank 0, so
that none has to wake up. Plans take turns; a plan's time is its median step, in the median turn. On a machine with
other work (--busy) it is its fastest step. Every other turn says which plan by hand is the best one, and the turns
between are compared: the least of many times is less than its plan takes.
"""

import argparse
import json
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import tempfile

from rows import begin_row, put_row

HERE = pathlib.Path(__file__).resolve().parent
NAMES = ["gpt_tiny_adamw", "gpt_12layer_adamw", "llama_scan_layers_adamw", "resnet_remat_lamb", "moe_top_k_momentum", "moe", "dlrm"]


def list_by_hand(ranks):
    """The named strategies over all ranks, and in pairs over each way to split these in two; three for 8 ranks."""
    plans = [f"--mesh={axis}={ranks} --strategy={name}" for axis, name in
             (("dp", "data"), ("dp", "zero1"), ("fsdp", "fsdp"), ("tp", "tensor"), ("sp", "sequence"), ("sp", "spatial"),
              ("ep", "expert"), ("dp", "data,expert:dp"), ("fsdp", "fsdp,expert:fsdp"))]
    for first in (n for n in range(2, ranks) if ranks % n == 0):
        for axes, names in (("dp tp", "data,tensor"), ("dp tp", "zero1,tensor"), ("fsdp tp", "fsdp,tensor"), ("dp fsdp", "data,fsdp"),
                            ("dp sp", "data,sequence"), ("dp sp", "zero1,sequence"), ("dp sp", "data,spatial"),
                            ("dp ep", "data,expert")):
            a, b = axes.split()
            plans.append(f"--mesh={a}={first},{b}={ranks // first} --strategy={names}")
    if ranks == 8:
        plans.append("--mesh=dp=2,fsdp=2,tp=2 --strategy=data,fsdp,tensor")
    return plans


# What a person would write for a step beside strategies.
HINTS = {"dlrm": ["--mesh=dp={n} --strategy=data --shard='table_*: [dp, -]'", "--mesh=dp={n} --strategy=data --shard='table_*: [-, dp]'"]}
UNITS = {"ns": 1e-3, "us": 1, "\u00b5s": 1, "ms": 1e3, "s": 1e6}


def export(folder, name, loss, params, arguments):
    """The step of a loss(params, *arguments), with SGD with momentum: how coll-run takes it."""
    import jax
    import numpy as np

    def step(state, *arguments):
        value, gradients = jax.value_and_grad(loss)(state["params"], *arguments)
        momentum = jax.tree.map(lambda m, g: 0.9 * m + g, state["momentum"], gradients)
        return {"params": jax.tree.map(lambda p, m: p - 0.01 * m, state["params"], momentum), "momentum": momentum}, value

    state = {"params": params, "momentum": jax.tree.map(np.zeros_like, params)}
    text = jax.jit(step, keep_unused=True).lower(state, *arguments).compiler_ir("stablehlo").operation.get_asm(
        print_generic_op_form=True, enable_debug_info=True)
    (folder / f"{name}.mlir").write_text(text)
    leaves = jax.tree.leaves(state)
    np.savez(folder / f"{name}.npz", **{f"state_in_{i}": array for i, array in enumerate(leaves)},
             **{f"batch_0_{i}": array for i, array in enumerate(arguments)})
    return [str(folder / f"{name}.mlir"), f"--state-args={len(leaves)}"], [f"--data={folder / f'{name}.npz'}"]


def export_dlrm(folder):
    """Embedding tables, products of pairs, and a network on top."""
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

    return export(folder, "dlrm", loss, params, (
        random.standard_normal((batch, 16), np.float32), random.integers(0, rows, (batch, tables), np.int32),
        random.integers(0, 2, batch).astype(np.float32)))


def export_moe(folder):
    """Eight experts, of which each token has two, up to their capacity."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    tokens, width, hidden, experts, capacity = 256, 64, 256, 8, 80
    random = np.random.default_rng(0)
    sizes = {"route": (width, experts), "in": (experts, width, hidden), "out": (experts, hidden, width), "head": (width, 32)}
    params = {name: 0.1 * random.standard_normal(shape, np.float32) for name, shape in sizes.items()}

    def loss(p, x, y):
        weight, chosen = jax.lax.top_k(jax.nn.softmax(x @ p["route"]), 2)
        taken = jax.nn.one_hot(chosen, experts)  # [token, choice, expert]
        place = jnp.cumsum(taken.reshape(-1, experts), 0).reshape(taken.shape) * taken - 1
        slot = jax.nn.one_hot(place.max(-1).astype(jnp.int32), capacity) * (place.max(-1) < capacity)[..., None]
        route = jnp.einsum("tke,tkc->tec", taken, slot)
        mixed = jnp.einsum("tk,tke,tkc->tec", weight, taken, slot)
        h = jax.nn.relu(jnp.einsum("ecd,edf->ecf", jnp.einsum("tec,td->ecd", route, x), p["in"]))
        logits = (x + jnp.einsum("tec,ecd->td", mixed, jnp.einsum("ecf,efd->ecd", h, p["out"]))) @ p["head"]
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], 1))

    return export(folder, "moe", loss, params, (random.standard_normal((tokens, width), np.float32),
                                                random.integers(0, 32, tokens).astype(np.int32)))


EXPORTS = {"dlrm": export_dlrm, "moe": export_moe}


def count_processors(cores):
    """Of a list as taskset takes it, 0-3,6; of this process where there is none."""
    if not cores:
        return len(os.sched_getaffinity(0))
    ends = [part.split("-") for part in cores.split(",")]
    return sum(int(end[-1]) - int(end[0]) + 1 for end in ends)


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        pinned = ["taskset", "-c", options.cores] if options.cores else []
        self.run_tool = pinned + ([options.tools, "run"] if options.tools.is_file() else [options.tools / "coll-run"])
        info = pinned + ([options.tools, "info"] if options.tools.is_file() else [options.tools / "coll-info"])
        self.topology = folder / "topology.json"
        pins = options.ranks < count_processors(options.cores)
        self.environment = os.environ | {"COLL_CACHE_DIR": str(folder / "cache"), "COLL_AFFINITY": "compact" if pins else "none"}
        self.topology.write_text(options.topology.read_text() if options.topology else subprocess.run(
            [*info, f"--topology={options.ranks}"], capture_output=True, text=True, check=True, env=self.environment).stdout)

    def call(self, *words):
        more = [f"--ranks={self.options.ranks}", f"--topology={self.topology}"]
        done = subprocess.run([*self.run_tool, *words, *more], capture_output=True, text=True, env=self.environment)
        return done.stdout + done.stderr if done.returncode == 0 else None

    def predict(self, step, plan):
        """The forecast; None where the step cannot be split so."""
        path = self.folder / "plan.json"
        return self.call(*step, *plan, "--plan-only", f"--explain={path}") and json.loads(path.read_text())

    def measure(self, step, data, plan, steps):
        """Microseconds of a step, without the first ones."""
        path = self.folder / "report.html"
        if self.call(*step, *data, *plan, f"--steps={steps}", f"--report={path}") is None:
            return None
        report = json.loads(re.search(r'id="coll-data">(.*?)</script>', path.read_text(), re.S)[1])
        times = sorted(point[2] / 1e3 for point in report["step_ns"]["points"][3:])
        return times[0 if self.options.busy else len(times) // 2]

    def choose_measured(self, step):
        """The plan that --time-plans takes."""
        said = self.call(*step, "--strategy=auto", "--time-plans=8", "--steps=1")
        found = re.findall(r"measured: ([\d.]+) (\S+) a step with (.*)", said or "")
        return min(found, key=lambda row: float(row[0]) * UNITS[row[1]])[2] if found else None

    def load(self, name):
        where = self.options.data / name
        if name in EXPORTS and not where.exists():
            return EXPORTS[name](self.folder)
        step = [str(where / "step.mlir"), f"--state-args={json.loads((where / 'meta.json').read_text())['state_args']}"]
        return step, [f"--data={where / 'reference.npz'}"] if (where / "reference.npz").exists() else []

    def compare(self, name):
        step, data = self.load(name)
        found = self.predict(step, ["--strategy=auto"])
        if not found:
            raise SystemExit(f"{name}: --strategy=auto found no plan")
        best = found["search"]["plans"][0]
        chosen = {"by prediction": " ".join([f"--mesh={best['mesh']}", f"--strategy={best['strategy']}" if best["strategy"] else "",
                                             *(f"--shard='{shard}'" for shard in best["shards"])]).replace("  ", " "),
                  "by --time-plans=8": self.choose_measured(step)}
        hand = [text.format(n=self.options.ranks) for text in list_by_hand(self.options.ranks) + HINTS.get(name, [])]
        predicted, steps, times = {}, {}, {}
        for plan in dict.fromkeys([*filter(None, chosen.values()), *hand]):
            forecast = self.predict(step, shlex.split(plan))
            took = forecast and self.measure(step, data, shlex.split(plan), 20)
            if took:
                predicted[plan] = round(forecast["predicted"]["compute_us"] + forecast["predicted"]["communication_us"], 1)
                steps[plan] = max(10, min(1000, int(1e6 * self.options.seconds / took)))
                times[plan] = []
        for _ in range(self.options.repeat):
            for plan in times:
                took = self.measure(step, data, shlex.split(plan), steps[plan])
                times[plan] += [took] if took else []
        middle = min if self.options.busy else statistics.median
        measured = {plan: middle(took[1::2]) for plan, took in times.items() if len(took) > 1}
        hand = [plan for plan in hand if plan in measured]
        peer = min(hand, key=lambda plan: middle(times[plan][::2]))
        for how, plan in chosen.items():
            if plan in measured:
                put_row({**begin_row(f"bench_strategies.py --ranks={self.options.ranks} {name}"), "run": how + (", busy" if self.options.busy else ""), "case": name, "size": f"{self.options.ranks} ranks", "metric": "us a step", "ours": round(measured[plan], 1),
                         "peer": round(measured[peer], 1), "peer_name": peer, "ratio": round(measured[peer] / measured[plan], 3),
                         "chosen": plan, "ours_predicted": predicted[plan], "peer_predicted": min(predicted[plan] for plan in hand),
                         "by_hand": len(hand)}, self.options.out)
        if self.options.all:
            put_row({"case": name, "all": {plan: [predicted[plan], round(took, 1)] for plan, took in measured.items()}}, self.options.out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", type=pathlib.Path, default=pathlib.Path("build/bin"))
    parser.add_argument("--data", type=pathlib.Path, default=HERE.parent / "data" / "jax")
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--cores", help="processors that ranks run on, as taskset takes them")
    parser.add_argument("--topology", type=pathlib.Path, help="what coll-info measured when the machine was quiet")
    parser.add_argument("--seconds", type=float, default=0.2, help="of steps in one measurement")
    parser.add_argument("--repeat", type=int, default=10, help="turns of a plan, two or more")
    parser.add_argument("--busy", action="store_true", help="the machine has other work")
    parser.add_argument("--all", action="store_true", help="also says what each plan took: predicted, measured")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if options.repeat < 2:
        parser.error("--repeat: one turn chooses, another compares")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, pathlib.Path(folder))
        for name in options.names or NAMES:
            bench.compare(name)


if __name__ == "__main__":
    main()
