"""coll.jit beside jax.jit, on 1 to 8 ranks; arrays of PyTorch. Each skips without its package."""

import os
import signal
import threading
import unittest

import numpy as np

import coll

try:
    import jax
    import jax.numpy as jnp
except ImportError:
    jax = None
try:
    import torch
except ImportError:
    torch = None


def mlp_step(state, x, y):
    def loss_of(params):
        hidden = jnp.tanh(x @ params["w1"] + params["b1"])
        logits = hidden @ params["w2"]
        return -jnp.mean(jnp.sum(jax.nn.log_softmax(logits) * jax.nn.one_hot(y, 5), -1))

    loss, gradients = jax.value_and_grad(loss_of)(state["params"])
    params = jax.tree.map(lambda p, g: p - 0.1 * g, state["params"], gradients)
    return {"params": params, "count": state["count"] + 1}, loss, {"twice": 2 * loss}


@unittest.skipIf(jax is None, "SKIPPED: jax is not installed")
class JitTest(unittest.TestCase):
    def setUp(self):
        keys = jax.random.split(jax.random.key(0), 4)
        self.state = {"params": {"w1": jax.random.normal(keys[0], (6, 16)), "b1": jnp.zeros(16),
                                 "w2": jax.random.normal(keys[1], (16, 5))}, "count": 0}
        self.x = jax.random.normal(keys[2], (24, 6))
        self.y = jax.random.randint(keys[3], (24,), 0, 5)

    def train(self, step, steps=5):
        state, losses = self.state, []
        for _ in range(steps):
            state, loss, extra = step(state, self.x, self.y)
            losses.append(float(loss))
            self.assertAlmostEqual(float(extra["twice"]), 2 * losses[-1], places=5)
        return state, losses

    def test_it_equals_jax(self):
        expected, losses = self.train(jax.jit(mlp_step))
        for ranks in (1, 3, 4, 8):
            with self.subTest(ranks=ranks):
                state, ours = self.train(coll.jit(mlp_step, mesh={"dp": ranks}))
                np.testing.assert_allclose(ours, losses, rtol=1e-5)
                jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6),
                             state.value, expected)

    def test_strategies_and_shardings_by_name(self):
        expected, losses = self.train(jax.jit(mlp_step))
        two = {"dp": 2, "tp": 2}
        for options in (dict(mesh={"dp": 4}, strategy="zero1"),
                        dict(mesh=two, strategy="data:dp,tensor:tp"),
                        dict(mesh=two, strategy="data:dp", shard={"*w1*": "[-, tp]"})):
            with self.subTest(**options):
                step = coll.jit(mlp_step, **options)
                state, ours = self.train(step)
                np.testing.assert_allclose(ours, losses, rtol=1e-5)
                args = step.lower(self.state, self.x, self.y).args
                split = [a.name for a in args if a.role == "state" and a.shape != a.local_shape]
                self.assertEqual(bool(split), "tp" in options["mesh"])
        with self.assertRaisesRegex(coll.Error, "w9"):
            coll.jit(mlp_step, mesh=two, shard={"*w9*": "[-, tp]"}).lower(self.state, self.x, self.y)

    def test_classes_that_hold_only_arrays_are_states(self):
        class Strict:  # refuses the placeholders that JAX puts in the place of arrays
            def __init__(self, w):
                self.w = jnp.asarray(w)

        jax.tree_util.register_pytree_node(Strict, lambda s: ((s.w,), None), lambda _, w: Strict(*w))
        step = coll.jit(lambda state, x: (Strict(state.w + x.sum(0)), x.sum()), mesh={"dp": 2})
        state, total = step(Strict(jnp.zeros(6)), self.x)
        np.testing.assert_allclose(state.value.w, self.x.sum(0), rtol=1e-5)
        np.testing.assert_allclose(total, self.x.sum(), rtol=1e-5)

    def test_random_keys_are_state(self):
        def step(state, x):
            key, noise = jax.random.split(state["key"])
            w = state["w"] + jax.random.normal(noise, (3,)) + jnp.mean(x, 0)
            return {"key": key, "w": w}, jnp.sum(w)

        state = {"key": jax.random.key(7), "w": jnp.zeros(3)}
        x = jnp.ones((4, 3))
        expected, ours = state, state
        jitted = coll.jit(step, mesh={"dp": 2})
        for _ in range(3):
            expected, loss = jax.jit(step)(expected, x)
            ours, our_loss = jitted(ours, x)
            np.testing.assert_allclose(our_loss, loss, rtol=1e-5)
        self.assertTrue((jax.random.key_data(ours.value["key"]) ==
                         jax.random.key_data(expected["key"])).all())

    def test_static_arguments(self):
        def step(state, x, scale, *, negate=False):
            return state + jnp.sum(x) * scale * (-1 if negate else 1)

        jitted = coll.jit(step, ranks=2, static_argnums=2, static_argnames="negate")
        x = jnp.ones((4,))
        self.assertEqual(float(jitted(jnp.float32(0), x, 3).value), 12)
        self.assertEqual(float(jitted(jnp.float32(0), x, 3, negate=True).value), -12)

    def test_an_old_state_was_donated(self):
        step = coll.jit(mlp_step, ranks=2)
        first, *_ = step(self.state, self.x, self.y)
        step(first, self.x, self.y)
        with self.assertRaisesRegex(ValueError, "donated"):
            first.value

    def test_batches_of_other_shapes_move_the_state(self):
        step = coll.jit(mlp_step, ranks=2)
        state, *_ = step(self.state, self.x, self.y)
        state, loss, _ = step(state, self.x[:10], self.y[:10])
        expected, *_ = jax.jit(mlp_step)(self.state, self.x, self.y)
        _, expected_loss, _ = jax.jit(mlp_step)(expected, self.x[:10], self.y[:10])
        np.testing.assert_allclose(loss, expected_loss, rtol=1e-5)

    def test_half_precision(self):
        def step(state, x):
            return (state + jnp.sum(x, 0).astype(jnp.bfloat16)), jnp.sum(x)

        state, _ = coll.jit(step, ranks=2)(jnp.zeros(3, jnp.bfloat16), jnp.ones((4, 3)))
        self.assertEqual(state.value.dtype, jnp.bfloat16)
        np.testing.assert_array_equal(np.asarray(state.value, np.float32), [4, 4, 4])

    def test_a_step_without_a_new_state_is_refused(self):
        with self.assertRaisesRegex(TypeError, "new state first"):
            coll.jit(lambda state, x: jnp.sum(x), ranks=2)({"w": jnp.zeros(3)}, jnp.ones((4, 3)))

    def test_control_c_ends_a_long_step(self):
        def step(state, x):
            body = lambda _, w: jnp.tanh(w @ w) + jnp.mean(x)
            return jax.lax.fori_loop(0, 1_000_000, body, state)

        jitted = coll.jit(step, ranks=2)
        threading.Timer(3, os.kill, (os.getpid(), signal.SIGINT)).start()
        with self.assertRaises(KeyboardInterrupt):
            jitted(jnp.ones((64, 64)), jnp.ones((4,)))


STATE = """
func.func @step(%w: tensor<2x3xf32> {coll.role = "state"}) -> tensor<2x3xf32> {
  return %w : tensor<2x3xf32>
}
"""


@unittest.skipIf(torch is None, "SKIPPED: torch is not installed")
class TorchTest(unittest.TestCase):
    def test_tensors_in_and_out(self):
        from coll_test import STEP, expected

        w, x = torch.randn(4, 3), torch.randn(8, 4)
        training = coll.compile(STEP, ranks=2).start([w])
        loss, = training.step(x)
        new, total = expected(w.numpy(), x.numpy())
        np.testing.assert_allclose(loss, total, rtol=1e-4)
        np.testing.assert_allclose(torch.from_numpy(training.state()[0]), new, rtol=1e-4)

    def test_what_goes_in_is_the_tensors_own_memory(self):
        options = {"transport": "tcp", "secret": "a secret of the job"}
        tensor, owner = torch.zeros(2, 3), coll.TensorOwner(**options)
        coll.RemoteTensor(owner.publish(tensor), **options).write([4, 5, 6], 1)
        self.assertEqual(tensor.tolist(), [[0, 0, 0], [4, 5, 6]])
        out = torch.from_dlpack(coll.compile(STATE).start([tensor]).state()[0])
        self.assertEqual(out.tolist(), tensor.tolist())


if __name__ == "__main__":
    unittest.main()
