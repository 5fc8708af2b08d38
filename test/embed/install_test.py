#!/usr/bin/env python3
"""Installs the C API and builds the examples in C and C++ against it, outside of the tree: by
find_package, and by pkg-config where that is installed. All programs run.

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


def main():
    build, source = map(pathlib.Path, sys.argv[1:])
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        prefix = folder / "prefix"
        run("cmake", "--install", build, "--component", "embed", "--prefix", prefix)
        by_cmake(prefix, source, folder / "build")
        by_pkg_config(prefix, source, folder)


if __name__ == "__main__":
    main()
