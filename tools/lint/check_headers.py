#!/usr/bin/env python3
"""Each header compiles alone, and has an include guard.

A header that a source includes before all others was compiled alone with that source. The
others are compiled here, with the flags of a source next to them: sources and flags are those of
compile_commands.json, so the tree must be built. Sources have precompiled headers; whether they and
their headers name what they include of it is seen where they are compiled without it: the runtime in
the test exchange.moe_buffer.one_node, all of it in the build asan-full of `./dev test --full`.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess

from common import Finding, Skip, files, run

FOLDERS = ("dialect", "passes", "compiler", "driver", "plan", "runtime", "embed", "tools")
GUARD = re.compile(r"#ifndef (\w+)\n#define \1\n")


def sources(args):
    """Path below the root and entry of each C++ source of the build."""
    database = pathlib.Path(args.build, "compile_commands.json")
    if not database.exists():
        raise Skip(f"{database} is missing: configure first")
    root = os.path.realpath(args.root)
    for entry in json.loads(database.read_text()):
        if entry["file"].endswith(".cc"):
            file = os.path.join(root, entry["directory"], entry["file"])
            if not os.path.exists(file):
                raise Skip(f"{os.path.relpath(file, root)} is generated and missing: build first")
            yield os.path.relpath(os.path.realpath(file), root), entry


def flags_by_folder(args):
    """Folder of the tree -> (compiler and flags, working directory) of a source in it."""
    result = {}
    for path, entry in sources(args):
        words = entry.get("arguments") or shlex.split(entry["command"])
        if os.path.dirname(path) not in result:
            result[os.path.dirname(path)] = (strip_outputs(words, entry["file"]),
                                             entry["directory"])
    return result


def included_first(args):
    """The headers that a source of the build includes before all else."""
    result = set()
    for path, _ in sources(args):
        text = pathlib.Path(args.root, path).read_text(encoding="utf-8")
        if first := re.search(r"^\s*#\s*include\s*(\S+)", text, re.MULTILINE):
            result.add(first[1].strip('"'))
    return result


def strip_outputs(words, source):
    """The command without its input, its outputs, its launcher and its precompiled header."""
    kept, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word in ("-o", "-MF", "-MT", "-MQ", "-include", "-Xclang"):  # clang's words about it
            skip = True
        elif word not in ("-c", "-MD", "-MMD", "-fpch-preprocess", "-Winvalid-pch", source):
            kept.append(word)
    return kept[1:] if os.path.basename(kept[0]) == "ccache" else kept


def nearest(table, folder):
    while folder and folder not in table:
        folder = os.path.dirname(folder)
    return table.get(folder)


def compile_alone(args, header, command, directory):
    """The compiler's first error for a file that includes only `header`, or None."""
    stub = pathlib.Path(args.build, "lint", "headers", header.replace("/", "__") + ".cc")
    stub.parent.mkdir(parents=True, exist_ok=True)
    text = f'#include "{header}"\n'
    if not stub.exists() or stub.read_text() != text:
        stub.write_text(text)
    launcher = ["ccache"] if shutil.which("ccache") else []
    done = subprocess.run([*launcher, *command, "-O0", "-c", str(stub), "-o", str(stub) + ".o"],
                          cwd=os.path.join(args.root, directory), capture_output=True, text=True)
    if done.returncode == 0:
        return None
    errors = [line for line in done.stderr.splitlines() if "error" in line]
    return (errors or done.stderr.splitlines() or ["the compiler failed"])[0]


def check(args):
    table, proven = flags_by_folder(args), included_first(args)
    work = []
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() or 2) as pool:
        for header in files(args.root, ".h", under=FOLDERS):
            if not GUARD.search(pathlib.Path(args.root, header).read_text(encoding="utf-8")):
                yield Finding(header, 1, "has no include guard (#ifndef and #define of one name)")
            found = nearest(table, os.path.dirname(header))
            if found and header not in proven:
                work.append((header, pool.submit(compile_alone, args, header, *found)))
        for header, future in work:
            error = future.result()
            if error:
                yield Finding(header, 1, f"does not compile alone: {error}")


if __name__ == "__main__":
    run(check, __doc__)
