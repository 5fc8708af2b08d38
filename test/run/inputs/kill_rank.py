#!/usr/bin/env python3
"""Starts `coll-run`, and sends signals while steps run.

usage: kill_rank.py WHOM[,WHOM…] SIGNAL[,SIGNAL…] COMMAND…

WHOM is a rank of `--processes`, -1 for the process that was started, or "all" for both and whatever
else a terminal reaches. SIGNAL may be SECONDS+NUMBER: so long after the one before.
Prints what the command wrote, its exit status, and whether it took longer than it should.
"""

import os
import signal
import subprocess
import sys
import time


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(child) for child in file.read().split()]


def main():
    whom, numbers, command = sys.argv[1].split(","), sys.argv[2].split(","), sys.argv[3:]
    # A shell has it ignored in what it starts in the background, and so would be the command.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               start_new_session=True)
    try:
        send(process, whom, numbers)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


def send(process, whom, numbers):
    for line in process.stdout:
        print(line, end="")
        if line.startswith("step 1/"):
            break
    ranks = children(process.pid)
    begin = time.monotonic()
    for who, number in zip(whom, numbers):
        pause, _, number = number.rpartition("+")
        time.sleep(float(pause or 0))
        if who == "all":
            os.killpg(process.pid, int(number))
        else:
            os.kill(process.pid if who == "-1" else ranks[int(who)], int(number))
    output, _ = process.communicate(timeout=60)
    print(output, end="")
    print("exit status", process.returncode)
    print("in time" if time.monotonic() - begin < 20 else "too late")


if __name__ == "__main__":
    main()
