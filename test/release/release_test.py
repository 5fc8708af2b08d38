#!/usr/bin/env python3
"""coll, the static executable, in a bare chroot: glibc, the executable, and nothing else.

usage: release_test.py SOURCE COLL

Exits with 77 (skipped) where chroot is not allowed.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

COLL = pathlib.Path(sys.argv.pop() if len(sys.argv) > 2 else "build-release/bin/coll")
SOURCE = pathlib.Path(sys.argv.pop() if len(sys.argv) > 1 else ".")
# What a glibc of 2.36 brings.
GLIBC = re.compile(r"(?:ld-linux-x86-64|libc|libm|libdl|libpthread|librt)\.so")


def needed():
    """Paths of the libraries that the executable asks for."""
    listing = subprocess.run(["ldd", COLL], capture_output=True, text=True, check=True).stdout
    return re.findall(r"(/\S+) \(0x", listing)


class ReleaseTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        for path in needed():
            target = cls.root / path.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
        shutil.copy(COLL, cls.root / "coll")
        os.symlink("coll", cls.root / "coll-opt")
        data = SOURCE / "test/data/jax/mlp_digits_momentum"
        for path in (data / "step.mlir", data / "reference.npz",
                     SOURCE / "examples/04_two_axes.mlir"):
            shutil.copy(path, cls.root)
        (cls.root / "tmp").mkdir()

    def run_there(self, *command, text=None):
        def enter():
            os.chroot(self.root)
            os.chdir("/")
        return subprocess.run(command, preexec_fn=enter, env={}, input=text, timeout=120,
                              capture_output=True, text=True)

    def test_needs_glibc_alone(self):
        for path in needed():
            self.assertRegex(pathlib.Path(path).name, GLIBC)
        versions = re.findall(rb"GLIBC_(2\.\d+)\x00", COLL.read_bytes())
        self.assertLessEqual(max(int(version.split(b".")[1]) for version in versions), 36)

    def test_lists_its_tools(self):
        done = self.run_there("/coll", "--help")
        self.assertEqual(done.returncode, 0, done.stderr)
        for tool in ("opt", "run", "lsp-server", "perf", "info", "trace"):
            self.assertIn(f"\n  {tool} ", done.stdout)
            self.assertEqual(self.run_there("/coll", tool, "--help").returncode, 0, tool)
        self.assertEqual(self.run_there("/coll", "absent").returncode, 2)

    def test_a_link_is_the_tool(self):
        done = self.run_there("/coll-opt", "/04_two_axes.mlir", "--coll-propagate")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("coll.shardings", done.stdout)

    def test_options_of_tools_do_not_mix(self):
        done = self.run_there("/coll", "opt", "/04_two_axes.mlir", "--state-args=8")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("Unknown command line argument", done.stderr)

    def test_trains_the_step_from_jax_without_blas(self):
        done = self.run_there("/coll", "run", "/step.mlir", "--ranks=4", "--state-args=8",
                              "--data=/reference.npz", "--reference=/reference.npz", "--check",
                              "--save=/tmp/state.npz")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("within tolerance", done.stdout)
        self.assertTrue((self.root / "tmp/state.npz").exists())

    def test_processes_that_talk_over_tcp(self):
        done = self.run_there("/coll", "run", "/step.mlir", "--ranks=2", "--state-args=8",
                              "--data=/reference.npz", "--backend=net", "--processes", "--check")
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("SKIPPED: chroot needs root")
        sys.exit(77)
    unittest.main()
