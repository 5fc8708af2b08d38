#!/usr/bin/env python3
"""Each header compiles alone, with the flags of a source file next to it.

Takes the flags from compile_commands.json, so the tree must be configured and
its generated headers built. With ccache, an unchanged header costs nothing.
"""

import concurrent.futures
import json
import os
import pathlib
import shlex
import shutil
import subprocess

from common import Finding, Skip, files, run

FOLDERS = ("dialect", "passes", "runtime", "embed", "tools")


def flags_by_folder(args):
    """Folder of the tree -> (compiler and flags, working directory) of a source in it."""
    database = pathlib.Path(args.build, "compile_commands.json")
    if not database.exists():
        raise Skip(f"{database} is missing: configure first")
    result = {}
    root = os.path.realpath(args.root)
    for entry in json.loads(database.read_text()):
        folder = os.path.relpath(os.path.dirname(os.path.realpath(entry["file"])), root)
        words = entry.get("arguments") or shlex.split(entry["command"])
        if folder not in result and not entry["file"].endswith((".c", ".cu")):
            result[folder] = (strip_outputs(words, entry["file"]), entry["directory"])
    return result


def strip_outputs(words, source):
    """The command without its input, its outputs and its launcher."""
    kept, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word in ("-o", "-MF", "-MT", "-MQ"):
            skip = True
        elif word not in ("-c", "-MD", "-MMD", source):
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
    # Twice: the second one proves the include guard.
    text = f'#include "{header}"\n#include "{header}"\n'
    if not stub.exists() or stub.read_text() != text:
        stub.write_text(text)
    launcher = ["ccache"] if shutil.which("ccache") else []
    done = subprocess.run([*launcher, *command, "-O0", "-c", str(stub), "-o", str(stub) + ".o"],
                          cwd=directory, capture_output=True, text=True)
    if done.returncode == 0:
        return None
    errors = [line for line in done.stderr.splitlines() if "error" in line]
    return (errors or done.stderr.splitlines() or ["the compiler failed"])[0]


def check(args):
    table = flags_by_folder(args)
    work = []
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() or 2) as pool:
        for header in files(args.root, ".h", under=FOLDERS):
            found = nearest(table, os.path.dirname(header))
            if found:
                work.append((header, pool.submit(compile_alone, args, header, *found)))
        for header, future in work:
            error = future.result()
            if error:
                yield Finding(header, 1, f"does not compile alone: {error}")


if __name__ == "__main__":
    run(check, __doc__)
