#!/usr/bin/env python3
"""One stem everywhere: the flag coll-split-ranks is SplitRanksPass in split_ranks.cc,
tested in test/passes/split-ranks/."""

import os
import re

from common import Finding, files, line_of, read, run

PASS = re.compile(r"^def (\w+)\s*:\s*Pass<\"([\w-]+)\"", re.M)


def check(args):
    table = "passes/passes.td"
    text = read(args.root, table)
    sources = set()
    for name in files(args.root, ".cc", under=("passes",)):
        sources |= {os.path.basename(name), "/".join(name.split("/")[-2:])}
    tests = files(args.root, ".mlir", under=("test/passes",))
    for match in PASS.finditer(text):
        name, flag = match.groups()
        where = line_of(text, match.start())
        if not flag.startswith("coll-"):
            yield Finding(table, where, f"flag {flag} does not start with coll-")
            continue
        stem = flag[len("coll-"):]
        camel = "".join(word.capitalize() for word in stem.split("-")) + "Pass"
        if name != camel:
            yield Finding(table, where, f"{flag} should be {camel}, not {name}")
        file = stem.replace("-", "_") + ".cc"
        # A file does not repeat its folder: coll-import-stablehlo is import/stablehlo.cc.
        if file not in sources and file.replace("_", "/", 1) not in sources:
            yield Finding(table, where, f"no file {file} under passes")
        if not any(t.startswith(f"test/passes/{stem}/") for t in tests):
            yield Finding(table, where, f"no test in test/passes/{stem}/")


if __name__ == "__main__":
    run(check, __doc__)
