#!/usr/bin/env python3
"""Changes sources a little, one change at a time, and looks which changes the tests notice.

    test/mutation/mutate.py --seed=1 --count=20 threads step
    test/mutation/mutate.py --list threads            # all mutants, without running anything

A sample of each area's mutants is drawn with the seed. For each one the area's test programs are
built and run, up to the first that fails. Every outcome is one line of the JSON file --log:

  killed    a test failed, or did not end in time
  survived  all tests passed: write a test, or find that the change means nothing
  invalid   the change does not compile, or the compiler makes the same program of it

The build folder has been configured and the programs pass. A file that a mutant is in must have no
uncommitted changes; it is restored, also after Ctrl-C.
"""

import argparse
import fcntl
import hashlib
import json
import pathlib
import random
import subprocess
import sys
import time

import mutants

ROOT = pathlib.Path(__file__).resolve().parents[2]

# area: (folders or files, [(program, gtest filter)]), the quickest and most telling program first
AREAS = {
    "threads": (["runtime/backend/threads"], [
        ("runtime-tests", "ThreadsBackend*:StreamingTest.*:Executor*:AbiTest.*"),
        ("conformance-tests", "threads/*")]),
    "step": (["runtime/step"], [
        ("runtime-tests", "Abi*:Affinity*:Crew*:Executor*:Gemm*:TokenRows*:NoThreads.*"),
        ("conformance-tests", "threads/Tokens.*:threads/Failures.*")]),
    "reshard": (["runtime/exchange/reshard", "runtime/exchange/flow"], [
        ("reshard-tests", "*")]),
    "tensor": (["runtime/exchange/tensor"], [
        ("remote-tensor-tests", "-*Cuda*")]),
    "moe": (["runtime/exchange/moe"], [
        ("moe-reference-tests", "*"),
        ("moe-buffer-tests", "*")]),
}


def sources(area):
    for folder in AREAS[area][0]:
        yield from sorted((ROOT / folder).rglob("*.cc"))


def all_mutants(area):
    for path in sources(area):
        yield from mutants.mutants_of(str(path.relative_to(ROOT)), path.read_text())


class Campaign:
    def __init__(self, args):
        self.args = args
        self.build = ROOT / args.build
        self.commit = self.git("rev-parse", "--short=12", "HEAD")

    def git(self, *words):
        return subprocess.run(["git", "-C", str(ROOT), *words], check=True, text=True,
                              capture_output=True).stdout.strip()

    def make(self, programs):
        """Whether they build; waits for the lock if there is one."""
        command = ["ninja", "-C", str(self.build), f"-j{self.args.jobs}", *programs]
        if not self.args.lock:
            return subprocess.run(command, capture_output=True, check=False).returncode == 0
        with open(self.args.lock, "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return subprocess.run(command, capture_output=True, check=False).returncode == 0

    def digest(self, program):
        return hashlib.sha256((self.build / "bin" / program).read_bytes()).hexdigest()

    def passes(self, program, tests):
        command = [str(self.build / "bin" / program), f"--gtest_filter={tests}",
                   "--gtest_fail_fast", "--gtest_brief=1"]
        try:
            return subprocess.run(command, capture_output=True, check=False, cwd=self.build,
                                  timeout=self.args.timeout).returncode == 0
        except subprocess.TimeoutExpired:
            return False

    def judge(self, area, mutant):
        programs = AREAS[area][1]
        originals = {program: self.digest(program) for program, _ in programs}
        path = ROOT / mutant.path
        text = path.read_text()
        try:
            path.write_text(mutant.apply(text))
            if not self.make([program for program, _ in programs]):
                return "invalid", ""
            changed = [(program, tests) for program, tests in programs
                       if self.digest(program) != originals[program]]
            for program, tests in changed:
                if not self.passes(program, tests):
                    return "killed", program
            return ("survived", "") if changed else ("invalid", "")
        finally:
            path.write_text(text)

    def run(self, area, log):
        programs = AREAS[area][1]
        if not self.make([program for program, _ in programs]):
            sys.exit(f"{area}: the programs do not build")
        for program, tests in programs:
            if not self.passes(program, tests):
                sys.exit(f"{area}: {program} fails without a mutant, or takes too long")
        everything = list(all_mutants(area))
        sample = random.Random(f"{self.args.seed} {area}").sample(
            everything, min(self.args.count, len(everything)))
        counts = {}
        for mutant in sample:
            if self.git("status", "--porcelain", "--", mutant.path):
                sys.exit(f"{mutant.path} has uncommitted changes")
            begin = time.monotonic()
            outcome, by = self.judge(area, mutant)
            counts[outcome] = counts.get(outcome, 0) + 1
            print(f"{outcome:8} {mutant}", flush=True)
            log.write(json.dumps({
                "area": area, "seed": self.args.seed, "commit": self.commit, "outcome": outcome,
                "by": by, "path": mutant.path, "line": mutant.line, "kind": mutant.kind,
                "before": mutant.before.strip(), "after": mutant.after.strip(),
                "seconds": round(time.monotonic() - begin, 1)}) + "\n")
            log.flush()
        self.make([program for program, _ in programs])
        print(f"{area}: {len(sample)} of {len(everything)} mutants: {counts}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("areas", nargs="+", choices=sorted(AREAS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=10, help="mutants of each area")
    parser.add_argument("--build", default="build", help="build folder")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=300, help="seconds for a test program")
    parser.add_argument("--lock", help="a file to lock while the compiler runs")
    parser.add_argument("--log", default="mutation.jsonl", help="the outcomes are appended to it")
    parser.add_argument("--list", action="store_true", help="print all mutants and end")
    args = parser.parse_args()
    if args.list:
        for area in args.areas:
            for mutant in all_mutants(area):
                print(mutant)
        return
    with open(args.log, "a", encoding="utf-8") as log:
        for area in args.areas:
            Campaign(args).run(area, log)


if __name__ == "__main__":
    main()
