#!/usr/bin/env python3
"""Only runtime/base/env.cc reads the environment, and docs/environment.md is generated from
its table; only runtime/dl opens libraries."""

import os
import re

import environment_page
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
    yield from check_page(args)


def check_page(args):
    """The page for readers is what the table generates."""
    source, page = environment_page.SOURCE, environment_page.PAGE
    if not os.path.exists(os.path.join(args.root, source)):
        return
    there = read(args.root, page) if os.path.exists(os.path.join(args.root, page)) else ""
    if there != environment_page.page(read(args.root, source)):
        yield Finding(page, 1, f"differs from the table in {source}: run "
                               "tools/lint/environment_page.py")


if __name__ == "__main__":
    run(check, __doc__)
