"""The Python blocks of README.md run as they stand, those of embed/python/README.md in their order, on what they presume.

Needs the package coll, JAX and NumPy. Run after an edit of either page.
"""

import itertools
import os
import pathlib
import re
import tempfile
import unittest

import jax
import jax.numpy as jnp
import numpy as np

import coll

ROOT = pathlib.Path(__file__).resolve().parents[3]
DIGITS = ROOT / "test/data/jax/mlp_digits_momentum"


def blocks(page):
    return re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.M | re.S)


def regression():
    """A step that a block may define anew, and what it is called with."""
    def loss_of(p, x, y):
        return jnp.mean((x @ p["kernel"] - y) ** 2)

    def step(p, x, y):
        loss, gradients = jax.value_and_grad(loss_of)(p, x, y)
        return jax.tree.map(lambda a, g: a - 0.1 * g, p, gradients), loss

    random = np.random.default_rng(0)
    x, y = random.standard_normal((16, 8), np.float32), random.standard_normal((16, 4), np.float32)
    tree = {"kernel": np.zeros((8, 4), np.float32)}
    return dict(loss_of=loss_of, step=step, x=x, y=y, batches=[(x, y)] * 3, params=tree, state=tree)


def digits():
    """State and batch of the step whose text a block opens."""
    arrays = np.load(DIGITS / "reference.npz")

    def group(prefix):
        names = itertools.takewhile(arrays.files.__contains__, (f"{prefix}_{i}" for i in itertools.count()))
        return [arrays[name] for name in names]

    images, labels = group("batch_0")
    return dict(state=group("state_in"), images=images, labels=labels)


class SnippetsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)

    def run_blocks(self, page, prepare):
        for number, block in enumerate(blocks(page)):
            names = dict(coll=coll, jax=jax, np=np, **prepare(number))
            with self.subTest(page=page, block=number):
                exec(compile(block, f"{page}, block {number}", "exec"), names)  # noqa: S102
                yield names

    def test_readme(self):
        block, = blocks("README.md")
        names = {}
        exec(compile(block, "README.md", "exec"), names)  # noqa: S102
        self.assertLess(float(names["loss"]), 1e-3)

    def test_page_of_the_package(self):
        pathlib.Path("step.mlir").symlink_to(DIGITS / "step.mlir")
        rows = [np.full((2, 6), i, np.float32) for i in range(4)]

        def prepare(number):
            return dict(regression(), **(digits() if number == 1 else {}), rows=rows)

        trained, compiled, jitted, moved = self.run_blocks("embed/python/README.md", prepare)
        self.assertEqual(trained["parameters"]["kernel"].shape, (8, 4))
        self.assertTrue(np.isfinite(float(compiled["loss"])))
        self.assertTrue(callable(jitted["step"]))
        self.assertEqual(len(moved["columns"]), 2)


if __name__ == "__main__":
    unittest.main()
