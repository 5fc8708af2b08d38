#!/usr/bin/env python3
"""Starts `coll-run --processes`, and sends a signal to one rank while steps run.

usage: kill_rank.py RANK SIGNAL COMMAND…

Prints what the command wrote, its exit status, and whether it took longer than it should.
"""

import subprocess
import sys
import time


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(child) for child in file.read().split()]


def main():
    rank, number, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for line in process.stdout:
        print(line, end="")
        if line.startswith("step 1/"):
            break
    victim = process.pid if rank < 0 else children(process.pid)[rank]
    begin = time.monotonic()
    subprocess.run(["kill", f"-{number}", str(victim)], check=True)
    output, _ = process.communicate(timeout=60)
    print(output, end="")
    print("exit status", process.returncode)
    print("in time" if time.monotonic() - begin < 20 else "too late")


if __name__ == "__main__":
    main()
