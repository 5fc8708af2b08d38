"""Exports a JAX training step as coll reads it: StableHLO text in generic form.

    python examples/export_jax.py OUT        # writes OUT/step.mlir, meta.json, reference.npz

A step is a function `step(state, batch) -> (new_state, outputs)` of pytrees; `outputs` is the loss,
or for instance a dict of metrics with the key "loss". The leaves of `state` become the leading
arguments; the leading results update them. The argument names come from the Python names, `state`
printed as `s` and `batch` as `b`. A leaf may be an array, a Python number (flax's `TrainState.step`)
or a key of `jax.random.key`, which is passed as its words. Donated arguments are fine.
"""

import argparse
import functools
import json
import pathlib

# jax and numpy are imported where they are used: help needs neither.


def is_key(leaf):
    import jax

    return isinstance(leaf, jax.Array) and jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key)


class Arrays:
    """The leaves of a state as arrays, under the names that they have in it.

    A key becomes its words, a Python number a scalar. JAX rebuilds its arguments around objects that
    are not arrays, which some classes of states do not accept; this one does.
    """

    def __init__(self, leaves, paths):
        self.leaves, self.paths = leaves, paths

    @classmethod
    def of(cls, tree):
        import jax
        import jax.numpy as jnp

        leaves = [jax.random.key_data(a) if is_key(a) else jnp.asarray(a) for a in jax.tree.leaves(tree)]
        return cls(leaves, tuple(names(tree)))


@functools.cache
def register_arrays():
    import jax

    jax.tree_util.register_pytree_with_keys(
        Arrays,
        lambda a: (tuple(zip(a.paths, a.leaves)), a.paths),
        lambda paths, leaves: Arrays(list(leaves), paths),
    )


def on_arrays(step, state):
    """`step` as a function on the Arrays of a state like `state`."""
    import jax

    register_arrays()
    leaves, structure = jax.tree.flatten(state)
    kinds = [jax.random.key_impl(leaf) if is_key(leaf) else None for leaf in leaves]

    def call(s, b):  # the arguments' names are what coll shows
        old = [
            leaf if kind is None else jax.random.wrap_key_data(leaf, impl=kind)
            for leaf, kind in zip(s.leaves, kinds)
        ]
        new_state, outputs = step(structure.unflatten(old), b)
        return Arrays.of(new_state), outputs

    return call


def names(tree):
    import jax

    return [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_leaves_with_path(tree)]


def check_state(call, state, batch):
    """Refuses a step whose new state cannot take the place of the old one."""
    import jax

    new_state, _ = jax.eval_shape(call, state, batch)
    if state.paths != new_state.paths:
        raise TypeError(f"the new state has the leaves {', '.join(new_state.paths)}, the old one "
                        f"{', '.join(state.paths)}")
    for name, old, new in zip(state.paths, state.leaves, new_state.leaves):
        if (old.shape, old.dtype) != (new.shape, new.dtype):
            raise TypeError(f"the step makes {new.dtype}{list(new.shape)} of state{name}, which is "
                            f"{old.dtype}{list(old.shape)}; give the initial state that type, or "
                            "convert it at the end of the step")


def find_loss(outputs):
    """The position, among the leaves of `outputs`, of the one named "loss", or of the only scalar."""
    import jax

    shapes = [leaf.shape for leaf in jax.tree.leaves(outputs)]
    named = [i for i, name in enumerate(names(outputs)) if name.strip("[].'\"") == "loss"]
    scalars = named or [i for i, shape in enumerate(shapes) if shape == ()]
    if len(scalars) != 1:
        raise TypeError(f"which of {', '.join(names(outputs))} is the loss? Return it alone, or as "
                        'the value of "loss" in a dict')
    return scalars[0]


def lower(call, state, batch):
    """The text of a step on arrays, for these shapes, with Python source locations."""
    import jax

    # File names without folders: shorter, and the same on every machine.
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")
    module = jax.jit(call, keep_unused=True).lower(state, batch).compiler_ir("stablehlo")
    return module.operation.get_asm(print_generic_op_form=True, enable_debug_info=True)


def export_text(directory, note, step, state, batch):
    """Writes the step for these shapes, and its argument names. Returns what export() goes on with."""
    import jax

    call, state = on_arrays(step, state), Arrays.of(state)
    check_state(call, state, batch)
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "step.mlir").write_text(lower(call, state, batch))
    meta = {
        "note": note,
        "state_args": len(jax.tree.leaves(state)),
        "batch_args": len(jax.tree.leaves(batch)),
        "state_names": names(state),
        "batch_names": names(batch),
        "results": "new state in the same order, then the outputs",
        "jax": jax.__version__,
    }
    write_meta(directory, meta)
    return call, state, meta


def write_meta(directory, meta):
    (pathlib.Path(directory) / "meta.json").write_text(json.dumps(meta, indent=1))


def export(directory, note, step, state, batches, rtol=None):
    """Writes the step, its argument names, and a reference run over `batches`.

    `rtol` is the tolerance of results against the reference, if it is not that of float32's rounding.
    """
    import jax
    import numpy as np

    call, state, meta = export_text(directory, note, step, state, batches[0])

    arrays = {f"state_in_{i}": leaf for i, leaf in enumerate(jax.tree.leaves(state))}
    losses, run, current = [], jax.jit(call), state
    for k, batch in enumerate(batches):
        arrays |= {f"batch_{k}_{j}": leaf for j, leaf in enumerate(jax.tree.leaves(batch))}
        current, outputs = run(current, batch)
        losses.append(float(jax.tree.leaves(outputs)[find_loss(outputs)]))
    arrays |= {f"state_out_{i}": leaf for i, leaf in enumerate(jax.tree.leaves(current))}
    arrays |= {f"result_{i}": leaf for i, leaf in enumerate(jax.tree.leaves(outputs))}
    arrays = {name: np.asarray(value) for name, value in arrays.items()}
    np.savez_compressed(pathlib.Path(directory) / "reference.npz", losses=np.array(losses), **arrays)
    write_meta(directory, meta | {"losses": losses} | ({"rtol": rtol} if rtol else {}))
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
