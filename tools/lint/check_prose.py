#!/usr/bin/env python3
"""The number of comments and pages that are hard to read may only fall: a ratchet.

It counts sentences of comments that begin with a riddle ("Of", "What of", "Who", "Those
that"), comments that say "nobody", READMEs of more than two screens, and lines of Markdown of
more than 120 characters outside of tables and code. prose_counts.json beside this script has
how many of each there may be; `check_prose.py --update` writes lower counts, never higher ones.
The lint is only a reminder: the aim is whole sentences in the words of the field, without
riddles and inversions.
"""

import argparse
import collections
import json
import pathlib
import re
import sys

from check_links import without_code
from common import SOURCE, Finding, files, read, run

COUNTS = "tools/lint/prose_counts.json"
SCREENS, WIDTH = 120, 120  # lines of a README, characters of a line

START = r"(?:^|[.:] )"
COMMENTS = {
    "a sentence begins with 'Of'": re.compile(START + r"Of "),
    "a sentence begins with 'What of'": re.compile(START + r"What of "),
    "a sentence begins with 'Who'": re.compile(START + r"Who(?:ever)? "),
    "a sentence begins with 'Those that'": re.compile(START + r"Those (?:that|who) "),
    "'nobody'": re.compile(r"\bnobody\b", re.I),
}
README = f"README of more than {SCREENS} lines"
LONG = f"line of more than {WIDTH} characters"


def comments(name, text):
    """Comments as (line, text); the lines of one comment are joined."""
    mark = "#" if name.endswith(".py") else "//"
    start, words = 0, []
    for number, line in enumerate(text.split("\n"), 1):
        whole = re.match(rf"\s*{mark}+[!<]* ?(.*)", line)
        behind = re.search(rf"\s{mark} (.*)", line)
        if whole and start:
            words.append(whole[1])
            continue
        if start:
            yield start, " ".join(words)
        found = whole or behind
        start, words = (number, [found[1]]) if found else (0, [])
    if start:
        yield start, " ".join(words)


def found_in(args):
    """Every match, as (rule, finding)."""
    for name in files(args.root, *SOURCE, ".td", ".def", ".py"):
        if name.startswith("tools/lint/"):
            continue
        for line, text in comments(name, read(args.root, name)):
            for rule, pattern in COMMENTS.items():
                for _ in pattern.findall(text):
                    yield rule, Finding(name, line, rule)
    for name in files(args.root, ".md"):
        lines = without_code(read(args.root, name)).rstrip("\n").split("\n")
        if name.endswith("README.md") and len(lines) > SCREENS:
            yield README, Finding(name, 1, f"{README}: {len(lines)}")
        for number, line in enumerate(lines, 1):
            if len(line) > WIDTH and not line.startswith("|"):
                yield LONG, Finding(name, number, LONG)


def allowed_counts(root):
    path = pathlib.Path(root, COUNTS)
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def check(args):
    allowed = allowed_counts(args.root)
    found = collections.defaultdict(list)
    for rule, finding in found_in(args):
        found[rule].append(finding)
    for rule, findings in found.items():
        most = allowed.get(rule, 0)
        if len(findings) > most:
            for finding in findings:
                yield finding._replace(
                    text=f"{finding.text} ({len(findings)} in all, {most} allowed)")


def update(root):
    """Writes the counts of now where they are lower."""
    allowed = allowed_counts(root)
    now = collections.Counter(rule for rule, _ in found_in(argparse.Namespace(root=root)))
    lower = {rule: min(now[rule], most) for rule, most in sorted(allowed.items()) if now[rule]}
    pathlib.Path(root, COUNTS).write_text(json.dumps(lower, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if "--update" in sys.argv:
        update(pathlib.Path(__file__).resolve().parent.parent.parent)
    else:
        run(check, __doc__)
