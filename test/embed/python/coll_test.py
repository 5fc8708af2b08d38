"""The Python package with NumPy alone: compiling, running, what the compiler says, refusals."""

import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy as np

import coll

DATA = pathlib.Path(__file__).resolve().parents[2] / "data"
MLP = DATA / "jax/mlp_digits_momentum"
STEP = """
func.func @step(%w: tensor<4x3xf32> {coll.role = "state", coll.name = "w"},
                %x: tensor<8x4xf32> {coll.role = "batch", coll.name = "x"})
    -> (tensor<4x3xf32>, tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %rate = arith.constant -0.1 : f32
  %ones = arith.constant dense<1.0> : tensor<8x3xf32>
  %init = tensor.splat %zero : tensor<4x3xf32>
  %gradient = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>,
                       affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %ones : tensor<8x4xf32>, tensor<8x3xf32>) outs(%init : tensor<4x3xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %product = arith.mulf %a, %b : f32
      %sum = arith.addf %c, %product : f32
      linalg.yield %sum : f32
  } -> tensor<4x3xf32>
  %new = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%w, %gradient : tensor<4x3xf32>, tensor<4x3xf32>) outs(%init : tensor<4x3xf32>) {
    ^bb0(%old: f32, %g: f32, %unused: f32):
      %change = arith.mulf %rate, %g : f32
      %sum = arith.addf %old, %change : f32
      linalg.yield %sum : f32
  } -> tensor<4x3xf32>
  %scalar = tensor.splat %zero : tensor<f32>
  %loss = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>],
      iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<8x4xf32>) outs(%scalar : tensor<f32>) {
    ^bb0(%a: f32, %c: f32):
      %sum = arith.addf %c, %a : f32
      linalg.yield %sum : f32
  } -> tensor<f32>
  return %new, %loss : tensor<4x3xf32>, tensor<f32>
}
"""


def expected(w, x):
    return w - 0.1 * x.T @ np.ones((8, 3), np.float32), x.sum()


class CompileTest(unittest.TestCase):
    def setUp(self):
        generator = np.random.default_rng(0)
        self.w = generator.standard_normal((4, 3), np.float32)
        self.x = generator.standard_normal((8, 4), np.float32)

    def test_state_stays_with_the_ranks(self):
        for ranks in (1, 2, 3, 4):
            training = coll.compile(STEP, ranks=ranks).start([self.w])
            w = self.w
            for _ in range(3):
                w, total = expected(w, self.x)
                loss, = training.step(self.x)
                np.testing.assert_allclose(loss, total, rtol=1e-5)
            np.testing.assert_allclose(training.state()[0], w, rtol=1e-5, atol=1e-6)

    def test_arrays_of_any_layout_are_taken(self):
        training = coll.compile(STEP, ranks=2).start([np.asfortranarray(self.w)])
        wide = np.zeros((8, 8), np.float32)
        wide[:, ::2] = self.x
        loss, = training.step(wide[:, ::2])
        np.testing.assert_allclose(loss, self.x.sum(), rtol=1e-5)

    def test_each_collective_says_why_it_is_there(self):
        executable = coll.compile(STEP, ranks=4)
        kinds = [each.kind for each in executable.collectives]
        self.assertIn("all_reduce", kinds)
        self.assertTrue(all(each.reason for each in executable.collectives if not each.is_init))
        self.assertIn("<table>", executable.collectives._repr_html_())
        self.assertIn("all_reduce", str(executable.collectives))

    def test_introspection(self):
        executable = coll.compile(STEP, ranks=4, keep_stages=True)
        self.assertEqual((executable.num_ranks, executable.num_state), (4, 1))
        self.assertTrue(executable.is_proved)
        state, batch = executable.args
        self.assertEqual((state.name, state.role, state.shape), ("w", "state", (4, 3)))
        self.assertEqual((batch.dtype, batch.local_shape), ("float32", (2, 4)))
        self.assertGreater(executable.memory(0)["state"], 0)
        self.assertTrue(any("coll." in text for text in executable.stages.values()))

    def test_helpers(self):
        self.assertTrue(coll.explain(STEP, ranks=2))
        self.assertEqual(len(coll.memory(STEP, ranks=2)), 2)
        self.assertIsNone(coll.verify(STEP, ranks=2))

    def test_a_step_that_cannot_be_read_is_refused_with_its_place(self):
        with self.assertRaises(coll.Error) as caught:
            coll.compile("func.func @step(", name="broken.mlir")
        self.assertIn("broken.mlir", str(caught.exception))
        self.assertTrue(caught.exception.code)

    def test_untrusted_texts_are_parsed_apart(self):
        executable = coll.compile(STEP, ranks=2, untrusted=True)
        self.assertEqual(list(executable.collectives), list(coll.compile(STEP, ranks=2).collectives))
        with self.assertRaises(coll.Error) as caught:
            coll.compile("func.func @step(", name="broken.mlir", untrusted=True)
        self.assertTrue(caught.exception.location.startswith("broken.mlir:1:"))
        with self.assertRaisesRegex(coll.Error, "/nothing/parser"):
            coll.compile(STEP, untrusted=True, parser="/nothing/parser")

    def test_roots_and_micro_batches(self):
        for options in ({"root": "balanced"}, {"root": "hash", "route": "ring"}, {"accumulate": 2}):
            training = coll.compile(STEP, ranks=2, **options).start([self.w])
            loss, = training.step(self.x)
            np.testing.assert_allclose(loss, self.x.sum(), rtol=1e-5)
            np.testing.assert_allclose(training.state()[0], expected(self.w, self.x)[0], rtol=1e-5, atol=1e-6)
        with self.assertRaisesRegex(coll.Error, "route needs root"):
            coll.compile(STEP, ranks=2, route="ring")

    def test_gradients_are_applied_late(self):
        text = (DATA / "late/step.mlir").read_text()
        arrays = np.load(DATA / "late/late_1.npz")
        start = [arrays[f"state_in_{i}"] for i in range(5)]
        steps = sum(name.startswith("batch_") and name.endswith("_0") for name in arrays.files)
        training = coll.compile(text, state_args=5, ranks=2, staleness=1).start(start)
        for k in range(steps):
            training.step(*[arrays[f"batch_{k}_{j}"] for j in range(2)])
        for i, ours in enumerate(training.state()):
            np.testing.assert_allclose(ours, arrays[f"state_out_{i}"], rtol=1e-4, atol=1e-6)
        with self.assertRaisesRegex(coll.Error, "staleness is 65: expected 0 to 64 steps"):
            coll.compile(text, state_args=5, ranks=2, staleness=65)

    def test_steps_for_gpus(self):
        executable = coll.compile(STEP, ranks=2, device="gpu:sm_90", matmul_precision="tf32")
        self.assertTrue(executable.is_on_gpu)
        try:
            training = executable.start([self.w])
        except coll.Error as error:
            self.assertIn("the step was compiled for GPUs", str(error))
        else:
            training.step(self.x)
            np.testing.assert_allclose(training.state()[0], expected(self.w, self.x)[0], rtol=1e-2)
        with self.assertRaisesRegex(coll.Error, "expected cpu, gpu"):
            coll.compile(STEP, device="tpu")

    @unittest.skipUnless("COLL_COMPILE" in os.environ, "needs the program coll-compile")
    def test_steps_that_were_compiled_before(self):
        with tempfile.TemporaryDirectory() as folder:
            text, library = pathlib.Path(folder, "step.mlir"), pathlib.Path(folder, "step.so")
            text.write_text(STEP)
            subprocess.run([os.environ["COLL_COMPILE"], text, "--ranks=2", "-o", library], check=True)
            training = coll.load(library).start([self.w])
            loss, = training.step(self.x)
            np.testing.assert_allclose(loss, self.x.sum(), rtol=1e-5)
            with self.assertRaisesRegex(coll.Error, "step.mlir"):
                coll.load(text)

    def test_large_constants_are_kept_beside_the_code(self):
        values = np.arange(1, 1 << 16, dtype=np.float32)
        size = values.size
        text = f"""
            func.func @step(%w: tensor<{size}xf32> {{coll.role = "state"}}) -> tensor<{size}xf32> {{
              %c = arith.constant dense<"0x{values.tobytes().hex().upper()}"> : tensor<{size}xf32>
              %new = arith.addf %w, %c : tensor<{size}xf32>
              return %new : tensor<{size}xf32>
            }}"""
        with tempfile.TemporaryDirectory() as cache:
            for ranks, is_cached in ((1, False), (1, True), (2, False)):
                executable = coll.compile(text, ranks=ranks, cache=cache)
                self.assertEqual(executable.is_from_cache, is_cached)
                training = executable.start([np.ones(size, np.float32)])
                training.step()
                np.testing.assert_array_equal(training.state()[0], values + 1)

    def test_pipelines(self):
        text = (MLP / "step.mlir").read_text()
        arrays = np.load(MLP / "reference.npz")
        start = [arrays[f"state_in_{i}"] for i in range(8)]
        batches = [[arrays[f"batch_{k}_{j}"] for j in range(2)] for k in range(3)]

        def train(**options):
            training = coll.compile(text, state_args=8, **options).start(start)
            return [training.step(*batch)[0] for batch in batches], training.state()

        losses, state = train()
        for options in ({"stages": 2, "micro_batches": 4},
                        {"stages": 2, "mesh": {"pp": 2, "dp": 2}, "schedule": "zb-h1", "stage": {"w2": 1}},
                        {"stages": 2, "mesh": {"pp": 2, "dp": 2}, "root": "shard", "micro_batches": 2},
                        {"stages": 2, "mesh": "pp=2,dp=2,tp=2", "strategy": "data", "micro_batches": 2,
                         "stage_mesh": {0: {"dp": 4}}}):
            staged_losses, staged = train(**options)
            np.testing.assert_allclose(staged_losses, losses, rtol=1e-5)
            for ours, theirs in zip(staged, state):
                np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)
        names = [[arg.name for arg in coll.compile(text, state_args=8, **options).args]
                 for options in ({}, {"stages": 2})]
        self.assertEqual(names[0], names[1])
        with self.assertRaisesRegex(coll.Error, "need stages"):
            coll.compile(text, state_args=8, schedule="gpipe")

    def test_report(self):
        training = coll.compile(STEP, ranks=2).start([self.w])
        for scale in (1, 2, 3):
            training.step(scale * self.x)
        report = training.report()
        np.testing.assert_allclose(report.losses, [scale * self.x.sum() for scale in (1, 2, 3)], rtol=1e-4)
        page = report._repr_html_()
        for part in ("proved: no mismatch", "<polyline", "all_reduce", "<h4>Memory", "float32[4, 3]"):
            self.assertIn(part, page)
        self.assertIn("steps: 3", str(report))

    def test_wrong_arrays_are_refused(self):
        training = coll.compile(STEP, ranks=2).start([self.w])
        for wrong in (self.x[:7], self.x.astype(np.float64), self.x.astype(np.complex64)):
            with self.assertRaises((coll.Error, TypeError)):
                training.step(wrong)
        with self.assertRaises(coll.Error):
            training.step()
        loss, = training.step(self.x)  # what was refused has done no harm
        np.testing.assert_allclose(loss, self.x.sum(), rtol=1e-5)

    def test_threads_run_steps_of_their_own(self):
        executable = coll.compile(STEP, ranks=2)
        failures = []

        def train(seed):
            x = np.random.default_rng(seed).standard_normal((8, 4), np.float32)
            training = executable.start([self.w])
            for _ in range(20):
                loss, = training.step(x)
                if abs(loss - x.sum()) > 1e-3:
                    failures.append(seed)

        threads = [threading.Thread(target=train, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_results_outlive_what_made_them(self):
        training = coll.compile(STEP, ranks=2).start([self.w])
        loss, = training.step(self.x)
        state = training.state()[0]
        del training
        time.sleep(0.01)
        np.testing.assert_allclose(loss, self.x.sum(), rtol=1e-5)
        self.assertTrue(np.isfinite(state).all())


class ImportTest(unittest.TestCase):
    def test_the_library_is_loaded_when_a_name_is_used(self):
        program = ("import sys, coll\n"
                   "assert not {'numpy', 'coll._coll'} & set(sys.modules)\n"
                   "assert 'jit' in dir(coll) and coll.Error and 'coll._coll' in sys.modules")
        subprocess.run([sys.executable, "-c", program], check=True)

    def test_every_name_is_there(self):
        for name in coll.__all__:
            self.assertTrue(callable(getattr(coll, name)), name)
        with self.assertRaisesRegex(AttributeError, "no attribute 'nothing'"):
            coll.nothing


class BlasTest(unittest.TestCase):
    def chosen(self, **variables):
        """The library of matrix products that a process takes, which runs a step first."""
        program = ("import os, coll, coll_test, numpy as np; "
                   "step = coll.compile(coll_test.STEP).start([np.zeros((4, 3), np.float32)]); "
                   "step.step(np.ones((8, 4), np.float32)); print(os.environ.get('COLL_BLAS'))")
        others = {name: value for name, value in os.environ.items() if name != "COLL_BLAS"}
        made = subprocess.run([sys.executable, "-c", program], env=others | variables, text=True,
                              capture_output=True, check=True)
        self.assertNotIn("products will be slow", made.stderr)
        return made.stdout.strip()

    def test_the_package_of_openblas_is_found(self):
        try:
            import scipy_openblas32
        except ImportError:
            self.skipTest("scipy-openblas32 is not installed")
        folder = pathlib.Path(scipy_openblas32.__file__).parent
        self.assertEqual(self.chosen(), str(folder / "lib/libscipy_openblas.so"))
        self.assertEqual(self.chosen(COLL_BLAS="none"), "none")


if __name__ == "__main__":
    unittest.main()
