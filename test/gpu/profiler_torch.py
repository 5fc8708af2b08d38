#!/usr/bin/env python3
"""All-reduces of PyTorch, timed by CUDA events; two ranks may share a GPU.

Run by torchrun. PROFILER_TIMES names the folder for <pid>.json: size in bytes -> milliseconds, as nccl_launch.cc has them.
--loop=FILE times a loop of calls of 1 MiB instead; rank 0 writes microseconds a call.
"""

import argparse
import json
import os
import time

RANK = os.environ["RANK"]
os.environ.setdefault("NCCL_HOSTID", f"rank{RANK}")  # each rank is a node, so they may share a GPU

import torch
import torch.distributed as dist

SIZES = (512 << 10, 1 << 20, 32 << 20, 64 << 20)
CALLS_AT_ONCE = 25  # NCCL has room for the stamps of 64 calls that its progress thread has not seen
HELD_CYCLES = 20_000_000  # of the GPU, while the host puts calls on the stream


def timed(size, calls=100):
    """As nccl_launch.cc: each call between two events, then CALLS_AT_ONCE of them."""
    data = torch.ones(size // 4, device="cuda")
    for _ in range(5):
        dist.all_reduce(data)
    times = {}
    for kind in ("each", "together"):
        pairs = []
        for i in range(calls):
            if i % CALLS_AT_ONCE == 0:
                torch.cuda.synchronize()
                time.sleep(0.003)
                torch.cuda._sleep(HELD_CYCLES)
            if kind == "each" or i % CALLS_AT_ONCE == 0:
                pairs.append([torch.cuda.Event(enable_timing=True) for _ in range(2)])
                pairs[-1][0].record()
            dist.all_reduce(data)
            if kind == "each" or i % CALLS_AT_ONCE == CALLS_AT_ONCE - 1:
                pairs[-1][1].record()
        torch.cuda.synchronize()
        times[kind] = [begin.elapsed_time(end) for begin, end in pairs]
    return times


def loop(calls=300):
    data = torch.ones(1 << 18, device="cuda")
    for _ in range(20):
        dist.all_reduce(data)
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(calls):
        dist.all_reduce(data)
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / calls * 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--loop")
    options = parser.parse_args()
    torch.cuda.set_device(int(RANK) % torch.cuda.device_count())
    dist.init_process_group("nccl")
    if options.loop:
        result = loop()
        if RANK == "0":
            with open(options.loop, "w", encoding="utf-8") as file:
                json.dump(result, file)
    else:
        result = {size: timed(size) for size in SIZES}
        with open(f"{os.environ['PROFILER_TIMES']}/{os.getpid()}.json", "w", encoding="utf-8") as file:
            json.dump(result, file)
    dist.destroy_process_group()
    if RANK == "0":
        version = ".".join(map(str, torch.cuda.nccl.version()))
        print(f"torch {torch.__version__}, NCCL {version}, {torch.cuda.get_device_name()}")


if __name__ == "__main__":
    main()
