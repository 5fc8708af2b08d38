"""Shared parts of the lints: which files there are, and how a finding is printed.

A lint is a script with a function `check(args) -> iterable of Finding`, where args has
the paths `root` and `build`. It ends
with exit code 1 where there are findings, each printed as `path:line: what is wrong`.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
from typing import NamedTuple

SOURCE = (".cc", ".h", ".cu", ".cuh", ".c")


class Finding(NamedTuple):
    path: str
    line: int
    text: str


class Skip(Exception):
    """The lint cannot run here; the message says why. Exit code 77."""


def files(root, *suffixes, under=()):
    """Paths relative to `root`, sorted: what git tracks or would track, or, outside
    a checkout, every file that is not in a build folder."""
    try:
        out = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=root, capture_output=True, check=True, text=True).stdout
        names = [n for n in out.split("\0") if n]
    except (OSError, subprocess.CalledProcessError):
        names = []
        for folder, folders, leaves in os.walk(root):
            folders[:] = [f for f in folders if not re.match(r"build|\.git$|__pycache__", f)]
            names += [os.path.relpath(os.path.join(folder, leaf), root) for leaf in leaves]
    names = [n for n in names if not suffixes or n.endswith(suffixes)]
    if under:
        names = [n for n in names if n.startswith(tuple(u.rstrip("/") + "/" for u in under))]
    return sorted(n for n in set(names) if os.path.isfile(os.path.join(root, n)))


def read(root, name):
    return pathlib.Path(root, name).read_text(encoding="utf-8", errors="replace")


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def strip_comments(text):
    """C++ without comments, string contents kept, line numbers unchanged."""
    pattern = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', re.S)

    def blank(match):
        token = match.group()
        return "\n" * token.count("\n") if token.startswith("/") else token

    return pattern.sub(blank, text)


def run(check, doc):
    """Entry point of a lint: `run(check, __doc__)`."""
    parser = argparse.ArgumentParser(description=doc,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    here = pathlib.Path(__file__).resolve().parent
    parser.add_argument("--root", default=str(here.parent.parent), help="the tree to look at")
    parser.add_argument("--build", default="build",
                        help="build folder, for lints that need compile_commands.json")
    args = parser.parse_args()
    args.build = os.path.join(args.root, args.build)
    try:
        found = sorted(set(check(args)))
    except Skip as reason:
        print(f"SKIPPED: {reason}")
        sys.exit(77)
    for finding in found:
        print(f"{finding.path}:{finding.line}: {finding.text}")
    if found:
        print(f"{len(found)} finding{'s' if len(found) > 1 else ''}")
    sys.exit(1 if found else 0)
