#!/usr/bin/env python3
"""Starts `coll-run`, and sends signals while steps run.

usage: kill_rank.py [--within=SECONDS] WHOM[,WHOM…] SIGNAL[,SIGNAL…] COMMAND…

WHOM is a rank of `--processes`, -1 for the process that was started, or "all" for both and whatever
else a terminal reaches. SIGNAL may be SECONDS+NUMBER: so long after the one before.
Prints what the command wrote, its exit status, and whether it ended within the time after the signal (20 s).
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
    words, within = sys.argv[1:], 20.0
    if words[0].startswith("--within="):
        within = float(words.pop(0).partition("=")[2])
    whom, numbers, command = words[0].split(","), words[1].split(","), words[2:]
    # A shell has it ignored in what it starts in the background, and so would be the command.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               start_new_session=True)
    try:
        seconds = send(process, whom, numbers)
        print("in time" if seconds < within else f"too late: after {seconds:.1f} s")
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


def send(process, whom, numbers):
    """The seconds from the first signal to the end of the command."""
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
    return time.monotonic() - begin


if __name__ == "__main__":
    main()
