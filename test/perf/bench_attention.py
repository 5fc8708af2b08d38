#!/usr/bin/env python3
"""Attention and its gradient beside PyTorch's scaled_dot_product_attention, on one GPU.

    bench_attention.py [--library=build-cuda/lib/libcoll-bench-attention.so] [--out=FILE]

Prints a table, and appends rows to FILE. Times are medians of CUDA graphs of ten calls; PyTorch's
gradient is its forward and backward less its forward. Errors are the largest difference from f64,
over the largest value, beside those of the unfused form in the same type. Exit code 1 where an error
of ours is above three times that, or two calls differ.
"""

import argparse
import ctypes
import datetime
import json
import math
import pathlib
import sys

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

CODES = {torch.float32: 0, torch.float16: 2, torch.bfloat16: 3}
NAMES = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16"}
PEERS = {"flash": SDPBackend.FLASH_ATTENTION, "cuDNN": SDPBackend.CUDNN_ATTENTION,
         "memory-efficient": SDPBackend.EFFICIENT_ATTENTION}
GRAPH_CALLS, REPLAYS = 10, 7


class Call:
    """Tensors of one call; rows of a head stand apart, as models have them."""

    def __init__(self, library, dtype, tf32, batch, heads, kv_heads, queries, keys, dim, causal):
        self.library, self.dtype, self.tf32, self.causal = library, dtype, tf32, causal
        self.sizes = (batch, heads, kv_heads, queries, keys, dim)
        self.scale = 1 / math.sqrt(dim)
        torch.manual_seed(0)
        q_shape, k_shape = (batch, queries, heads, dim), (batch, keys, kv_heads, dim)
        self.q, self.k, self.v, self.d_o = (torch.randn(s, device="cuda").to(dtype).transpose(1, 2)
                                            for s in (q_shape, k_shape, k_shape, q_shape))
        self.o, self.d_q = torch.empty_like(self.q), torch.empty_like(self.q)
        self.d_k, self.d_v = torch.empty_like(self.k), torch.empty_like(self.v)
        self.lse, self.scratch = (torch.empty(batch, heads, queries, device="cuda") for _ in range(2))

    def name(self):
        batch, heads, kv_heads, queries, keys, dim = self.sizes
        shared = "" if heads == kv_heads else f" on {kv_heads}"
        return (f"{NAMES[self.dtype]}{' in tf32' if self.tf32 else ''}, {batch} x {heads} heads{shared}, "
                f"{queries} x {keys} x {dim}{', causal' if self.causal else ''}")

    def launch(self, backward):
        tensors = (self.q, self.k, self.v, self.o, self.d_q, self.d_k, self.d_v, self.d_o)
        strides = [s for t in tensors for s in t.stride()[:3]]
        pointers = [t.data_ptr() for t in (*tensors, self.lse, self.scratch)]
        code = self.library.coll_bench_attention(
            int(backward), CODES[self.dtype], int(self.tf32), int(self.causal),
            (ctypes.c_int64 * 6)(*self.sizes), ctypes.c_float(self.scale),
            (ctypes.c_int64 * len(strides))(*strides), (ctypes.c_void_p * 10)(*pointers),
            ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
        if code:
            raise RuntimeError(f"{self.name()}: error {code}")

    def results(self):
        self.launch(False)
        self.launch(True)
        return [t.clone() for t in (self.o, self.lse, self.d_q, self.d_k, self.d_v)]

    def unfused(self, dtype):
        """o, lse, dQ, dK, dV, by the plain formula in one type."""
        q, k, v = (t.detach().to(dtype).requires_grad_() for t in (self.q, self.k, self.v))
        sharers = q.shape[1] // k.shape[1]
        scores = q @ k.repeat_interleave(sharers, 1).transpose(2, 3) * self.scale
        if self.causal:
            seen = torch.ones(scores.shape[2:], dtype=torch.bool, device="cuda")
            scores = scores.masked_fill(~seen.tril(k.shape[2] - q.shape[2]), -math.inf)
        o = torch.softmax(scores, -1) @ v.repeat_interleave(sharers, 1)
        o.backward(self.d_o.to(dtype))
        return [o.detach(), torch.logsumexp(scores.detach(), -1), q.grad, k.grad, v.grad]

    def fused(self, gradient):
        """PyTorch's own, as a function to time."""
        q, k, v = (t.detach().requires_grad_(gradient) for t in (self.q, self.k, self.v))

        def run():
            o = scaled_dot_product_attention(q, k, v, is_causal=self.causal, scale=self.scale)
            if gradient:
                torch.autograd.grad(o, (q, k, v), self.d_o)
        return run


def median_us(run):
    stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    with torch.cuda.stream(stream):
        for _ in range(3):
            run()
        stream.synchronize()
        with torch.cuda.graph(graph, stream=stream):
            for _ in range(GRAPH_CALLS):
                run()
    times = []
    for _ in range(REPLAYS + 1):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e3 / GRAPH_CALLS)
    return sorted(times[1:])[REPLAYS // 2]


def errors(values, exact):
    return [((a.double() - b).abs().max() / b.abs().max()).item() for a, b in zip(values, exact)]


def check(call):
    """The largest errors: ours and the unfused form's; and whether all is well."""
    first = call.results()
    same = all(torch.equal(a, b) for a, b in zip(first, call.results()))
    exact = call.unfused(torch.float64)
    torch.backends.cuda.matmul.allow_tf32 = call.tf32
    plain = max(errors(call.unfused(call.dtype), exact))
    torch.backends.cuda.matmul.allow_tf32 = False
    ours = max(errors(first, exact))
    return ours, plain, same and ours <= 3 * plain


def peers(call):
    """(name, us of the forward pass, us of the gradient) of each that takes the call."""
    for name, backend in PEERS.items():
        try:
            with sdpa_kernel(backend):
                forward = median_us(call.fused(False))
                yield name, forward, median_us(call.fused(True)) - forward
        except RuntimeError:
            continue  # PyTorch has no such kernel for this type


class Table:
    """Rows of test/perf, printed as they come."""

    def __init__(self):
        self.rows = []

    def add(self, case, call, metric, ours, peer, peer_name):
        self.rows.append({"machine": f"1 x {torch.cuda.get_device_name()}",
                          "date": str(datetime.date.today()), "command": "bench_attention.py",
                          "case": case, "size": call.name(), "metric": metric, "ours": float(f"{ours:.4g}"),
                          "peer": float(f"{peer:.4g}"), "peer_name": peer_name, "ratio": round(peer / ours, 3)})
        print(f"{case:9} {call.name():50} {ours:9.4g} {peer:9.4g} {metric:8} {peer / ours:5.2f} {peer_name}",
              flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", default="build-cuda/lib/libcoll-bench-attention.so")
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    library = ctypes.CDLL(str(pathlib.Path(options.library).resolve()))
    table, well = Table(), True

    precisions = ((torch.bfloat16, False), (torch.float16, False), (torch.float32, True), (torch.float32, False))
    checked = ((2, 3, 3, 512, 512, 64, True), (1, 4, 2, 300, 700, 128, True), (1, 2, 2, 333, 333, 40, False))
    for dtype, tf32 in precisions:
        for sizes in checked:
            call = Call(library, dtype, tf32, *sizes)
            ours, plain, passed = check(call)
            table.add("error", call, "relative", ours, plain, "PyTorch, unfused, in the same precision")
            well = well and passed

    timed = [(*precision, 8, 12, 12, 1024, 1024, 64, True) for precision in precisions]
    timed += [(torch.bfloat16, False, *sizes) for sizes in (
        (8, 12, 12, 1024, 1024, 64, False), (2, 12, 12, 8192, 8192, 64, True), (4, 16, 16, 2048, 2048, 128, True))]
    for sizes in timed:
        call = Call(library, *sizes)
        forward, backward = (median_us(lambda b=b: call.launch(b)) for b in (False, True))
        for name, peer_forward, peer_backward in peers(call):
            table.add("forward", call, "us", forward, peer_forward, f"PyTorch, {name}")
            table.add("gradient", call, "us", backward, peer_backward, f"PyTorch, {name}")
    if options.out:
        with options.out.open("a") as out:
            out.writelines(json.dumps(row) + "\n" for row in table.rows)
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
