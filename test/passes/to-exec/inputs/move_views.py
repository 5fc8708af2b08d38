"""Moves views of the arena onto others that the same operation reads, one at a time, and expects
coll-verify-exec to refuse each plan.

    move_views.py FILE COLL_OPT
"""

import itertools
import pathlib
import re
import subprocess
import sys

VIEW = re.compile(r"(%\w+) = exec\.view %arena\w*\[(\d+) for (\d+)\]")
MOST = 24  # plans to try: each takes a run of coll-opt


def overlaps(a, b):
    return a[0] < b[0] + b[1] and b[0] < a[0] + a[1]


def read_together(text, views):
    """Pairs of views that one operation reads and that do not overlap."""
    for line in text.splitlines():
        if "exec.gemm" in line:
            operands = line.split(" into ")[0]
        else:
            operands = " ".join(re.findall(r"read (%\w+)", line))
        names = dict.fromkeys(name for name in re.findall(r"%\w+", operands) if name in views)
        for a, b in itertools.combinations(names, 2):
            if not overlaps(views[a], views[b]):
                yield a, b


def main():
    text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    text = text[text.index("\n") + 1:]  # the line that says which pass comes
    views = {name: (int(offset), int(size)) for name, offset, size in VIEW.findall(text)}
    pairs = list(dict.fromkeys(read_together(text, views)))[:MOST]
    for a, b in pairs:
        offset, size = views[a]
        moved = text.replace(f"{a} = exec.view %arena[{offset} for {size}]",
                             f"{a} = exec.view %arena[{views[b][0]} for {size}]")
        result = subprocess.run([sys.argv[2], "-", "--coll-verify-exec", "-o", "-"], input=moved,
                                capture_output=True, text=True)
        if result.returncode == 0:
            sys.exit(f"{a} was moved onto {b}, and nothing was found")
    print(f"{len(pairs)} plans with a view moved onto another, all refused")


if __name__ == "__main__":
    main()
