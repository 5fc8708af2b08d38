"""A small training step, and what NumPy computes for it where gradients are applied some steps late.

    generate.py        # needs JAX and NumPy; writes step.mlir and late_K.npz, K steps late, here

The model is linear with a hidden layer; the optimizer is momentum on gradients that are clipped by
their global norm, with a rate that falls with the count of steps.
"""

import pathlib

import numpy as np

STEPS, ROWS, INPUTS, HIDDEN = 7, 12, 5, 4
DECAY, RATE, MAX_NORM = np.float32(0.9), np.float32(0.2), np.float32(0.5)


def jax_step(state, batch):
    import jax
    import jax.numpy as jnp

    def loss_of(params):
        return ((jnp.tanh(batch["x"] @ params["w"]) @ params["v"] - batch["y"]) ** 2).mean()

    params, momentum, count = state
    loss, gradient = jax.value_and_grad(loss_of)(params)
    norm = jnp.sqrt(sum((g * g).sum() for g in gradient.values()))
    scale = MAX_NORM / jnp.maximum(norm, MAX_NORM)
    rate = RATE / (1 + count.astype(jnp.float32))
    momentum = {key: DECAY * momentum[key] + scale * gradient[key] for key in params}
    params = {key: params[key] - rate * momentum[key] for key in params}
    return (params, momentum, count + 1), loss


def gradients(params, batch):
    hidden = np.tanh(batch["x"] @ params["w"])
    error = hidden @ params["v"] - batch["y"]
    slope = (2 / np.float32(error.size)) * error
    inner = np.outer(slope, params["v"]) * (1 - hidden * hidden)
    return {"v": hidden.T @ slope, "w": batch["x"].T @ inner}, (error * error).mean()


def train(state, batches, late):
    """Step t applies the gradients of step t - late; before there are any, nothing changes."""
    params, momentum, count = state
    waiting, losses = [], []
    for batch in batches:
        gradient, loss = gradients(params, batch)
        losses.append(loss)
        waiting.append(gradient)
        if len(waiting) <= late:
            continue
        old = waiting.pop(0)
        norm = np.sqrt(sum((g * g).sum() for g in old.values()))
        scale = MAX_NORM / np.maximum(norm, MAX_NORM)
        rate = RATE / (1 + np.float32(count))
        momentum = {key: DECAY * momentum[key] + scale * old[key] for key in params}
        params = {key: params[key] - rate * momentum[key] for key in params}
        count = count + np.int32(1)
    return (params, momentum, count), losses


def flatten(state):
    """In the order of JAX: keys of dictionaries are sorted."""
    params, momentum, count = state
    return [params["v"], params["w"], momentum["v"], momentum["w"], np.int32(count)]


def main():
    import jax

    folder = pathlib.Path(__file__).parent
    random = np.random.default_rng(7)
    normal = lambda *shape: random.normal(size=shape).astype(np.float32)
    params = {"v": normal(HIDDEN), "w": normal(INPUTS, HIDDEN)}
    state = (params, {key: np.zeros_like(value) for key, value in params.items()}, np.int32(0))
    batches = [{"x": normal(ROWS, INPUTS), "y": normal(ROWS)} for _ in range(STEPS)]
    lowered = jax.jit(jax_step, keep_unused=True).lower(state, batches[0])
    text = lowered.compiler_ir("stablehlo").operation.get_asm(print_generic_op_form=True)
    (folder / "step.mlir").write_text(text + "\n")
    data = {f"state_in_{i}": value for i, value in enumerate(flatten(state))}
    for step, batch in enumerate(batches):
        data |= {f"batch_{step}_0": batch["x"], f"batch_{step}_1": batch["y"]}
    for late in (0, 1, 2):
        after, losses = train(state, batches, late)
        out = {f"state_out_{i}": value for i, value in enumerate(flatten(after))}
        np.savez_compressed(folder / f"late_{late}.npz", **data, **out, losses=np.array(losses, np.float64))


if __name__ == "__main__":
    main()
