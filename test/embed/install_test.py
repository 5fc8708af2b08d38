#!/usr/bin/env python3
"""Installs the C API and builds the examples against it, outside of the tree: hosts in C and C++, by
find_package and by pkg-config where that is installed; a pass and a backend, by the commands of the guide.
All of them run. The blocks of C in the pages about embedding compile.

usage: install_test.py BUILD SOURCE
"""

import os
import pathlib
import re
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


def blocks(page, language):
    """The blocks of a page that begin with ```LANGUAGE."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)


def guide(build, prefix, source, folder):
    """Runs the commands of the guide that install, and build a pass and a backend of one's own."""
    folder.mkdir()
    (folder / "build").symlink_to(build.resolve())
    (folder / "examples").symlink_to(source.resolve() / "examples")
    page = source / "docs/guide/5-embedding.md"
    commands, = [block for block in blocks(page, "sh no-test") if "cmake --install" in block]
    run("bash", "-euo", "pipefail", "-c", commands.replace("/opt/coll", str(prefix)), cwd=folder)
    own_pass(build, source, folder / "own")
    own_backend(build, source, folder / "own")


C_FRAME = """#include <coll/coll.h>
int run(coll_context context, const void *text, size_t bytes, const coll_tensor *state, size_t num_state,
        const coll_tensor *batch, size_t num_batch) {
  coll_executable step;
  coll_instance training;
  coll_tensor loss;
  %s
  return loss.id == step.id && training.id == 0;
}
"""


def c_of_the_pages(prefix, source, folder):
    for page in ("docs/guide/5-embedding.md", "embed/c/README.md"):
        for number, block in enumerate(blocks(source / page, "c")):
            options = "" if "coll_compile_options options;" in block else "coll_compile_options options = {0};\n"
            program = folder / f"{pathlib.Path(page).stem}{number}.c"
            program.write_text(C_FRAME % (options + block))
            run("cc", "-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{prefix / 'include'}", "-fsyntax-only", program)


def main():
    build, source = map(pathlib.Path, sys.argv[1:])
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        prefix = folder / "prefix"
        run("cmake", "--install", build, "--component", "embed", "--prefix", prefix)
        by_cmake(prefix, source, folder / "build")
        by_pkg_config(prefix, source, folder)
        c_of_the_pages(prefix, source, folder)
        guide(build, prefix, source, folder / "guide")


if __name__ == "__main__":
    main()
