#!/usr/bin/env python3
"""Installs the C API and builds the examples against it, outside of the tree: hosts in C and C++, by
find_package and by pkg-config where that is installed; a pass and a backend. All of them run.

usage: install_test.py BUILD SOURCE
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile


def run(*command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


def by_cmake(prefix, source, folder):
    run("cmake", "-S", source / "test/embed/installed", "-B", folder, f"-DCMAKE_PREFIX_PATH={prefix}",
        "-DCMAKE_BUILD_TYPE=Release")
    run("cmake", "--build", folder)
    print(run(folder / "host"))
    print(run(folder / "framework", source / "examples/03_data_parallel.mlir"))


def by_pkg_config(prefix, source, folder):
    if not shutil.which("pkg-config"):
        print("pkg-config is not installed: left out")
        return
    environment = dict(os.environ, PKG_CONFIG_PATH=str(next(prefix.glob("lib*/**/pkgconfig"))))
    flags = run("pkg-config", "--cflags", "--libs", "coll", env=environment).split()
    program = folder / "by_pkg_config"
    libraries = next(prefix.glob("lib*/**/libcoll.so")).parent
    run("cc", source / "examples/10_host.c", *flags, f"-Wl,-rpath,{libraries}", "-o", program)
    run(program)


def refused(expected, *command):
    """The command fails, and says it in these words."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode == 0 or expected not in done.stdout:
        sys.exit(f"{' '.join(map(str, command))}: expected '{expected}', got {done.returncode}:\n{done.stdout}")


def own_pass(build, source, own):
    opt, plugin = build / "bin/coll-opt", own / "libfix_order.so"
    step = source / "examples/01_all_reduce.mlir"
    output = run(opt, step, f"--load-pass-plugin={plugin}", "--fix-order")
    if "order rank" not in output or "this sum has a fixed order now" not in output:
        sys.exit(f"--fix-order changed nothing:\n{output}")
    run(opt, step, f"--load-pass-plugin={plugin}", "--pass-pipeline=builtin.module(fix-order)")
    refused("nothing.so", opt, step, "--load-pass-plugin=nothing.so", "--canonicalize")
    refused("Plugin entry point not found", opt, step, f"--load-pass-plugin={own / 'libmeeting.so'}",
            "--canonicalize")


def own_backend(build, source, own):
    coll_run, backend = build / "bin/coll-run", f"--backend=plugin:{own / 'libmeeting.so'}"
    examples = source / "examples"
    run(coll_run, examples / "01_all_reduce.mlir", backend)
    run(coll_run, examples / "02_ring.mlir", backend)
    run(coll_run, examples / "04_two_axes.mlir", backend, "--check")
    run(coll_run, examples / "03_data_parallel.mlir", "--ranks=4", "--steps=40", backend, "--check")
    data = source / "test/data/jax/mlp_digits_momentum"
    run(coll_run, data / "step.mlir", "--ranks=3", "--state-args=8", f"--data={data / 'reference.npz'}",
        "--strategy=fsdp", backend, "--check")
    narrow = own / "narrow.mlir"
    text = (examples / "01_all_reduce.mlir").read_text()
    narrow.write_text(text.replace("f32", "bf16"))
    refused("it has sum, min and max of f32", coll_run, narrow, backend)
    step = examples / "03_data_parallel.mlir"
    refused("nothing.so", coll_run, step, "--ranks=2", "--backend=plugin:nothing.so")
    if (own / "libfix_order.so").exists():
        refused("exports no coll_backend_plugin()", coll_run, step, "--ranks=2",
                f"--backend=plugin:{own / 'libfix_order.so'}")
    refused("its library is missing", coll_run, step, "--ranks=2", "--backend=plugin:")


def libraries_of_ones_own(build, prefix, source, folder):
    run("cmake", "-S", source / "examples/own", "-B", folder, f"-DCMAKE_PREFIX_PATH={prefix}",
        "-DCMAKE_BUILD_TYPE=Release")
    run("cmake", "--build", folder, "--parallel", "2")
    own_pass(build, source, folder)
    own_backend(build, source, folder)


def main():
    build, source = map(pathlib.Path, sys.argv[1:])
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        prefix = folder / "prefix"
        run("cmake", "--install", build, "--component", "embed", "--prefix", prefix)
        by_cmake(prefix, source, folder / "build")
        by_pkg_config(prefix, source, folder)
        libraries_of_ones_own(build, prefix, source, folder / "own")


if __name__ == "__main__":
    main()
