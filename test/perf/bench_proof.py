#!/usr/bin/env python3
"""Time and memory of `coll-verify-ranks` on rank programs of many ranks; appends to proof.jsonl.

usage: bench_proof.py [--tools=build-release/bin] [--rows=FILE] [--peer=OTHER/bin] [--peer-name=TEXT] [NAME…]

An event is an operation of one rank. Times and memory are those of the whole process, parsing
included; --peer names the tools of another build, which is run beside, each within two minutes.
"""

import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

from bench_steps import machine

HERE = pathlib.Path(__file__).resolve().parent
TENSOR = "tensor<4xf32>"
CONSTANTS = "".join(f"    %c{i} = arith.constant {i} : index\n" for i in range(17))


def constant(name, value):
    return f"    %{name} = arith.constant {value} : index\n"


def loop(trips, body, name="n"):
    """A loop, unless it has no trips; `name` is that of its bound."""
    if not trips:
        return ""
    return constant(name, trips) + f"    scf.for %i = %c0 to %{name} step %c1 {{\n{body}    }}\n"


def transfer(kind, peer, tag):
    if kind == "send":
        return f"      coll.send %x to {peer} tag {tag} over @m[\"pp\"] : {TENSOR}\n"
    return f"      %r{tag} = coll.recv from {peer} tag {tag} over @m[\"pp\"] : {TENSOR}\n"


def start_send(name, peer, tag):
    return (f"      %{name} = coll.start ins(%x, {peer} : {TENSOR}, index) {{\n"
            f"      ^bb0(%a: {TENSOR}, %p: index):\n"
            f"        coll.send %a to %p tag {tag} over @m[\"pp\"] : {TENSOR}\n        coll.yield\n      }} : !coll.future\n")


def wait_send(name):
    return f"      coll.await %{name} : !coll.future\n"


def programs(stages, replicas, body):
    """One program for each stage; `body` gives its text."""
    text = f'coll.mesh @m ["dp" = {replicas}, "pp" = {stages}]\n'
    for stage in range(stages):
        ranks = ", ".join(str(replica * stages + stage) for replica in range(replicas))
        text += (f"coll.program @stage{stage} ranks [{ranks}] {{\n  func.func @step(%x: {TENSOR}) {{\n{CONSTANTS}"
                 f"{body(stage)}    return\n  }}\n}}\n")
    return text


def gpipe(stages, replicas, batches):
    """All micro-batches forward, then all backward, without a loop."""
    def body(stage):
        forward = backward = ""
        if stage > 0:
            forward += transfer("recv", f"%c{stage - 1}", 1)
            backward = transfer("send", f"%c{stage - 1}", 2)
        if stage + 1 < stages:
            forward += transfer("send", f"%c{stage + 1}", 1)
            backward = transfer("recv", f"%c{stage + 1}", 2) + backward
        return (forward * batches + backward * batches).replace("%r", "%r{}_").format(*range(2 * batches))
    return programs(stages, replicas, body)


def one_forward_one_backward(stages, replicas, batches):
    """1F1B with asynchronous sends, in loops."""
    def body(stage):
        previous, following = f"%c{stage - 1}", f"%c{stage + 1}"
        forward = backward = wait_forward = wait_backward = ""
        if stage > 0:
            forward = transfer("recv", previous, 1)
            backward, wait_backward = start_send("b", previous, 2), wait_send("b")
        if stage + 1 < stages:
            forward += start_send("f", following, 1)
            wait_forward = wait_send("f")
            backward = transfer("recv", following, 2) + backward
        warm = min(stages - 1 - stage, batches)
        return (loop(warm, forward + wait_forward, "warm")
                + loop(batches - warm, forward + backward + wait_forward + wait_backward, "steady")
                + loop(warm, backward + wait_backward, "cool"))
    return programs(stages, replicas, body)


def ring(ranks, rounds):
    """Every rank passes on what it gets, by shifts; one program."""
    shift = "".join(f"    %{name} = arith.addi %rank, %{by} : index\n    %{peer} = arith.remui %{name}, %n : index\n"
                    for name, by, peer in (("up", "c1", "next"), ("down", "last", "previous")))
    recv = f'      %y = coll.recv from %previous over @m["dp"] : {TENSOR}\n'
    return (f'coll.mesh @m ["dp" = {ranks}]\nfunc.func @step(%x: {TENSOR}) {{\n{CONSTANTS}'
            + constant("n", ranks) + constant("last", ranks - 1) + "    %rank = coll.rank\n" + shift
            + loop(rounds, start_send("s", "%next", 0).replace('"pp"', '"dp"') + recv + wait_send("s"), "rounds")
            + "    return\n}\n")


def unlike(ranks, events):
    """Ranks of one program, no two of which are alike, exchange with a neighbour, without a loop."""
    exchange = "".join(f'      coll.send %x to %other tag {i % 7} over @m["pp"] : {TENSOR}\n'
                       f'      %s{i} = coll.recv from %other tag {i % 5} over @m["pp"] : {TENSOR}\n'
                       for i in range(events // 2))
    reverse = "".join(f'      %r{i} = coll.recv from %other tag {i % 7} over @m["pp"] : {TENSOR}\n'
                      f'      coll.send %x to %other tag {i % 5} over @m["pp"] : {TENSOR}\n'
                      for i in range(events // 2))
    return (f'coll.mesh @m ["pp" = {ranks}]\nfunc.func @step(%x: {TENSOR}) {{\n{CONSTANTS}'
            "    %rank = coll.rank\n    %bit = arith.andi %rank, %c1 : index\n"
            "    %other = arith.xori %rank, %c1 : index\n    %even = arith.cmpi eq, %bit, %c0 : index\n"
            f"    scf.for %i = %rank to %rank step %c1 {{\n      coll.send %x to %c0 tag 9 over @m[\"pp\"] : {TENSOR}\n    }}\n"
            f"    scf.if %even {{\n{exchange}    }} else {{\n{reverse}    }}\n    return\n}}\n")


def all_pairs(ranks):
    """Each rank sends to every other one; peers follow from the loop, so that no two ranks are alike."""
    send = start_send("s", "%next", 0).replace('"pp"', '"dp"')
    return (f'coll.mesh @m ["dp" = {ranks}]\nfunc.func @step(%x: {TENSOR}) {{\n{CONSTANTS}' + constant("n", ranks)
            + "    %rank = coll.rank\n    %top = arith.addi %rank, %n : index\n"
            "    scf.for %i = %c1 to %n step %c1 {\n"
            "      %up = arith.addi %rank, %i : index\n      %next = arith.remui %up, %n : index\n"
            "      %down = arith.subi %top, %i : index\n      %previous = arith.remui %down, %n : index\n"
            + send + f'      %y = coll.recv from %previous over @m["dp"] : {TENSOR}\n' + wait_send("s")
            + "    }\n    return\n}\n")


def spmd(ranks):
    """Collectives alone."""
    lines = "".join(f'    %{i} = coll.all_reduce sum %x over @m["{axis}"] : {TENSOR}\n'
                    for i, axis in enumerate(["dp", "tp"] * 500))
    return f'coll.mesh @m ["dp" = {ranks // 8}, "tp" = 8]\nfunc.func @step(%x: {TENSOR}) {{\n{lines}    return\n}}\n'


# Events, text, target in seconds, target in MB.
CASES = {
    "gpipe, 16 stages x 1024 replicas x 256, no loop": (4 * 15 * 1024 * 256, lambda: gpipe(16, 1024, 256), 2, 200),
    "1f1b, 16 stages x 1024 replicas x 256, loops":
        (4 * 15 * 1024 * 256, lambda: one_forward_one_backward(16, 1024, 256), 2, 200),
    "no symmetry, 16384 ranks": (16384 * 640, lambda: unlike(16384, 640), 5, 500),
    "no symmetry, each pair of 2237 ranks": (2 * 2237 * 2236, lambda: all_pairs(2237), 5, 500),
    "ring, 16384 ranks x 1000": (2 * 16384 * 1000, lambda: ring(16384, 1000), None, None),
    "spmd, 16384 ranks": (16384 * 1000, lambda: spmd(16384), None, None),
}


def measure(tool, path):
    """Seconds, seconds of processor and MB of a process; no seconds where it fails, or takes more
    than two minutes."""
    begin = time.perf_counter()
    with subprocess.Popen([tool, "--coll-verify-ranks", path, "-o", os.devnull], stderr=subprocess.PIPE,
                          text=True) as process:
        timer = threading.Timer(120, process.kill)
        timer.start()
        errors = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
        timer.cancel()
    seconds = time.perf_counter() - begin
    if status:
        print(errors[:300], file=sys.stderr)
    cpu = usage.ru_utime + usage.ru_stime
    return (None if status else round(seconds, 2)), round(cpu, 2), round(usage.ru_maxrss / 1024)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--tools", type=pathlib.Path, default=HERE.parents[1] / "build-release/bin")
    parser.add_argument("--peer", type=pathlib.Path)
    parser.add_argument("--peer-name", default="another build")
    parser.add_argument("--rows", type=pathlib.Path, default=HERE / "proof.jsonl")
    parser.add_argument("--print", action="store_true", help="print the programs of one case, run nothing")
    parser.add_argument("names", nargs="*")
    words = parser.parse_args()
    if words.print:
        print(CASES[words.names[0]][1]())
        return
    for name in words.names or CASES:
        events, _, target, target_mb = CASES[name]
        with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
            # In another process: a child's memory counts from its parent's.
            subprocess.run([sys.executable, __file__, "--print", name], stdout=file, check=True)
            ours, ours_cpu, ours_mb = measure(words.tools / "coll-opt", file.name)
            peer, peer_cpu, peer_mb = (measure(words.peer / "coll-opt", file.name) if words.peer
                                       else (None, None, None))
        row = {"machine": machine(), "date": datetime.date.today().isoformat(), "command": "bench_proof.py",
               "case": name, "size": events, "metric": "s", "ours": ours, "ours_cpu": ours_cpu, "ours_mb": ours_mb,
               "peer": peer, "peer_cpu": peer_cpu, "peer_mb": peer_mb, "peer_name": words.peer_name if words.peer else None,
               "ratio": round(peer / ours, 3) if peer and ours else None, "target": target, "target_mb": target_mb}
        with words.rows.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(f"{name}: {events} events, {ours} s ({ours_cpu} s of processor), {ours_mb} MB",
              f"peer {peer} s ({peer_cpu} s of processor), {peer_mb} MB" if words.peer else "")


if __name__ == "__main__":
    main()
