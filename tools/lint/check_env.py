#!/usr/bin/env python3
"""Only runtime/base/env.cc reads the environment, and runtime/README.md says what; only
runtime/dl opens libraries."""

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
    yield from check_readme(args)


def check_readme(args):
    """The table for readers has every variable, with its default."""
    source, readme = "runtime/base/env.cc", "runtime/README.md"
    page = read(args.root, readme)
    rows = dict(re.findall(r"^\| `(COLL_[A-Z_]+)` \| ([^|]*?) ?\|", page, re.M))
    text = read(args.root, source)
    for match in re.finditer(r'\{EnvVar::\w+, "(COLL_[A-Z_]+)", "([^"]*)"', text):
        name, default = match.groups()
        if f"`{name}`" not in page:
            yield Finding(source, line_of(text, match.start()), f"{readme} lacks {name}")
        elif rows.get(name, default) != default:
            yield Finding(source, line_of(text, match.start()),
                          f"{readme} has another default of {name}: {rows[name]}")


if __name__ == "__main__":
    run(check, __doc__)
