#!/usr/bin/env python3
"""Runs a command as the ranks of a job on this machine, as a launcher would.

usage: job.py N[@RANK:SIGNAL] [RANK:NAME=VALUE…] COMMAND…

@RANK:SIGNAL sends the signal to that rank when rank 0 has ended a step.
RANK:NAME=VALUE sets a variable for that rank alone; in the command, RANK:--FLAG is a flag of
that rank's alone, and "{rank}" is replaced.
Prints what each rank wrote, rank by rank, and its exit status.
"""

import os
import random
import re
import signal
import socket
import subprocess
import sys


def free_port():
    """One that nobody else on this machine gets by asking for any port."""
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as text:
        first = int(text.read().split()[0])
    while True:
        port = random.randrange(1024, first)
        with socket.socket() as one:
            try:
                one.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass


def wait_and_stop(processes, rank, number):
    """Returns what rank 0 has said by then."""
    begun = ""
    for line in processes[0].stdout:
        begun += line
        if line.startswith("step 1/"):
            break
    processes[rank].send_signal(number)
    return begun


def main():
    ranks, _, stop = sys.argv[1].partition("@")
    ranks, arguments = int(ranks), sys.argv[2:]
    own = [{} for _ in range(ranks)]
    while match := re.fullmatch(r"(\d+):(\w+)=(.*)", arguments[0]):
        own[int(match[1])][match[2]] = match[3]
        arguments = arguments[1:]
    common = {"COLL_WORLD_SIZE": str(ranks), "COLL_BOOTSTRAP": f"127.0.0.1:{free_port()}",
              "COLL_SECRET": "a secret of this test alone", "COLL_NET_IFACE": "lo"}
    # A shell has it ignored in what it starts in the background, and so would be the ranks.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    processes = []
    for rank in range(ranks):
        environment = {**os.environ, "COLL_RANK": str(rank), **common, **own[rank]}
        command = [re.sub(rf"^{rank}:--", "--", argument).replace("{rank}", str(rank))
                   for argument in arguments if not re.match(rf"(?!{rank}:)\d+:--", argument)]
        processes.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE,
                                          stderr=subprocess.STDOUT, text=True))
    try:
        show(processes, stop)
    finally:
        for process in processes:
            process.kill()


def show(processes, stop):
    begun = wait_and_stop(processes, *map(int, stop.split(":"))) if stop else ""
    for rank, process in enumerate(processes):
        output = (begun if rank == 0 else "") + process.communicate(timeout=60)[0]
        for line in output.splitlines():
            print(f"[{rank}] {line}")
        print(f"[{rank}] exit status {process.returncode}")


if __name__ == "__main__":
    main()
