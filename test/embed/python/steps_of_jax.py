"""The steps of examples/jax_steps as Python programs: through coll.jit on N ranks, beside jax.jit.

    steps_of_jax.py [--ranks=1,3,4,8] [--strategy=NAME] [--jobs=N] [--table=FILE] [NAME…]

Prints a line for each step and number of ranks: the largest difference of a loss, and of a state
relative to its tensor's largest value. Losses have to agree to 1e-4, and to 2e-2 where a step computes
in 16 bits or fewer. A step that coll refuses is a failure, with what it says. --table writes the lines as
a table, with versions, seed and commit.
"""

import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import subprocess
import sys

import jax
import numpy as np

import coll

EXAMPLES = pathlib.Path(__file__).resolve().parents[3] / "examples"
sys.path[:0] = [str(EXAMPLES), str(EXAMPLES / "jax_steps")]


def registered():
    """(name, function that makes step, state and batches) of each step."""
    import importlib.util

    spec = importlib.util.spec_from_file_location("jax_steps", EXAMPLES / "jax_steps/__main__.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return dict(module.steps())


def losses_of(outputs):
    """The scalars that are floats among a step's outputs."""
    leaves = map(np.asarray, jax.tree.leaves(outputs))
    return [float(leaf) for leaf in leaves if leaf.shape == () and leaf.dtype.kind not in "iub"]


def train(run, state, batches):
    losses = []
    for batch in batches:
        state, outputs = run(state, batch)
        losses += losses_of(outputs)
    return losses, state


def comparable(leaf):
    if jax.dtypes.issubdtype(getattr(leaf, "dtype", np.dtype(float)), jax.dtypes.prng_key):
        leaf = jax.random.key_data(leaf)
    return np.asarray(leaf).astype(np.float64)


def difference(ours, theirs):
    """The largest difference of two trees' tensors, relative to the tensor's largest value."""
    largest = 0.0
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        a, b = comparable(a), comparable(b)
        if b.size:
            largest = max(largest, np.abs(a - b).max() / max(np.abs(b).max(), 1e-9))
    return largest


def run_step(name, make, ranks, strategy, seed):
    """A dict for each number of ranks."""
    import common

    common.rng.bit_generator.state = np.random.default_rng(seed).bit_generator.state
    jax.config.update("jax_enable_x64", name.endswith("_f64"))
    step, state, batches = make()
    expected_losses, expected = train(jax.jit(step), state, batches)
    tolerance = 2e-2 if any(word in name for word in ("f16", "fp8")) else 1e-4
    for n in ranks:
        losses, result = train(coll.jit(step, mesh={"dp": n}, strategy=strategy), state, batches)
        loss = max(abs(a - b) / max(abs(b), 1e-6)
                   for a, b in zip(losses, expected_losses, strict=True))
        yield {"name": name, "ranks": n, "loss": loss, "state": difference(result.value, expected),
               "passed": loss <= tolerance}


def run_here(name, make, options):
    jax.config.update("jax_default_matmul_precision", "highest")
    ranks = [int(word) for word in options.ranks.split(",")]
    try:
        yield from run_step(name, make, ranks, options.strategy, options.seed)
    except (coll.Error, TypeError, ValueError) as error:
        yield {"name": name, "passed": False, "why": f"{type(error).__name__}: {error}"}


def run_in_process(name, options):
    """The same in a process of its own, which may crash without harm to the others."""
    command = [sys.executable, __file__, name, f"--ranks={options.ranks}", f"--seed={options.seed}", "--json"]
    command += [f"--strategy={options.strategy}"] if options.strategy else []
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode and all(row["passed"] for row in rows):
        rows.append({"name": name, "passed": False, "why": f"exit code {done.returncode}: {done.stderr[-500:]}"})
    return rows


def run_all(names, known, options):
    """The rows of each step, as they come."""
    if options.jobs == 1:
        yield from (list(run_here(name, known[name], options)) for name in names)
        return
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        yield from pool.map(lambda name: run_in_process(name, options), names)


def shown(row):
    if "why" in row:
        return f"{row['name']:34} FAILED: {row['why']}"
    return (f"{row['name']:34} {row['ranks']} ranks: loss {row['loss']:.1e} state {row['state']:.1e}"
            f"{'' if row['passed'] else '  FAILED'}")


def write_table(path, rows, options):
    ranks = options.ranks.split(",")
    commit = subprocess.run(["git", "-C", EXAMPLES, "rev-parse", "--short", "HEAD"], capture_output=True,
                            text=True, check=False).stdout.strip() or os.environ.get("COLL_COMMIT", "unknown")
    lines = [f"JAX {jax.__version__}, Python {sys.version.split()[0]}, seed {options.seed}, commit {commit}, "
             f"{datetime.date.today()}. Each cell: the largest relative difference of a loss / of a state.", "",
             "| step | " + " | ".join(f"{n} ranks" for n in ranks) + " |", "|---" * (len(ranks) + 1) + "|"]
    cells = {}
    for row in rows:
        cells.setdefault(row["name"], {})[str(row.get("ranks"))] = row
    for name, found in cells.items():
        texts = [f"{found[n]['loss']:.0e} / {found[n]['state']:.0e}" + ("" if found[n]["passed"] else " **failed**")
                 if n in found else "**refused**" for n in ranks]
        lines.append(f"| {name} | " + " | ".join(texts) + " |")
    pathlib.Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--ranks", default="1,3,4,8")
    parser.add_argument("--strategy", help="as of coll.jit")
    parser.add_argument("--seed", type=int, default=7, help="of the data (default 7)")
    parser.add_argument("--jobs", type=int, default=1, help="steps at a time, each in a process of its own")
    parser.add_argument("--table", help="file for the table")
    parser.add_argument("--json", action="store_true", help="print a JSON object for each line")
    options = parser.parse_args()
    known = registered()
    names = options.names or list(known)
    rows = []
    for found in run_all(names, known, options):
        rows += found
        for row in found:
            print(json.dumps(row) if options.json else shown(row), flush=True)
    failed = {row["name"] for row in rows if not row["passed"]}
    if options.table:
        write_table(options.table, rows, options)
    if not options.json:
        print(f"{len(names) - len(failed)} passed, {len(failed)} failed")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
