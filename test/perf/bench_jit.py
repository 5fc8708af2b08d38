#!/usr/bin/env python3
"""Steps of examples/jax_steps by coll.jit on N ranks, beside jax.jit on N devices; appends rows to jit.jsonl.

    bench_jit.py [--ranks=1,4] [--out=FILE] [--seconds=N] [NAME…]

Ours and JAX's steps run alternately in one process, the same step on the same data, with its state kept by
each side; a row holds the medians of the rounds. Each number of ranks has a process of its own, as XLA has to
know its devices before it starts. Also measured: what an empty step costs through Python, and `import coll`.
"""

import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "embed/python"), str(HERE.parents[1] / "examples"),
                str(HERE.parents[1] / "examples/jax_steps")]
ROUNDS = 5


class Rows:
    def __init__(self, path):
        from bench_steps import machine

        self.path, self.machine = path, machine()

    def add(self, case, size, metric, ours, peer=None, peer_name=None, **extra):
        """Smaller is better."""
        row = {"machine": self.machine, "date": datetime.date.today().isoformat(),
               "command": "bench_jit.py", "case": case, "size": size, "metric": metric,
               "ours": round(ours, 4), "peer": peer and round(peer, 4), "peer_name": peer_name,
               "ratio": peer and round(peer / ours, 3), **extra}
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        beside = f"   {peer_name}: {peer:.4g}   peer / ours: {peer / ours:.2f}" if peer else ""
        print(f"{case:<32} {size:<8} {metric:<14} {ours:.4g}{beside}", flush=True)


class Ours:
    """A step of coll.jit with its state."""

    def __init__(self, step, state, batch, ranks):
        import coll

        self.run = coll.jit(step, mesh={"dp": ranks})
        self.state, self.batch = state, batch
        self.run.lower(state, batch)

    def __call__(self):
        self.state, _ = self.run(self.state, self.batch)


class Jax:
    """The same by jax.jit: the batch split over the devices, the state on each and donated."""

    def __init__(self, step, state, batch, ranks):
        import jax
        import numpy as np
        from jax.sharding import Mesh, NamedSharding, PartitionSpec

        mesh = Mesh(np.array(jax.devices()[:ranks]), ("dp",))
        whole = NamedSharding(mesh, PartitionSpec())

        def place(leaf):
            divides = np.ndim(leaf) > 0 and np.shape(leaf)[0] % ranks == 0
            return jax.device_put(leaf, NamedSharding(mesh, PartitionSpec("dp")) if divides else whole)

        # A copy: what is donated is gone, and ours has the same arrays.
        self.state = jax.tree.map(lambda leaf: jax.device_put(jax.numpy.array(leaf), whole), state)
        self.batch = jax.tree.map(place, batch)
        self.run = jax.jit(step, donate_argnums=0)
        self()  # compiles

    def __call__(self):
        import jax

        self.state, outputs = self.run(self.state, self.batch)
        jax.block_until_ready((self.state, outputs))


def repeat(side, seconds):
    """Milliseconds of a step, over as many as fit."""
    count, begin = 0, time.perf_counter()
    while (passed := time.perf_counter() - begin) < seconds or count < 3:
        side()
        count += 1
    return 1e3 * passed / count


def exported(folder):
    """A step that is there as StableHLO alone, as a function of JAX; as steps_of_jax.registered() has others."""
    from jax_peer import Step, arguments

    meta = json.loads((folder / "meta.json").read_text())
    program = Step((folder / "step.mlir").read_text())
    state, batch = arguments(folder, meta, program)

    def step(state, batch):
        results = program(state, batch)
        return results[:len(state)], results[len(state):]

    return step, state, [batch]


def all_steps():
    """By name: those of examples/jax_steps, and the older ones that have no Python program."""
    from steps_of_jax import registered

    known = registered()
    for folder in sorted((HERE.parent / "data/jax").iterdir()):
        if (folder / "reference.npz").exists():
            known.setdefault(folder.name, lambda folder=folder: exported(folder))
    return known


def make_arguments(make):
    """Step, state and one batch of arrays; the random numbers are the same in each run."""
    import common
    import jax
    import numpy as np

    common.rng.bit_generator.state = np.random.default_rng(7).bit_generator.state
    step, state, batches = make()
    return step, state, jax.tree.map(np.asarray, batches[0])


def prepare(step, state, batch, ranks):
    """Both sides, compiled."""
    return Ours(step, state, batch, ranks), Jax(step, state, batch, ranks)


def prepare_all(names, ranks):
    """(name, prepared) of each step, compiled several at a time; x64 holds for all steps of a group."""
    import jax

    known = all_steps()
    wanted = names or list(known)
    with concurrent.futures.ThreadPoolExecutor(max(1, os.cpu_count() // 2)) as pool:
        for is_double in (False, True):
            jax.config.update("jax_enable_x64", is_double)
            group = [name for name in wanted if name.endswith("_f64") == is_double]
            running = [(name, pool.submit(prepare, *make_arguments(known[name]), ranks)) for name in group]
            concurrent.futures.wait([future for _, future in running])
            yield from running


def measure(names, ranks, out, seconds):
    import jax

    rows, peer = Rows(out), f"jax {jax.__version__}"
    jax.config.update("jax_default_matmul_precision", "highest")
    end = time.perf_counter() + seconds
    for name, future in prepare_all(names, ranks):
        if time.perf_counter() > end:
            print(f"{name}: left out, the time is over", flush=True)
            continue
        try:
            ours, theirs = future.result()
            for side in (ours, theirs):
                repeat(side, 0.05)
            times = [(repeat(ours, 0.06), repeat(theirs, 0.06)) for _ in range(ROUNDS)]
        except Exception as error:  # of one step: the others go on
            print(f"{name}: {type(error).__name__}: {str(error)[:300]}", flush=True)
            continue
        mine, peers = (statistics.median(column) for column in zip(*times))
        rows.add(name, f"{ranks} ranks", "ms per step", mine, peers, peer)


def measure_fixed_costs(out):
    """What there is before any work: a call, and the import."""
    import coll

    text = ('func.func @step(%w: tensor<4xf32> {coll.role = "state"}) -> tensor<4xf32> {\n'
            "  return %w : tensor<4xf32>\n}\n")
    import numpy as np

    training = coll.compile(text).start([np.zeros(4, np.float32)])
    rounds = [repeat(training.step, 0.1) for _ in range(ROUNDS)]
    rows = Rows(out)
    rows.add("empty step through Python", "1 ranks", "us", 1e3 * statistics.median(rounds), target=10)
    rows.add("import coll", "", "s", seconds_of("import coll"), target=0.2)
    rows.add("import coll and use it: its library, and NumPy", "", "s", seconds_of("import coll; coll.compile"))


def seconds_of(statement):
    """What a statement adds to the start of Python: the median of several processes."""
    def run(text):
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-c", text], check=True)
        return time.perf_counter() - begin

    return statistics.median(run(statement) - run("pass") for _ in range(7))


def start(options, ranks):
    environment = dict(os.environ, JAX_PLATFORMS="cpu",
                       XLA_FLAGS=f"--xla_force_host_platform_device_count={ranks}")
    subprocess.run([sys.executable, __file__, *options.names, f"--out={options.out}", f"--within={ranks}",
                    f"--seconds={options.seconds}"], env=environment, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--ranks", default="1,4")
    parser.add_argument("--out", default=HERE / "jit.jsonl", help="file to append to")
    parser.add_argument("--seconds", type=float, default=600, help="longest time for each number of ranks")
    parser.add_argument("--within", type=int, help=argparse.SUPPRESS)  # the process of one number
    options = parser.parse_args()
    if options.within:
        return measure(options.names, options.within, options.out, options.seconds)
    measure_fixed_costs(options.out)
    for ranks in map(int, options.ranks.split(",")):
        start(options, ranks)


if __name__ == "__main__":
    main()
