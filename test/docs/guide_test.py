#!/usr/bin/env python3
"""Runs the commands of the guide and compares what they print with what the guide shows.

    guide_test.py BIN PAGE…

In a page, a block of commands (```sh) is run from a copy of the repository's root in which
build/bin is BIN. If a block of output (```text) follows, each of its lines has to be printed, in
this order; `…` stands for any text. A block that says ```sh no-test is not run.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```(\w+)?([^\n]*)\n(.*?)^```$", re.M | re.S)


def blocks(page):
    """(language, words after it, text, line) of each block of the page."""
    text = page.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        yield match[1] or "", match[2].strip(), match[3], text.count("\n", 0, match.start()) + 1


def missing_line(shown, printed):
    """The first line of `shown` that `printed` does not have after the lines before it, or None."""
    position = 0
    for line in filter(None, map(str.strip, shown.splitlines())):
        pattern = r"\s*".join(".*?".join(map(re.escape, word.split("…"))) for word in line.split())
        match = re.compile(pattern).search(printed, position)
        if not match:
            return line
        position = match.end()
    return None


def run(commands, folder):
    return subprocess.run(["bash", "-euo", "pipefail", "-c", commands], cwd=folder, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=300)


def check(page, folder):
    """The findings of one page, and how many blocks ran."""
    findings, count, printed = [], 0, None
    for language, words, text, line in blocks(page):
        if language == "sh" and words != "no-test":
            done = run(text, folder)
            count, printed = count + 1, done.stdout
            if done.returncode:
                findings.append(f"{page}:{line}: exit code {done.returncode}\n{printed}")
        elif language == "text" and printed is not None:
            if lost := missing_line(text, printed):
                findings.append(f"{page}:{line}: nothing printed '{lost}':\n{printed}")
            printed = None
    return findings, count


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    binaries, pages = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    failed = 0
    for name in pages:
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            for entry in ("test", "examples"):
                (folder / entry).symlink_to(root / entry)
            (folder / "build").mkdir()
            (folder / "build" / "bin").symlink_to(binaries)
            findings, count = check(root / name, folder)
        print(f"{name}: {count} commands, {len(findings)} findings")
        print(*findings, sep="\n", end="\n" if findings else "")
        failed += bool(findings) or not count
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
