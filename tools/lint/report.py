#!/usr/bin/env python3
"""Adds up test reports and ends with one line: `N passed, N failed`.

  report.py SUITE=FILE[,FOLDER]… [SUITE!REASON…]

FILE is JUnit XML as lit (--xunit-xml-output) and ctest (--output-junit) write it.
FOLDER holds the XML files that gtest programs wrote, each named as the ctest case
that ran it (cmake/testing.cmake): then its cases count in place of that one. `SUITE!REASON`
is a suite that could not run at all: one failure. Below the name of a failed case stands the
part of its output that says why. The exit code is 1 if anything failed or nothing passed.
"""

import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

# What ctest and gtest call a test that did not run.
NOT_RUN = {"notrun", "disabled", "skipped", "suppressed"}


def outcome(case):
    """('passed' | 'failed' | 'skipped', reason) of one test case."""
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed", ""
    if case.get("status") == "fail":
        return "failed", ""
    skipped = case.find("skipped")
    if skipped is not None or {case.get("status"), case.get("result")} & NOT_RUN:
        return "skipped", skip_reason(case, skipped)
    return "passed", ""


def skip_reason(case, skipped):
    """Why a test did not run: from gtest's output, our lints', or lit's message."""
    output = case.findtext("system-out") or ""
    found = re.search(r": Skipped\n+(.+)", output) or re.search(r"SKIPPED: (.+)", output)
    if found:
        return found.group(1).strip()
    message = (skipped.get("message") if skipped is not None else "") or "no reason given"
    return message.split("\n")[-1].strip()  # gtest puts the source line first


# Where the output of a failed test begins to tell why, and how many lines of it are shown. A word
# of an error may be one that the test has asked for.
CAUSES = (re.compile(r"ERROR: \w+Sanitizer|WARNING: ThreadSanitizer|runtime error: |: Failure$"
                     r"|terminate called|Assertion .* failed|^(ERROR|FAIL): "),
          re.compile(r"error: "))
CAUSE_LINES, LAST_LINES = 40, 12


def cause(case):
    """Why a test failed, as lines of its output: the first findings, then how it ended."""
    lines = []
    for found in case.findall("failure") + case.findall("system-out"):
        lines += [line for text in (found.get("message"), found.text) if text
                  for line in text.splitlines()]
    running = None
    for line in lines:
        if step := re.match(r"\[ (?:RUN     |      OK|  FAILED|  SKIPPED) \] (\S+)", line):
            running = step.group(1) if "RUN" in line else None
    shown = [f"broke off in {running}"] if running else []
    first = next((n for sign in CAUSES for n, line in enumerate(lines) if sign.search(line)), None)
    first, end = (first, first + CAUSE_LINES) if first is not None else (0, 0)
    shown += lines[first:end]
    last = max(end, len(lines) - LAST_LINES)
    return shown + ["…"] * (last > end) + lines[last:]


def cases(file, owner=""):
    """(name, element) of each test case in a report; `owner` ran the gtest program."""
    for case in ElementTree.parse(file).getroot().iter("testcase"):
        name = case.get("name")
        yield (f"{owner}: {case.get('classname')}.{name}" if owner else name), case


def count(suite, where):
    """(passed, [(failed name, lines that tell why)], [(skipped name, reason)]) of one suite."""
    passed, failed, skipped = 0, [], []
    file, _, folder = where.partition(",")
    try:
        found = []
        for name, case in cases(file):
            program = pathlib.Path(folder, name + ".xml")
            own = []
            if folder and program.exists() and program.stat().st_size > 0:
                own = list(cases(program, name))
            # A program that broke off has written nothing; one that a sanitizer failed
            # at its exit has written only successes. Both count as a failure.
            is_told = any(outcome(c)[0] == "failed" for _, c in own)
            if not own or (outcome(case)[0] == "failed" and not is_told):
                own.append((name, case))
            found += own
    except (OSError, ElementTree.ParseError) as error:
        return 0, [(f"{suite}: no report ({error})", [])], []
    for name, case in found:
        kind, reason = outcome(case)
        if kind == "passed":
            passed += 1
        elif kind == "failed":
            failed.append((f"{suite}: {name}", cause(case)))
        else:
            skipped.append((f"{suite}: {name}", reason))
    return passed, failed, skipped


def main(words):
    rows, failed, skipped = [], [], []
    for word in words:
        suite, mark, rest = re.match(r"([^=!]+)([=!])(.*)", word).groups()
        ran = count(suite, rest) if mark == "=" else (0, [(f"{suite}: {rest}", [])], [])
        rows.append((suite, ran[0], len(ran[1]), len(ran[2])))
        failed += ran[1]
        skipped += ran[2]
    reasons = {}
    for name, reason in skipped:
        reasons.setdefault(reason, []).append(name)
    for reason, names in reasons.items():
        print(f"SKIPPED {len(names)}, {names[0]}{', …' if len(names) > 1 else ''}: {reason}")
    for name, lines in failed:
        print(f"FAILED  {name}")
        for line in lines:
            print(f"    {line}")
    print()
    for suite, *numbers in rows:
        print("  {:<12} {:>5} passed {:>4} failed {:>4} skipped".format(suite, *numbers))
    passed = sum(row[1] for row in rows)
    print(f"\n{passed} passed, {len(failed)} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
