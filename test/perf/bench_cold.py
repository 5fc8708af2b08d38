#!/usr/bin/env python3
"""Times `./dev demo` and `./dev test` from nothing: a fresh clone of the last commit, without a compiler cache.
Appends to cold.jsonl, with the processor time beside the wall's, as another load on the machine changes only the latter.

usage: bench_cold.py [--cached] [--rows=FILE] [demo] [test]

--cached leaves the compiler cache on, as in a second clone on one machine.
"""

import argparse
import datetime
import json
import os
import pathlib
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


def run(command, folder, environment):
    """Exit code, last line, wall seconds and processor seconds."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(["./dev", command], cwd=folder, env=environment, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    wall, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    lines = done.stdout.strip().splitlines() or [""]
    if done.returncode:
        print("\n".join(lines[-40:]), file=sys.stderr)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.returncode, lines[-1], wall, processor


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--cached", action="store_true")
    parser.add_argument("--rows", type=pathlib.Path, default=HERE / "cold.jsonl")
    parser.add_argument("commands", nargs="*", default=["demo", "test"], metavar="demo|test")
    words = parser.parse_args()
    environment = dict(os.environ) if words.cached else {**os.environ, "CCACHE_DISABLE": "1"}
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short=12", "HEAD"], check=True, text=True,
                            capture_output=True).stdout.strip()
    failed = False
    for command in words.commands:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["git", "clone", "-q", ROOT, folder], check=True)
            code, last, wall, processor = run(command, folder, environment)
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
