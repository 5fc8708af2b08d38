#!/usr/bin/env python3
"""Runs a command as the ranks of a job, each in a network namespace of its own.

usage: netns_job.py N COMMAND…

The namespaces hang on a bridge, so every byte goes through virtual cables. Rank 0's
output is this script's; another rank's is printed where it fails. Needs root.
"""

import os
import subprocess
import sys

PREFIX = f"coll{os.getpid()}"
PORT = 7000


def name(rank):
    return f"{PREFIX}-{rank}"


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True)


def wire(ranks):
    hub = name("hub")
    ip("netns", "add", hub)
    ip("-n", hub, "link", "add", "bridge", "type", "bridge")
    ip("-n", hub, "link", "set", "bridge", "up")
    for rank in range(ranks):
        ip("netns", "add", name(rank))
        port = f"port{rank}"
        ip("-n", hub, "link", "add", port, "type", "veth", "peer", "name", "wire0", "netns",
           name(rank))
        ip("-n", hub, "link", "set", port, "master", "bridge", "up")
        ip("-n", name(rank), "addr", "add", f"10.77.0.{rank + 1}/24", "dev", "wire0")
        for link in ("lo", "wire0"):
            ip("-n", name(rank), "link", "set", link, "up")


def unwire(ranks):
    for rank in [*range(ranks), "hub"]:
        subprocess.run(["ip", "netns", "del", name(rank)], stderr=subprocess.DEVNULL)


def start(rank, ranks, command):
    environment = dict(os.environ, COLL_RANK=str(rank), COLL_WORLD_SIZE=str(ranks),
                       COLL_BOOTSTRAP=f"10.77.0.1:{PORT}", COLL_NET_IFACE="wire0",
                       COLL_SECRET="only the namespaces of this test know it")
    output = None if rank == 0 else subprocess.PIPE
    return subprocess.Popen(["ip", "netns", "exec", name(rank), *command], env=environment,
                            stdout=output, stderr=output, text=True)


def main():
    ranks, command = int(sys.argv[1]), sys.argv[2:]
    processes = []
    code = 0
    try:
        wire(ranks)
        processes = [start(rank, ranks, command) for rank in range(ranks)]
        for rank, process in reversed(list(enumerate(processes))):
            output, errors = process.communicate(timeout=120)
            if process.returncode and rank:
                print(f"rank {rank}:", output, errors, file=sys.stderr)
            code = code or process.returncode
    finally:
        for process in processes:
            process.kill()
        unwire(ranks)
    return code


if __name__ == "__main__":
    sys.exit(main())
