#!/usr/bin/env python3
"""Adds up test reports and ends with one line: `N passed, N failed[, N skipped]`.

  report.py SUITE=FILE… [SUITE!REASON…]

FILE is JUnit XML as lit (--xunit-xml-output) and ctest (--output-junit) write it.
`SUITE!REASON` is a suite that could not run at all: one failure. Exit code 1
where anything failed or nothing passed.
"""

import re
import sys
import xml.etree.ElementTree as ElementTree


def outcome(case):
    """('passed' | 'failed' | 'skipped', reason) of one test case."""
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed", ""
    if case.get("status") == "fail":
        return "failed", ""
    skipped = case.find("skipped")
    if skipped is not None or case.get("status") in ("notrun", "disabled"):
        return "skipped", skip_reason(case, skipped)
    return "passed", ""


def skip_reason(case, skipped):
    """Why a test did not run: from gtest's output, our lints', or lit's message."""
    output = case.findtext("system-out") or ""
    found = re.search(r": Skipped\n+(.+)", output) or re.search(r"SKIPPED: (.+)", output)
    if found:
        return found.group(1).strip()
    return (skipped.get("message") if skipped is not None else "") or "no reason given"


def count(suite, file):
    """(passed, failed names, [(skipped name, reason)]) of one report."""
    passed, failed, skipped = 0, [], []
    try:
        cases = list(ElementTree.parse(file).getroot().iter("testcase"))
    except (OSError, ElementTree.ParseError) as error:
        return 0, [f"{suite}: no report ({error})"], []
    for case in cases:
        name = f"{suite}: {case.get('name')}"
        kind, reason = outcome(case)
        if kind == "passed":
            passed += 1
        elif kind == "failed":
            failed.append(name)
        else:
            skipped.append((name, reason))
    return passed, failed, skipped


def main(words):
    rows, failed, skipped = [], [], []
    for word in words:
        suite, mark, rest = re.match(r"([^=!]+)([=!])(.*)", word).groups()
        ran = count(suite, rest) if mark == "=" else (0, [f"{suite}: {rest}"], [])
        rows.append((suite, ran[0], len(ran[1]), len(ran[2])))
        failed += ran[1]
        skipped += ran[2]
    for name, reason in skipped:
        print(f"SKIPPED {name}: {reason}")
    for name in failed:
        print(f"FAILED  {name}")
    print()
    for suite, *numbers in rows:
        print("  {:<12} {:>5} passed {:>4} failed {:>4} skipped".format(suite, *numbers))
    passed = sum(row[1] for row in rows)
    tail = f", {len(skipped)} skipped" if skipped else ""
    print(f"\n{passed} passed, {len(failed)} failed{tail}")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
