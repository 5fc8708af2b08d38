#!/usr/bin/env python3
"""Times `./dev demo` and `./dev test` from nothing: a fresh clone of the last commit, without a compiler cache.
Appends to cold.jsonl, with the processor time beside the wall's, as another load on the machine changes only the latter.

usage: bench_cold.py [--cached] [--rows=FILE] [--log=FILE] [demo] [test]
       bench_cold.py [--cached] [--rows=FILE] --from=FILE demo|test

--cached leaves the compiler cache on, as in a second clone on one machine. --log keeps what the command prints.
--from makes the row of a run that somebody else has started, in a fresh clone of the last commit, by
`(time CCACHE_DISABLE=1 ./dev test) >FILE 2>&1`, also with `-p`, or with GNU's `/usr/bin/time -v`.
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

from bench_steps import machine

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LIMIT_S = {"demo": 8 * 60, "test": 50 * 60}
CACHED_LIMIT_S = {"demo": 8 * 60, "test": 25 * 60}


def run(command, folder, environment, log):
    """Exit code, last line, wall seconds and processor seconds."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with open(log, "w+", encoding="utf-8") if log else tempfile.TemporaryFile("w+", encoding="utf-8") as file:
        done = subprocess.run(["./dev", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=file,
                              stderr=subprocess.STDOUT, check=False)
        wall, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
        file.seek(0)
        lines = file.read().strip().splitlines() or [""]
    if done.returncode:
        print("\n".join(lines[-40:]), file=sys.stderr)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.returncode, lines[-1], wall, processor


def seconds_of(text):
    """Of 75.2, 1:15.2, 0:01:15 or 1m15.2s."""
    seconds = 0.0
    for part in text.rstrip("s").replace("m", ":").split(":"):
        seconds = 60 * seconds + float(part)
    return seconds


def parse(path):
    """As run(), of the output of `time`, `time -p` or `time -v` behind that of the command."""
    text = path.read_text(encoding="utf-8")
    found = {}
    for name, pattern in (("wall", r"^real\s+([\d.ms]+)$|Elapsed .*: ([\d:.]+)$"), ("user", r"^user\s+([\d.ms]+)$|User time .*: ([\d.]+)$"),
                          ("sys", r"^sys\s+([\d.ms]+)$|System time .*: ([\d.]+)$")):
        matches = list(re.finditer(pattern, text, re.M))
        if not matches:
            sys.exit(f"{path} has no {name} time: expected the output of `time`, `time -p` or `time -v` at its end")
        found[name] = seconds_of(matches[-1][1] or matches[-1][2])
        found["end"] = min(found.get("end", len(text)), matches[-1].start())
    said = [line for line in text[:found["end"]].strip().splitlines() if not line.lstrip().startswith("Command ")]
    last = said[-1] if said else ""
    status = re.search(r"Exit status: (\d+)", text)
    counted = re.search(r"(\d+) failed", last)
    code = int(status[1]) if status else int(counted[1]) != 0 if counted else None
    return None if code is None else int(code), last, found["wall"], found["user"] + found["sys"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--cached", action="store_true")
    parser.add_argument("--log", type=pathlib.Path)
    parser.add_argument("--from", dest="source", type=pathlib.Path)
    parser.add_argument("--rows", type=pathlib.Path, default=HERE / "cold.jsonl")
    parser.add_argument("commands", nargs="*", default=["demo", "test"], metavar="demo|test")
    words = parser.parse_args()
    if words.source and len(words.commands) != 1:
        parser.error("--from needs the one command whose output the file holds: demo or test")
    environment = dict(os.environ) if words.cached else {**os.environ, "CCACHE_DISABLE": "1"}
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short=12", "HEAD"], check=True, text=True,
                            capture_output=True).stdout.strip()
    failed = False
    for command in words.commands:
        if words.source:
            code, last, wall, processor = parse(words.source)
        else:
            with tempfile.TemporaryDirectory() as folder:
                subprocess.run(["git", "clone", "-q", ROOT, folder], check=True)
                code, last, wall, processor = run(command, folder, environment, words.log)
        limit = (CACHED_LIMIT_S if words.cached else LIMIT_S)[command]
        row = {"machine": machine(), "date": datetime.date.today().isoformat(), "command": f"./dev {command}",
               "case": "compiler cache" if words.cached else "from nothing", "size": None, "metric": "s",
               "ours": round(wall, 1), "peer": None, "peer_name": None, "ratio": None,
               "processor_s": round(processor, 1), "limit_s": limit, "commit": commit, "exit_code": code, "last": last}
        with words.rows.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        print(f"{row['command']}, {row['case']}: {wall:.0f} s ({processor:.0f} s of processor time, limit {limit} s), "
              f"exit code {code}: {last}", flush=True)
        failed |= code != 0
    sys.exit(failed)


if __name__ == "__main__":
    main()
