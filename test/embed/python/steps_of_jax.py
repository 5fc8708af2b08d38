"""The steps of examples/jax_steps as Python programs: through coll.jit on N ranks, beside jax.jit.

    steps_of_jax.py [--ranks=1,3,4,8] [--strategy=NAME] [NAME…]

Prints a line for each step and number of ranks: the largest difference of a loss, and of a state
relative to its tensor's largest value. Losses have to agree to 1e-4, and to 2e-2 where a step computes
in 16 bits or fewer. A step that coll refuses is a failure, with what it says.
"""

import argparse
import pathlib
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


def run_step(name, make, ranks, strategy, seed=7):
    import common

    common.rng.bit_generator.state = np.random.default_rng(seed).bit_generator.state
    jax.config.update("jax_enable_x64", name.endswith("_f64"))
    step, state, batches = make()
    expected_losses, expected = train(jax.jit(step), state, batches)
    worst = True
    for n in ranks:
        losses, result = train(coll.jit(step, mesh={"dp": n}, strategy=strategy), state, batches)
        loss = max(abs(a - b) / max(abs(b), 1e-6)
                   for a, b in zip(losses, expected_losses, strict=True))
        tolerance = 2e-2 if any(word in name for word in ("f16", "fp8")) else 1e-4
        good = loss <= tolerance
        worst &= good
        print(f"{name:34} {n} ranks: loss {loss:.1e} state {difference(result.value, expected):.1e}"
              f"{'' if good else '  FAILED'}", flush=True)
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--ranks", default="1,3,4,8")
    parser.add_argument("--strategy", help="as of coll.jit")
    options = parser.parse_args()
    jax.config.update("jax_default_matmul_precision", "highest")
    known = registered()
    ranks = [int(word) for word in options.ranks.split(",")]
    failed = []
    for name in options.names or known:
        try:
            if not run_step(name, known[name], ranks, options.strategy):
                failed.append(name)
        except (coll.Error, TypeError, ValueError) as error:
            print(f"{name:34} FAILED: {type(error).__name__}: {error}", flush=True)
            failed.append(name)
    print(f"{len(options.names or known) - len(failed)} passed, {len(failed)} failed")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
