"""A flax and optax training loop on 4 ranks: the usual loop, with coll.jit in the place of jax.jit.

    python examples/07_flax.py [--epochs=3] [--ranks=4]     # needs coll, jax, flax and optax

Trains a convolutional network on the digits of test/data/digits. The step takes and returns flax's
TrainState; the evaluation runs in JAX on the parameters that come back from the ranks.
"""

import argparse
import pathlib

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training.train_state import TrainState

import coll

DIGITS = pathlib.Path(__file__).resolve().parents[1] / "test/data/digits/digits.npz"


class Network(nn.Module):
    @nn.compact
    def __call__(self, images):
        x = images.reshape(-1, 8, 8, 1)
        x = nn.relu(nn.Conv(16, (3, 3))(x))
        x = nn.relu(nn.Conv(32, (3, 3), strides=(2, 2))(x))
        return nn.Dense(10)(x.reshape(len(x), -1))


def train_step(state, batch):
    def loss_of(params):
        logits = state.apply_fn({"params": params}, batch["x"])
        losses = optax.softmax_cross_entropy_with_integer_labels(logits, batch["y"])
        return losses.mean(), (logits.argmax(-1) == batch["y"]).mean()

    (loss, accuracy), gradients = jax.value_and_grad(loss_of, has_aux=True)(state.params)
    return state.apply_gradients(grads=gradients), {"loss": loss, "accuracy": accuracy}


def load_digits():
    with np.load(DIGITS) as digits:
        images = {part: np.float32(digits[f"{part}_x"]) for part in ("train", "test")}
        labels = {part: np.int32(digits[f"{part}_y"]) for part in ("train", "test")}
    scale = images["train"].max()
    return {part: {"x": images[part] / scale, "y": labels[part]} for part in images}


def batches(data, size, rng):
    order = rng.permutation(len(data["y"]))
    for start in range(0, len(order) - size + 1, size):
        rows = order[start : start + size]
        yield {name: values[rows] for name, values in data.items()}


def make_state():
    network = Network()
    params = network.init(jax.random.key(0), jnp.zeros((1, 8, 8)))["params"]
    return TrainState.create(apply_fn=network.apply, params=params, tx=optax.adamw(3e-3))


def train(step, state, data, epochs, batch_size=60):
    rng = np.random.default_rng(0)
    for epoch in range(epochs):
        for batch in batches(data, batch_size, rng):
            state, metrics = step(state, batch)
        print(f"epoch {epoch + 1}: " + ", ".join(f"{k} {float(v):.4f}" for k, v in metrics.items()))
    return state


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--ranks", type=int, default=4)
    options = parser.parse_args()
    data = load_digits()
    step = coll.jit(train_step, mesh={"dp": options.ranks})
    state = train(step, make_state(), data["train"], options.epochs).value
    logits = state.apply_fn({"params": state.params}, data["test"]["x"])
    accuracy = float((logits.argmax(-1) == data["test"]["y"]).mean())
    print(f"{int(state.step)} steps; {accuracy:.1%} of the test images are right")
    if options.epochs >= 3 and accuracy < 0.9:
        raise SystemExit("the network has not learnt the digits")


if __name__ == "__main__":
    main()
