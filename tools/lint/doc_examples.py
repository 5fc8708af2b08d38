#!/usr/bin/env python3
"""Every ```mlir example in dialect/*.td parses, verifies, and prints as it is written.

An example's free values become arguments of a function around it; their types are
what coll-opt says it expects. Lines that start with `#` are attributes, and are
hung on that function. A test of the lit suite runs this.
"""

import argparse
import pathlib
import re
import subprocess
import sys

BLOCK = re.compile(r"^ *```mlir\n(.*?)^ *```", re.M | re.S)
VALUE = re.compile(r"%\w+")
EXPECTED = re.compile(r"use of value '(%\w+)' expects different type than prior uses: "
                      r"'(.*)' vs '.*'")
PROLOGUE = 'coll.mesh @m ["dp" = 4, "tp" = 2, "pp" = 2]\n'
START = 'coll.start { coll.barrier over @m["dp"] coll.yield } : !coll.future'


def run(coll_opt, text):
    return subprocess.run([coll_opt, "-"], input=text, capture_output=True, text=True, timeout=60)


def free_values(code):
    """Values that the example uses but does not define, in order."""
    code = re.sub(r'"[^"\n]*"', "", code)
    defined = set()
    for line in code.splitlines():
        left = re.match(r"((?:\s*%\w+(?::\d+)?\s*,?)+)=", line)
        defined.update(VALUE.findall(left.group(1)) if left else [])
        defined.update(re.findall(r"(%\w+)\s*:", line) if re.match(r"\s*\^|\s*func", line) else [])
        if loop := re.search(r"scf\.for (%\w+) = .*?(?:iter_args\((.*?)\)|$)", line):
            defined.update([loop[1], *re.findall(r"(%\w+) =", loop[2] or "")])
    return [v for v in dict.fromkeys(VALUE.findall(code)) if v not in defined]


def wrap(code, types):
    if re.match(r"\s*coll\.(mesh|program)", code):
        return code
    if re.match(r"\s*(exec\.function|func\.func)", code):
        return PROLOGUE + code
    # A future is no argument: what starts one is in the same function.
    started = [value for value, kind in types.items() if kind == "!coll.future"]
    starts = "\n".join(f'{value} = {START}' for value in started)
    arguments = ", ".join(f"{value}: {kind}" for value, kind in types.items() if value not in started)
    attributes = [line for line in code.splitlines() if line.strip().startswith("#")]
    if attributes:
        hung = ", ".join(f"a{i} = {text}" for i, text in enumerate(attributes))
        return f"{PROLOGUE}func.func @example() attributes {{{hung}}} {{ return }}\n"
    return f"{PROLOGUE}func.func @example({arguments}) {{\n{starts}\n{code}\nreturn\n}}\n"


def check(coll_opt, code):
    """What is wrong with the example, or None."""
    code = re.sub(r"//.*", "", code)
    types = {value: "none" for value in free_values(code)}
    for _ in range(len(types) + 1):
        result = run(coll_opt, wrap(code, types))
        hint = EXPECTED.search(result.stderr)
        if not hint or hint.group(1) not in types:
            break
        types[hint.group(1)] = hint.group(2)
    if result.returncode != 0:
        return result.stderr
    printed = normalised(result.stdout)
    for line in statements(code):
        if normalised(line) not in printed:
            return f"prints differently: {line.strip()}\n{result.stdout}"
    return None


def statements(code):
    """The example's operations and attributes, continuation lines joined."""
    return re.sub(r"\n\s+(?=:|slice_sizes|updates)", " ", code).strip().splitlines()


def normalised(text):
    """Without value names, which the printer chooses, and without spacing."""
    text = re.sub(r"%\w+(:\d+|#\d+)?", "%", re.sub(r"\^bb\d+", "^", text))
    return re.sub(r"\s+", "", text)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--coll-opt", default="coll-opt")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    failures = count = 0
    for path in args.files:
        text = path.read_text(encoding="utf-8")
        for block in BLOCK.finditer(text):
            count += 1
            problem = check(args.coll_opt, block.group(1))
            if problem:
                failures += 1
                print(f"{path}:{text.count(chr(10), 0, block.start()) + 1}: {problem}")
    print(f"{count} examples, {failures} failures")
    sys.exit(1 if failures or not count else 0)


if __name__ == "__main__":
    main()
