"""What the steps share: random data, losses, and the usual step."""

import jax
import numpy as np
import optax

STEPS = 4
rng = np.random.default_rng(7)  # the script resets it for each step


def matrix(*shape, scale=0.2):
    return (rng.normal(size=shape) * scale).astype(np.float32)


def images(batch, size, channels, classes=10):
    return [
        {
            "x": rng.normal(size=(batch, size, size, channels)).astype(np.float32),
            "y": rng.integers(0, classes, size=(batch,)).astype(np.int32),
        }
        for _ in range(STEPS)
    ]


def vectors(batch, width, classes=10):
    return [
        {
            "x": rng.normal(size=(batch, width)).astype(np.float32),
            "y": rng.integers(0, classes, size=(batch,)).astype(np.int32),
        }
        for _ in range(STEPS)
    ]


def tokens(batch, length, vocabulary):
    return [
        {"x": rng.integers(0, vocabulary, size=(batch, length + 1)).astype(np.int32)}
        for _ in range(STEPS)
    ]


def cross_entropy(logits, labels):
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


def train_step(loss_of, optimizer):
    """The usual step: state is (parameters, optimizer state)."""

    def step(state, batch):
        params, opt = state
        loss, gradient = jax.value_and_grad(loss_of)(params, batch)
        updates, opt = optimizer.update(gradient, opt, params)
        return (optax.apply_updates(params, updates), opt), loss

    return step


def next_token_loss(model):
    def loss_of(params, batch):
        return cross_entropy(model.apply({"params": params}, batch["x"][:, :-1]), batch["x"][:, 1:])

    return loss_of
