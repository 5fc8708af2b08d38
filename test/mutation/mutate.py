#!/usr/bin/env python3
"""Changes sources a little and looks which changes the tests notice.

    test/mutation/mutate.py --seed=1 --count=50 --checkout=/tmp/mutants threads net    # or: all
    test/mutation/mutate.py --list threads            # all mutants, without running anything

Each area's sample of mutants is drawn with the seed. All of them are compiled in at once, in a copy of the tree
(--checkout), and switched on one at a time while tests run; a mutant that does not compile is left out. Which tests
reach which mutant is recorded first; then each mutant is tried with the tests that reach it, the quickest first, up to
the first that fails. Every outcome is one line of the JSON file --log; a campaign that was stopped goes on where the
log ends.

  killed     a test failed, or did not end in time, twice in a row: once may be the load of the machine
  survived   all tests that reach it passed: write a test, or find that the change means nothing
  unreached  no test reaches it

A mutant that means nothing stands in equivalents.txt, with the reason. The summary counts those among the survivors; an
entry that is killed, or that no mutant of the sources has, is an error.
"""

import argparse
import concurrent.futures
import json
import mmap
import os
import pathlib
import queue
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

import equivalents
import mutants
import switched

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_MUTANTS = 8192
RUNS_THAT_FAIL = 2  # before a mutant counts as killed
NOTHING_ON = b"\xff" * 4 + b"\0" * MOST_MUTANTS
PASSES = [("lit", "passes"), ("lit", "run"), ("lit", "dialect")]

# area: (folders, [(test program, gtest filter) or ("lit", folder of test/)])
AREAS = {
    "threads": (["runtime/backend/threads"], [("runtime-tests", "*"), ("conformance-tests", "threads/*")]),
    "net": (["runtime/net/tcp", "runtime/net/bond", "runtime/net/loopback", "runtime/net/bootstrap",
             "runtime/backend/net"],
            [("net-tests", "*"), ("transport-tests", "*"), ("conformance-tests", "net_*"), ("runtime-tests", "*"),
             ("lit", "run")]),
    "exchange": (["runtime/exchange"],
                 [("reshard-tests", "*"), ("remote-tensor-tests", "-*Cuda*"), ("moe-reference-tests", "*"),
                  ("moe-buffer-tests", "*")]),
    "step": (["runtime/step"], [("runtime-tests", "*"), ("conformance-tests", "threads/*"), ("profiler-host-tests", "*"), ("lit", "run")]),
    "analysis": (["passes/analysis"], PASSES),
    "transform": (["passes/transform"], PASSES),
}
TOOLS = ["coll-opt", "coll-run", "coll-compile", "coll-exec", "coll-trace"]  # what lit tests run; coll holds them all

# Added to the copy's lit configuration: each worker has a control file and a folder of its own.
LIT_OF_A_WORKER = """
import os
config.environment["COLL_MUTANTS_CONTROL"] = os.environ.get("COLL_MUTANTS_CONTROL", "")
config.test_exec_root = os.environ.get("COLL_MUTANTS_CONTROL", config.test_exec_root) + ".lit"
"""


def all_mutants(area):
    for folder in AREAS[area][0]:
        for path in sorted((ROOT / folder).rglob("*.cc")):
            yield from mutants.mutants_of(str(path.relative_to(ROOT)), path.read_text())


def drawn(area, seed, count):
    """A sample of an area's mutants, no two of which change the same place."""
    order = list(all_mutants(area))
    random.Random(f"{seed} {area}").shuffle(order)
    sample, by_path = [], {}
    for mutant in order:
        beside = by_path.setdefault(mutant.path, [])
        if switched.spans_apart([*beside, mutant], (ROOT / mutant.path).read_text())[-1] is mutant:
            beside.append(mutant)
            sample.append(mutant)
        if len(sample) == count:
            break
    return sample


class Build:
    """A copy of the tree, with the chosen mutants in it."""

    def __init__(self, args, areas):
        self.root, self.jobs = args.checkout, args.jobs
        self.folder = self.root / "build"
        self.control = self.root / "mutants.control"
        self.compiled = self.root / "mutants.json"
        self.programs = sorted({program for area in areas for program, _ in tests_by(area, args.tests)} - {"lit"})
        self.tools = [] if args.tests == "gtest" else ["coll"] if args.static else TOOLS
        if not self.root.exists():
            shutil.copytree(ROOT, self.root, symlinks=True, ignore=lambda folder, names: {
                name for name in names if folder == str(ROOT) and name.startswith((".", "build"))})
        if not (self.folder / "build.ninja").exists():
            static = ["-DCOLL_STATIC=ON"] if args.static else []
            subprocess.run(["cmake", "--preset", "dev", *static, *args.cmake.split()], cwd=self.root, check=True,
                           stdout=subprocess.DEVNULL)

    def prepare_lit(self):
        settings = self.folder / "test" / "lit.site.cfg.py"
        if self.tools and LIT_OF_A_WORKER not in settings.read_text():
            settings.write_text(settings.read_text() + LIT_OF_A_WORKER)
        for tool in TOOLS if self.tools == ["coll"] else []:
            link = self.folder / "bin" / tool
            link.unlink(missing_ok=True)
            link.symlink_to("coll")

    def lit(self):
        settings = (self.folder / "test" / "lit.site.cfg.py").read_text()
        return str(pathlib.Path(re.search(r'llvm_tools_dir = "(.*)"', settings)[1]) / "lit")

    def put(self, numbered):
        """Writes the sources that have mutants, or had some."""
        header_path = self.root / "mutants.h"
        files = {header_path: switched.header(self.control, MOST_MUTANTS)}
        for path in {mutant.path for area in AREAS for mutant in all_mutants(area)}:
            text = (ROOT / path).read_text()
            own = [(number, mutant) for number, mutant in numbered.items() if mutant.path == path]
            files[self.root / path] = switched.with_mutants(path, text, own, header_path) if own else text
        self.control.write_bytes(NOTHING_ON)  # of what runs without a worker
        for path, text in files.items():
            if not path.exists() or path.read_text() != text:
                path.write_text(text)

    def make(self):
        """The places of the compiler's errors."""
        done = subprocess.run(["ninja", "-k0", f"-j{self.jobs}", *self.programs, *self.tools], cwd=self.folder, text=True,
                              capture_output=True, check=False)
        said = done.stdout + done.stderr
        places = set(re.findall(r"^(?:\.\./|/\S*?/)?((?:runtime|passes)/\S+?):(\d+):\d+: (?:error|fatal)", said, re.M))
        if done.returncode and not places:
            sys.exit(f"the copy does not build:\n{said[-3000:]}")
        return {(path, int(line)) for path, line in places}

    def put_compiling(self, sample):
        """Compiles the mutants in, and returns those of {number: mutant} that compile."""
        sample = dict(sample)
        while True:
            self.put(sample)
            errors = self.make()
            if not errors:
                self.compiled.write_text(json.dumps(sorted(sample)))
                return sample
            before = len(sample)
            for path, line in errors:
                text = (ROOT / path).read_text()
                here = {number: switched.lines_of(mutant, text) for number, mutant in sample.items()
                        if mutant.path == path}
                guilty = [number for number, (first, last) in here.items() if first <= line <= last] or here
                for number in guilty:
                    del sample[number]
            print(f"{before - len(sample)} mutants do not compile", flush=True)


class Worker:
    """Runs tests with a control file of its own, which the programs share with it (switched.HEADER)."""

    def __init__(self, build, number):
        self.build = build
        self.path = build.control.with_suffix(f".control.{number}")
        self.path.write_bytes(NOTHING_ON)
        with self.path.open("r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 0)

    def turn_on(self, number):
        self.memory[0:4] = number.to_bytes(4, "little", signed=True)

    def take_reached(self):
        reached = {number for number in range(MOST_MUTANTS) if self.memory[4 + number]}
        self.memory[4:] = b"\0" * MOST_MUTANTS
        return reached

    def command(self, program, name):
        if program == "lit":
            return [self.build.lit(), "-q", "-j1", str(self.build.folder / "test" / name)]
        return [str(self.build.folder / "bin" / program), f"--gtest_filter={name}", "--gtest_fail_fast",
                "--gtest_brief=1"]

    def passes(self, test, timeout):
        with subprocess.Popen(self.command(*test), cwd=self.build.folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                              env={**os.environ, "COLL_MUTANTS_CONTROL": str(self.path)},
                              preexec_fn=limit_memory) as process:
            try:
                return process.wait(timeout) == 0
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                return False

    def record(self, test, limit):
        """The seconds of a test and the mutants that it reaches; none if it fails, or takes longer than the limit."""
        self.take_reached()
        begin = time.monotonic()
        right = self.passes(test, limit)
        seconds, reached = time.monotonic() - begin, self.take_reached()
        if reached and not right:
            print(f"fails without a mutant, and is left out: {' '.join(test)}", flush=True)
        return seconds, test, reached if right else set()

    def judge(self, number, recorded):
        """The outcome and the test that noticed."""
        reaching = [(seconds, test) for seconds, test, reached in recorded if number in reached]
        self.turn_on(number)
        try:
            for seconds, test in reaching:
                if all(not self.passes(test, 15 + 6 * seconds) for _ in range(RUNS_THAT_FAIL)):
                    return "killed", " ".join(test)
        finally:
            self.turn_on(-1)
        return ("survived" if reaching else "unreached"), ""


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (24 << 30, 24 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def tests_by(area, kind):
    """The tests of an area that are lit tests, gtest programs, or both."""
    return [test for test in AREAS[area][1] if kind == "all" or (test[0] == "lit") == (kind == "lit")]


def tests_of(build, program, what):
    """Each gtest suite, or each file of a lit folder."""
    if program == "lit":
        for path in sorted((build.root / "test" / what).rglob("*")):
            if path.suffix in (".mlir", ".test") and "inputs" not in path.parts:
                yield program, str(path.relative_to(build.root / "test"))
        return
    listed = subprocess.run([build.folder / "bin" / program, "--gtest_list_tests", f"--gtest_filter={what}"],
                            capture_output=True, text=True, check=True).stdout
    for suite in re.findall(r"^(\S+\.)", listed, re.M):
        yield program, f"{suite}*{what}" if what.startswith("-") else f"{suite}*"


class Workers:
    """As many as there are, each with the next job as soon as it is free."""

    def __init__(self, build, count):
        self.free = queue.SimpleQueue()
        self.count = count
        for number in range(count):
            self.free.put(Worker(build, number))

    def map(self, work, jobs):
        def one(job):
            worker = self.free.get()
            try:
                return job, work(worker, job)
            finally:
                self.free.put(worker)
        with concurrent.futures.ThreadPoolExecutor(self.count) as pool:
            for future in concurrent.futures.as_completed([pool.submit(one, job) for job in jobs]):
                yield future.result()


def run(args):
    areas = sorted(AREAS) if "all" in args.areas else args.areas
    build = Build(args, areas)
    of = {mutant: area for area in areas for mutant in drawn(area, args.seed, args.count)}
    order = random.Random(args.seed).sample(list(of), len(of))
    if args.built:
        sample = {number: order[number] for number in json.loads(build.compiled.read_text())}
    else:
        sample = build.put_compiling(enumerate(order))
    print(f"{len(sample)} mutants are compiled in", flush=True)
    if args.build_only:
        return
    build.prepare_lit()
    workers = Workers(build, args.workers)
    tests = {test for area in areas for program, what in tests_by(area, args.tests)
             for test in tests_of(build, program, what)}
    recorded = record(workers, tests, build.root / "recorded.json", args)
    print(f"{len(recorded)} tests reach mutants, in {sum(entry[0] for entry in recorded):.0f} s", flush=True)
    log = pathlib.Path(args.log)
    known = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    done = {entry["mutant"]: entry["outcome"] for entry in known}
    # Mutants that few tests reach come first, so that a campaign that is stopped has judged most of them.
    left = sorted((number for number, mutant in sample.items() if str(mutant) not in done),
                  key=lambda number: sum(seconds for seconds, _, reached in recorded if number in reached))
    with log.open("a", encoding="utf-8") as file:
        for number, (outcome, by) in workers.map(lambda worker, number: worker.judge(number, recorded), left):
            mutant = sample[number]
            print(f"{outcome:9} {mutant}", flush=True)
            done[str(mutant)] = outcome
            file.write(json.dumps({"area": of[mutant], "mutant": str(mutant), "outcome": outcome, "by": by,
                                   "seed": args.seed}) + "\n")
            file.flush()
    summarize(areas, {mutant: done[str(mutant)] for mutant in sample.values()}, of)


def record(workers, tests, path, args):
    """What the tests reach, from what an earlier call with --built has written as far as that goes."""
    known = {tuple(test): (seconds, set(reached)) for seconds, test, reached in
             (json.loads(path.read_text()) if args.built and path.exists() else [])}
    for test, (seconds, _, reached) in workers.map(lambda worker, test: worker.record(test, args.limit),
                                                   sorted(tests - set(known))):
        known[test] = seconds, reached
        path.write_text(json.dumps([(seconds, test, sorted(reached)) for test, (seconds, reached) in known.items()]))
    return sorted((seconds, test, reached) for test, (seconds, reached) in known.items()
                  if test in tests and reached and seconds <= args.limit)


OUTCOMES = ("killed", "equivalent", "survived", "unreached")


def summarize(areas, outcomes, of):
    """Prints the counts, and ends with an error where the list of equivalents is not true."""
    reasons, wrong = equivalents.read(), []
    counts = {area: dict.fromkeys(OUTCOMES, 0) for area in areas}
    for mutant, outcome in outcomes.items():
        if equivalents.key_of(mutant, (ROOT / mutant.path).read_text()) in reasons:
            if outcome == "killed":
                wrong.append(f"is not equivalent, since a test notices it: {mutant}")
            else:
                outcome = "equivalent"
        counts[of[mutant]][outcome] += 1
    counts["all"] = {outcome: sum(one[outcome] for one in counts.values()) for outcome in OUTCOMES}
    for area, one in counts.items():
        found = one["killed"] + one["equivalent"]
        print(f"{area}: {', '.join(f'{one[o]} {o}' for o in OUTCOMES)}: {100 * found / max(1, sum(one.values())):.1f} %")
    if wrong:
        sys.exit("\n".join(wrong))


def check_equivalents():
    """Ends with an error where an entry is of a mutant that the sources do not have."""
    known = set()
    for path in sorted({mutant.path for area in AREAS for mutant in all_mutants(area)}):
        text = (ROOT / path).read_text()
        known |= {equivalents.key_of(mutant, text) for mutant in mutants.mutants_of(path, text)}
    stale = [" | ".join(key) for key in equivalents.read() if key not in known]
    if stale:
        sys.exit("equivalents.txt has what is no mutant of the sources:\n" + "\n".join(stale))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("areas", nargs="*", metavar="AREA", help=f"{', '.join(sorted(AREAS))}, or all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=50, help="mutants of each area")
    parser.add_argument("--checkout", type=pathlib.Path, default=pathlib.Path("/tmp/coll-mutants"),
                        help="a folder for the changed sources and their build; made if it is not there")
    parser.add_argument("--jobs", type=int, default=2, help="compilers at a time")
    parser.add_argument("--workers", type=int, default=1, help="mutants that are tried at a time")
    parser.add_argument("--tests", choices=["all", "gtest", "lit"], default="all", help="which kind of tests runs")
    parser.add_argument("--static", action="store_true",
                        help="build the tools as the one file coll, to run lit tests on a machine without MLIR")
    parser.add_argument("--build-only", action="store_true", help="compile the mutants in, and end")
    parser.add_argument("--built", action="store_true", help="take what --build-only left in the checkout")
    parser.add_argument("--limit", type=float, default=600, metavar="SECONDS", help="leave out tests that take longer")
    parser.add_argument("--cmake", default="", help="more options for CMake, such as -DCOLL_ENABLE_MLIR=OFF")
    parser.add_argument("--log", default="mutation.jsonl", help="the outcomes are appended to it")
    parser.add_argument("--list", action="store_true", help="print all mutants and end")
    parser.add_argument("--check", action="store_true", help="look whether equivalents.txt fits the sources, and end")
    args = parser.parse_args()
    if unknown := set(args.areas) - {*AREAS, "all"}:
        parser.error(f"no such area: {', '.join(sorted(unknown))}")
    if not args.areas and not args.check:
        parser.error("name an area, or all")
    check_equivalents()
    if args.check:
        return
    if args.list:
        for area in sorted(AREAS) if "all" in args.areas else args.areas:
            for mutant in all_mutants(area):
                print(mutant)
        return
    run(args)


if __name__ == "__main__":
    main()
