#!/usr/bin/env python3
"""Counts the cases of every suite in two commits, so that a move of tests is seen to lose none.

    test/suites.py BEFORE [AFTER]          # a Markdown table; AFTER is HEAD

Counted in the text: TEST macros of gtest (a parameterised one counts once), test methods of unittest, and the files
that lit runs.
"""

import collections
import pathlib
import re
import subprocess
import sys

GTEST = re.compile(r"^\s*(?:TYPED_)?TEST(?:_F|_P)?\(", re.M)
UNITTEST = re.compile(r"^\s+def test_", re.M)


def git(*words):
    return subprocess.run(["git", *words], check=True, capture_output=True, text=True, errors="replace").stdout


def suites(commit):
    counts = collections.Counter()
    for name in git("ls-tree", "-r", "--name-only", commit, "test").splitlines():
        path = pathlib.PurePosixPath(name)
        folder = str(path.parent.relative_to("test"))
        if path.suffix in (".cc", ".cu"):
            counts[folder, "gtest"] += len(GTEST.findall(git("show", f"{commit}:{name}")))
        elif path.name.endswith("_test.py"):
            counts[folder, "unittest"] += len(UNITTEST.findall(git("show", f"{commit}:{name}")))
        elif path.suffix in (".mlir", ".test") and not {"inputs", "data"} & set(path.parts):
            counts[folder, "lit"] += "RUN:" in git("show", f"{commit}:{name}")
    return counts


def main():
    before, after = suites(sys.argv[1]), suites(sys.argv[2] if len(sys.argv) > 2 else "HEAD")
    print("| suite | kind | before | after |\n|---|---|---|---|")
    for suite in sorted(before | after):
        if before[suite] or after[suite]:
            print(f"| `{suite[0]}` | {suite[1]} | {before[suite]} | {after[suite]} |")
    for kind in ("gtest", "unittest", "lit"):
        sums = [sum(count for (_, own), count in counts.items() if own == kind) for counts in (before, after)]
        print(f"| **all** | {kind} | {sums[0]} | {sums[1]} |")


if __name__ == "__main__":
    main()
