"""Mutants that change nothing a test could notice, each with its reason: equivalents.txt.

An entry is a line `PATH | KIND 'BEFORE' -> 'AFTER' | LINE` and its reason, indented, below. LINE is the source line
without the blanks around it, so an entry stays true while lines move, and ends with the code that it is about.
"""

import pathlib
import re

FILE = pathlib.Path(__file__).with_name("equivalents.txt")
ENTRY = re.compile(r"(\S+) \| (\w+) '(.*)' -> '(.*)' \| (.+)")


def key_of(mutant, text):
    """What identifies a mutant of the source `text`; several on one line may share it."""
    line = text.split("\n")[mutant.line - 1].strip()
    return mutant.path, mutant.kind, " ".join(mutant.before.split()), " ".join(mutant.after.split()), line


def write(mutant, text):
    path, kind, before, after, line = key_of(mutant, text)
    return f"{path} | {kind} '{before}' -> '{after}' | {line}"


def read():
    """{key: reason}"""
    reasons, key = {}, None
    for number, line in enumerate(FILE.read_text().splitlines() if FILE.exists() else [], 1):
        if line.startswith("    ") and key:
            reasons[key] = f"{reasons[key]} {line.strip()}".strip()
        elif match := ENTRY.fullmatch(line):
            key = match.groups()
            reasons[key] = ""
        elif line.strip() and not line.startswith("#"):
            raise ValueError(f"{FILE.name}:{number}: neither an entry nor a reason: {line}")
    without = [key for key, reason in reasons.items() if not reason]
    if without:
        raise ValueError(f"{FILE.name}: no reason for {' | '.join(without[0])}")
    return reasons
