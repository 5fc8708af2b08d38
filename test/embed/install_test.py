#!/usr/bin/env python3
"""Installs the C API and builds a program against it outside of the tree: by find_package, and
by pkg-config where that is installed. Both programs run.

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


def by_cmake(prefix, project, folder):
    run("cmake", "-S", project, "-B", folder, f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Release")
    run("cmake", "--build", folder)
    print(run(folder / "program"))


def by_pkg_config(prefix, project, folder):
    if not shutil.which("pkg-config"):
        print("pkg-config is not installed: left out")
        return
    environment = dict(os.environ, PKG_CONFIG_PATH=str(next(prefix.glob("lib*/**/pkgconfig"))))
    flags = run("pkg-config", "--cflags", "--libs", "coll", env=environment).split()
    program = folder / "by_pkg_config"
    libraries = next(prefix.glob("lib*/**/libcoll.so")).parent
    run("cc", "-DCOLL_INSTALLED", "-I", project.parent, project.parent / "program.c", *flags,
        f"-Wl,-rpath,{libraries}", "-o", program)
    run(program)


def main():
    build, source = map(pathlib.Path, sys.argv[1:])
    project = source / "test/embed/installed"
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        prefix = folder / "prefix"
        run("cmake", "--install", build, "--component", "embed", "--prefix", prefix)
        by_cmake(prefix, project, folder / "build")
        by_pkg_config(prefix, project, folder)


if __name__ == "__main__":
    main()
