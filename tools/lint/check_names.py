#!/usr/bin/env python3
"""No paths of one machine, no notes to oneself, no oversized files or functions.

Sizes: a file has at most 700 lines, a function at most 100. ops.td and data are exempt.
"""

import ast
import re

from common import SOURCE, Finding, files, line_of, read, run

TEXT = SOURCE + (".td", ".py", ".md", ".cmake", ".txt", ".json", ".mlir", ".sh", "dev", "run",
                 ".def", ".in", ".cfg")
EXEMPT = ("test/data/", "ops.td")
MAX_FILE, MAX_FUNCTION = 700, 100
# The words are cut in two so that this file passes its own check.
MACHINE_PATH = re.compile(r"(?<![\w.$}*-])/(?:wo" r"rk|ro" r"ot|ho" r"me)/[\w.-]+")
NOTE = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")
URL = re.compile(r"https?://([\w.-]+)")
HOSTS = re.compile(r"(?:.*\.)?(?:llvm\.org|github\.com|apache\.org|keepachangelog\.com|"
                   r"semver\.org|perfetto\.dev|jax\.dev|openxla\.org|nvidia\.com|w3\.org)$")


def functions(text):
    """(first line, last line) of each function, found by the layout that clang-format
    gives: it ends with a brace alone, in the column where its first line starts."""
    lines = text.split("\n")
    for indent in ("", "  "):
        start = None
        for number, line in enumerate(lines, 1):
            if line == indent + "}" and start:
                yield start, number
                start = None
            elif re.match(indent + r"[^\s#/}]", line):
                opens = re.match(r"\s*(?:namespace|class|struct|enum|union|extern|def)\b", line)
                if opens or line.endswith(";"):
                    start = None
                elif start is None:
                    start = number
            elif line == indent + "};":
                start = None


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.end_lineno


def sizes(name, text):
    count = text.count("\n")
    if count > MAX_FILE and name.endswith(SOURCE + (".py", ".td", ".mlir", "dev")):
        yield Finding(name, 1, f"{count} lines; at most {MAX_FILE}")
    found = ()
    if name.endswith(SOURCE):
        found = functions(text)
    elif name.endswith(".py"):
        found = python_functions(text)
    for first, last in found:
        if last - first + 1 > MAX_FUNCTION:
            yield Finding(name, first, f"function of {last - first + 1} lines; "
                                       f"at most {MAX_FUNCTION}")


def check(args):
    for name in files(args.root, *TEXT):
        if any(part in name for part in EXEMPT):
            continue
        text = read(args.root, name)
        for pattern, what in ((MACHINE_PATH, "path of one machine"), (NOTE, "note to oneself")):
            for match in pattern.finditer(text):
                yield Finding(name, line_of(text, match.start()), f"{what}: {match.group()}")
        for match in URL.finditer(text):
            if not HOSTS.match(match.group(1)):
                yield Finding(name, line_of(text, match.start()),
                              f"host that is not on the list in {__file__.rsplit('/', 1)[-1]}: "
                              f"{match.group(1)}")
        yield from sizes(name, text)


if __name__ == "__main__":
    run(check, __doc__)
