#!/usr/bin/env python3
"""Each constraint of the specification is verified and tested.

A label (C1) after `Constraints:` in dialect/*.td needs the same label in the
verifier of that operation or attribute (dialect/*.cc), and a test whose name
contains `<mnemonic>_c1` in test/dialect. Constraints in dialect/exec have their verifiers in that
folder, and the names of their tests begin with `exec_`.
"""

import os
import re

from common import Finding, files, line_of, read, run

DEF = re.compile(r"^def (?:Coll|Exec)_(\w+?(?:Op|Attr|Type))\s*:\s*\w+<\s*\"(\w+)\"(?:,\s*\"(\w+)\")?", re.M)


def constraints(text):
    """(class, mnemonic, label number, offset) of each constraint in a .td file."""
    defs = list(DEF.finditer(text))
    for match, following in zip(defs, defs[1:] + [None]):
        end = following.start() if following else len(text)
        body = text[match.start():end]
        start = body.find("Constraints:")
        if start < 0:
            continue
        stop = body.find("}]", start)
        for label in re.finditer(r"\(C(\d+)\)", body[start:stop]):
            yield (match.group(1), match.group(3) or match.group(2), int(label.group(1)),
                   match.start() + start + label.start())


def bodies(text):
    """Text of each out-of-line member function, by (class, first word of its name)."""
    for match in re.finditer(r"^[^\n;{}#/]*?\b(\w+)::(verify\w*)\s*\(", text, re.M):
        end = text.find("\n}", match.end())
        yield match.group(1), text[match.start():end]


def check(args):
    verified = {}
    for name in files(args.root, ".cc", under=("dialect",)):
        for owner, body in bodies(read(args.root, name)):
            key = (os.path.dirname(name), owner)
            verified[key] = verified.get(key, "") + body
    tests = "\n".join(read(args.root, n) for n in files(args.root, under=("test/dialect",)))
    for name in files(args.root, ".td", under=("dialect",)):
        text = read(args.root, name)
        folder = os.path.dirname(name)
        prefix = "" if folder == "dialect" else os.path.basename(folder) + "_"
        for owner, mnemonic, number, offset in constraints(text):
            where = line_of(text, offset)
            if f"(C{number})" not in verified.get((folder, owner), ""):
                yield Finding(name, where, f"{owner}'s verifier has no line labelled (C{number})")
            if not re.search(rf"\b{prefix}{mnemonic}_c{number}(?![0-9])", tests):
                yield Finding(name, where, f"no test named {prefix}{mnemonic}_c{number} in test/dialect")


if __name__ == "__main__":
    run(check, __doc__)
