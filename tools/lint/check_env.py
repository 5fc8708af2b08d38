#!/usr/bin/env python3
"""Only runtime/base/env.cc reads the environment, only runtime/dl opens libraries."""

import re

from common import SOURCE, Finding, files, line_of, read, run, strip_comments

RULES = (
    (re.compile(r"\b(?:secure_)?getenv\s*\("), "runtime/base/env.cc"),
    (re.compile(r"\bdl(?:open|sym|mopen|vsym)\s*\("), "runtime/dl/"),
)


def check(args):
    for name in files(args.root, *SOURCE):
        text = strip_comments(read(args.root, name))
        for pattern, home in RULES:
            if name.startswith(home):
                continue
            for match in pattern.finditer(text):
                call = match.group().rstrip("( ")
                yield Finding(name, line_of(text, match.start()), f"{call} belongs into {home}")


if __name__ == "__main__":
    run(check, __doc__)
