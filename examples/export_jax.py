"""Exports a JAX training step as coll reads it: StableHLO text in generic form.

    python examples/export_jax.py OUT        # writes OUT/step.mlir, meta.json, reference.npz

A step is a function `step(state, batch) -> (new_state, loss)` of two pytrees. The
leaves of `state` become the leading arguments; the leading results update them.
The argument names come from the Python names, `state` printed as `s` and `batch` as `b`.
"""

import argparse
import json
import pathlib

# jax and numpy are imported where they are used: help needs neither.


def lower(step, state, batch):
    """The text of `step` for these shapes, with Python source locations."""
    import jax

    def call(s, b):  # the arguments' names are what coll shows
        return step(s, b)

    # File names without folders: shorter, and the same on every machine.
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")
    module = jax.jit(call, keep_unused=True).lower(state, batch).compiler_ir("stablehlo")
    return module.operation.get_asm(print_generic_op_form=True, enable_debug_info=True)


def names(tree):
    import jax

    return [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_leaves_with_path(tree)]


def export(directory, note, step, state, batches, rtol=None):
    """Writes the step, its argument names, and a reference run over `batches`.

    `rtol` is how far results may be from the reference, where that is not float32's rounding.
    """
    import jax
    import numpy as np

    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "step.mlir").write_text(lower(step, state, batches[0]))

    arrays = {f"state_in_{i}": leaf for i, leaf in enumerate(jax.tree.leaves(state))}
    losses, run, current = [], jax.jit(step), state
    for k, batch in enumerate(batches):
        arrays |= {f"batch_{k}_{j}": leaf for j, leaf in enumerate(jax.tree.leaves(batch))}
        current, loss = run(current, batch)
        losses.append(float(loss))
    arrays |= {f"state_out_{i}": leaf for i, leaf in enumerate(jax.tree.leaves(current))}
    arrays = {name: np.asarray(value) for name, value in arrays.items()}
    np.savez_compressed(directory / "reference.npz", losses=np.array(losses), **arrays)

    meta = {
        "note": note,
        "state_args": len(jax.tree.leaves(state)),
        "batch_args": len(jax.tree.leaves(batches[0])),
        "state_names": names(state),
        "batch_names": names(batches[0]),
        "results": "new state in the same order, then the scalar loss",
        "losses": losses,
        "jax": jax.__version__,
    }
    if rtol:
        meta["rtol"] = rtol
    (directory / "meta.json").write_text(json.dumps(meta, indent=1))
    return losses


def example(directory):
    """Linear regression by gradient descent."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    jax.config.update("jax_default_matmul_precision", "highest")
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(8, 1)).astype(np.float32)
    batches = []
    for _ in range(4):
        x = rng.normal(size=(16, 8)).astype(np.float32)
        batches.append({"x": x, "y": x @ truth})

    def step(state, batch):
        def loss_of(w):
            return jnp.mean((batch["x"] @ w - batch["y"]) ** 2)

        loss, gradient = jax.value_and_grad(loss_of)(state["w"])
        return {"w": state["w"] - 0.1 * gradient}, loss

    state = {"w": np.zeros((8, 1), np.float32)}
    return export(directory, "linear regression, gradient descent", step, state, batches)


def main():
    parser = argparse.ArgumentParser(description=example.__doc__ + " Needs jax.")
    parser.add_argument("out", metavar="OUT", help="folder for step.mlir, meta.json, reference.npz")
    print("losses:", example(parser.parse_args().out))


if __name__ == "__main__":
    main()
