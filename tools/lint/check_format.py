#!/usr/bin/env python3
"""Sources are as clang-format 22 leaves them; `./dev lint --fix` formats them."""

import re
import shutil
import subprocess

from common import SOURCE, Finding, Skip, files, run


def check(args):
    tool = shutil.which("clang-format-22")
    if not tool:
        raise Skip("clang-format-22 is not installed")
    names = files(args.root, *SOURCE)
    done = subprocess.run([tool, "--dry-run", *names], cwd=args.root, capture_output=True, text=True)
    seen = set()
    for name, line in re.findall(r"^(\S+?):(\d+):\d+: ", done.stderr, re.M):
        if name not in seen:
            seen.add(name)
            yield Finding(name, int(line), "not formatted")


if __name__ == "__main__":
    run(check, __doc__)
