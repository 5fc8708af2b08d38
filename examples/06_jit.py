"""Trains a small network on 4 ranks through coll.jit, and compares with one device.

    python examples/06_jit.py        # needs the package coll (pip install .) and jax
"""

import jax
import jax.numpy as jnp
import numpy as np

import coll


def step(params, x, y):
    def loss_of(p):
        hidden = jax.nn.relu(x @ p["w1"] + p["b1"])
        return jnp.mean((hidden @ p["w2"] - y) ** 2)

    loss, gradients = jax.value_and_grad(loss_of)(params)
    return jax.tree.map(lambda p, g: p - 0.05 * g, params, gradients), loss


def make_data(rows=96, features=8):
    x = np.random.default_rng(0).standard_normal((rows, features), np.float32)
    return x, np.sin(x.sum(1, keepdims=True))


def make_params(features=8, hidden=32):
    first, second = jax.random.split(jax.random.key(0))
    return {"w1": jax.random.normal(first, (features, hidden)) * 0.3, "b1": jnp.zeros(hidden),
            "w2": jax.random.normal(second, (hidden, 1)) * 0.3}


def train(run, steps=50):
    params, losses = make_params(), []
    x, y = make_data()
    for _ in range(steps):
        params, loss = run(params, x, y)
        losses.append(float(loss))
    return params, losses


def main():
    on_ranks = coll.jit(step, mesh={"dp": 4})
    print(on_ranks.lower(make_params(), *make_data()).collectives)
    params, losses = train(on_ranks)
    _, expected = train(jax.jit(step))
    print(f"loss {losses[0]:.4f} -> {losses[-1]:.4f}; on one device -> {expected[-1]:.4f}")
    np.testing.assert_allclose(losses, expected, rtol=1e-4)
    print("shape of w1:", params.value["w1"].shape)


if __name__ == "__main__":
    main()
