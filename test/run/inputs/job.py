#!/usr/bin/env python3
"""Runs a command as the ranks of a job on this machine, as a launcher would.

usage: job.py N [RANK:NAME=VALUE…] COMMAND…

RANK:NAME=VALUE sets a variable for that rank alone; in the command, RANK:--FLAG is a flag of
that rank's alone, and "{rank}" is replaced.
Prints what each rank wrote, rank by rank, and its exit status.
"""

import os
import re
import socket
import subprocess
import sys


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def main():
    ranks, arguments = int(sys.argv[1]), sys.argv[2:]
    own = [{} for _ in range(ranks)]
    while match := re.fullmatch(r"(\d+):(\w+)=(.*)", arguments[0]):
        own[int(match[1])][match[2]] = match[3]
        arguments = arguments[1:]
    common = {"COLL_WORLD_SIZE": str(ranks), "COLL_BOOTSTRAP": f"127.0.0.1:{free_port()}",
              "COLL_SECRET": "a secret of this test alone", "COLL_NET_IFACE": "lo"}
    processes = []
    for rank in range(ranks):
        environment = {**os.environ, "COLL_RANK": str(rank), **common, **own[rank]}
        command = [re.sub(rf"^{rank}:--", "--", argument).replace("{rank}", str(rank))
                   for argument in arguments if not re.match(rf"(?!{rank}:)\d+:--", argument)]
        processes.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE,
                                          stderr=subprocess.STDOUT, text=True))
    for rank, process in enumerate(processes):
        output, _ = process.communicate(timeout=60)
        for line in output.splitlines():
            print(f"[{rank}] {line}")
        print(f"[{rank}] exit status {process.returncode}")


if __name__ == "__main__":
    main()
